"""The processes of a table: users, sandbox, watchdog, logs, signals."""
