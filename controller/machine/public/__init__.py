"""The public state: everything that the feed may show of machine and match."""
