"""The firmware's cores under any bytes, frames, edges and lapses of time.

What must hold of a board is computed here from its events and its pins, not asked of it.
"""

import struct
from collections import Counter

from drivers import typed_boards as host_dealer
from drivers import typed_boards as host_reader
from drivers.board_events import BoardKind
from drivers.firmware import protocol
from drivers.firmware.board import BoardCore as Core
from drivers.firmware.dealer import DealerCore
from drivers.firmware.framing import MAX_ENCODED, Decoder, encode
from drivers.firmware.pins import FORWARD, LIFT_DOWN, LIFT_STAY, LIFT_UP
from drivers.firmware.reader import ReaderCore
from drivers.link import frames
from drivers.link.frames import BoardReply
from tests.firmware.bench import Pins
from tests.fuzz.words import Words

SESSION = 0x5EA10001
BOOT = 77
FIRST_MS = 1000
LAPSES_MS = (0, 1, 5, 20, 45, 55, 100, 130, 200, 300, 450, 600, 1000, 5000, 21_000, 600_000)
PINS = (
    *("hopper", "tray_feed", "window", "double", "exit", "lid", "estop"),
    *(f"land_{outlet}" for outlet in range(5)),
    *(f"pocket_{outlet}" for outlet in range(5)),
    *("lift", "lift_down", "shuffler", "shuffled"),
)
GATES = (0, 1, 2, 3, 4, 255)
ATTEMPTS = (1, 1, 2, 3, 0, 0xFFFF_FFFF)
NUMBERED = tuple(kind for kind in protocol.BODIES if protocol.BEGIN <= kind < protocol.WELCOME)
SENT_AT_ONCE = 16
"""Frames that a board may send of itself in one step, beside its answers."""


class Watched(DealerCore):
    """A dealer board whose events and orders are written down as they happen."""

    def __init__(self, pins: Pins, stored: bytes) -> None:
        self.told: list[tuple[int, int, int, int]] = []  # attempt, code, index, place
        self.fed_for = 0
        super().__init__(pins, BOOT, stored=stored)

    def emit(self, code: int, index: int = 0, place: int = 0, more: bytes = b"") -> None:
        self.told.append((self.attempt, code, index, place))
        super().emit(code, index, place, more)

    def _feed(self, attempt: int, source: int, upto: int) -> int:
        result = super()._feed(attempt, source, upto)
        if result == protocol.DONE:
            self.fed_for = attempt
        return result


class Host:
    """What a host says, right or not; it hears every frame that the board sends."""

    def __init__(self, core: Core, pins: Pins, board: BoardKind) -> None:
        self.core, self.pins, self.board = core, pins, board
        self.now = FIRST_MS
        self.heard_ms = FIRST_MS
        self.session = 0
        self.number = self.seen = self.kept = 0
        self._to_board, self._to_host = Decoder(), Decoder()

    def step(self, rx: bytes = b"") -> None:
        """Step the board, and look at all that it does."""
        asked = self._to_board.feed(rx)
        if any(self._counts(payload) for payload in asked):
            self.heard_ms = self.now
        tx = self.core.step(self.now, rx)
        sent = self._to_host.feed(tx)
        assert len(sent) <= len(asked) + SENT_AT_ONCE, "a flood of frames"
        for payload in sent:
            self._look(payload)
        memory = self.core.memory
        assert memory.last - memory.kept + memory.free_slots() == protocol.EVENT_MEMORY
        assert 0 <= memory.kept <= memory.seen <= memory.last
        assert len(self.core._decoder._rest) <= MAX_ENCODED
        assert self.core.deadline() > self.now, "it asks to be stepped again at once"

    def _counts(self, payload: bytes) -> bool:
        """Whether a frame is one of the host of the session."""
        if len(payload) < protocol.HOST_HEADER_SIZE:
            return False
        kind, session, *_ = struct.unpack_from(protocol.HOST_HEADER, payload)
        layout = protocol.BODIES.get(kind)
        whole = layout is not None and kind < protocol.WELCOME
        whole = whole and len(payload) == protocol.HOST_HEADER_SIZE + struct.calcsize(layout or "")
        if whole and kind == protocol.HELLO and session:
            self.session = session
        return bool(whole and session and session == self.session)

    def _look(self, payload: bytes) -> None:
        decoded = frames.decode_board_frame(payload, self.board)
        assert decoded is not None, payload.hex()
        _, frame = decoded
        if isinstance(frame, BoardReply) and frame.body:
            status = {
                "dealer": host_dealer.decode_dealer_status,
                "reader": host_reader.decode_reader_status,
            }
            status[self.board](frame.body)

    def frame(self, kind: int, body: bytes = b"", number: int = 0) -> bytes:
        header = struct.pack(
            protocol.HOST_HEADER, kind, self.session, number & 0xFFFF, self.seen, self.kept
        )
        return encode(header + body)

    def command(self, kind: int, body: bytes) -> bytes:
        self.number = protocol.next_number(self.number)
        return self.frame(kind, body, self.number)

    def hello(self, session: int) -> None:
        if session != self.session:
            self.number = 0
        self.session = session
        self.step(self.frame(protocol.HELLO))

    def say(self, words: Words) -> None:
        """One thing that a host or a line does."""
        what = words.byte() % 16
        if what < 8:
            self.step(self.command(*_body(words)))
        elif what == 8:
            self.hello(words.pick((SESSION, SESSION + 1, 0, 1)))
        elif what == 9:
            self.seen, self.kept = words.number(2), words.number(2)
            self.step(self.frame(protocol.BEAT))
        elif what == 10:
            self.seen = self.kept = self.core.memory.last
            self.step(self.frame(protocol.BEAT))
        elif what == 11:
            self.step(self.frame(protocol.STOP))
        elif what == 12:  # again, or out of order
            kind, body = _body(words)
            self.step(self.frame(kind, body, self.number + words.byte() - 128))
        elif what == 13:
            self.step(words.some(words.byte()))
        elif what == 14:
            self.step(encode(words.some(words.byte() % 120)) + b"\0")
        else:
            self.step(words.some(3) + self.frame(protocol.BEAT))


