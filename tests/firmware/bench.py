"""One board on a bench: pins that a test moves by hand, and a host at the other end of its line."""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from drivers.firmware import protocol
from drivers.firmware.board import BoardCore
from drivers.firmware.dealer import DealerCore
from drivers.firmware.framing import Decoder, encode
from drivers.firmware.pins import LIFT_DOWN, LIFT_UP
from drivers.firmware.reader import ReaderCore

INPUTS = (
    *("hopper", "tray_feed", "window", "double", "exit", "gate_at"),
    *(f"land_{outlet}" for outlet in range(5)),
    *(f"pocket_{outlet}" for outlet in range(5)),
    *("lid", "estop", "lift", "lift_down", "shuffler", "shuffled", "supply", "pulse"),
)
SESSION = 0x5EA10001
ATTEMPT = 7
BOOT = 77


@dataclass(frozen=True)
class Event:
    """An event as it stands on the line."""

    boot: int
    number: int
    attempt: int
    code: int
    total_in: int
    total_out: int
    index: int
    place: int
    more: bytes


@dataclass(frozen=True)
class Frame:
    """A frame of the board: kind, session, body."""

    kind: int
    session: int
    body: bytes


class Pins:
    """A scripted HAL: levels and edges are what the test says, outputs are written down."""

    kind = protocol.HAL_SIM
    uid = b"\xe6\x60\xa4\x93\x17\x54\x43\x2f"

    def __init__(self) -> None:
        self.levels = dict.fromkeys(INPUTS, 0) | {"lift_down": 1}
        self.outputs: dict[str, int] = {}
        self.written: list[tuple[str, int]] = []
        self.on_set: Callable[[str, int], None] = lambda name, value: None
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []

    def read(self, name: str) -> int:
        return self.levels[name]

    def set(self, name: str, value: int) -> None:
        self.outputs[name] = value
        self.written.append((name, value))
        self.on_set(name, value)

    def edges(self) -> list[tuple[int, str, int]]:
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        answers, self._answers = self._answers, []
        return answers

    def move(self, now_ms: int, name: str, value: int) -> None:
        """Change an input; the board learns of it when it is stepped."""
        if self.levels[name] != value:
            self.levels[name] = value
            self._edges.append((now_ms, name, value))

    def answer(self, *fields: int) -> None:
        self._answers.append(fields)

    def runs(self, motor: str) -> int:
        """What the board last asked of a motor: 0 stop, 1 forward, 2 reverse."""
        return self.outputs.get(motor, 0)


class Line:
    """A host that says what the test says: nothing is repeated and nothing comes by itself."""

    def __init__(self, board: BoardCore, pins: Pins) -> None:
        self.board = board
        self.pins = pins
        self.now = 1000
        self.session = 0
        self.number = 0
        self.seen = 0
        self.kept = 0
        self.frames: list[Frame] = []
        self.events: list[Event] = []
        self._decoder = Decoder()

    # Bytes.

    def step(self, rx: bytes = b"", after_ms: int = 0) -> list[Frame]:
        """Step the board; return the frames it sent, and take its new events."""
        self.now += after_ms
        payloads = self._decoder.feed(self.board.step(self.now, rx))
        frames = [frame_of(payload) for payload in payloads]
        for frame in frames:
            if frame.kind == protocol.EVENT:
                event = event_of(frame)
                if event.number == len(self.events) + 1:
                    self.events.append(event)
        self.frames += frames
        return frames

    def frame(self, kind: int, *fields: int, number: int = 0) -> bytes:
        header = (kind, self.session, number, self.seen, self.kept)
        return encode(protocol.pack_host_frame(*header, *fields))

    # Words.

    def hello(self, session: int = SESSION) -> Frame:
        """Open a session; return the WELCOME."""
        self.session, self.number = session, 0
        self.seen = self.kept = 0
        (welcome, *_) = self.step(self.frame(protocol.HELLO))
        assert welcome.kind == protocol.WELCOME
        return welcome

    def command(self, kind: int, *fields: int) -> bytes:
        """Return the next command of the session as bytes."""
        self.number = self.number % 0xFFFF + 1
        return self.frame(kind, *fields, number=self.number)

    def do(self, kind: int, *fields: int) -> int:
        """Say a command; return the result of its acknowledgement."""
        return self.result(self.step(self.command(kind, *fields)))

    def result(self, frames: list[Frame]) -> int:
        (ack,) = [frame for frame in frames if frame.kind == protocol.ACK]
        number, result = struct.unpack(">HB", ack.body[:3])
        assert number == self.number
        return int(result)

    def beat(self) -> list[Frame]:
        """Say that the host lives and has seen everything."""
        self.seen = len(self.events)
        return self.step(self.frame(protocol.BEAT))

    def status(self) -> tuple[int, ...]:
        """Ask STATUS; return its fields."""
        frames = self.step(self.command(protocol.STATUS))
        (ack,) = [frame for frame in frames if frame.kind == protocol.ACK]
        return struct.unpack(protocol.STATUS_BODIES[self.board.kind], ack.body[3:])

    def wait(self, ms: int) -> None:
        """Let time pass as a host does that beats; the board is stepped at its deadlines."""
        end = self.now + ms
        while self.now < end:
            beat = self.now + 50
            self.now = max(self.now, min(self.board.deadline(), beat, end))
            self.step()
            if self.now >= beat or self.now == end:
                self.beat()

    def silence(self, ms: int) -> list[Frame]:
        """Let time pass without a word from the host; return what the board sent."""
        end, frames = self.now + ms, []
        while self.now < end:
            self.now = max(self.now + 1, min(self.board.deadline(), end))
            frames += self.step()
        return frames

    # Sensors.

    def edge(self, name: str, value: int, after_ms: int = 1) -> None:
        """Move one sensor and step."""
        self.now += after_ms
        self.pins.move(self.now, name, value)
        self.step()

    def said(self, code: int) -> list[Event]:
        """Return the events of one code so far."""
        self.beat()
        return [event for event in self.events if event.code == code]

    def codes(self) -> list[str]:
        """Return the names of all events so far."""
        self.beat()
        return [protocol.EVENTS[event.code] for event in self.events]


