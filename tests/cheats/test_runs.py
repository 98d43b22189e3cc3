"""Runs of the daemon that were none: what only a power cut excuses needs a run that began."""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cheats.changed import VICTIM, Evening, said
from tests.cheats.evenings import A_VOID_BETWEEN, THREE_DEALS
from tests.cheats.honest_sessions import HonestSessions
from tests.cheats.rows import Change, Rows, changed, of

pytestmark = [pytest.mark.virtual, pytest.mark.slow]
OTHER = "0badb007"
NOT_OPENED, OVER = f"is of run {OTHER}, which was not opened before it", "another run began"


class Lie(NamedTuple):
    """What is changed in the rows of an evening, and what is said of it then."""

    name: str
    evening: Evening
    change: Change
    found: str
    on_feed: str


def of_another_run(kind: str, reason: str | None = None) -> Change:
    """Return what says that another run wrote one row of an attempt that was given up."""

    def change(rows: Rows) -> None:
        if reason is not None:
            of(rows, "verdict", VICTIM)["data"].update(reasons=[reason], outcome="misdeal")
        of(rows, kind, VICTIM)["boot"] = OTHER

    return change


def sealed_by(*kinds: str) -> Change:
    """Return what claims a power cut, of which these rows alone know."""

    def change(rows: Rows) -> None:
        of(rows, "verdict", VICTIM)["data"].update(reasons=["POWER"], outcome="void")
        rows.remove(of(rows, "record", VICTIM))
        sealed = of(rows, "revealed", VICTIM)
        sealed.update(kind="sealed_to_chief", data={"reason": "POWER"})
        for kind in kinds:
            of(rows, kind, VICTIM)["boot"] = OTHER

    return change


def opened_twice(rows: Rows) -> None:
    """Say in the middle of a run that it begins."""
    rows.insert(rows.index(of(rows, "seed", VICTIM)), dict(of(rows, "opened")))


def last_row(rows: Rows) -> None:
    """Say that the very last row, behind which nothing can come back, is another run's."""
    rows[-1]["boot"] = OTHER


def came_back(rows: Rows) -> None:
    """Begin another run for one attempt, as a run begins, and go on with the first."""
    begins = rows.index(of(rows, "seed", VICTIM))
    ends = rows.index(of(rows, "record", VICTIM)) + 1
    for row in rows[begins:ends]:
        row["boot"] = OTHER
    rows.insert(begins, of(rows, "opened") | {"boot": OTHER})


LIES = (
    Lie("a power cut", A_VOID_BETWEEN, sealed_by("sealed_to_chief"), NOT_OPENED, NOT_OPENED),
    Lie("a seed of another run", A_VOID_BETWEEN, sealed_by("seed"), NOT_OPENED, ""),
    Lie("a lost look", A_VOID_BETWEEN, of_another_run("record", "PULSE_COUNT"), OVER, OVER),
    Lie("a step of another run", THREE_DEALS, of_another_run("begun"), NOT_OPENED, NOT_OPENED),
    Lie("a last row", THREE_DEALS, last_row, NOT_OPENED, ""),
    Lie("a run that came back", THREE_DEALS, came_back, OVER, OVER),
    Lie("a run that is opened twice", THREE_DEALS, opened_twice, "a second time", "second time"),
)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
async def test_a_run_that_was_none_is_found(
    lie: Lie, honest: HonestSessions, tmp_path: Path
) -> None:
    await honest.spend(lie.evening)
    journal, feed = changed(tmp_path, lie.change)
    assert lie.found in said(journal)
    assert journal.findings
    assert lie.on_feed in said(feed)


async def test_pins_that_were_lost_before_a_run_was_opened_are_no_finding(
    honest: HonestSessions, tmp_path: Path
) -> None:
    await honest.spend(THREE_DEALS)

    def pins_lost(rows: Rows) -> None:
        lost = {"code": 306, "name": "PANEL_LOST", "evidence": {"found": "no pins"}}
        rows.insert(0, rows[0] | {"kind": "fault", "data": lost})

    journal, feed = changed(tmp_path, pins_lost)
    assert (said(journal), said(feed)) == ("", "")
