"""Offences, and the penalties that the program proposes for them.

A person decides about each proposal.

offences.toml is the catalogue, read by offences.py. A charge (charges.py) and the penalties that
the pair already has (penalty_record.py) go into penalty_ladder.py. The ladder of an offence has a
step for the first time, the second time and so on. proposals.py returns the legal penalties for a
person to choose from, with the consequences of each penalty for the match. controller/match applies
the consequences.
"""
