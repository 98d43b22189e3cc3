"""A process that hears a table, is busy until its queue is full and its line lost, and reads on.

    python -m tests.console.deaf feed    as a console hears it; `line`: as `dealtable watch` does

prints how often the table was heard behind that.
"""

import asyncio
import select
import sys
from contextlib import suppress

import zmq
import zmq.asyncio

from controller.client.connection import (
    HEARTBEAT_INTERVAL_MS,
    HEARTBEAT_TIMEOUT_MS,
    CurveKeys,
    TableConnection,
    TableConnectionState,
)
from controller.console.feed.feed_sockets import FeedSockets
from sim.bench.simulated_feeds import SimulatedFeed, read_example_state
from tests.waiting import until

MANY, SIZE = 6_000, 12_000
"""More than a queue and the buffers of its connection hold."""
AGAIN = 5


def be_busy() -> None:
    """Let heartbeats be missed, and a new connection be made."""
    select.select((), (), (), (HEARTBEAT_TIMEOUT_MS + 3 * HEARTBEAT_INTERVAL_MS) / 1_000)


async def by_feed(sim: SimulatedFeed, keys: CurveKeys, heard: list[bytes]) -> None:
    """Hear as a console does."""
    feed = FeedSockets(lambda *it: heard.append(it[1]), _odd, lambda *line: None, lambda: None)
    feed.open(sim.id, sim.address.feed, keys)
    try:
        await asyncio.Event().wait()
    finally:
        feed.close()


async def by_line(sim: SimulatedFeed, keys: CurveKeys, heard: list[bytes]) -> None:
    """Hear as `dealtable watch` does."""
    context = zmq.asyncio.Context()
    line = TableConnection(context, zmq.SUB, sim.address.feed, keys, _stands)
    line.socket.subscribe(b"")
    watching = asyncio.create_task(line.follow_monitor())
    try:
        while True:
            heard.append((await line.socket.recv_multipart())[0])
    finally:
        watching.cancel()
        line.close()
        context.destroy(linger=0)


async def main(which: str) -> None:
    """Hear, be deaf for a while, and hear again."""
    context, heard = zmq.asyncio.Context(), list[bytes]()
    sim = SimulatedFeed(context, read_example_state())
    sim._feed.setsockopt(zmq.SNDHWM, 0)  # it drops nothing
    public, secret = zmq.curve_keypair()
    keys = CurveKeys(sim.address.server_key, public.decode(), secret.decode())
    hearing = asyncio.create_task({"feed": by_feed, "line": by_line}[which](sim, keys, heard))
    await _until_heard(sim, heard, 1)
    for _ in range(MANY):
        sim.send_frames(b"event/deaf", b"." * SIZE)
    be_busy()
    await asyncio.sleep(1)
    heard.clear()
    await _until_heard(sim, heard, AGAIN)
    sys.stdout.write(f"heard {AGAIN} times\n")
    hearing.cancel()
    with suppress(asyncio.CancelledError):
        await hearing
    sim.close()
    context.destroy(linger=0)


async def _until_heard(sim: SimulatedFeed, heard: list[bytes], times: int) -> None:
    def is_heard() -> bool:
        sim.publish_state("now")
        return sum(topic.startswith(b"state/") for topic in heard) >= times

    await until(is_heard)


def _odd(table: str) -> None:
    raise AssertionError(table)


def _stands(state: TableConnectionState) -> None:
    """Know nothing better."""


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
