"""The network process: the feed, the commands and CURVE. It never receives a hidden face."""
