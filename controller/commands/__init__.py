"""The commands of a table: their arguments, roles and phases."""
