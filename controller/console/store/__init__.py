"""The database of the console: events, signed heads, accounts and commands, in SQLite or
PostgreSQL.

`database_schema` defines the tables, and `archive` writes and reads them. The URL of the database
selects SQLite or PostgreSQL.
"""
