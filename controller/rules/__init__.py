"""The rulebooks: pure functions over values, with one data file for each profile.

PROFILES.md lists every rule with its key and the code that uses it. The rules as data: profile.py
and guandan_tables.py, read by profile_files.py. The words for the keys: key_text.py. The points
that a tournament must settle: regulations.py, printed by regulations_page.py (text_columns.py
breaks the lines). One deal: deal_duties.py, tribute.py, tribute_returns.py, deal_result.py. One
match: match_standing.py, match_end.py. Cards: ranks.py and combos/ (which also judges plays).
Offences and penalties: penalties/. Big Two: big_two.py.

"Seed 000" to "seed 004" are the five rulebooks, and "A10.1" is an article. A rule is provisional if
its rulebook does not state it.
"""
