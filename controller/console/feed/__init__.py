"""The lines to the tables: what comes on their feeds, how fresh it is, and what is missing.

`feed` has the sockets of all tables; `heard`, `taken`, `counts`, `signed` and `past` are pure: how
a line and a table stand, which messages and heads are a table's, how much of its past is kept.
`intake` brings both to the store; `backfill` finds what is missing and asks for it (`asking`).
"""