class DealerLine(Line):
    """A dealer board, and the moves of one card by hand."""

    def __init__(self) -> None:
        pins = Pins()
        super().__init__(DealerCore(pins, BOOT), pins)
        self.dealer = self.board
        assert isinstance(self.board, DealerCore)

    def begin(self, cards: int = 8, per: int = 2, attempt: int = ATTEMPT) -> None:
        """Open a session and begin an attempt, cards in the hopper."""
        if not self.session:
            self.hello()
        self.pins.levels["hopper"] = 1
        assert self.do(protocol.BEGIN, attempt, cards, per) == protocol.DONE

    def feed(self, upto: int = 8, source: int = protocol.HOPPER) -> int:
        return self.do(protocol.FEED, ATTEMPT, source, upto)

    def route(self, index: int, outlet: int) -> int:
        return self.do(protocol.ROUTE, ATTEMPT, index, outlet)

    def arrive(self) -> None:
        """The card that the feeder brings stands in the window."""
        assert self.pins.runs("feed") == 1
        self.edge("window", 1, 55)

    def gate(self, outlet: int) -> None:
        """The gate stands where it was told to."""
        assert self.pins.runs("gate") == outlet
        self.edge("gate_at", outlet)

    def leave(self) -> None:
        """The card runs through the gate."""
        assert self.pins.runs("pass") == 1
        self.edge("exit", 1)
        self.edge("window", 0)
        self.edge("exit", 0)

    def land(self, outlet: int) -> None:
        self.edge(f"land_{outlet}", 1, 40)
        self.edge(f"pocket_{outlet}", 1)
        if outlet == protocol.TRAY:
            self.edge("tray_feed", 1)
        self.edge(f"land_{outlet}", 0)

    def card(self, index: int, outlet: int) -> None:
        """One card, from the source to where it lands."""
        self.arrive()
        assert self.route(index, outlet) == protocol.DONE
        self.gate(outlet)
        self.leave()
        self.land(outlet)
        self.beat()

    def deal(self, order: tuple[int, ...] = (0, 1, 2, 3, 0, 1, 2, 3)) -> None:
        """A whole attempt, until the hopper is empty."""
        self.begin(len(order), len(order) // 4)
        assert self.feed(len(order)) == protocol.DONE
        for index, outlet in enumerate(order, 1):
            if index == len(order):
                self.pins.move(self.now, "hopper", 0)
            self.card(index, outlet)

    def held(self) -> None:
        """A whole attempt, and the first RELEASE: the lift is on its way."""
        self.deal()
        assert self.do(protocol.RELEASE, ATTEMPT) == protocol.DONE

    def rise(self) -> None:
        """The lift leaves the bottom and comes to the top."""
        assert self.pins.runs("lift") == LIFT_UP
        self.edge("lift_down", 0)
        self.wait(400)
        self.edge("lift", 1)

    def lower(self) -> None:
        """The lift leaves the top, if it is there, and comes to the bottom."""
        assert self.pins.runs("lift") == LIFT_DOWN
        self.edge("lift", 0)
        self.wait(400)
        self.edge("lift_down", 1)

    def take_hands(self) -> None:
        """The players take what lies in the pockets."""
        for seat in range(4):
            self.edge(f"pocket_{seat}", 0)

    def sensors(self) -> int:
        return self.status()[-3]

    def locked(self) -> bool:
        return self.status()[-1] == 1


class ReaderLine(Line):
    """A reader board."""

    def __init__(self) -> None:
        pins = Pins()
        super().__init__(ReaderCore(pins, BOOT), pins)

    def begin(self, attempt: int = ATTEMPT) -> None:
        if not self.session:
            self.hello()
        assert self.do(protocol.BEGIN, attempt, 8, 2) == protocol.DONE

    def pulse(self) -> None:
        self.edge("pulse", 1)
        self.edge("pulse", 0)

    def answer(self, *fields: int) -> None:
        self.pins.answer(*fields)
        self.step(after_ms=15)

    def reads(self) -> list[tuple[int, ...]]:
        """Return (index, face, back, face_up, confidence) of every READ so far."""
        return [(event.index, *event.more) for event in self.said(protocol.READ)]


def frame_of(payload: bytes) -> Frame:
    kind, session = struct.unpack_from(protocol.BOARD_HEADER, payload)
    return Frame(kind, session, payload[protocol.BOARD_HEADER_SIZE :])


def event_of(frame: Frame) -> Event:
    fields = struct.unpack_from(protocol.BODIES[protocol.EVENT], frame.body)
    boot, number, attempt, code, total_in, total_out, index, place = fields
    more = frame.body[protocol.EVENT_SIZE :]
    return Event(boot, number, attempt, code, total_in, total_out, index, place, more)


def events_of(frames: list[Frame]) -> list[int]:
    """Return the numbers of the events among these frames."""
    return [event_of(frame).number for frame in frames if frame.kind == protocol.EVENT]
