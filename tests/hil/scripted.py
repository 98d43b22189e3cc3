"""A scripted person at a bench: does what is asked over a simulator's control socket."""

import asyncio
import os
import re
import tty
from pathlib import Path
from types import TracebackType
from typing import Self

from hil_tests.harness.hands import ControlHands
from sim.tables.table_processes import ControlClient

ASKED = re.compile(r"== (\w+) ([^=]+) ==")


class ScriptedPerson:
    """Answers at the terminal `path` for the block; `asked` is all that it received, in order."""

    def __init__(self, control: ControlClient) -> None:
        self._hands = ControlHands(control)
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self.path = Path(os.ttyname(slave))
        self._slave = slave
        self.asked: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self._rest = ""

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._attend())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        died = self._task.done()
        self._task.cancel()
        (came,) = await asyncio.gather(self._task, return_exceptions=True)
        os.close(self._master)
        os.close(self._slave)
        if died and came is not None:
            raise came  # no answer came from then on

    async def _attend(self) -> None:
        loop, there = asyncio.get_running_loop(), asyncio.Event()

        def take() -> None:
            self._rest += os.read(self._master, 4096).decode(errors="replace")
            there.set()

        loop.add_reader(self._master, take)
        try:
            while True:
                await there.wait()
                there.clear()
                await self._answer_all()
        finally:
            loop.remove_reader(self._master)

    async def _answer_all(self) -> None:
        """Answer each question that stands there whole; a signal has no answer."""
        while asked := ASKED.search(self._rest):
            kind, what = asked.groups()
            end = self._rest.find("\n" if kind == "go" else "> ", asked.end())
            if end < 0:
                return
            self._rest = self._rest[end:]
            self.asked.append(f"{kind} {what}")
            answer = await self._done(kind, what)
            if kind != "go":
                os.write(self._master, f"{answer}\n".encode())

    async def _done(self, kind: str, what: str) -> str:
        if kind in ("do", "go"):
            await self._hands.do_step(what)
        elif kind == "press":
            await self._hands.press_button(what)
        elif kind == "count":
            return " ".join(map(str, await self._hands.count_hands()))
        elif kind == "tidy":
            await self._hands.restore_table()
        return ""
