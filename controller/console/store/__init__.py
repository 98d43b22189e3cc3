"""What the console keeps: every event and signed head, people, orders. SQLite, or PostgreSQL.

`tables` says what there is, `archive` how it is written and read; which database it is, its
URL says.
"""
