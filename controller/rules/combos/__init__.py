"""Combinations of cards (牌型): their kinds, which play is higher, and plays as text."""
