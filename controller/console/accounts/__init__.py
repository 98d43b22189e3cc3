"""Accounts, sessions, and limits on login attempts."""
