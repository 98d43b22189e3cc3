"""A match of two deals at a real table whose mechanics are quick."""

from pathlib import Path

from sim.tables.table_processes import HallPlan
from tests.match.table import INTL
from tests.matches.script import Deal, Script
from tests.processes.short_matches import SPEED, event_file

SHORT = '[levels]\nstart = "A"'
"""Two deals, and the match is over."""


def short_plan(folder: Path) -> HallPlan:
    """Return a hall of one table whose matches are short."""
    event = event_file(folder, INTL, SHORT)
    return HallPlan(folder / "hall", tables=1, speed=SPEED, event=event)


def script(plan: HallPlan) -> Script:
    """Return a match of two deals that NS win."""
    return Script(plan.rules, (Deal("NS", entered=True), Deal("NS", entered=True)))
