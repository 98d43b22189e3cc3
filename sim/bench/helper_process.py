"""Helper processes of a benchmark. They answer lines of text with lines of JSON.

A helper process ends when the benchmark leaves the `with` block of `run_helper`.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple, TypeVar

import msgspec

from sim.bench.simulated_feeds import FeedAddress, FeedTotals
from sim.tables.table_processes import HallError, end_program, start_program

_MAX_LINE_BYTES: Final = 1 << 28

Shape = TypeVar("Shape")


class HelperProcess:
    """A process that answers each line of input with a line of JSON."""

    def __init__(self, process: asyncio.subprocess.Process, what: str) -> None:
        self.process, self._what = process, what

    def send(self, line: bytes) -> None:
        """Send a line to the process."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    async def read(self, shape: type[Shape]) -> Shape:
        """Return the next line that the process writes, decoded from JSON as the type `shape`.

        Raises HallError if the process has ended.
        """
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise HallError(f"{self._what} ended unexpectedly; its last messages are above")
        return msgspec.json.decode(line, type=shape)

    async def request(self, line: bytes, shape: type[Shape]) -> Shape:
        """Send a line, and return the answer, decoded from JSON as the type `shape`.

        Raises HallError if the process has ended.
        """
        self.send(line)
        return await self.read(shape)


@asynccontextmanager
async def run_helper(
    module: str, *words: str, env: Mapping[str, str] | None = None, what: str = ""
) -> AsyncIterator[HelperProcess]:
    """Run the module `module` of this package as a helper process during the `with` block.

    `words` are its arguments. `env` is added to its environment. `what` is the name of the process
    in messages. If `what` is empty, the name is `module`.
    """
    process = await start_program(
        *words,
        module=f"sim.bench.{module}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_MAX_LINE_BYTES,
        env={**os.environ, **(env or {})},
    )
    try:
        yield HelperProcess(process, what or module)
    finally:
        await end_program(process)


class FeedsProcess(NamedTuple):
    """A helper process that serves simulated feeds, and the addresses of the feeds."""

    process: HelperProcess
    addresses: list[FeedAddress]

    async def stop_events(self) -> FeedTotals:
        """Stop all feeds' events and referee calls, but not their states. Return the totals."""
        return await self.process.request(b"", FeedTotals)


@asynccontextmanager
async def run_feeds(
    count: int, per_s: float, *, callers: int = 0, past: int = 0
) -> AsyncIterator[FeedsProcess]:
    """Run a process that serves `count` simulated feeds during the `with` block.

    Each feed publishes `per_s` states a second. `callers`: the number of feeds with calls for a
    referee. `past`: the number of events that each feed already has when it is opened.
    """
    words = {"count": count, "per-s": per_s, "callers": callers, "past": past}
    told = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    async with run_helper("simulated_feeds", *told) as process:
        yield FeedsProcess(process, await process.read(list[FeedAddress]))
