"""This computer: its users, files that are written at once, logs."""
