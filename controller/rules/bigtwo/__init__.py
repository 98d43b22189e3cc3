"""Big Two (锄大地), a practice profile: combinations, play, choices, scores and rankings.

Seed 002 wants approved software and the same deals at several tables (A3, A13): at a
table that deals by itself nothing here is more than practice, and what the seed lacks
is listed in gaps.py.
"""
