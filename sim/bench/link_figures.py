"""Figures of the serial link: a STATUS query over a pty, and a bare process with as many bytes.

    python -m sim.bench.link_figures PTY ASKED ANSWERED

runs that bare process. It writes ANSWERED bytes, then ANSWERED bytes for each ASKED bytes that it
reads, until the line is closed.
"""

import asyncio
import binascii
import os
import pty
import statistics
import sys
import tempfile
import tty
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec

from drivers.firmware.framing import Decoder, encode
from drivers.link.link import Link
from drivers.link.serial_port import SerialPort
from drivers.typed_boards import DealerBoard
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    time_in_turns_us,
    timed_figure,
    valued_figure,
)
from sim.memory_folders import memory_folder
from sim.tables.table_processes import (
    HallPlan,
    TableProcess,
    end_program,
    run_simulator,
    start_program,
)

_BAUD = 921_600
_MAX_READ_BYTES = 4096
_PROCESSES = 5
"""The number of bare processes.

A process that wakes on the same core answers in a fifth of the time of a process on another core.
"""


class CountingPort(SerialPort):
    """A serial port that counts the bytes in each direction."""

    sent = received = 0

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open the port; see Port.open."""

        def weigh(data: bytes) -> None:
            self.received += len(data)
            on_bytes(data)

        super().open(weigh, on_lost)

    def write(self, data: bytes) -> None:
        """Send bytes; see Port.write."""
        self.sent += len(data)
        super().write(data)


class QueryTimes(msgspec.Struct, frozen=True):
    """The times of queries and of turns of the bare process, in microseconds.

    `sent` and `got` are the numbers of bytes in each direction for an undisturbed query.
    """

    queries_us: list[float]
    bare_us: list[float]
    sent: int
    got: int


async def time_queries(times: int) -> QueryTimes:
    """Query the STATUS of a simulated dealer board, in turns with several bare processes.

    Each bare process and the board are measured `times` times together.
    """
    with tempfile.TemporaryDirectory() as folder, memory_folder() as runtime_dir:
        async with run_simulator(HallPlan(Path(folder)), runtime_dir) as (table,):
            with closing(_QueriedBoard(table)) as board:
                await board.dealer.link.open({}, {})
                sent, got = min([await board.count_bytes() for _ in range(times)])
                both: list[tuple[float, float]] = []
                for _ in range(_PROCESSES):
                    async with _run_answerer(sent, got) as turn:
                        both += [
                            (await _time_us(board.dealer.get_status), await _time_us(turn))
                            for _ in range(times)
                        ]
    queries_us, bare_us = zip(*both, strict=True)
    return QueryTimes(list(queries_us), list(bare_us), sent, got)


class _QueriedBoard:
    """The dealer board of a simulated table without a daemon."""

    def __init__(self, table: TableProcess) -> None:
        self._port = CountingPort(table.board_ports[0], _BAUD)
        sessions = iter(range(1, 1 << 16)).__next__
        self.dealer = DealerBoard(Link(self._port, "dealer", session_ids=sessions))

    def close(self) -> None:
        self.dealer.link.close()

    async def count_bytes(self) -> tuple[int, int]:
        """Return the numbers of bytes sent and received during one query."""
        sent, got = self._port.sent, self._port.received
        await self.dealer.get_status()
        return self._port.sent - sent, self._port.received - got


async def _time_us(ask: Callable[[], Awaitable[object]]) -> float:
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    await ask()
    return (loop.time() - begun_s) * 1e6


@asynccontextmanager
async def _run_answerer(sent: int, got: int) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Run the bare process and yield a function for one turn, which waits in a thread."""
    ours, theirs = pty.openpty()
    for end in (ours, theirs):
        tty.setraw(end)
    words = (os.ttyname(theirs), str(sent), str(got))
    process = await start_program(*words, module="sim.bench.link_figures")

    async def turn() -> None:
        os.write(ours, bytes(sent))
        _read_exactly(ours, got)

    try:
        _read_exactly(ours, got)  # the process has started
        yield turn
    finally:
        await end_program(process)
        os.close(theirs)
        os.close(ours)


def _read_exactly(end: int, count: int) -> bool:
    """Read `count` bytes. Return False if the line closed before that."""
    while count > 0:
        data = os.read(end, min(count, _MAX_READ_BYTES))
        if not data:
            return False
        count -= len(data)
    return True


def answer_queries(path: str, sent: int, got: int) -> None:
    """Answer each `sent` bytes with `got` bytes until the line is closed."""
    end = os.open(path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    os.write(end, bytes(got))  # the process has started
    try:
        while _read_exactly(end, sent):
            os.write(end, bytes(got))
    except OSError:
        pass  # the other end was closed


if __name__ == "__main__":
    answer_queries(sys.argv[1], *map(int, sys.argv[2:]))


_FRAMES = 1000
_PAYLOAD = bytes(range(40))
_CHECKSUM = bytes(4)
_ROUNDS = 15
_QUERIES, _FEW_QUERIES = 60, 10


def _checksums_alone() -> None:
    for _ in range(2 * _FRAMES):
        binascii.crc32(_PAYLOAD)


@timed_figure("frame", floor=_checksums_alone, documented=13.0, per=_FRAMES)
def code_frames() -> None:
    """Encoding and decoding a frame, against its two checksums."""
    decoder = Decoder()
    for _ in range(_FRAMES):
        decoder.feed(encode(_PAYLOAD))


def _minimal_in_c() -> None:
    """Do the minimum for each frame in C: a checksum, a search, a copy."""
    for _ in range(_FRAMES):
        binascii.crc32(_PAYLOAD)
        _PAYLOAD.find(0)
        b"".join((_PAYLOAD, _CHECKSUM))


def _encode_frames() -> None:
    for _ in range(_FRAMES):
        encode(_PAYLOAD)


def _decode_frames() -> None:
    decoder, frame = Decoder(), encode(_PAYLOAD)
    for _ in range(_FRAMES):
        decoder.feed(frame)


@valued_figure("codec")
def measure_codec() -> list[FigureValue]:
    """Encoding and decoding a frame, each against a checksum, a search and a copy in C."""
    return [_against_c("coded", _encode_frames), _against_c("decoded", _decode_frames)]


def _against_c(what: str, work: Callable[[], None]) -> FigureValue:
    value, floor = time_in_turns_us(work, _minimal_in_c, _FRAMES, _ROUNDS)
    return FigureValue(what=what, value=value, floor=floor, unit=FigureUnit.US, documented=4.0)


@valued_figure("query")
def measure_query() -> list[FigureValue]:
    """A STATUS query to a board over a pty, with its answer, against an echo of as many bytes."""
    took = asyncio.run(time_queries(choose_size(_QUERIES, _FEW_QUERIES)))
    value, floor = statistics.median(took.queries_us), statistics.median(took.bare_us)
    return [FigureValue(value=value, floor=floor, unit=FigureUnit.US, documented=5.0)]
