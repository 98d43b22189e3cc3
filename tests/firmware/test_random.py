"""Random machines, hosts and lines: what must hold whatever happens in whatever order."""

import random
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from drivers.firmware import protocol
from drivers.firmware.dealer import DealerCore
from drivers.firmware.pins import LIFT_DOWN, LIFT_STAY, LIFT_UP
from tests.firmware.bench import ATTEMPT, DealerLine

PER = 2
CARDS = 4 * PER
TOP = 6  # steps of the lift


class Machine:
    """Cards and motors: a small honest mechanics, moved in random little steps.

    It watches the rules of the road as it moves the cards.
    """

    def __init__(self, line: DealerLine, rng: random.Random) -> None:
        self.line = line
        self.pins = line.pins
        self.rng = rng
        self.hopper = CARDS
        self.window = False
        self.in_gate = False
        self.pockets = [0] * 5
        self.falling: list[int] = []
        self.arrived = 0
        self.routed: dict[int, int] = {}
        self.gated: list[int] = []
        self.purging = False
        self.height = 0
        self.pins.levels["hopper"] = 1
        self.pins.on_set = self.watch

    def watch(self, name: str, value: int) -> None:
        """No motor is ever set to what it may not do."""
        feed, passes = self.pins.runs("feed"), self.pins.runs("pass")
        assert not (feed and passes)
        if name == "pass" and value == 1 and not self.in_gate:
            assert self.purging or self.arrived in self.routed, "passed without its ROUTE"
            assert self.pins.levels["gate_at"] == self.pins.runs("gate"), "the gate disagrees"
            allowed = {protocol.TRAY, self.routed.get(self.arrived, protocol.TRAY)}
            assert self.pins.runs("gate") in allowed
        if name == "lift" and value == LIFT_UP:
            assert self.right(), self.pockets

    def put(self, name: str, value: int) -> None:
        self.pins.move(self.line.now, name, value)

    def turn(self) -> None:
        """One thing happens that the motors make happen."""
        self.rng.choice((self.feed, self.gate, self.run, self.land, self.shuffle, self.lift))()

    def feed(self) -> None:
        source = "tray_feed" if self.pins.runs("source") else "hopper"
        stack = self.pockets[4] if self.pins.runs("source") else self.hopper
        if self.pins.runs("feed") != 1 or self.window or not stack:
            return
        if self.pins.runs("source"):
            self.pockets[4] -= 1
        else:
            self.hopper -= 1
        if stack == 1:
            self.put(source, 0)
            if source == "tray_feed":
                self.put("pocket_4", 0)
        self.window = True
        self.arrived += 1
        self.put("window", 1)

    def gate(self) -> None:
        target = self.pins.runs("gate")
        if self.pins.levels["gate_at"] != target:
            assert not self.in_gate, "the gate moved with a card in it"
            self.put("gate_at", 255 if self.rng.random() < 0.3 else target)

    def run(self) -> None:
        if self.pins.runs("pass") != 1 or not self.window:
            return
        if not self.in_gate:
            self.in_gate = True
            self.gated.append(self.arrived)
            self.put("exit", 1)
        else:
            self.in_gate = self.window = False
            self.falling.append(self.pins.levels["gate_at"])
            self.put("window", 0)
            self.put("exit", 0)

    def land(self) -> None:
        if self.falling:
            outlet = self.falling.pop(0)
            self.pockets[outlet] += 1
            self.put(f"land_{outlet}", 1)
            self.put(f"land_{outlet}", 0)
            self.put(f"pocket_{outlet}", 1)
            if outlet == protocol.TRAY:
                self.put("tray_feed", 1)

    def shuffle(self) -> None:
        if self.pins.runs("shuffle"):
            self.put("shuffled", 1 - self.pins.levels["shuffled"])

    def lift(self) -> None:
        driven = self.pins.outputs.get("lift", LIFT_STAY)
        way = {LIFT_UP: 1, LIFT_DOWN: -1, LIFT_STAY: 0}[driven]
        self.height = min(max(self.height + way, 0), TOP)
        self.put("lift_down", int(self.height == 0))
        self.put("lift", int(self.height == TOP))

    def right(self) -> bool:
        """Whether the hands are physically right and nothing lies elsewhere."""
        return (
            self.pockets == [PER] * 4 + [0]
            and not self.falling
            and not self.window
            and not self.hopper
        )


