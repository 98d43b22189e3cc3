"""Feeds of the tables: received states and events, freshness, and requests for missed events.

`table_feeds` has the last state of all tables, and `feed_sockets` their sockets. `message_checks`
and `journal_positions` are pure: they check messages and signed heads, and compute how much of a
table's past is stored. `event_intake` passes events and heads to the store. `backfill` finds what
is missing and requests it from the tables.
"""
