"""A bad line, a small honest board and a host that deals over them, all in virtual time."""

import asyncio
import random
import struct
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

import pytest

from drivers.board_events import BoardEvent, BoardEventCode, FeedSource, Outlet
from drivers.errors import BoardReset, LineLost
from drivers.firmware import framing
from drivers.firmware import protocol as wire
from drivers.firmware.board import BoardCore as FirmwareCore
from drivers.firmware.event_memory import NEVER_MS
from drivers.link.frames import BeginCommand, FeedCommand, RouteCommand, Welcome
from drivers.link.link import Link
from sim.virtual_loop import VirtualLoop

ATTEMPT = 7

_T = TypeVar("_T")

# What a direction of a line does with one write: pieces, each with its delay in ms.
Mischief = Callable[[random.Random, bytes], list[tuple[float, bytes]]]


def _good(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    return [(1, data)]


def _one_byte_at_a_time(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    return [(1, data[at : at + 1]) for at in range(len(data))]


def _late(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    return [(rng.uniform(0, 80), data)]


def _loses_a_fifth(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    return [] if rng.random() < 0.2 else [(1, data)]


def _repeats(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    return [(1, data)] * rng.choice((1, 1, 2, 3))


def _flips_bits(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    if rng.random() < 0.8:
        return [(1, data)]
    at, bit = rng.randrange(len(data)), rng.randrange(8)
    return [(1, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])]


def _does_everything(rng: random.Random, data: bytes) -> list[tuple[float, bytes]]:
    pieces = [data]
    for mischief in (_repeats, _flips_bits):
        pieces = [bad for piece in pieces for _, bad in mischief(rng, piece)]
    if rng.random() < 0.1:
        return []
    cut = rng.randrange(len(data) + 1)
    glued = b"".join(pieces)
    return [(rng.uniform(0, 30), glued[:cut]), (rng.uniform(0, 30), glued[cut:])]


MISCHIEFS: dict[str, Mischief] = {
    "good": _good,
    "one byte at a time": _one_byte_at_a_time,
    "late": _late,
    "loses a fifth": _loses_a_fifth,
    "repeats": _repeats,
    "flips bits": _flips_bits,
    "does everything": _does_everything,
}


class Direction:
    """One way of a line: bytes come late or not at all, but never out of order.

    `gluing_ms` holds what arrives until so much time has passed, so that frames come together.
    """

    def __init__(self, rng: random.Random, mischief: Mischief, gluing_ms: float = 0) -> None:
        self.mischief = mischief
        self.gluing_ms = gluing_ms
        self.cut = False
        self.writes: list[tuple[int, bytes]] = []  # (ms, bytes)
        self.deliver: Callable[[bytes], None] = lambda data: None
        self._rng = rng
        self._free_at = 0.0
        self._glued = b""

    def write(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        self.writes.append((round(loop.time() * 1000), data))
        if self.cut:
            return
        for delay_ms, piece in self.mischief(self._rng, data):
            self._free_at = max(self._free_at, loop.time() + delay_ms / 1000)
            loop.call_at(self._free_at, self._arrive, piece)

    def _arrive(self, data: bytes) -> None:
        if not self.gluing_ms:
            self.deliver(data)
            return
        if not self._glued:
            asyncio.get_running_loop().call_later(self.gluing_ms / 1000, self._come_together)
        self._glued += data

    def _come_together(self) -> None:
        glued, self._glued = self._glued, b""
        self.deliver(glued)


class Line:
    """A line with a port at the host's end; `to_board` and `to_host` are its directions."""

    def __init__(self, seed: int = 0, mischief: str = "good", gluing_ms: float = 0) -> None:
        rng = random.Random(seed)
        self.to_board = Direction(rng, MISCHIEFS[mischief], gluing_ms)
        self.to_host = Direction(rng, MISCHIEFS[mischief], gluing_ms)
        self.is_open = False
        self.lose: Callable[[str], None] = lambda why: None

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        assert not self.is_open
        self.is_open = True
        self.to_host.deliver = lambda data: on_bytes(data) if self.is_open else None
        self.lose = on_lost

    def write(self, data: bytes) -> None:
        assert self.is_open
        self.to_board.write(data)

    def close(self) -> None:
        self.is_open = False


class ScriptedBoard:
    """A dealer board reduced to what a link can get wrong, at 10 ms a card.

    `moved` and `routed` list every card it ever moved and every route it ever
    obeyed, so that twice shows. `made` holds, by boot, number, attempt and code of
    every event it made.
    """

    def __init__(self, line: Line, boots: Iterator[int], *, forgotten: int = 0) -> None:
        self.made: dict[int, list[tuple[int, int, int]]] = {}
        self.moved: list[int] = []
        self.routed: list[tuple[int, int]] = []
        self.stops = 0
        self.deaf = False  # hears nothing
        self.mute = False  # says nothing
        self.answers = True  # acknowledges commands
        self.result: dict[int, int] = {}  # what it answers instead of DONE, by kind
        self.alive: asyncio.TimerHandle | None = None
        self.repeat: asyncio.TimerHandle | None = None
        self._boots = boots
        self._forgotten = forgotten
        self._send_bytes = line.to_host.write
        line.to_board.deliver = self._hear
        self.reset()

    def reset(self) -> None:
        """Restart: another boot, no session, no events; the cards lie where they lay."""
        self.close()
        self.mute = self.deaf = False
        self.boot = next(self._boots)
        self.session = self.number = 0
        self.reply = b""
        self.attempt = self.upto = self.holding = 0
        self.routes: dict[int, int] = {}
        self.made[self.boot] = []
        self.bodies: dict[int, bytes] = {}
        self.last = self.seen = self.kept = self.sent = self._forgotten
        self.wait_ms = 50
        self.decoder = framing.Decoder()

    def close(self) -> None:
        self.mute = self.deaf = True
        for timer in (self.alive, self.repeat):
            if timer is not None:
                timer.cancel()

    def emit(self, code: int, index: int = 0, place: int = 0, attempt: int | None = None) -> None:
        self.last += 1
        attempt = self.attempt if attempt is None else attempt
        self.made[self.boot].append((self.last, attempt, code))
        fields = (attempt, code, 0, 0, index, place)
        self.bodies[self.last] = struct.pack(wire.BODIES[wire.EVENT], self.boot, self.last, *fields)
        self._send_new_events()

    # The line.

    def _hear(self, data: bytes) -> None:
        if self.deaf:
            return
        for payload in self.decoder.feed(data):
            kind, session, number, seen, kept = struct.unpack_from(wire.HOST_HEADER, payload)
            body = struct.unpack(wire.BODIES[kind], payload[wire.HOST_HEADER_SIZE :])
            if kind == wire.HELLO:
                self._hello(session)
            elif session != self.session:
                self._send(wire.NO_SESSION, struct.pack(">II", self.boot, self.session), session)
            else:
                self._acknowledged(seen, kept)
                self._take(kind, number, body)

    def _hello(self, session: int) -> None:
        if session != self.session:
            self.session, self.number = session, 0
            self.seen = self.sent = self.kept
        self._send(wire.WELCOME, self.welcome())
        self._send_new_events()
        self._keep_alive()

    def welcome(self, protocol: bytes = wire.PROTOCOL_HASH) -> bytes:
        fields = (wire.KIND_DEALER, wire.HAL_SIM, bytes(8), bytes((0, 1, 0)), bytes(8), protocol)
        numbers = (self.boot, 0, 0, self.attempt, self.last, 0, 0, self.kept, 0)
        return struct.pack(wire.BODIES[wire.WELCOME], *fields, *numbers)

    def _acknowledged(self, seen: int, kept: int) -> None:
        self.kept = max(self.kept, kept)
        if seen > self.seen:
            self.seen, self.wait_ms = seen, 50
            self._send_new_events()

    def _take(self, kind: int, number: int, body: tuple[int, ...]) -> None:
        if kind == wire.STOP:
            self.stops += 1
            self.upto = 0
        elif kind != wire.BEAT and number == wire.next_number(self.number):
            self.number = number
            self.reply = struct.pack(">HB", number, self._do(kind, body))
            self._acknowledge()
        elif kind != wire.BEAT and number == self.number:
            self._acknowledge()

    def _acknowledge(self) -> None:
        if self.answers:
            self._send(wire.ACK, self.reply)

    def _send(self, kind: int, body: bytes, session: int | None = None) -> None:
        header = struct.pack(wire.BOARD_HEADER, kind, self.session if session is None else session)
        if not self.mute:
            self._send_bytes(framing.encode(header + body))

    def _keep_alive(self) -> None:
        if self.alive is not None:
            self.alive.cancel()
        self.alive = asyncio.get_running_loop().call_later(0.1, self._keep_alive)
        self._send(wire.ALIVE, struct.pack(">IIB", self.boot, self.last, wire.IDLE))

    def _send_new_events(self) -> None:
        if not self.session:
            return
        while self.sent < min(self.last, self.seen + wire.EVENT_WINDOW):
            self.sent += 1
            self._send(wire.EVENT, self.bodies[self.sent])
        self._repeat_later()

    def _repeat_later(self) -> None:
        if self.repeat is not None:
            self.repeat.cancel()
            self.repeat = None
        if self.sent > self.seen:
            loop = asyncio.get_running_loop()
            self.repeat = loop.call_later(self.wait_ms / 1000, self._repeat)

    def _repeat(self) -> None:
        self.wait_ms = min(2 * self.wait_ms, 400)
        for number in range(self.seen + 1, self.sent + 1):
            self._send(wire.EVENT, self.bodies[number])
        self._repeat_later()

    # The machine: each command an absolute wish.

    def _do(self, kind: int, body: tuple[int, ...]) -> int:
        if kind in self.result:
            return self.result[kind]
        work = {wire.BEGIN: self._begin, wire.FEED: self._feed, wire.ROUTE: self._route}
        return work[kind](*body) if kind in work else wire.DONE

    def _begin(self, attempt: int, cards: int, per: int) -> int:
        if attempt != self.attempt:
            self.attempt, self.upto, self.holding, self.routes = attempt, 0, 0, {}
        return wire.DONE

    def _feed(self, attempt: int, source: int, upto: int) -> int:
        if attempt != self.attempt:
            return wire.WRONG_ATTEMPT
        self.upto = max(self.upto, upto)
        self._bring()
        return wire.DONE

    def _bring(self) -> None:
        if not self.holding and len(self.moved) < self.upto:
            self.holding = len(self.moved) + 1
            self.moved.append(self.holding)
            self.emit(wire.AT_READER, self.holding)
            self._pass()

    def _route(self, attempt: int, index: int, pocket: int) -> int:
        if attempt != self.attempt:
            return wire.WRONG_ATTEMPT
        if self.routes.get(index, pocket) != pocket:
            return wire.ROUTE_DIFFERS
        if index not in self.routes:
            self.routes[index] = pocket
            self.routed.append((index, pocket))
            self._pass()
        return wire.DONE

    def _pass(self) -> None:
        if self.holding in self.routes:
            index, self.holding = self.holding, 0
            asyncio.get_running_loop().call_later(0.01, self._passed, self.boot, index)

    def _passed(self, boot: int, index: int) -> None:
        if boot == self.boot and not self.deaf:
            self.emit(wire.GATE, index, self.routes[index])
            self.emit(wire.LANDED, index, self.routes[index])
            self._bring()


class Host:
    """An owner of a link, as a table is: it routes each card and outlives every trouble.

    `taken` is its journal: the last number taken by boot id. `events` is all it was told.
    """

    link: Link

    def __init__(self, line: Line, session_ids: Callable[[], int]) -> None:
        self.line = line
        self.session_ids = session_ids
        self.taken: dict[int, int] = {}
        self.events: list[BoardEvent] = []
        self.renewals: list[Welcome] = []
        self.downs: list[LineLost] = []
        self.wake = asyncio.Event()
        self.restart()

    def restart(self) -> None:
        """Forget everything but the journal, as a killed and started process does."""
        if self.line.is_open:
            self.link.close()
        self.link = Link(
            self.line,
            "dealer",
            session_ids=self.session_ids,
            on_event=self.on_event,
            on_renewed=self.on_renewed,
            on_down=self.on_down,
        )

    async def open(self) -> Welcome:
        return await self.link.open(self.taken, {})

    async def connect(self) -> None:
        """Open the link, however often it takes."""
        while not self.link.is_up:
            with suppress(LineLost):
                await self.open()

    def on_event(self, event: BoardEvent) -> None:
        self.taken[event.boot] = event.number
        self.events.append(event)
        if event.code is BoardEventCode.AT_READER:
            self.route(event.index)
        self.wake.set()

    def route(self, index: int) -> None:
        self.link.send(RouteCommand(ATTEMPT, index, Outlet(index % 4)))

    def on_renewed(self, welcome: Welcome) -> None:
        self.renewals.append(welcome)
        self.wake.set()

    def on_down(self, error: LineLost) -> None:
        self.downs.append(error)
        self.wake.set()

    @property
    def landed(self) -> list[int]:
        return self._cards(BoardEventCode.LANDED)

    async def deal(self, cards: int) -> None:
        """Deal `cards` cards, saying everything again whenever the session was another.

        Ends early when the board restarted: such an attempt is void.
        """
        while len(self.landed) < cards and not self.void:
            sessions = len(self.renewals) + len(self.downs)
            with suppress(LineLost):
                await self.connect()
                await self.link.request(BeginCommand(ATTEMPT, cards, cards // 4))
                await self.link.request(FeedCommand(ATTEMPT, FeedSource.HOPPER, cards))
                for index in sorted(self.at_reader - set(self.landed)):
                    self.route(index)
                while len(self.landed) < cards and sessions == len(self.renewals) + len(self.downs):
                    self.wake.clear()
                    await self.wake.wait()

    @property
    def void(self) -> bool:
        return any(isinstance(error, BoardReset) for error in self.downs)

    @property
    def at_reader(self) -> set[int]:
        return set(self._cards(BoardEventCode.AT_READER))

    def _cards(self, code: BoardEventCode) -> list[int]:
        return [e.index for e in self.events if e.code is code and e.attempt == ATTEMPT]


class Rig:
    """A host and a board at the two ends of a line."""

    def __init__(self, seed: int = 0, mischief: str = "good", gluing_ms: float = 0) -> None:
        rng = random.Random(seed)
        self.line = Line(seed, mischief, gluing_ms)
        self.board = ScriptedBoard(self.line, count(0xB0070001))
        self.host = Host(self.line, lambda: rng.getrandbits(32))

    @property
    def link(self) -> Link:
        return self.host.link

    def close(self) -> None:
        self.link.close()
        self.board.close()

    def check(self) -> None:
        """Assert that nothing was done twice and nothing told twice, too early or wrongly."""
        assert self.board.moved == list(range(1, len(self.board.moved) + 1))
        assert len(dict(self.board.routed)) == len(self.board.routed)
        for boot, made in self.board.made.items():
            told = [
                (event.number, event.attempt, int(event.code))
                for event in self.host.events
                if event.boot == boot
            ]
            assert told == made[: len(told)]


@pytest.fixture(autouse=True)
def nothing_is_raised_unseen(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which a callback raised: the loop only logs that."""
    yield
    assert [record for record in caplog.get_records("call") if record.name == "asyncio"] == []


@pytest.fixture(scope="session")
def make_rig() -> Callable[..., Rig]:
    """Make a rig inside a running loop: make_rig(seed, mischief, gluing_ms)."""
    return Rig


@pytest.fixture(scope="session")
def mischiefs() -> list[str]:
    """Every way a line can be bad, and the good one."""
    return list(MISCHIEFS)


@pytest.fixture(scope="session")
def in_virtual_time() -> Callable[[Coroutine[Any, Any, _T]], _T]:
    """Run a coroutine on a virtual loop of its own, as hypothesis needs it for each example."""

    def run(main: Coroutine[Any, Any, _T]) -> _T:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(main)

    return run


class Pins:
    """The HAL of a board that stands on a test's desk: levels are set by hand.

    `after_ms` is how long the engine behind a reader board takes to answer a shot.
    """

    kind = wire.HAL_SIM
    uid = bytes.fromhex("e660a4931754432f")

    def __init__(self, after_ms: int = 15) -> None:
        self.levels = {"lift_down": 1, "gate_at": 0}
        self.shots: list[int] = []
        self.changed: Callable[[], None] = lambda: None
        self._after_s = after_ms / 1000
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []

    def move(self, name: str, value: int) -> None:
        """Move an input, as the machine does."""
        self.levels[name] = value
        now_ms = round(asyncio.get_running_loop().time() * 1000)
        self._edges.append((now_ms, name, value))
        self.changed()

    def read(self, name: str) -> int:
        return self.levels.get(name, 0)

    def set(self, name: str, value: int) -> None:
        if name == "shoot":
            self.shots.append(value)
            asyncio.get_running_loop().call_later(self._after_s, self._answer, value)

    def edges(self) -> list[tuple[int, str, int]]:
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        answers, self._answers = self._answers, []
        return answers

    def _answer(self, shot: int) -> None:
        self._answers.append((shot % wire.FACES, wire.BACK_A, 0, 255, shot))
        self.changed()


class FirmwareBoard:
    """A board's own program at the end of a line, stepped on bytes, edges and deadlines."""

    def __init__(self, line: Line, core: FirmwareCore, pins: Pins) -> None:
        self.core = core
        self.pins = pins
        self._write = line.to_host.write
        self._timer: asyncio.TimerHandle | None = None
        line.to_board.deliver = self._step
        pins.changed = self._step

    def close(self) -> None:
        self.pins.changed = lambda: None
        if self._timer is not None:
            self._timer.cancel()

    def _step(self, data: bytes = b"") -> None:
        loop = asyncio.get_running_loop()
        if sent := self.core.step(round(loop.time() * 1000), data):
            self._write(sent)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.core.deadline() < NEVER_MS:
            self._timer = loop.call_at(self.core.deadline() / 1000, self._step)


@pytest.fixture(scope="session")
def make_pins() -> Callable[..., Pins]:
    """Make the pins of a board: make_pins(after_ms)."""
    return Pins


@pytest.fixture(scope="session")
def make_line() -> Callable[..., Line]:
    """Make a line: make_line(seed, mischief, gluing_ms)."""
    return Line


@pytest.fixture(scope="session")
def run_firmware() -> Callable[[Line, FirmwareCore, Pins], FirmwareBoard]:
    """Put a firmware core at the board's end of a line, inside a running loop."""
    return FirmwareBoard