def _body(words: Words) -> tuple[int, bytes]:
    """A numbered command with a body that may mean something, or any body."""
    kind = words.pick(NUMBERED)
    layout = protocol.BODIES[kind]
    sizes = [struct.calcsize(f">{one}") for one in layout[1:]]
    if words.byte() % 8 == 0:
        return kind, words.some(words.byte() % 12)
    numbers = [
        words.pick(ATTEMPTS) if size == 4 and kind != protocol.CONFIGURE else _number(words, size)
        for size in sizes
    ]
    if kind == protocol.BEGIN and numbers[2] < 0x40:
        numbers[1] = numbers[2] * 4
    return kind, struct.pack(layout, *numbers)


def _number(words: Words, size: int) -> int:
    return words.byte() if size == 1 else words.number(size)


def dealer(data: bytes) -> None:
    """The dealer board never raises, moves nothing unasked, and lifts out only right hands."""
    words = Words(data)
    pins = Pins()
    core = Watched(pins, words.some(words.byte() % 64))
    host = Host(core, pins, "dealer")
    table = Table(core, host)
    host.hello(SESSION)
    while words.more:
        what = words.byte() % 8
        if what == 0:
            host.now += words.pick(LAPSES_MS)
            host.step()
        elif what == 1:
            pins.move(host.now - words.byte() % 4, words.pick(PINS), words.byte() % 2)
        elif what == 2:
            pins.move(host.now, "gate_at", words.pick(GATES))
        elif what == 3:
            table.deal(words)
        elif what == 4:
            table.turn(words)
        else:
            host.say(words)
        table.check()


