"""The public state of a table: all data about machine and match that the feed may show."""
