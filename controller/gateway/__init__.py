"""The process with the network: the feed, the commands, CURVE. It never hears of a hidden face."""
