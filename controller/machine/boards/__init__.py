"""The two boards of a table: the connections, the event log, and the meaning of the events."""
