"""The two boards of a table: their ports, their log, and what their events mean."""
