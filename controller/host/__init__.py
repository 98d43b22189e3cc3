"""Helpers for this computer: its users, atomic files, TOML files, printable text, loggers."""
