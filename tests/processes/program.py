"""A `dealtable` process: its lines as they come, and its end."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

DEALTABLE = (sys.executable, "-m", "controller.cli")
LONGEST_LINE = 1 << 22


@dataclass(frozen=True)
class Done:
    """How a program ended, and all that it said."""

    code: int
    out: str
    err: str


class Program:
    """A running program. `said` and `complained` are its lines on stdout and stderr so far."""

    def __init__(self, process: Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.said: list[str] = []
        self.complained: list[str] = []
        self._news = asyncio.Event()
        self._reading = [
            asyncio.ensure_future(self._read(process.stdout, self.said)),
            asyncio.ensure_future(self._read(process.stderr, self.complained)),
        ]

    @classmethod
    async def start(cls, *words: object, **options: Any) -> Self:
        """Start `dealtable` with these words."""
        command = (*DEALTABLE, *map(str, words))
        process = await asyncio.create_subprocess_exec(
            *command, stdout=PIPE, stderr=PIPE, limit=LONGEST_LINE, **options
        )
        return cls(process)

    async def line(self, fits: Callable[[str], bool] | str) -> str:
        """Wait for a line, on stdout or stderr, that holds some text or fits otherwise."""
        found = fits if callable(fits) else lambda line: fits in line
        while True:
            self._news.clear()
            for line in (*self.said, *self.complained):
                if found(line):
                    return line
            assert not self._ended(), f"it ended without that line: {self.complained}"
            await self._news.wait()

    async def end(self, number: signal.Signals | None = None) -> Done:
        """Wait for its end, after a signal where one is given."""
        if number is not None and self.process.returncode is None:
            self.process.send_signal(number)
        await asyncio.gather(*self._reading)
        code = await self.process.wait()
        return Done(code, "".join(self.said), "".join(self.complained))

    async def close(self) -> None:
        """End it by force if it still runs."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    async def _read(self, stream: asyncio.StreamReader, lines: list[str]) -> None:
        async for line in stream:
            lines.append(line.decode())
            self._news.set()
        self._news.set()

    def _ended(self) -> bool:
        return all(task.done() for task in self._reading)


Start = Callable[..., Awaitable[Program]]
"""Starts `dealtable` with words."""
Dealtable = Callable[..., Awaitable[Done]]
"""Runs `dealtable` with words to its end."""
