"""A record that shows nothing and a reason that nobody can check come out like any other cheat."""

import asyncio
import random
from pathlib import Path

import pytest

from controller.messages import MachinePhase, Role
from sim.tables.table_in_process import TableInProcess
from tests.cheats import records
from tests.cheats.changed import Cheat, Evening, said, spend
from tests.cheats.evenings import A_LOOK_S, BRISK
from tests.machine.stages import A_MOMENT_S, ordered
from tests.simulated_players import SimulatedPlayers

pytestmark = [pytest.mark.virtual, pytest.mark.slow]


@pytest.mark.parametrize("cheat", records.CHEATS, ids=str)
async def test_a_hollow_record_or_reason_is_found_out(
    cheat: Cheat, tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = await spend(cheat.evening, cheat.parts, tmp_path, runtime_dir, monkeypatch)
    journal, feed = said(left.journal()), said(left.feed())
    assert cheat.found
    assert cheat.found in journal
    assert cheat.on_feed in feed if cheat.on_feed else not feed


async def test_what_opens_no_look_has_no_grade_of_hands(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheat = records.CHEATS[0]
    left = await spend(cheat.evening, cheat.parts, tmp_path, runtime_dir, monkeypatch)
    for report in (left.journal(), left.feed()):
        assert [each.grade for each in report.attempts] == ["hands", "sequence", "hands"]


async def test_who_looked_in_one_match_may_void_a_deal_of_the_next(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deal 1 of the next match has the number of the deal whose hand he saw, and is another."""
    two = Evening(name="a look in one match, a void in the next", people=_look_and_void)
    left = await spend(two, {}, tmp_path, runtime_dir, monkeypatch)
    kinds = [(each.kind, each.data.get("cmd")) for each in left.events]
    assert ("opened_hand", None) in kinds
    assert ("command", "void") in kinds
    assert (said(left.journal()), said(left.feed())) == ("", "")


async def _look_and_void(at: TableInProcess) -> None:
    people = SimulatedPlayers(at, random.Random("two matches"), deal_ahead=False, durations=BRISK)
    await people.begin_match("cup/1")
    async with asyncio.TaskGroup() as both:
        both.create_task(_open_a_hand(at))
        both.create_task(people.play(1))
    await people.sign()
    await people.begin_match("cup/2")
    playing = asyncio.ensure_future(people.play(1))
    await at.wait_for_state(
        lambda state: state.machine.phase in (MachinePhase.DEALING, MachinePhase.HELD)
    )
    await ordered(at, Role.CHIEF, "void", reason="a card lay open")
    await asyncio.wait([playing], timeout=20 * A_LOOK_S)
    playing.cancel()


async def _open_a_hand(at: TableInProcess) -> None:
    """Ask for a hand until it may be seen."""
    await at.wait_for_state(lambda state: state.machine.phase is MachinePhase.RELEASED)
    while True:
        if (await at.send_command(Role.CHIEF, "open_hand", seat="N", reason="asked")).ok:
            return
        await asyncio.sleep(A_MOMENT_S)
