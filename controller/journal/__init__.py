"""The journal: the history of one table, as a chain of rows (JOURNAL.md).

journal.py appends entries, committer.py writes them, and store.py is the file. entries.py has the
chain, and entry_kinds.py and attempt_entries.py have the kinds of entries. attempt_history.py and
packed_board_events.py read the entries of an attempt. verify/ checks a journal afterwards.
"""
