"""Clocks of a match: pure values that receive the time and return proposals.

duty_clocks.py has the clocks of players' duties at one table, with the clock of each duty by the
rulebook. match_clock.py has the time of the match, and stopwatch.py what both use. `at_ms` is
always milliseconds of one clock that does not go backwards, passed in from outside. A clock only
proposes. A referee decides on a ruling.
"""
