"""A client without manners: so many commands a second, whatever it is told."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from controller.client.client import Client
from controller.messages import ClientCommand, CommandReply

SEND_INTERVAL_S = 0.02
"""How often it sends; what is due goes out at once."""


@asynccontextmanager
async def flood_commands(
    client: Client, per_s: float, make: Callable[[int], ClientCommand]
) -> AsyncIterator[Counter[str]]:
    """Send `per_s` commands a second for the block, and count the answers by what they say."""
    answers: Counter[str] = Counter()
    flooding = asyncio.ensure_future(_send_commands(client, per_s, make, answers))
    try:
        yield answers
    finally:
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)


async def _send_commands(
    client: Client, per_s: float, make: Callable[[int], ClientCommand], answers: Counter[str]
) -> None:
    loop = asyncio.get_running_loop()
    begun_s, sent = loop.time(), 0
    asked: set[asyncio.Task[CommandReply]] = set()

    def answered(task: asyncio.Task[CommandReply]) -> None:
        asked.discard(task)
        if not task.cancelled() and task.exception() is None:
            error = task.result().error
            answers[error.code if error else "ok"] += 1

    try:
        while True:
            while sent < (loop.time() - begun_s) * per_s:
                sent += 1
                task = asyncio.ensure_future(client.send(make(sent)))
                asked.add(task)
                task.add_done_callback(answered)
            await asyncio.sleep(SEND_INTERVAL_S)
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


def make_read_command(number: int) -> ClientCommand:
    """Return a command that asks for as much as an answer can hold."""
    return msgspec.convert(
        {"id": f"flood-{number}", "cmd": "events", "args": {"since": 0}}, ClientCommand
    )
