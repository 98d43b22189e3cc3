"""Clients without manners, while a deal is under way: refused clearly, and the deal goes on."""

import asyncio
import itertools
import re
from collections.abc import Callable

import msgspec
import pytest

from controller.client.client import Client
from controller.gateway.admission import COMMAND_BURST, COMMANDS_PER_S
from controller.messages import AttemptOutcome, CommandReply, Role
from sim.tables.table_processes import TableProcess
from tests.processes.metrics import scrape
from tests.processes.people import FAST, People
from tests.processes.program import Dealtable

pytestmark = pytest.mark.slow

AT_ONCE = 4 * int(COMMAND_BURST)
"""Commands that are sent before the first answer is read: more than one key may send."""
HUGE = 10_000_000

FLOODS: dict[str, tuple[Callable[[int], bytes], set[str | None]]] = {
    "reading": (lambda n: b'{"id":"%d","cmd":"events","args":{"since":0}}' % n, {None, "TOO_MANY"}),
    "no signature": (lambda n: b'{"id":"%d","cmd":"release"}' % n, {"UNKNOWN_KEY", "TOO_MANY"}),
    "no JSON": (lambda n: b'{"id":"%d","cmd":' % n, {"BAD_COMMAND"}),
}


async def flood(
    client: Client, make: Callable[[int], bytes], until: asyncio.Event
) -> set[str | None]:
    """Send commands without a pause until `stop`; return how they were answered."""
    socket = client._open_commands().socket
    client._tasks.pop().cancel()  # the answers are read here
    answers: set[str | None] = set()
    numbers = itertools.count(1)
    while not until.is_set():
        for number in itertools.islice(numbers, AT_ONCE):
            await socket.send(make(number))
        answered = await socket.recv()
        while answered:
            reply = msgspec.json.decode(answered, type=CommandReply)
            answers.add(reply.error.code if reply.error else None)
            answered = await socket.recv() if await socket.poll(0) else b""
    return answers


@pytest.mark.parametrize(("make", "expected"), FLOODS.values(), ids=FLOODS)
async def test_a_flood_of_commands_is_refused_and_the_deal_is_dealt(
    table: TableProcess,
    people: People,
    dealtable: Dealtable,
    make: Callable[[int], bytes],
    expected: set[str | None],
) -> None:
    done = asyncio.Event()
    async with table.client(Role.OBSERVER) as stranger:
        flooding = asyncio.ensure_future(flood(stranger, make, done))
        state = await people.held()
        done.set()
        answers = await flooding

    assert state.fairness[-1].outcome is AttemptOutcome.OK
    assert await people.pockets() == [27, 27, 27, 27, 0]
    assert answers == expected
    assert (await dealtable("verify", table.state_dir)).code == 0


async def test_a_message_of_ten_megabytes_ends_its_connection_and_nothing_else(
    table: TableProcess, people: People
) -> None:
    async with table.client(Role.OBSERVER) as stranger:
        assert (await stranger.ask("snapshot")).ok
        socket = stranger._open_commands().socket
        await people.deal_to_card()
        for _ in range(5):
            await socket.send(b"x" * HUGE)
        await table.control.request("speed", value=FAST)
        state = await people.held()
        assert state.fairness[-1].outcome is AttemptOutcome.OK
        assert (await stranger.ask("snapshot")).ok  # it may come again, with better manners
    told = scrape(table)
    memory = next(
        float(line.rpartition(" ")[2])
        for line in told.splitlines()
        if line.startswith("process_resident_memory_bytes")
    )
    assert memory < HUGE * 10


async def test_a_refusal_says_how_many_are_too_many(table: TableProcess) -> None:
    async with table.client(Role.OBSERVER) as stranger:
        asked = [stranger.ask("snapshot", command_id=str(n)) for n in range(AT_ONCE)]
        replies = await asyncio.gather(*asked)
    refusals = [reply.error for reply in replies if reply.error is not None]
    assert {refusal.code for refusal in refusals} == {"TOO_MANY"}
    for refusal in refusals:
        assert re.search(rf"{COMMANDS_PER_S:g} a second|at most \d+ at a time", refusal.message)
        assert refusal.action
