"""Releases of the program: each has a signed list of its files, which is compared with the disk."""