class Table:
    """The machine around a dealer board, honest where it is asked to be; and what must hold."""

    def __init__(self, core: Watched, host: Host) -> None:
        self.core, self.host, self.pins = core, host, host.pins
        self._attempt = 0
        self._lifted = False
        self.pins.on_set = self._watch

    # Honest moves.

    def deal(self, words: Words) -> None:
        """Deal four cards as they should be, up to wherever the next byte says."""
        host, core = self.host, self.core
        attempt, until = words.pick((1, 2, 3, 9)), words.byte()
        pockets = [words.byte() % 5 if until & 0x40 else place for place in range(4)]
        if not host.session:
            host.hello(SESSION)
        self._put("hopper", 1)
        host.step(host.command(protocol.BEGIN, struct.pack(">IBB", attempt, 4, 1)))
        host.step(host.command(protocol.FEED, struct.pack(">IBB", attempt, 0, 4)))
        for done, pocket in enumerate(pockets):
            if done >= (until & 7) + 1:
                return
            index = core.feeding.fed + 1
            self._after(5, "window", 1)
            host.step(host.command(protocol.ROUTE, struct.pack(">IBB", attempt, index, pocket)))
            self._after(40, "gate_at", self.pins.runs("gate"))
            self._after(3, "exit", 1)
            self._after(5, "window", 0)
            if done == len(pockets) - 1:
                self._put("hopper", 0)
            self._after(5, "exit", 0)
            self._after(30, f"land_{pocket}", 1)
            self._after(1, f"pocket_{pocket}", 1)
            self._after(1, f"land_{pocket}", 0)
            host.seen = core.memory.last
            host.step(host.frame(protocol.BEAT))
        host.step(host.command(protocol.RELEASE, struct.pack(">I", attempt)))

    def turn(self, words: Words) -> None:
        """The motors' doing: the lift comes, the shuffler turns, a card comes or goes."""
        moves = {
            "lift": (("lift_down", 0), ("lift", 1)),
            "lower": (("lift", 0), ("lift_down", 1)),
            "shuffle": (("shuffled", 1), ("shuffled", 0)),
            "empty": tuple((f"pocket_{outlet}", 0) for outlet in range(5)),
            "come": (("window", 1),),
            "gate": (("gate_at", self.pins.runs("gate")),),
            "go": (("exit", 1), ("window", 0), ("exit", 0)),
        }
        for name, value in moves[words.pick(tuple(moves))]:
            self._after(2, name, value)

    def _put(self, name: str, value: int) -> None:
        self.pins.move(self.host.now, name, value)

    def _after(self, ms: int, name: str, value: int) -> None:
        self.host.now += ms
        self._put(name, value)
        self.host.step()

    # What must hold.

    def _watch(self, name: str, value: int) -> None:
        core, pins = self.core, self.pins
        if core.attempt != self._attempt:
            self._attempt, self._lifted = core.attempt, False
        assert not (pins.runs("feed") and pins.runs("pass")), "both motors pull at a card"
        if name == "feed" and value == FORWARD:
            assert core.attempt, "fed without BEGIN"
            assert core.fed_for == core.attempt, "fed without FEED"
            assert not self._lifted, "fed into released hands"
        if name == "lift" and value == LIFT_UP and not self._lifted:
            assert self._right(), "released what is not right"
            self._lifted = True

    def _right(self) -> bool:
        """Whether these hands may go, by the events and by the pins as they are now."""
        core, level = self.core, self.pins.levels
        mine = [told[1:] for told in core.told if told[0] == core.attempt]
        codes = Counter(code for code, _, _ in mine)
        landed = Counter(place for code, _, place in mine if code == protocol.LANDED)
        jams = [
            place
            for code, _, place in mine
            if code == protocol.JAM and place != protocol.AT_SHUFFLER
        ]
        return (
            core.attempt > 0
            and all(landed[seat] == core.per_pocket for seat in range(4))
            and codes[protocol.AT_READER] == codes[protocol.LANDED]
            and not codes[protocol.STRAY]
            and not jams
            and all(level[f"pocket_{seat}"] for seat in range(4))
            and not any(level[name] for name in ("hopper", "shuffler", "tray_feed", "pocket_4"))
            and not any(level[name] for name in ("window", "exit", "lid", "estop", "lift"))
            and level["lift_down"] == 1
        )

    def check(self) -> None:
        """After every move: a board without its host stands still, and forgets what it may."""
        core, pins, host = self.core, self.pins, self.host
        assert len(core.feeding.open_doubles) <= 256
        assert len(core.landings._flying) <= 256
        driven = pins.outputs.get("lift", LIFT_STAY) in (LIFT_UP, LIFT_DOWN)
        if core.now - host.heard_ms >= core.settings["silence_ms"]:
            assert not pins.runs("feed"), "it feeds although nobody is there"
            assert not pins.runs("shuffle"), "it shuffles although nobody is there"
            assert not driven, "the lift moves although nobody is there"
        if len(core.told) > 4096:
            del core.told[:-2048]


def reader(data: bytes) -> None:
    """The reader board never raises, and says of every pulse what its engine answered."""
    words = Words(data)
    pins = Pins()
    core = ReaderCore(pins, BOOT, stored=words.some(words.byte() % 32))
    host = Host(core, pins, "reader")
    host.hello(SESSION)
    while words.more:
        what = words.byte() % 6
        if what == 0:
            host.now += words.pick(LAPSES_MS)
            host.step()
        elif what == 1:
            pins.move(host.now, "pulse", words.byte() % 2)
        elif what == 2:
            fields = [words.number(2) - 0x8000 if words.byte() % 8 == 0 else words.byte() % 60]
            fields += [words.byte() - 2 for _ in range(3)]
            if words.byte() % 2:
                fields.append(words.pick((pins.runs("shoot"), 0, -1)))
            pins.answer(*fields)
        elif what == 3:
            pins.move(host.now, "pulse", 1)
            pins.move(host.now, "pulse", 0)
            host.step()
        else:
            host.say(words)
        assert core.pulses <= 255
        if core.is_busy():
            assert core.next_ms() <= core.now + core.settings["read_limit_ms"]
