"""The lines to the tables: what comes on their feeds, how fresh it is, and what is missing.

`feed` has the sockets of all tables; `heard`, `taken` and `past` are pure: how a line and a table
stand, which messages are a table's, how much of its past is kept; `backfill` asks for the rest.
"""
