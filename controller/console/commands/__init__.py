"""Commands that the console signs and sends: to one table, to an area, or for a transfer."""
