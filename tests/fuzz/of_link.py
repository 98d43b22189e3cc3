"""The host's end of a line whose far end says anything, in virtual time."""

import asyncio
import functools
import struct
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from drivers import board_identity
from drivers.board_events import BoardEvent, FeedSource, Outlet
from drivers.board_identity import ExpectedBoard
from drivers.errors import DriverError
from drivers.firmware import framing, protocol
from drivers.link.link import Link
from drivers.typed_boards import DealerBoard
from sim.virtual_loop import VirtualLoop
from tests.fuzz.words import Words

LAPSES_S = (0.0, 0.001, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0)
UID = "00000000000000d1"
BOOT = 7


class Port:
    """A line's end in the hands of whoever writes the input."""

    def __init__(self) -> None:
        self.written = 0
        self.is_open = False
        self.session = 0
        self.number = 0
        self._heard = framing.Decoder()
        self._on_bytes: Callable[[bytes], None] = lambda data: None
        self._on_lost: Callable[[str], None] = lambda why: None

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        self.is_open, self._on_bytes, self._on_lost = True, on_bytes, on_lost

    def write(self, data: bytes) -> None:
        assert self.is_open, "written to a closed port"
        self.written += 1
        for payload in self._heard.feed(data):
            kind, self.session, number, *_ = struct.unpack_from(protocol.HOST_HEADER, payload)
            if kind >= protocol.BEGIN:
                self.number = number

    def close(self) -> None:
        self.is_open = False

    def say(self, data: bytes) -> None:
        """Let bytes arrive."""
        if self.is_open:
            self._on_bytes(data)

    def frame(self, kind: int, body: bytes) -> None:
        """Let a frame of the session arrive."""
        header = struct.pack(protocol.BOARD_HEADER, kind, self.session)
        self.say(framing.encode((header + body)[: framing.MAX_PAYLOAD]))

    def lose(self) -> None:
        """Pull the cable out."""
        if self.is_open:
            asyncio.get_running_loop().call_soon(self._on_lost, "pulled out")


def link(data: bytes) -> None:
    """No byte of a board raises; events come once, in order; nothing is left behind."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(_life(Words(data)))


async def _life(words: Words) -> None:
    loop = asyncio.get_running_loop()
    broken: list[str] = []
    loop.set_exception_handler(lambda _, about: broken.append(repr(about)))
    pinned = ExpectedBoard(kind="dealer", uid=UID, is_simulated=True, firmware="0" * 16)
    taken: list[BoardEvent] = []
    port = Port()
    sessions = iter(range(1, 1 << 20))
    line = Link(
        port,
        "dealer",
        session_ids=lambda: next(sessions),
        check=functools.partial(board_identity.check_identity, expected=pinned),
        on_event=taken.append,
    )
    at = _Line(words, line, port)
    for _ in range(1000):
        if not words.more:
            break
        await at.turn()
    line.close()
    for each in at.waiting:
        await asyncio.wait([each])
        assert each.exception() is None
    assert not broken, broken
    assert not port.is_open
    before: dict[int, int] = {}
    for event in taken:
        known = before.get(event.boot)
        assert known is None or event.number == known + 1, "an event twice, or one is missing"
        before[event.boot] = event.number


class _Line:
    """What happens at the two ends of the line, one thing after the other."""

    def __init__(self, words: Words, line: Link, port: Port) -> None:
        self.words, self.line, self.port = words, line, port
        self.dealer = DealerBoard(line)
        self.waiting: set[asyncio.Task[None]] = set()
        self._event = 0

    async def turn(self) -> None:
        words = self.words
        what = words.byte() % 16
        if what < 6:
            self._said(what)
        elif what == 6:
            self.port.say(words.some(words.byte()))
        elif what == 7:
            self.port.frame(words.byte(), words.some(words.byte() % 116))
        elif what == 8:
            self._start(self._open())
            await asyncio.sleep(0)
        elif what == 9:
            self._start(self._ordered(words.byte() % 8, words.byte(), words.byte()))
            await asyncio.sleep(0)
        elif what == 10:
            self.dealer.route(words.byte(), words.byte(), words.pick(tuple(Outlet)))
        elif what == 11:
            self.line.stop()
        elif what == 12:
            self.line.mark_kept(words.byte(), None if words.byte() % 2 else BOOT)
        elif what == 13:
            self.port.lose() if words.byte() % 2 else self.line.close()
        else:
            await asyncio.sleep(words.pick(LAPSES_S))

    def _said(self, what: int) -> None:
        """A frame that the host may be waiting for."""
        words, port = self.words, self.port
        boot = BOOT if words.byte() % 8 else 8
        if what == 0:
            uid = bytes.fromhex(UID) if words.byte() % 8 else words.some(8).ljust(8)
            known = (
                protocol.KIND_DEALER,
                protocol.HAL_SIM,
                uid,
                b"\0\1\0",
                bytes(8),
                protocol.PROTOCOL_HASH,
            )
            numbers = (boot, 0, 0, 1, words.byte(), 0, 0, words.byte() % 4, 0)
            port.frame(
                protocol.WELCOME, struct.pack(protocol.BODIES[protocol.WELCOME], *known, *numbers)
            )
        elif what == 1:
            port.frame(protocol.ALIVE, struct.pack(">IIB", boot, words.byte(), words.byte() % 8))
        elif what == 2:
            number = port.number if words.byte() % 4 else words.byte()
            body = struct.pack(">HB", number, words.byte() % 13 if words.byte() % 2 else 0)
            port.frame(protocol.ACK, body + words.some(words.byte() % 26))
        elif what in (3, 4):
            self._event = self.line.last_event + 1 if what == 3 else words.byte()
            fields = (boot, self._event, 1, words.byte() % 40, *words.some(4).ljust(4, b"\0"))
            port.frame(
                protocol.EVENT, struct.pack(">IIIBBBBB", *fields) + words.some(words.byte() % 5)
            )
        else:
            port.frame(protocol.NO_SESSION, struct.pack(">II", boot, words.byte()))

    def _start(self, deed: Coroutine[Any, Any, None]) -> None:
        self.waiting.add(asyncio.ensure_future(deed))

    async def _open(self) -> None:
        with suppress(DriverError, RuntimeError):  # the latter: it is open already
            await self.line.open({BOOT: self.words.byte() % 4}, {})

    async def _ordered(self, which: int, one: int, other: int) -> None:
        deeds = (
            lambda: self.dealer.begin(one, other, other // 4),
            lambda: self.dealer.shuffle(one, other),
            lambda: self.dealer.feed(one, FeedSource.HOPPER, other),
            lambda: self.dealer.release(one),
            lambda: self.dealer.purge(one),
            self.dealer.get_status,
            self.dealer.is_moving,
            self.dealer.retract,
        )
        with suppress(DriverError):
            await deeds[which]()
