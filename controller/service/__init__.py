"""Processes of a table: users, sandbox, supervision, watchdog, logs and signals."""
