"""The two boards of a table while no machine runs: what they said, and when."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from controller.acceptance.quiet import QuietPort
from drivers.dealer import Dealer, Status
from drivers.errors import LineLost, Refused, Result
from drivers.events import Board, Code, Event
from drivers.identity import ExpectedBoard, Welcome, check
from drivers.link.link import Link
from drivers.link.port import Port
from drivers.reader import Reader

DRAIN_S = 0.01
MAX_DRAIN_CHECKS = 300
"""How often is looked, and how many times, whether a board's events of an earlier time are over."""
AGAIN_S = 0.15
"""Behind a silence: until the host has spoken, and what was unseen has come again."""
_ERROR_COUNTERS = ("junk", "crc_errors", "oversize", "malformed", "resends", "duplicates", "gaps")


class Heard(msgspec.Struct, frozen=True):
    """An event of a board, and when it came (the loop's seconds)."""

    at_s: float
    event: Event


@dataclass(frozen=True)
class Taken:
    """What a command came to: acknowledged, or refused with a result."""

    result: Result

    def __bool__(self) -> bool:
        """Whether the board took it."""
        return self.result is Result.DONE


class Bench:
    """Both boards behind their ports, for one test.

    `pinned` says who must be there. `on_event` hears every event inside the read callback.
    """

    def __init__(
        self,
        ports: Mapping[Board, Port],
        pinned: Mapping[Board, ExpectedBoard],
        session_ids: Callable[[], int],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._quiet_ports = {
            board: QuietPort(port, self._loop.time) for board, port in ports.items()
        }
        self.links: dict[Board, Link] = {}
        for board, port in self._quiet_ports.items():
            other: Board = "reader" if board == "dealer" else "dealer"
            right = partial(check, pinned=pinned[board], other=pinned[other])
            link = Link(port, board, session_ids=session_ids, check=right, on_down=self._on_down)
            self.links[board] = link
        self.dealer, self.reader = Dealer(self.links["dealer"]), Reader(self.links["reader"])
        self.dealer.on_event = self.reader.on_event = self._take
        self.on_event: Callable[[Event], None] = lambda event: None
        self.welcomes: dict[Board, Welcome] = {}
        self.heard: list[Heard] = []
        self.attempt = 0
        self.lost: LineLost | None = None
        self._new_event = asyncio.Event()
        self._expected_errors: dict[Board, int] = {"dealer": 0, "reader": 0}

    async def open(self) -> None:
        """Open both lines and let what the boards still had to say pass.

        Raises PortMissing, PortBusy, LineLost and every mismatch of drivers/identity.py.
        """
        for board, link in self.links.items():
            self.welcomes[board] = await link.open({}, {})
        for board, link in self.links.items():
            for _ in range(MAX_DRAIN_CHECKS):
                if link.taken >= self.welcomes[board].events:
                    break
                await asyncio.sleep(DRAIN_S)
        self.attempt = max(welcome.attempt for welcome in self.welcomes.values())
        self.forget()

    async def settings_crc(self, board: Board) -> int:
        """Return the CRC over all settings of a board as they are now: its line is opened again.

        Raises LineLost, and what `open` raises.
        """
        link = self.links[board]
        link.close()
        boot = self.welcomes[board].boot
        self.welcomes[board] = await link.open({boot: link.taken}, {boot: link.taken})
        return self.welcomes[board].settings_crc

    def halt(self) -> None:
        """Stop all motion at once."""
        for board in (self.dealer, self.reader):
            board.stop()

    def close(self) -> None:
        """Stop all motion and close both lines."""
        self.halt()
        for link in self.links.values():
            link.close()

    @property
    def now_s(self) -> float:
        """The loop's time."""
        return self._loop.time()

    @property
    def asked(self) -> bool:
        """Whether the reader has no trigger wire."""
        return self.reader.asked

    def forget(self) -> None:
        """Forget what was heard, and let the boards forget it."""
        self.heard.clear()
        for link in self.links.values():
            link.kept(link.taken)

    def mark(self) -> int:
        """Return a place behind all that was heard, for `until` and `since`."""
        return len(self.heard)

    def since(self, mark: int, *codes: Code) -> list[Heard]:
        """Return what was heard behind a place; of some kinds alone, where they are named."""
        return [one for one in self.heard[mark:] if not codes or one.event.code in codes]

    async def until(self, mark: int, what: Callable[[Event], bool], limit_s: float) -> Heard | None:
        """Return the first event behind `mark` of which `what` holds; None after `limit_s`."""
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    for one in self.heard[mark:]:
                        if what(one.event):
                            return one
                    mark = len(self.heard)
                    self._new_event.clear()
                    await self._new_event.wait()
        except TimeoutError:
            return None

    async def settled(
        self, what: Callable[[Status], bool], limit_s: float, look_s: float = 0.01
    ) -> Status:
        """Ask for the dealer board's STATUS until `what` holds of it, or the time is over."""
        until_s = self.now_s + limit_s
        while True:
            status = await self.dealer.status()
            if what(status) or self.now_s >= until_s:
                return status
            await asyncio.sleep(look_s)

    async def tried(self, command: Awaitable[Any]) -> Taken:
        """Give a command; return what became of it. Raises LineLost."""
        try:
            await command
        except Refused as refused:
            return Taken(refused.result)
        return Taken(Result.DONE)

    @asynccontextmanager
    async def silence(self) -> AsyncIterator[Callable[[], float]]:
        """Let the host fall silent towards the dealer board for the block.

        Gives what returns for how many seconds the board was heard in it. Frames that were said
        again meanwhile, or as it speaks again, are no trouble of the line.
        """
        board: Board = "dealer"
        port, before = self._quiet_ports[board], self._raw_error_count(board)
        since_s = self.now_s
        port.silent = True
        try:
            yield lambda: max(0.0, port.heard_s - since_s)
        finally:
            port.silent = False
            await self.dealer.status()  # a word at once, before the board is missed
            await asyncio.sleep(AGAIN_S)
            self._expected_errors[board] += self._raw_error_count(board) - before

    def trouble(self, board: Board) -> int:
        """Return how many frames were broken or said again; a session beyond the first is one."""
        return self._raw_error_count(board) - self._expected_errors[board]

    def _on_down(self, lost: LineLost) -> None:
        self.lost = self.lost or lost
        self._new_event.set()

    def _raw_error_count(self, board: Board) -> int:
        counters = self.links[board].counters
        frames: int = sum(getattr(counters, name) for name in _ERROR_COUNTERS)
        return frames + max(0, counters.sessions - 1)

    def _take(self, event: Event) -> None:
        self.heard.append(Heard(self._loop.time(), event))
        self.on_event(event)
        self._new_event.set()
