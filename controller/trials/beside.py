"""Processes beside the one that measures: they answer lines with lines of JSON, and end with it."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import msgspec

from controller.trials.feeds import FeedAddress, Said
from controller.trials.hall import HallError, end_program, start_program

_MAX_LINE_BYTES: Final = 1 << 28

Shape = TypeVar("Shape")


class HelperProcess:
    """A process that answers lines with lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process, what: str) -> None:
        self.process, self._what = process, what

    def ask(self, line: bytes) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    async def told(self, shape: type[Shape]) -> Shape:
        """Return its next line. Raises HallError where it has gone."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise HallError(f"{self._what} ended by itself; its last words stand above")
        return msgspec.json.decode(line, type=shape)

    async def answer(self, line: bytes, shape: type[Shape]) -> Shape:
        """Return what it answers to a line. Raises HallError."""
        self.ask(line)
        return await self.told(shape)


@asynccontextmanager
async def beside(
    module: str, *words: str, env: Mapping[str, str] | None = None
) -> AsyncIterator[HelperProcess]:
    """Run a module of the trials as a process for the block; `env` goes on top of this one's."""
    process = await start_program(
        *words,
        module=f"controller.trials.{module}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_MAX_LINE_BYTES,
        env={**os.environ, **(env or {})},
    )
    try:
        yield HelperProcess(process, module)
    finally:
        await end_program(process)


class Feeds:
    """The process of the simulated feeds, and where they are."""

    def __init__(self, process: HelperProcess, at: list[FeedAddress]) -> None:
        self._process, self.at = process, at

    async def quiet(self) -> Said:
        """Let nothing more happen but states; return what did."""
        return await self._process.answer(b"", Said)


@asynccontextmanager
async def run_feeds(
    count: int, per_s: float, *, callers: int = 0, past: int = 0
) -> AsyncIterator[Feeds]:
    """Serve so many simulated feeds for the block, of so many states a second each.

    `callers`: feeds at which somebody calls; `past`: events that each has had before.
    """
    words = {"count": count, "per-s": per_s, "callers": callers, "past": past}
    told = [word for name, value in words.items() for word in (f"--{name}", str(value))]
    async with beside("feeds", *told) as process:
        yield Feeds(process, await process.told(list[FeedAddress]))
