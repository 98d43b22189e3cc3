"""Offences and what they lead to: always a proposal, never more.

offences.toml is the catalogue; a charge (charges.py) meets the record of the pair
(records.py, counts.py) on the ladder (ladder.py), and proposals.py puts the answers to a
person. consequences.py says what a penalty does to the match, controller/match carries it out.
"""
