"""The release of a program: its files, and the comparison with the installed program."""
