"""The rulebooks: pure functions over values, one data file per profile.

PROFILES.md maps every rule to its key and to the code that acts on it. What a rulebook is
as data: profile.py, tables.py, read by rulebooks.py; its keys in words: keys.py; what an
event has to settle: regulations.py and its page. One deal: ceremony.py, tribute.py,
returns.py, wrong_card.py, conduct.py. One match: result.py, standing.py, ending.py,
score.py. Cards: order.py, levels.py, combos/ (and the judge). People: penalties/. Another
game: bigtwo/.
"""
