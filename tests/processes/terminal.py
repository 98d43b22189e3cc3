"""A terminal of its own with a program in its foreground."""

import asyncio
import os
import pty
from collections.abc import Callable

from tests.processes.program import DEALTABLE
from tests.waiting import until


class Terminal:
    """A `dealtable` in the foreground of a terminal; `screen` is all that it wrote there."""

    def __init__(self, *words: object) -> None:
        self.screen = b""
        self._words = tuple(map(str, words))
        self._ours, self._theirs = pty.openpty()
        self._open = True

    async def __aenter__(self) -> "Terminal":
        self.program = await asyncio.create_subprocess_exec(
            *DEALTABLE, *self._words, preexec_fn=lambda: os.login_tty(self._theirs)
        )
        os.close(self._theirs)
        asyncio.get_running_loop().add_reader(self._ours, self._read)
        return self

    async def __aexit__(self, *why: object) -> None:
        if self.program.returncode is None:
            self.program.kill()
            await self.program.wait()
        self.close()

    def close(self) -> None:
        """Close the terminal's window: the kernel hangs up on who is in it."""
        if self._open:
            asyncio.get_running_loop().remove_reader(self._ours)
            os.close(self._ours)
            self._open = False

    async def until(self, there: Callable[[], bool]) -> None:
        """Wait while the program runs."""
        await until(lambda: there() or self.program.returncode is not None)
        assert there(), self.screen.decode()

    async def end(self) -> int:
        """Wait for the program's end; return its status."""
        return await self.program.wait()

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def shows(self, text: str) -> bool:
        """Tell whether a text was on the screen."""
        return text in self.screen.decode(errors="replace")

    def _read(self) -> None:
        try:
            self.screen += os.read(self._ours, 1 << 16)
        except OSError:  # nobody has its other end open
            asyncio.get_running_loop().remove_reader(self._ours)
