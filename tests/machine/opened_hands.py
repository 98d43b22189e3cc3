"""Matches whose rulebook fixes when played hands are opened."""

import asyncio

import msgspec

from controller.messages import MachinePhase, Role
from controller.rules.profile import Profile
from sim.tables.table_in_process import TableInProcess
from tests.machine.stages import all_press, ordered
from tests.match.table import INTL, varied

A_WHILE_S = 3.0


def opening(when: str, deals: int = 2) -> Profile:
    """Return a rulebook whose match has `deals` deals and whose hands are opened `when`."""
    rules = varied(INTL, ending={"method": "deals", "deals": deals})
    return msgspec.structs.replace(rules, hands_opened=when)


async def dealt(at: TableInProcess) -> None:
    """Deal the deal that is due, and confirm the counts of its hands."""
    at.lay_down()
    if not at.sim.world.truth().hopper:
        await at.load()
    await at.wait_for_phase(MachinePhase.EMPTY)
    await ordered(at, Role.REFEREE, "start_deal")
    await at.wait_for_phase(MachinePhase.COMMITTED)
    await ordered(at, Role.TABLE, "cut", n=40)
    await at.wait_for_state(lambda state: state.match.phase == "held")
    await ordered(at, Role.REFEREE, "release")
    await at.take_hands()
    await all_press(at, "NWSE")


async def played(at: TableInProcess, order: str) -> None:
    """Pay what is owed; enter the result of the deal and confirm it."""
    while at.states[-1].match.phase in ("tribute", "return"):
        await all_press(at, at.states[-1].match.waiting_for[0])
    await ordered(at, Role.REFEREE, "result", order=list(order))
    await ordered(at, Role.REFEREE, "confirm")
    await asyncio.sleep(A_WHILE_S)
