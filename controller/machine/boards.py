"""The table's two boards: looked for, checked, and looked for again until they are right.

A board that is absent, silent or not the one the configuration pins is a latched
fault; the daemon lives on. A port is opened again only once `may_reopen` returns:
opening one can reset a board, so that no card may be in the path.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from controller.faults import driver_error_fault
from drivers.errors import DriverError, LineLost, Mismatch, PortBusy, PortMissing
from drivers.events import BoardKind
from drivers.identity import Welcome
from drivers.link.link import Link

REOPEN_INTERVAL_S = 1.0
"""How long a board that was not right is left alone before it is asked again."""

FaultEvidence = Mapping[str, str]


class BoardWatcher(Protocol):
    """Who is told about the boards."""

    def on_board_up(self, board: BoardKind, welcome: Welcome) -> None:
        """Take a board that answered and is the right one."""

    def on_board_down(self, board: BoardKind, name: str, evidence: FaultEvidence) -> None:
        """Take the fault of a board that cannot be used, as the catalogue names it."""


class BoardConnection:
    """One board behind its link. `events` give, by boot id, what the journal has of it."""

    def __init__(
        self,
        link: Link,
        port: str,
        *,
        watcher: BoardWatcher,
        taken: Callable[[], Mapping[int, int]],
        kept: Callable[[], Mapping[int, int]],
        wait_reopenable: Callable[[], Awaitable[None]],
    ) -> None:
        self.link = link
        self._port = port
        self._watcher = watcher
        self._taken, self._kept = taken, kept
        self._wait_reopenable = wait_reopenable
        self._line_lost = asyncio.Event()
        link.on_down = self._on_down

    async def keep_open(self) -> None:
        """Keep the line open until cancelled."""
        try:
            while True:
                await self._open()
                await self._line_lost.wait()
                await self._wait_reopenable()
        finally:
            self.link.close()

    async def _open(self) -> None:
        while True:
            self._line_lost.clear()
            try:
                welcome = await self.link.open(self._taken(), self._kept())
            except DriverError as error:
                self._report(error, absent=True)
                await asyncio.sleep(REOPEN_INTERVAL_S)
            else:
                self._watcher.on_board_up(self.link.board, welcome)
                return

    def _on_down(self, error: LineLost) -> None:
        self._line_lost.set()
        self._report(error, absent=False)

    def _report(self, error: DriverError, *, absent: bool) -> None:
        name = driver_error_fault(error)
        if absent and name == "LINE_LOST":
            name = "BOARD_SILENT"  # the port is there, nobody speaks on it
        evidence = {"board": self.link.board, "port": self._port, "why": str(error)}
        if isinstance(error, Mismatch):
            evidence |= {"expected": error.expected, "found": error.found}
        elif isinstance(error, PortMissing | PortBusy):
            evidence["port"] = error.path
        self._watcher.on_board_down(self.link.board, name, evidence)
