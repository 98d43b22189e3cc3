"""The release that a program belongs to: its files, and what is installed."""
