"""Both boards of a table in a self-test, and a port that can simulate a silent host.

`BoardPair` opens both boards, collects their events with times, sends commands and counts errors of
the serial lines. A `QuietPort` drops everything written while it is silent, and still receives.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from drivers.board_events import BoardEvent, BoardEventCode, BoardKind
from drivers.board_identity import ExpectedBoard, check_identity
from drivers.errors import BoardRefused, LineLost
from drivers.link.frames import BoardResult, Welcome
from drivers.link.link import Link
from drivers.link.serial_port import LinkPort
from drivers.typed_boards import DealerBoard, DealerStatus, ReaderBoard


class QuietPort:
    """A serial port that drops the bytes to send while `silent` is True.

    `last_heard_s`: the time of the last received bytes. `now` returns the loop's time in seconds.
    """

    def __init__(self, port: LinkPort, now: Callable[[], float]) -> None:
        self._port, self._now = port, now
        self.silent = False
        self.last_heard_s = 0.0

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """Open the port; each time bytes arrive, store the time and call `on_bytes`."""

        def heard(data: bytes) -> None:
            self.last_heard_s = self._now()
            on_bytes(data)

        self._port.open(heard, on_lost)

    def write(self, data: bytes) -> None:
        """Send `data` (see LinkPort.write), or drop `data` while the port is silent."""
        if not self.silent:
            self._port.write(data)

    def close(self) -> None:
        """Close the port (see LinkPort.close)."""
        self._port.close()


DRAIN_INTERVAL_S = 0.01
MAX_DRAIN_CHECKS = 300
"""The interval and the number of checks for the end of a board's older events."""
AFTER_SILENCE_S = 0.15
"""The wait after a silence.

Within this time, the host has sent a frame, and the board has repeated the missed events.
"""
_ERROR_COUNTERS = ("junk", "crc_errors", "oversize", "malformed", "resends", "duplicates", "gaps")


class TimedEvent(msgspec.Struct, frozen=True):
    """An event of a board, and the time of its arrival in seconds of the event loop's clock."""

    at_s: float
    event: BoardEvent


@dataclass(frozen=True)
class BoardCommandResult:
    """The answer of a board to a command. It counts as True if the board accepted the command."""

    result: BoardResult

    def __bool__(self) -> bool:
        """Return whether the board accepted the command."""
        return self.result is BoardResult.DONE


