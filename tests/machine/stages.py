"""A match at a table in process, brought to any stage of its second deal.

The first deal is drawn by hand, and North and South are both out first: so the second deal
has tributes of West and East, and the machine deals it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

from controller.messages import CommandReply, MachinePhase, PublicState, Role
from sim.tables.table_in_process import TableInProcess

PAIRS = {
    "NS": {"id": "P1", "name": "Plum", "players": {"N": "Nan", "S": "Sun"}},
    "EW": {"id": "P2", "name": "Pine", "players": {"E": "Eve", "W": "Wu"}},
}
MATCH = {"match_id": "M1", "event": "Cup", "round": 1, "match_no": 1, "table_no": "7"}
A_MOMENT_S = 0.3
"""What people take to look up before the next word."""


class Told(Protocol):
    """A table that takes orders, in this process or not. `states`: what its feed told."""

    states: list[PublicState]

    async def send_command(self, role: Role, cmd: str, /, **args: Any) -> CommandReply:
        """Give a signed order."""


async def ordered(trial: Told, role: Role, cmd: str, /, **args: Any) -> CommandReply:
    """Give an order that must be taken."""
    reply = await trial.send_command(role, cmd, **args)
    assert reply.ok, (cmd, args, reply.error)
    await asyncio.sleep(A_MOMENT_S)
    return reply


async def refused(trial: Told, role: Role, cmd: str, /, **args: Any) -> str:
    """Give an order that must be refused; return the code."""
    reply = await trial.send_command(role, cmd, **args)
    assert not reply.ok, (cmd, args, reply.result)
    assert reply.error is not None
    return reply.error.code


def alerts(trial: TableInProcess) -> list[str]:
    """Return what is up, by its names, the cause first."""
    return [alert.name for alert in trial.states[-1].alerts]


async def all_press(trial: Told, seats: str) -> None:
    """Have the green button of each seat pressed once."""
    for seat in seats:
        await ordered(trial, Role.TABLE, "confirm", seat=seat)


async def opened(trial: TableInProcess) -> None:
    """Lay a match out and open it."""
    await trial.wait_for_phase(MachinePhase.EMPTY)
    await ordered(trial, Role.REFEREE, "set_match", **MATCH, stage="swiss", pairs=PAIRS)
    await all_press(trial, "NWSE")
    await ordered(trial, Role.CHIEF, "start_match")


async def deal_two_due(trial: TableInProcess) -> None:
    """Play the first deal by hand; the second is due then, at level 5, with two tributes."""
    await opened(trial)
    await ordered(trial, Role.REFEREE, "dealt_by_hand", reason="the machine comes later")
    match = trial.states[-1].match
    assert match is not None
    await ordered(trial, Role.REFEREE, "shuffled", seat="E")
    await ordered(trial, Role.REFEREE, "cut_by_hand", seat="S", n=40)
    await ordered(trial, Role.REFEREE, "turned_up", card="SA")
    await ordered(trial, Role.REFEREE, "hands_dealt", turned_to="S", turned_up="SA")
    await all_press(trial, "NWSE")
    await ordered(trial, Role.REFEREE, "result", order=["N", "S"])
    await ordered(trial, Role.REFEREE, "confirm")


async def started(trial: TableInProcess) -> None:
    """Start the deal that is due: it is committed then, and waits for its cut."""
    await ordered(trial, Role.REFEREE, "start_deal")
    await trial.wait_for_phase(MachinePhase.COMMITTED)


async def cut(trial: TableInProcess) -> None:
    """Cut by whose duty it is."""
    await ordered(trial, Role.TABLE, "cut", n=40)


async def _shuffling(trial: TableInProcess) -> None:
    await cut(trial)
    await trial.wait_for_phase(MachinePhase.SHUFFLING)


async def _dealing(trial: TableInProcess) -> None:
    await trial.wait_for_state(lambda state: state.machine.fed >= 30)


async def _held(trial: TableInProcess) -> None:
    await trial.wait_for_phase(MachinePhase.HELD)
    await asyncio.sleep(A_MOMENT_S)


async def _count_check(trial: TableInProcess) -> None:
    await ordered(trial, Role.REFEREE, "release")
    await trial.wait_for_phase(MachinePhase.RELEASED)
    await trial.take_hands()
    await trial.wait_until_seen(lambda truth: truth.lift_down)


async def _tribute(trial: TableInProcess) -> None:
    await all_press(trial, "NWSE")
    assert at(trial) == "tribute"


async def _return(trial: TableInProcess) -> None:
    await all_press(trial, "WE")
    assert at(trial) == "return"


async def _play(trial: TableInProcess) -> None:
    await all_press(trial, "NS")
    assert at(trial) == "play"


async def _led(trial: TableInProcess) -> None:
    match = trial.states[-1].match
    assert match is not None
    assert match.leader is not None
    await all_press(trial, match.leader)


async def _result(trial: TableInProcess) -> None:
    await ordered(trial, Role.REFEREE, "out", seat="N")
    await ordered(trial, Role.REFEREE, "out", seat="S")
    assert at(trial) == "result"


STEPS: dict[str, Callable[[TableInProcess], Awaitable[None]]] = {
    "due": deal_two_due,
    "committed": started,
    "shuffling": _shuffling,
    "dealing": _dealing,
    "held": _held,
    "count_check": _count_check,
    "tribute": _tribute,
    "return": _return,
    "play, before the first lead": _play,
    "play, after the first lead": _led,
    "result": _result,
}
"""The stages of the second deal, and the step from the one before to each."""


async def _bring(stage: str, trial: TableInProcess) -> None:
    for name, step in STEPS.items():
        await step(trial)
        if name == stage:
            return


STAGES = {stage: partial(_bring, stage) for stage in STEPS}
"""How the second deal comes to each stage."""


def at(trial: TableInProcess) -> str:
    """Return the phase of the match."""
    match = trial.states[-1].match
    assert match is not None
    return str(match.phase)
