"""Clients without manners, while a deal is under way: refused clearly, and the deal goes on."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from controller.client.client import Client
from controller.gateway.rates import BURST, PER_S
from controller.messages import Outcome, Phase, Reply, Role
from controller.trials.hall import RunningTable
from tests.processes.conftest import Dealtable
from tests.processes.people import People
from tests.processes.test_metrics import scrape

pytestmark = pytest.mark.slow

PER_TICK, TICK_S = 20, 0.02
HUGE = 10_000_000

FLOODS: dict[str, tuple[Callable[[int], bytes], set[str | None]]] = {
    "reading": (
        lambda n: b'{"id":"%d","cmd":"events","args":{"since":0}}' % n,
        {None, "TOO_MANY"},
    ),
    "no signature": (lambda n: b'{"id":"%d","cmd":"release"}' % n, {"UNKNOWN_KEY", "TOO_MANY"}),
    "no JSON": (lambda n: b'{"id":"%d","cmd":' % n, {"BAD_COMMAND"}),
}


async def flood(
    client: Client, make: Callable[[int], bytes], until: asyncio.Event
) -> Counter[str | None]:
    """Send a thousand commands a second until told to stop; count what was answered."""
    socket = client._command_line().socket
    client._tasks.pop().cancel()  # the answers are counted here
    answers: Counter[str | None] = Counter()

    async def listen() -> None:
        while True:
            reply = msgspec.json.decode(await socket.recv(), type=Reply)
            answers[reply.error.code if reply.error else None] += 1

    listening = asyncio.ensure_future(listen())
    sent = 0
    while not until.is_set():
        for _ in range(PER_TICK):
            sent += 1
            await socket.send(make(sent))
        await asyncio.sleep(TICK_S)
    listening.cancel()
    answers["sent"] = sent
    return answers


@pytest.mark.parametrize(("make", "expected"), FLOODS.values(), ids=FLOODS)
async def test_a_thousand_commands_a_second_are_refused_and_the_deal_is_dealt(
    table: RunningTable,
    people: People,
    dealtable: Dealtable,
    make: Callable[[int], bytes],
    expected: set[str | None],
) -> None:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with table.client(Role.OBSERVER) as stranger:
        begun_s = loop.time()
        flooding = asyncio.ensure_future(flood(stranger, make, done))
        state = await people.held()
        done.set()
        answers = await flooding
        took_s = loop.time() - begun_s

    assert state.fairness[-1].outcome is Outcome.OK
    assert await people.pockets() == [27, 27, 27, 27, 0]
    sent = answers.pop("sent")
    assert sent > 500
    assert set(answers) == expected
    reached = answers[None] + answers["UNKNOWN_KEY"]
    assert reached <= BURST + PER_S * took_s + PER_TICK
    assert (await dealtable("verify", table.state_dir)).code == 0


async def test_a_message_of_ten_megabytes_ends_its_connection_and_nothing_else(
    table: RunningTable, people: People
) -> None:
    async with table.client(Role.OBSERVER) as stranger:
        assert (await stranger.ask("snapshot")).ok
        socket = stranger._command_line().socket
        await people.deal(lambda state: state.machine.phase is Phase.DEALING)
        for _ in range(5):
            await socket.send(b"x" * HUGE)
        state = await people.held()
        assert state.fairness[-1].outcome is Outcome.OK
        assert (await stranger.ask("snapshot")).ok  # it may come again, with better manners
    told = scrape(table)
    memory = next(
        float(line.rpartition(" ")[2])
        for line in told.splitlines()
        if line.startswith("process_resident_memory_bytes")
    )
    assert memory < HUGE * 10


async def test_a_refusal_says_how_many_are_too_many(table: RunningTable) -> None:
    async with table.client(Role.OBSERVER) as stranger:
        for number in range(int(BURST) * 20):
            reply = await stranger.ask("snapshot", command_id=str(number))
            if not reply.ok:
                break
        assert reply.error is not None
        assert reply.error.code == "TOO_MANY"
        assert f"{PER_S:g} a second" in reply.error.message
        assert json.dumps(reply.error.action)