class BoardPair:
    """Both boards and their serial links, for one test.

    `pinned` contains the expected identity of each board. `on_event` receives every event inside
    the read callback.
    """

    def __init__(
        self,
        ports: Mapping[BoardKind, LinkPort],
        pinned: Mapping[BoardKind, ExpectedBoard],
        session_ids: Callable[[], int],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._quiet_ports = {
            board: QuietPort(port, self._loop.time) for board, port in ports.items()
        }
        self.links: dict[BoardKind, Link] = {}
        for board, port in self._quiet_ports.items():
            other: BoardKind = "reader" if board == "dealer" else "dealer"
            right = partial(check_identity, expected=pinned[board], other=pinned[other])
            link = Link(port, board, session_ids=session_ids, check=right, on_down=self._on_down)
            self.links[board] = link
        self.dealer = DealerBoard(self.links["dealer"])
        self.reader = ReaderBoard(self.links["reader"])
        self.dealer.on_event = self.reader.on_event = self._on_board_event
        self.on_event: Callable[[BoardEvent], None] = lambda event: None
        self.welcomes: dict[BoardKind, Welcome] = {}
        self.events: list[TimedEvent] = []
        self.attempt = 0
        self.line_lost: LineLost | None = None
        self._new_event = asyncio.Event()
        self._expected_errors: dict[BoardKind, int] = {"dealer": 0, "reader": 0}

    async def open(self) -> None:
        """Open both links. Receive and discard the events that the boards still store.

        Raises PortMissing, PortBusy, LineLost and every mismatch of drivers/board_identity.py.
        """
        for board, link in self.links.items():
            self.welcomes[board] = await link.open({}, {})
        for board, link in self.links.items():
            for _ in range(MAX_DRAIN_CHECKS):
                if link.last_event >= self.welcomes[board].events:
                    break
                await asyncio.sleep(DRAIN_INTERVAL_S)
        self.attempt = max(welcome.attempt for welcome in self.welcomes.values())
        self.forget_events()

    async def settings_crc(self, board: BoardKind) -> int:
        """Return the checksum (CRC) over all present settings of a board.

        This reopens the board's link. Raises LineLost, and the errors of `open`.
        """
        link = self.links[board]
        link.close()
        boot = self.welcomes[board].boot
        self.welcomes[board] = await link.open({boot: link.last_event}, {boot: link.last_event})
        return self.welcomes[board].settings_crc

    def halt(self) -> None:
        """Stop all motion of both boards at once."""
        for board in (self.dealer, self.reader):
            board.stop()

    def close(self) -> None:
        """Stop all motion and close both links."""
        self.halt()
        for link in self.links.values():
            link.close()

    @property
    def now_s(self) -> float:
        """Return the event loop's time in seconds."""
        return self._loop.time()

    def forget_events(self) -> None:
        """Discard the received events, and acknowledge them so that the boards discard them too."""
        self.events.clear()
        for link in self.links.values():
            link.mark_kept(link.last_event)

    def mark(self) -> int:
        """Return the number of events received until now.

        Pass it to `events_since` or `wait_for_event` to get only the events that arrive later.
        """
        return len(self.events)

    def events_since(self, mark: int, *codes: BoardEventCode) -> list[TimedEvent]:
        """Skip the first `mark` events. Return the others, or only those with one of `codes`."""
        return [one for one in self.events[mark:] if not codes or one.event.code in codes]

    async def wait_for_event(
        self, mark: int, matches: Callable[[BoardEvent], bool], limit_s: float
    ) -> TimedEvent | None:
        """Return the first event that `matches` accepts, or None after `limit_s` seconds.

        The search skips the first `mark` events.
        """
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    for one in self.events[mark:]:
                        if matches(one.event):
                            return one
                    mark = len(self.events)
                    self._new_event.clear()
                    await self._new_event.wait()
        except TimeoutError:
            return None

    async def wait_for_status(
        self, matches: Callable[[DealerStatus], bool], limit_s: float, interval_s: float = 0.01
    ) -> DealerStatus:
        """Return the first dealer status that `matches` accepts, or the last status at the limit.

        `limit_s` and `interval_s`, the time between two requests, are in seconds.
        """
        until_s = self.now_s + limit_s
        while True:
            status = await self.dealer.get_status()
            if matches(status) or self.now_s >= until_s:
                return status
            await asyncio.sleep(interval_s)

    async def try_command(self, command: Awaitable[Any]) -> BoardCommandResult:
        """Await `command`, and return whether the board accepted or refused it. Raises LineLost."""
        try:
            await command
        except BoardRefused as refused:
            return BoardCommandResult(refused.result)
        return BoardCommandResult(BoardResult.DONE)

    @asynccontextmanager
    async def silence_host(self) -> AsyncIterator[Callable[[], float]]:
        """Send nothing to the dealer board during the `with` block.

        The block receives a function. The function returns how many seconds after the start of the
        block the board last sent a byte. Frames that are repeated during the silence or at its end
        do not count as line errors.
        """
        board: BoardKind = "dealer"
        port, before = self._quiet_ports[board], self._raw_error_count(board)
        since_s = self.now_s
        port.silent = True
        try:
            yield lambda: max(0.0, port.last_heard_s - since_s)
        finally:
            port.silent = False
            # send a frame at once, before the host loses contact with the board
            await self.dealer.get_status()
            await asyncio.sleep(AFTER_SILENCE_S)
            self._expected_errors[board] += self._raw_error_count(board) - before

    def count_line_errors(self, board: BoardKind) -> int:
        """Return how many frames on the line of `board` were broken or repeated, in all sessions.

        Each later session counts as one error. Errors that `silence_host` caused do not count.
        """
        return self._raw_error_count(board) - self._expected_errors[board]

    def _on_down(self, lost: LineLost) -> None:
        self.line_lost = self.line_lost or lost
        self._new_event.set()

    def _raw_error_count(self, board: BoardKind) -> int:
        counters = self.links[board].counters
        frames: int = sum(getattr(counters, name) for name in _ERROR_COUNTERS)
        return frames + max(0, counters.sessions - 1)

    def _on_board_event(self, event: BoardEvent) -> None:
        self.events.append(TimedEvent(self._loop.time(), event))
        self.on_event(event)
        self._new_event.set()
