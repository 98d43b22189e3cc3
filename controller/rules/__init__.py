"""The rulebooks: pure functions over values, one data file per profile.

PROFILES.md maps every rule to its key and to the code that acts on it. What a rulebook is
as data: profile.py, tables.py, read by rulebooks.py; its keys in words: keys.py; what an
event has to settle: regulations.py and its page (columns.py breaks its lines). One deal:
ceremony.py, tribute.py, returns.py, wrong_card.py, conduct.py, result.py. One match:
levels.py, standing.py, ending.py, score.py. One event: regional.py. Cards: order.py, combos/
(and the judge). People: seats.py, penalties/. Another card game: bigtwo/.
"""
