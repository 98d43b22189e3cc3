"""The process with the network: the feed, the commands and CURVE. It never receives a hidden
face.
"""
