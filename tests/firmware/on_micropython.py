"""The firmware on its own interpreter: golden frames, and a scripted deal of eight cards.

Runs under MicroPython (and CPython) without pytest, with the folder that holds the
package `firmware` on its path: `micropython on_micropython.py GOLDEN.JSON`. Prints how
many checks held; a check that does not hold ends it with an AssertionError.
"""

import binascii
import json
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from drivers.firmware import framing, protocol
    from drivers.firmware.dealer import DealerCore
    from drivers.firmware.reader import ReaderCore
else:
    from firmware import framing, protocol
    from firmware.dealer import DealerCore
    from firmware.reader import ReaderCore

SESSION = 0x5EA10001
ATTEMPT = 7
ORDER = (2, 0, 1, 3, 3, 1, 0, 2)

held = 0


def check(what: bool, said: str) -> None:
    global held
    assert what, said
    held += 1


class Pins:
    """A scripted HAL."""

    kind = protocol.HAL_SIM
    uid = bytes(range(8))

    def __init__(self) -> None:
        self.levels = {"hopper": 1, "lift_down": 1}
        self.outputs: dict[str, int] = {}
        self.now = 0
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []

    def read(self, name: str) -> int:
        return self.levels.get(name, 0)

    def set(self, name: str, value: int) -> None:
        self.outputs[name] = value

    def edges(self) -> list[tuple[int, str, int]]:
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        answers, self._answers = self._answers, []
        return answers

    def move(self, name: str, value: int) -> None:
        self.levels[name] = value
        self._edges.append((self.now, name, value))

    def answer(self, *fields: int) -> None:
        self._answers.append(fields)


class Host:
    """A host that says each word once, and acknowledges every event."""

    def __init__(self, board: "DealerCore | ReaderCore", pins: Pins) -> None:
        self.board = board
        self.pins = pins
        self.number = 0
        self.events: list[tuple[int, ...]] = []
        self._decoder = framing.Decoder()

    def step(self, rx: bytes = b"", after_ms: int = 1) -> list[bytes]:
        self.pins.now += after_ms
        payloads = self._decoder.feed(self.board.step(self.pins.now, rx))
        for payload in payloads:
            if payload[0] == protocol.EVENT:
                body = payload[protocol.BOARD_HEADER_SIZE :]
                event = struct.unpack(protocol.BODIES[protocol.EVENT], body[: protocol.EVENT_SIZE])
                if event[1] == len(self.events) + 1:
                    self.events.append(event)
        return payloads

    def say(self, kind: int, *fields: int) -> list[bytes]:
        if kind >= protocol.BEGIN:
            self.number += 1
        number = self.number if kind >= protocol.BEGIN else 0
        seen = len(self.events)
        return self.step(
            framing.encode(protocol.pack_host_frame(kind, SESSION, number, seen, 0, *fields))
        )

    def do(self, kind: int, *fields: int) -> int:
        acks = [payload for payload in self.say(kind, *fields) if payload[0] == protocol.ACK]
        check(len(acks) == 1, "each command is acknowledged")
        return acks[0][protocol.BOARD_HEADER_SIZE + 2]

    def edge(self, name: str, value: int) -> None:
        self.pins.move(name, value)
        self.step()

    def codes(self) -> list[int]:
        self.say(protocol.BEAT)
        return [event[3] for event in self.events]


def golden(path: str) -> None:
    """Every golden frame decodes to its payload and encodes to its bytes."""
    with open(path) as file:
        frames = json.load(file)["frames"]
    for frame in frames:
        payload = binascii.unhexlify(frame["payload"])
        line = binascii.unhexlify(frame["frame"])
        check(framing.encode(payload) == line, frame["name"])
        check(framing.Decoder().feed(line) == [payload], frame["name"])
        if frame["from"] == "host":
            said = framing.Decoder().feed(DealerCore(Pins(), 1).step(0, line))
            answer = protocol.WELCOME if frame["kind"] == "HELLO" else protocol.NO_SESSION
            check([one[0] for one in said] == [answer], frame["name"])


