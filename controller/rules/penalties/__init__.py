"""Offences and their penalties. The program only proposes penalties, and a person decides.

offences.toml is the catalogue, read by offences.py. A charge (charges.py) and the record of the
pair (penalty_record.py) go into the ladder (penalty_ladder.py). proposals.py returns the legal
answers for a person, with the consequences of each penalty for the match. controller/match carries
out the consequences.
"""
