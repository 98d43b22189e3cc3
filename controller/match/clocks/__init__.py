"""Clocks of a match: pure values that take time as input and answer with proposals.

countdown.py has the clocks of players' duties at one table, duties.py says which clock a
rulebook gives to which duty, match_clock.py is the time of the match, stopwatch.py what
both run on and due.py what they say. Everywhere `at_ms` is milliseconds of one clock that
does not run back, given from outside. Nothing here acts: a referee makes a ruling of a
proposal, or does not.
"""

from controller.match.clocks.duty_clocks import DutyClock, DutyClocks
from controller.match.clocks.match_clock import AddedTime, MatchClock
from controller.match.clocks.stopwatch import ClockReport

__all__ = ["AddedTime", "ClockReport", "DutyClock", "DutyClocks", "MatchClock"]
