"""The public state: what anybody on the feed may know of machine and match."""
