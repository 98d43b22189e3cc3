"""Figure of one state change from the machine to the feed, against a bare loop.

The whole path has four steps. The machine makes its public state. A line with the state crosses a
socket. The gateway reads the line and publishes the state. A subscriber receives the bytes. The
bare loop encodes the same state and sends the same bytes. Both feeds are in this process, without
CURVE. Neither side includes the time of a network or of libzmq's own thread.
"""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path

import msgspec
import zmq
import zmq.asyncio

from controller.gateway.feed_socket import FeedSocket
from controller.gateway_protocol import (
    MAX_MACHINE_LINE_BYTES,
    FeedMessage,
    GatewayProtocolError,
    LineSplitter,
    decode_machine_line,
    encode_line,
    feed_message,
    state_topic,
)
from controller.machine.machine import TableMachine
from controller.messages import MachinePhase
from sim.bench.figure_registry import FigureUnit, FigureValue, time_in_turns_us, valued_figure
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.memory_folders import memory_folder
from sim.tables.table_in_process import run_table_in_process
from sim.virtual_loop import VirtualLoop

_FEED, _BARE = "inproc://feed", "inproc://bare"
_MAX_READ_BYTES = 1 << 16
_RECEIVE_TIMEOUT_MS = 10_000


class PublishingPaths:
    """The path from a machine with held hands to a subscriber, and the bare path."""

    def __init__(self, machine: TableMachine, context: zmq.asyncio.Context) -> None:
        self._machine = machine
        state = machine.state()
        self._topic = state_topic(state.table).encode()
        self._state = state
        self._feed = FeedSocket(context, state.table)
        self._feed.socket.bind(_FEED)
        plain: zmq.Context[zmq.Socket[bytes]] = zmq.Context.shadow(context.underlying)
        self._bare = plain.socket(zmq.PUB)
        self._bare.bind(_BARE)
        self._from_feed, self._from_bare = (_open_subscriber(plain, at) for at in (_FEED, _BARE))
        self._machine_end, self._gateway_end = socket.socketpair()
        self._lines = LineSplitter(MAX_MACHINE_LINE_BYTES)

    def publish_whole(self) -> bytes:
        """Publish the machine's present state. Return the body that a subscriber receives."""
        self._machine_end.sendall(encode_line(feed_message(self._machine.state())))
        for line in self._read_lines():
            message = decode_machine_line(line)
            if not isinstance(message, FeedMessage):
                raise GatewayProtocolError("a machine that publishes must send public messages")
            self._feed.publish(message)
        return _receive_body(self._from_feed)

    def publish_bare(self) -> bytes:
        """Encode and send an existing state. Return the body that a subscriber receives."""
        self._bare.send_multipart([self._topic, msgspec.json.encode(self._state)])
        return _receive_body(self._from_bare)

    def close(self) -> None:
        """Close all sockets."""
        self._feed.close()
        for end in (self._bare, self._from_feed, self._from_bare):
            end.close(linger=0)
        self._machine_end.close()
        self._gateway_end.close()

    def _read_lines(self) -> list[bytes]:
        while not (lines := self._lines.split(self._gateway_end.recv(_MAX_READ_BYTES))):
            pass
        return lines


def _open_subscriber(context: "zmq.Context[zmq.Socket[bytes]]", at: str) -> "zmq.Socket[bytes]":
    subscriber = context.socket(zmq.SUB)
    subscriber.subscribe(b"")
    subscriber.setsockopt(zmq.RCVTIMEO, _RECEIVE_TIMEOUT_MS)
    subscriber.connect(at)
    return subscriber


def _receive_body(subscriber: "zmq.Socket[bytes]") -> bytes:
    _, body = subscriber.recv_multipart()
    return body


@contextmanager
def deal_until_held(runtime_dir: Path) -> Iterator[TableMachine]:
    """Deal once in virtual time, and yield the machine while it holds the hands."""
    stack = AsyncExitStack()

    async def deal() -> TableMachine:
        table = await stack.enter_async_context(
            run_table_in_process(MechanicsSettings(), runtime_dir)
        )
        await table.play_attempt()
        await table.wait_for_phase(MachinePhase.HELD)
        return table.machine

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        try:
            yield runner.run(deal())
        finally:
            runner.run(stack.aclose())


@asynccontextmanager
async def open_publishing(machine: TableMachine) -> AsyncIterator[PublishingPaths]:
    """Yield the two paths for the state of a machine whose own loop is stopped."""
    context = zmq.asyncio.Context()
    gc.collect()
    gc.freeze()  # the machine's own process does the same
    try:
        with closing(PublishingPaths(machine, context)) as published:
            yield published
    finally:
        gc.unfreeze()
        context.destroy(linger=0)


_TIMES = 100
_ROUNDS = 9


@valued_figure("publishing")
def measure_publishing() -> list[FigureValue]:
    """Time from the machine's state to bytes on the feed, against a bare send of the same bytes."""
    with memory_folder() as folder, deal_until_held(folder) as machine:
        return asyncio.run(_time_publishing(machine))


async def _time_publishing(machine: TableMachine) -> list[FigureValue]:
    async with open_publishing(machine) as ways:
        value, floor = time_in_turns_us(
            lambda: [ways.publish_whole() for _ in range(_TIMES)],
            lambda: [ways.publish_bare() for _ in range(_TIMES)],
            _TIMES,
            _ROUNDS,
        )
    return [FigureValue(value=value, floor=floor, unit=FigureUnit.US, documented=5.0)]