class Host:
    """A host that mostly wants to deal, over a line that loses, repeats and delays."""

    def __init__(self, line: DealerLine, machine: Machine, rng: random.Random, calm: bool) -> None:
        self.line = line
        self.machine = machine
        self.rng = rng
        self.calm = calm
        self.sent: list[bytes] = []
        self.lost = b""
        self.order = [seat for seat in range(4) for _ in range(PER)]
        rng.shuffle(self.order)
        line.hello()
        assert line.do(protocol.BEGIN, ATTEMPT, CARDS, PER) == protocol.DONE

    def say(self, kind: int, *fields: int) -> int | None:
        """Say a command, lose it at times; return its result, None when it was lost."""
        again, self.lost = self.lost, b""
        rx = again or self.line.command(kind, *fields)
        if self.rng.random() < 0.1:
            self.lost = rx  # a command that was not answered is said again before the next
            return None
        self.sent.append(rx)
        frames = self.line.step(rx * self.rng.choice((1, 1, 1, 2, 3)))
        acks = [frame for frame in frames if frame.kind == protocol.ACK]
        assert acks
        assert all(ack == acks[0] for ack in acks)
        return None if again else acks[0].body[2]

    def turn(self) -> None:
        """One random word; the wrong ones are among them."""
        words: tuple[Callable[[], object], ...] = (
            *((self.route,) * 6),
            *((self.go_on,) * 3),
            self.wrong_route,
            self.old_frame,
            self.release,
            self.line.beat,
            self.noise,
        )
        rough: tuple[Callable[[], object], ...] = (self.stop, self.renew)
        self.rng.choice(words if self.calm else words + rough)()

    def route(self) -> None:
        fed = self.machine.arrived
        if not self.machine.window or fed != self.line.board.totals()[0]:
            return
        tray = self.rng.random() < 0.1
        place = (CARDS - 1 if fed > CARDS else fed - 1) % CARDS
        outlet = protocol.TRAY if tray else self.free(self.order[place])
        outlet = self.machine.routed.get(fed, outlet)
        self.machine.routed.setdefault(fed, outlet)
        result = self.say(protocol.ROUTE, ATTEMPT, fed, outlet)
        if result not in (protocol.DONE, None):
            raise AssertionError(result)

    def free(self, outlet: int) -> int:
        """The place of a card that was set aside: any pocket that is short."""
        short = [seat for seat in range(4) if self.count(seat) < PER]
        return outlet if outlet in short or not short else short[0]

    def count(self, seat: int) -> int:
        return sum(outlet == seat for outlet in self.machine.routed.values())

    def wrong_route(self) -> None:
        fed = self.machine.arrived
        if fed in self.machine.routed and fed in self.machine.gated:
            other = (self.machine.routed[fed] + 1) % 5
            result = self.say(protocol.ROUTE, ATTEMPT, fed, other)
            assert result in (protocol.ROUTE_DIFFERS, protocol.WRONG_INDEX, None)

    def go_on(self) -> None:
        source = protocol.HOPPER if self.machine.hopper else protocol.FROM_TRAY
        self.say(protocol.FEED, ATTEMPT, source, self.rng.choice((CARDS, CARDS, 60)))

    def old_frame(self) -> None:
        """Something said before comes again, late."""
        if self.sent:
            self.line.step(self.rng.choice(self.sent))

    def stop(self) -> None:
        self.line.step(self.line.frame(protocol.STOP))

    def renew(self) -> None:
        self.lost = b""
        self.line.hello(self.rng.randrange(1, 1 << 32))

    def noise(self) -> None:
        self.line.step(self.rng.randbytes(self.rng.randrange(40)) + b"\x00")

    def release(self) -> None:
        self.say(protocol.RELEASE, ATTEMPT)


def play(rng: random.Random, turns: int) -> tuple[DealerLine, Machine]:
    """Play one attempt by chance; whatever must hold is asserted on the way."""
    line = DealerLine()
    machine = Machine(line, rng)
    calm = rng.random() < 0.5
    host = Host(line, machine, rng, calm)
    speed = rng.choice((0, 3, 20))
    longest = speed if calm else 700
    for _ in range(turns):
        line.now += rng.choice((0, speed, speed, speed, rng.choice((1, 45, longest))))
        machine.turn()
        if rng.random() < 0.7:  # else the step comes late: several edges at once
            line.step()
        if rng.random() < 0.1:
            line.step()
        if rng.random() < 0.3:
            host.turn()
        check(line, machine)
        if machine.height == TOP:
            break
    return line, machine


def check(line: DealerLine, machine: Machine) -> None:
    """What holds after every step."""
    board = line.board
    assert isinstance(board, DealerCore)
    memory = board.memory
    assert memory.last - memory.kept + memory.free_slots() == protocol.EVENT_MEMORY
    assert board.deadline() > line.now or line.pins._edges or machine_waits(board, line.now)
    assert board.feeding.fed <= machine.arrived
    driven = line.pins.outputs.get("lift", LIFT_STAY) != LIFT_STAY
    assert driven == (board.doing() == protocol.LIFTING)


def machine_waits(board: DealerCore, now: int) -> bool:
    """Whether the board was simply not stepped since its deadline passed."""
    return board.now < now


def settle(line: DealerLine) -> None:
    """Let the host take every event there is."""
    for _ in range(400):
        if line.seen == line.board.memory.last:
            return
        line.now += 400
        line.beat()
    raise AssertionError("events do not come through")


def finish(line: DealerLine, machine: Machine) -> None:
    settle(line)
    assert [event.number for event in line.events] == list(range(1, len(line.events) + 1))
    gates = [event.index for event in line.events if event.code == protocol.GATE]
    landings = [event.index for event in line.events if event.code == protocol.LANDED]
    arrivals = [event.index for event in line.events if event.code == protocol.AT_READER]
    assert len(set(gates)) == len(gates), "a card passed twice"
    assert len(set(landings)) == len(landings), "a card landed twice"
    assert arrivals == list(range(1, len(arrivals) + 1))
    assert set(landings) <= set(gates) <= set(arrivals)
    assert len([event for event in line.events if event.code == protocol.RELEASED]) <= 1
    line.hello(1)
    if line.locked():
        assert machine.right()


@given(st.integers(0, 1 << 32), st.integers(1, 900))
def test_no_interleaving_of_words_edges_and_time_breaks_a_rule(seed: int, turns: int) -> None:
    finish(*play(random.Random(seed), turns))


def test_many_random_attempts_break_no_rule_and_some_end_right(scale: Callable[[int], int]) -> None:
    right = resumed = 0
    for seed in range(scale(10_000)):
        line, machine = play(random.Random(seed), 900)
        finish(line, machine)
        rises = line.pins.written.count(("lift", LIFT_UP))
        right += rises > 0
        resumed += rises > 1
    assert right > 0
    assert resumed > 0
