"""A real table: commands past the browser, and players who take their hands."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from controller.messages import PublicState, Role
from sim.tables.table_processes import TableProcess
from tests.matches.at_hall import AtHall

PAIRS = {
    "NS": {"id": "P1", "name": "Plum", "players": {"N": "Nan", "S": "Sun"}},
    "EW": {"id": "P2", "name": "Pine", "players": {"W": "Wu", "E": "Eve"}},
}
MEETING: dict[str, Any] = {
    "match_id": "M1",
    "event": "Cup",
    "round": 1,
    "match_no": 1,
    "table_no": "7",
    "stage": "swiss",
    "pairs": PAIRS,
}


async def reaches(at: AtHall, wanted: Callable[[PublicState], bool]) -> PublicState:
    """Return the first state of a table that is as wanted."""
    while not (at.states and wanted(at.states[-1])):
        await at.later(1.0)
    return at.states[-1]


async def order(at: AtHall, role: Role, cmd: str, bound: str = "", **args: Any) -> None:
    """Give a command past the browser: what is not this test's matter."""
    state = at.states[-1]
    about = {
        "machine": (state.machine.deal, state.machine.attempt),
        "match": (state.match.deal, state.match.attempt),
    }.get(bound, (None, None))
    reply = await at.ask(role, cmd, about, args)
    assert reply.ok, f"{cmd}: {reply.error}"


@contextlib.asynccontextmanager
async def players_of(table: TableProcess) -> AsyncIterator[None]:
    """Let players take hands out of the pockets and lay the set back, for the block."""

    async def take() -> None:
        async with AtHall(table) as at:
            while True:
                truth = await table.control.request("truth")
                if truth["lift_up"] and any(truth["pockets"][:4]):
                    await table.control.request("take_hands")
                await at.later(1.0)

    taking = asyncio.create_task(take())
    try:
        yield
    finally:
        taking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await taking
