"""The clocks of a match: pure functions, which return the reports that are due at a given time.

duty_clocks.py has the clocks of players' duties at one table, as the rulebook defines them.
match_clock.py has the time of the match, and stopwatch.py what both use. The caller passes `at_ms`,
which is always the time in ms of one clock that does not go backwards. A clock only reports. A
referee decides on a ruling.
"""
