"""Whole matches through real processes: by public sockets and buttons' pins, to the sheet.

The simulator, the machine and the gateway are processes of their own; mechanics run a
thousand times as fast as people, whose buttons and clocks do not.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.journal.verify import verify
from controller.rules.profile_files import load_profile
from controller.sheet.printed_sheet import render_sheet
from sim.tables.table_processes import HallPlan, run_hall
from tests.match.table import INTL, B
from tests.matches.at_hall import AtHall
from tests.matches.expected import Replay, comparable
from tests.matches.people import People
from tests.matches.script import Deal, Script
from tests.matches.watch import leaks, standstills
from tests.processes.short_matches import SPEED, event_file

FROM_KING = '[levels]\nstart = "K"'
SHORT = "[ending]\ndeals = 2"
"""What an event settles so that a match is short."""
WHOLE = ("NS", "NS", "NS", "NS", "EW", "EW", "EW", "EW", "NS", "NS")
THROUGH_A = ("NS", "EW", "NS", "NS")
"""Both sides come to A and play it; N and S pass theirs: from 2 on, and from the king."""


async def played(folder: Path, script: Script, event: Path | None = None) -> dict[str, Any]:
    """Play a script through real processes; return the sheet, when all was right."""
    state_dir = folder / "state"
    plan = HallPlan(state_dir, speed=SPEED, profile=script.profile.name, event=event)
    async with run_hall(plan) as (table,), AtHall(table) as people:
        playing = People(people, script)
        sheet = await playing.play()
        await is_printed(state_dir, sheet)
    replay = Replay(script, playing.dealt, people.events)
    assert comparable(sheet) == comparable(replay.sheet())
    assert leaks(script.profile, people.states, people.events) == []
    assert standstills(people.states) == []
    report = verify(state_dir, events=() if event is None else (event,))
    assert report.findings == []
    assert {each.unknown_rules for each in report.attempts} == {None}
    assert len(report.attempts) >= len(script.deals)
    return sheet


async def is_printed(state_dir: Path, sheet: dict[str, Any]) -> None:
    """Assert that a referee's terminal prints the sheet as the table has it."""
    printing = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controller.cli", "sheet", "--state-dir", str(state_dir)),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await printing.communicate()
    assert printing.returncode == 0
    assert said.decode() == render_sheet(sheet, "zh")


async def test_a_match_goes_from_first_shuffle_to_signed_sheet_by_sockets_and_pins(
    tmp_path: Path,
) -> None:
    event = event_file(tmp_path, B, SHORT)
    deals = (Deal("NS", entered=True), Deal("ENW", entered=True))
    sheet = await played(tmp_path, Script(load_profile(B, event), deals), event)
    assert (sheet["state"], sheet["rules"]["event_en"]) == ("signed", "Cup")


@pytest.mark.slow
async def test_both_sides_come_to_a_and_one_passes_it(
    tmp_path: Path, scale: Callable[[int], int]
) -> None:
    """From 2 on at full scale: then nothing is shortened by an event."""
    whole = scale(len(WHOLE)) == len(WHOLE)
    event = None if whole else event_file(tmp_path, INTL, FROM_KING)
    orders = WHOLE if whole else THROUGH_A
    deals = tuple(Deal(order, entered=n > 0) for n, order in enumerate(orders))
    sheet = await played(tmp_path, Script(load_profile(INTL, event), deals), event)
    assert (sheet["state"], sheet["levels"]) == ("signed", {"NS": "A+", "EW": "A"})
    owned = [(row["owner"], row["level"]) for row in sheet["deals"]]
    assert {("NS", "A"), ("EW", "A")} <= set(owned)
