"""Tables with two sets, which deal the next deal while one is played."""

import asyncio

from controller.config import CardSetSection
from controller.messages import MachinePhase, Role
from sim.tables.table_in_process import TableInProcess
from tests.machine.stages import all_press, opened, ordered, started

TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
AHEAD = {"card_sets": TWO_SETS, "deal_ahead": True}


async def deal_one_played(trial: TableInProcess) -> None:
    """Bring a match to its first deal's play: set S1 is out, S2 lies in the hopper."""
    await opened(trial)
    await started(trial)
    await ordered(trial, Role.TABLE, "cut", n=40)
    await trial.wait_for_phase(MachinePhase.HELD)
    await asyncio.sleep(0.3)
    await ordered(trial, Role.REFEREE, "release")
    await trial.wait_for_phase(MachinePhase.RELEASED)
    await trial.take_hands()
    await trial.wait_until_seen(lambda truth: truth.lift_down)
    await trial.load("S2")
    await asyncio.sleep(1)
    await all_press(trial, "NWSE")


async def result_confirmed(trial: TableInProcess) -> None:
    """Enter that North and South are out, and confirm it."""
    if trial.states[-1].match.led is False:
        await all_press(trial, trial.states[-1].match.leader or "")
    await ordered(trial, Role.REFEREE, "out", seat="N")
    await ordered(trial, Role.REFEREE, "out", seat="S")
    await ordered(trial, Role.REFEREE, "confirm")
