"""The network process: the feed, the commands and the keys. It never receives a hidden face."""
