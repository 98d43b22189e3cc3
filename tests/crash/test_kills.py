"""A daemon killed after any entry of its journal: the same attempt goes on."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.trials.inproc import Trial
from controller.trials.mortal import Death
from tests.crash.lives import Scene, Script
from tests.crash.people import practice

pytestmark = [pytest.mark.virtual, pytest.mark.timeout(900), pytest.mark.slow]

FAULTS = ("wrong_pocket:at=20", "unreadable:at=60,times=4")
"""A misdeal in the first attempt, and a card of the second that goes to the tray."""
AS_IT_GOES = [("misdeal", ["WRONG_POCKET"]), ("ok", [])]
ENTRIES = 61
"""How many entries such a deal has, where nobody dies."""
BEHIND_S = (0.0, 0.0, 0.001, 0.02, 0.15, 0.4, 1.7)
"""When a daemon dies behind an entry: at once, or in the middle of what follows it."""
AWAY_S = (0.0, 0.3, 2.0, 30.0)
"""How long there is none: boards go on for half a second without one."""
FULL = 600
SEAMS = (
    *("opened", "seed", "committed", "cut", "command", "begun", "shuffled", "dealt", "hands_box"),
    *("held", "verdict", "released", "revealed", "record", "fault", "fault_cleared"),
)
"""Entries behind which a store could be torn within a step, were it not for its transactions."""


def deaths(times: int, entries: int = ENTRIES) -> list[Death]:
    """Return that many deaths, evenly over the entries."""
    chance = random.Random("deaths")
    return [
        Death(
            1 + number * entries // times,
            BEHIND_S[number % len(BEHIND_S)],
            chance.choice(AWAY_S),
        )
        for number in range(times)
    ]


def in_a_row(chance: random.Random) -> list[Death]:
    """Return some deaths, one life after the other; the next may come before anything was done."""
    entry, row = 0, []
    for _ in range(chance.randint(2, 6)):
        entry += chance.choice((1, 2, 3, 7, 15, 30))
        row.append(Death(entry, chance.choice(BEHIND_S), chance.choice(AWAY_S)))
    return row


Ends = list[tuple[str, list[str]]]
"""How a scene's attempts ended, and why."""


async def ends_of(scene: Scene, script: Script, *row: Death) -> Ends:
    """Play through these deaths; assert what must hold, and return how the attempts ended."""
    try:
        for death in row:
            if await scene.live(script, death):
                break
        else:
            assert await scene.live(script)
        scene.check()
        return [(outcome, reasons) for _, outcome, reasons in scene.outcomes() if outcome]
    except BaseException as error:
        error.add_note(f"after {row}")
        raise
    finally:
        scene.sim.close()


async def test_a_deal_has_the_entries_that_a_daemon_is_killed_behind(
    tmp_path: Path, runtime_dir: Path
) -> None:
    scene = Scene.new(FAULTS, tmp_path / "scene", runtime_dir)
    assert await ends_of(scene, practice(1)) == AS_IT_GOES
    kinds = {chained.entry.kind for chained in scene.entries()}
    assert {"seed", "cut", "begun", "shuffled", "wire", "record", "released"} <= kinds
    assert len(scene.entries()) >= ENTRIES
    assert any(chained.entry.data.get("refed") for chained in scene.entries())


@pytest.mark.parametrize("kind", SEAMS)
async def test_a_daemon_that_dies_with_a_step_half_written_takes_it_again(
    kind: str, tmp_path: Path, runtime_dir: Path
) -> None:
    whole = Scene.new(FAULTS, tmp_path / "whole", runtime_dir)
    await ends_of(whole, practice(1))
    for number, at in enumerate(
        each.entry.n for each in whole.entries() if each.entry.kind == kind
    ):
        scene = Scene.new(FAULTS, tmp_path / str(number), runtime_dir)
        assert await ends_of(scene, practice(1), Death(at)) == AS_IT_GOES, at


async def test_a_killed_daemon_goes_on_with_the_same_attempt_wherever_it_stood(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    for number, death in enumerate(deaths(scale(FULL))):
        scene = Scene.new(FAULTS, tmp_path / str(number), runtime_dir, seed=number)
        assert await ends_of(scene, practice(1), death) == AS_IT_GOES, death


async def test_a_daemon_that_is_killed_again_and_again_goes_on_with_the_same_attempt(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    for number in range(scale(200)):
        chance = random.Random(f"row {number}")
        scene = Scene.new(FAULTS, tmp_path / str(number), runtime_dir, seed=number)
        row = in_a_row(chance)
        assert await ends_of(scene, practice(1), *row) == AS_IT_GOES, row


async def test_a_card_whose_look_was_late_keeps_the_route_that_the_dead_daemon_gave_it(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    """Patience is in no journal: what followed from it is seen from what the cards did."""
    for number in range(scale(200)):
        chance = random.Random(f"deaf {number}")
        scene = Scene.new((), tmp_path / str(number), runtime_dir, seed=number)
        death = Death(8, 15 * chance.random(), chance.choice(AWAY_S))
        ended = await ends_of(scene, with_late_looks(chance), death)
        told = {reason for _, reasons in ended for reason in reasons}
        assert told <= {"TRAY_FULL", "UNREADABLE"}, death  # such a reader costs a deal now and then


def with_late_looks(chance: random.Random) -> Script:
    """Return what people do at a table whose reader is not heard for a moment, now and then."""

    async def play(scene: Scene, at: Trial) -> None:
        line = scene.sim.port("reader").to_host

        async def deafen() -> None:
            while True:
                await asyncio.sleep(chance.uniform(2, 4))
                line.spoil = lambda data: []
                await asyncio.sleep(chance.uniform(0.32, 0.45))
                line.spoil = None

        deafening = asyncio.ensure_future(deafen())
        try:
            await practice(1)(scene, at)
        finally:
            deafening.cancel()
            line.spoil = None

    return play
