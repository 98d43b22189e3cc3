"""The journal: what this table did, one chained row after another (JOURNAL.md)."""
