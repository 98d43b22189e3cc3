"""Services of this computer: users, atomic files and loggers."""
