"""Releases of the program: the signed list of their files, and its comparison with the disk."""
