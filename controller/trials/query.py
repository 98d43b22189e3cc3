"""What asking a board costs: STATUS over its pty, and a bare process that answers as many bytes.

    python -m controller.trials.query PTY ASKED ANSWERED

is that process: it writes ANSWERED bytes, then as many for each ASKED ones that it reads, until
the line is gone.
"""

import asyncio
import os
import pty
import sys
import tempfile
import tty
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import msgspec

from controller.trials.hall import HallPlan, TableProcess, end_program, run_simulator, start_program
from drivers.dealer import DealerBoard
from drivers.link.link import Link
from drivers.link.port import SerialPort
from sim.folders import memory_folder

_BAUD = 921_600
_MAX_READ_BYTES = 4096
_PROCESSES = 5
"""One that wakes on this process's core answers in a fifth of the time that another one takes."""


class CountingPort(SerialPort):
    """A serial port that counts the bytes of either way."""

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
    """How long each query took, in microseconds, and each turn of the bare process; and how many
    bytes went either way for a query that nothing else disturbed.
    """

    queries_us: list[float]
    bare_us: list[float]
    sent: int
    got: int


async def time_queries(times: int) -> QueryTimes:
    """Ask a simulated dealer board for its STATUS, in turns with each of some bare processes, so
    often with each.
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
        """Return how many bytes went out and came in while it was asked once."""
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
    """Run the process that answers bytes with bytes; give its turn, which waits as a thread may."""
    ours, theirs = pty.openpty()
    for end in (ours, theirs):
        tty.setraw(end)
    words = (os.ttyname(theirs), str(sent), str(got))
    process = await start_program(*words, module="controller.trials.query")

    async def turn() -> None:
        os.write(ours, bytes(sent))
        _read_exactly(ours, got)

    try:
        _read_exactly(ours, got)  # it is there
        yield turn
    finally:
        await end_program(process)
        os.close(theirs)
        os.close(ours)


def _read_exactly(end: int, count: int) -> bool:
    """Read so many bytes; tell whether there were so many before the line was gone."""
    while count > 0:
        data = os.read(end, min(count, _MAX_READ_BYTES))
        if not data:
            return False
        count -= len(data)
    return True


def answer_queries(path: str, sent: int, got: int) -> None:
    """Answer `sent` bytes with `got` ones, again and again, until the line is gone."""
    end = os.open(path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(end)
    os.write(end, bytes(got))  # it is there
    try:
        while _read_exactly(end, sent):
            os.write(end, bytes(got))
    except OSError:
        pass  # the other end was closed


if __name__ == "__main__":
    answer_queries(sys.argv[1], *map(int, sys.argv[2:]))
