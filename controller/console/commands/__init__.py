"""Commands that the console signs and sends: one table, an area, a transfer."""