def deal() -> None:
    """Eight cards go where their routes say, and are released; nothing moves without them."""
    pins = Pins()
    host = Host(DealerCore(pins, 77), pins)
    host.say(protocol.HELLO)
    check(host.do(protocol.BEGIN, ATTEMPT, 8, 2) == protocol.DONE, "the path is clear")
    check(host.do(protocol.SHUFFLE, ATTEMPT, 1) == protocol.DONE, "the shuffler runs")
    host.edge("shuffled", 1)
    host.step(after_ms=40)
    check(host.do(protocol.FEED, ATTEMPT, protocol.HOPPER, 8) == protocol.DONE, "the feeder runs")
    for index, outlet in enumerate(ORDER, 1):
        if index == len(ORDER):
            pins.move("hopper", 0)
        check(pins.outputs["feed"] == 1, "the feeder brings a card")
        check(host.do(protocol.RELEASE, ATTEMPT) == protocol.NOT_LOCKED, "no release half way")
        host.edge("window", 1)
        check(pins.outputs["feed"] == 0, "the card is held")
        check(not pins.outputs.get("pass"), "no card passes without its ROUTE")
        check(
            host.do(protocol.ROUTE, ATTEMPT, index, outlet) == protocol.DONE, "the route is taken"
        )
        pins.move("gate_at", 255)
        host.edge("gate_at", outlet)
        check(pins.outputs["pass"] == 1, "the card passes")
        for name, value in (("exit", 1), ("window", 0), ("exit", 0), (f"land_{outlet}", 1)):
            pins.move(name, value)
        host.edge(f"land_{outlet}", 0)
        if not pins.read(f"pocket_{outlet}"):
            host.edge(f"pocket_{outlet}", 1)
        check(pins.outputs["pass"] == 0, "the card has passed")
        host.say(protocol.BEAT)
    counts = [
        host.codes().count(code) for code in (protocol.AT_READER, protocol.GATE, protocol.LANDED)
    ]
    check(counts == [8, 8, 8], "each card was seen three times")
    check(host.do(protocol.RELEASE, ATTEMPT) == protocol.DONE, "the lock holds")
    host.edge("lift_down", 0)
    host.edge("lid", 1)
    check(pins.outputs["lift"] == 2, "an open lid leaves the lift where it is")
    check(
        host.do(protocol.RELEASE, ATTEMPT) == protocol.LID_OPEN,
        "nothing is lifted below an open lid",
    )
    host.edge("lid", 0)
    check(pins.outputs["lift"] == 2, "a closed lid moves nothing")
    check(host.do(protocol.RELEASE, ATTEMPT) == protocol.DONE, "a release that was taken goes on")
    check(pins.outputs["lift"] == 1, "the lift goes on")
    host.edge("lift", 1)
    check(host.codes()[-1] == protocol.RELEASED, "the hands are out")
    check(pins.outputs["lift"] == 2, "the lift stays at the top")
    check(host.do(protocol.RETRACT) == protocol.NOT_CLEAR, "the hands are still there")
    for seat in range(4):
        host.edge("pocket_%d" % seat, 0)
    check(host.do(protocol.RETRACT) == protocol.DONE, "the lift is lowered")
    check(pins.outputs["lift"] == 0, "the lift goes down")
    pins.move("lift", 0)
    host.edge("lift_down", 1)
    check(pins.outputs["lift"] == 2, "the lift is down")
    check(host.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.DONE, "another attempt may begin")


def read() -> None:
    """The reader counts pulses and says what the engine answers, or that it did not."""
    pins = Pins()
    host = Host(ReaderCore(pins, 78), pins)
    host.say(protocol.HELLO)
    host.do(protocol.BEGIN, ATTEMPT, 8, 2)
    host.edge("pulse", 1)
    pins.answer(12, 0, 0, 250)
    host.step()
    pins.move("pulse", 0)
    host.edge("pulse", 1)
    host.step(after_ms=200)
    check(host.codes() == [protocol.READ, protocol.READ], "each pulse ends in a READ")
    check(pins.outputs["shoot"] == 2, "the engine was asked twice")


golden(sys.argv[1])
deal()
read()
sys.stdout.write(f"{held} checks\n")
