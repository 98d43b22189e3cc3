"""Accounts, sessions, and the limits of logging in."""
