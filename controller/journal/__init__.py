"""The journal: the history of this table, as a chain of rows (JOURNAL.md)."""
