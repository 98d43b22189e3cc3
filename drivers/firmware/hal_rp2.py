"""The HAL of the chip: RP2040 pins, steppers by PIO, sensors by interrupt, and its watchdog.

Runs on the chip alone. Wiring is in the tables below. Three things are done here
because the core may be late: a feeder never gets more steps than one card needs and
is stopped by the window's own interrupt; no stepper runs without a counted number of
steps; and a core that hangs is reset by the watchdog, with every output low.

Fast sensors (beams, window) interrupt and are written into a ring made beforehand,
since a handler may not allocate. Slow ones sit on a shift register, read every loop.
"""

import array
import time

import machine
import rp2

from . import wire
from .hal import FORWARD, GATE_MOVING, LIFT_DOWN, LIFT_UP, REVERSE, STOP

WATCHDOG_MS = 1000
LOOP_MS = 1
RING = 64  # edges; a power of two
STEP_HZ = 400_000  # of the PIO; one step takes 20 of its cycles: one speed, no ramp
SLOW_SETTLE = 3  # a slow sensor must say the same this many loops running

# Dealer board: pin numbers of the chip (GPx).
FAST = (
    ("window", 16),
    ("exit", 18),
    ("double", 17),
    ("land_0", 19),
    ("land_1", 20),
    ("land_2", 21),
    ("land_3", 22),
    ("land_4", 26),
    ("hopper", 14),
    ("tray_feed", 15),
)
# Bits of the shift register, lowest first; the gate's five magnets come last.
SLOW = (
    "pocket_0",
    "pocket_1",
    "pocket_2",
    "pocket_3",
    "pocket_4",
    "lid",
    "estop",
    "lift",
    "shuffler",
    "shuffled",
    "lift_down",
)
GATE_BITS = len(SLOW)
REGISTER = (27, 28, 1)  # clock, latch, data
FEED_PINS = (2, 3)  # step, direction
PASS_PINS = (5, 6)
GATE_PINS = (7, 8)
SHUFFLE_PIN = 9
LIFT_PINS = (10, 11)  # up, down; both low: it stays where it is
SOURCE_PIN = 12
TRIGGER_PIN = 13
TRIGGER_US = 100
SHUFFLE_DUTY = 48_000

# Steps: of one card from the source to the window and on, with a tenth to spare; of the
# gate from one outlet to the next. Reverse runs at most as far.
FEED_STEPS = 1760
PASS_STEPS = 880
GATE_PITCH = 160
GATE_TRAVEL = GATE_PITCH * wire.OUTLETS

# Reader board.
PULSE_PIN = 16
ENGINE = (0, 115_200, 12, 13)  # UART, baud, tx, rx


@rp2.asm_pio(set_init=rp2.PIO.OUT_LOW)
def _steps():
    """Take a number, make one step more than it, then wait for the next number."""
    pull(block)  # noqa: F821
    mov(x, osr)  # noqa: F821
    label("step")  # noqa: F821
    set(pins, 1)[9]  # noqa: F821
    set(pins, 0)[8]  # noqa: F821
    jmp(x_dec, "step")  # noqa: F821


class Stepper:
    """One stepper on one PIO state machine; it never moves but by a counted number of steps."""

    def __init__(self, number: int, pins: tuple[int, int]) -> None:
        self._number = number
        self._step = machine.Pin(pins[0], machine.Pin.OUT, value=0)
        self._way = machine.Pin(pins[1], machine.Pin.OUT, value=0)
        self._machine = None
        self.stop()

    def move(self, steps: int) -> None:
        """Make `steps` steps from now; negative ones go back."""
        self.stop()
        if steps:
            self._way.value(1 if steps < 0 else 0)
            self._machine.active(1)
            self._machine.put(abs(steps) - 1)

    def stop(self, _pin: object = None) -> None:
        """Make no further step."""
        if self._machine:
            self._machine.active(0)
        self._machine = rp2.StateMachine(self._number, _steps, freq=STEP_HZ, set_base=self._step)

    def cut(self) -> None:
        """Make no further step, from within an interrupt."""
        self._machine.active(0)


class Ring:
    """Edges written by interrupts and read by the loop; nothing is allocated while writing."""

    def __init__(self) -> None:
        self._ticks = array.array("L", [0] * RING)
        self._pins = bytearray(RING)
        self._values = bytearray(RING)
        self._head = 0
        self._tail = 0
        self.lost = 0

    def put(self, pin: int, value: int) -> None:
        """Write one edge; the one that finds the ring full is counted as lost."""
        head = self._head
        after = (head + 1) & (RING - 1)
        if after == self._tail:
            self.lost += 1
            return
        self._ticks[head] = time.ticks_ms()
        self._pins[head] = pin
        self._values[head] = value
        self._head = after

    def take(self, now_ms: int) -> list[tuple[int, int, int]]:
        """Return (t_ms, pin, value) of what was written, by the clock that says `now_ms`."""
        edges = []
        now_ticks = time.ticks_ms()
        while self._tail != self._head:
            at = self._tail
            ago = max(0, time.ticks_diff(now_ticks, self._ticks[at]))
            edges.append((now_ms - ago, self._pins[at], self._values[at]))
            self._tail = (at + 1) & (RING - 1)
        return edges


class Rp2Hal:
    """What both boards' pins share."""

    kind = wire.HAL_RP2

    def __init__(self) -> None:
        self.uid = machine.unique_id()
        self._edges = []
        self._ring = Ring()

    def reset_cause(self) -> int:
        """Return one of wire.RESET_…"""
        if machine.reset_cause() == machine.WDT_RESET:
            return wire.RESET_WATCHDOG
        return wire.RESET_POWER

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of every change since last asked, oldest first."""
        edges, self._edges = self._edges, []
        return edges

    def _watch(self, number: int, pin: int) -> machine.Pin:
        """Write every edge of a pin into the ring as `number`; return the pin."""
        ring = self._ring
        watched = machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_DOWN)

        def note(source: machine.Pin) -> None:
            ring.put(number, source.value())

        both = machine.Pin.IRQ_RISING | machine.Pin.IRQ_FALLING
        watched.irq(note, trigger=both, hard=True)
        return watched


class DealerHal(Rp2Hal):
    """The pins of the dealer board."""

    def __init__(self) -> None:
        super().__init__()
        self._feed = Stepper(0, FEED_PINS)
        self._pass = Stepper(1, PASS_PINS)
        self._gate = Stepper(2, GATE_PINS)
        self._shuffle = machine.PWM(machine.Pin(SHUFFLE_PIN), freq=20_000, duty_u16=0)
        self._lift = [machine.Pin(pin, machine.Pin.OUT, value=0) for pin in LIFT_PINS]
        self._source = machine.Pin(SOURCE_PIN, machine.Pin.OUT, value=0)
        self._trigger = machine.Pin(TRIGGER_PIN, machine.Pin.OUT, value=0)
        self._register = [machine.Pin(pin, machine.Pin.OUT, value=0) for pin in REGISTER[:2]]
        self._data = machine.Pin(REGISTER[2], machine.Pin.IN)
        self._fast = {}
        for number, (name, pin) in enumerate(FAST):
            self._fast[name] = self._watch(number, pin)
        self._stop_at_window()
        self._slow = dict.fromkeys(SLOW, 0)
        self._slow["gate_at"] = GATE_MOVING
        self._seen = dict(self._slow)
        self._agreed = dict.fromkeys(self._slow, 0)
        self._outputs = {
            "feed": self._set_feed,
            "pass": self._set_pass,
            "gate": self._set_gate,
            "shuffle": self._set_shuffle,
            "lift": self._set_lift,
            "source": self._source.value,
            "trigger": self._set_trigger,
        }
        for _ in range(SLOW_SETTLE):
            self._read_register(0)
        self._edges = []  # how things stood at the start is no change

    def read(self, name: str) -> int:
        """Return the level of an input now."""
        fast = self._fast.get(name)
        return fast.value() if fast else self._slow[name]

    def set(self, name: str, value: int) -> None:
        """Put an output where it should be."""
        self._outputs[name](value)

    def take(self, now_ms: int) -> None:
        """Collect what changed, as of `now_ms`."""
        for at, number, value in self._ring.take(now_ms):
            self._edges.append((at, FAST[number][0], value))
        self._read_register(now_ms)

    def _stop_at_window(self) -> None:
        """Let the window itself stop the feeder, whatever the core is doing."""
        ring, feed, number = self._ring, self._feed, 0

        def arrive(source: machine.Pin) -> None:
            if source.value():
                feed.cut()
            ring.put(number, source.value())

        both = machine.Pin.IRQ_RISING | machine.Pin.IRQ_FALLING
        self._fast["window"].irq(arrive, trigger=both, hard=True)

    def _read_register(self, now_ms: int) -> None:
        clock, latch = self._register
        latch.value(1)
        bits = 0
        for bit in range(GATE_BITS + wire.OUTLETS):
            bits |= self._data.value() << bit
            clock.value(1)
            clock.value(0)
        latch.value(0)
        for bit, name in enumerate(SLOW):
            self._settle(name, bits >> bit & 1, now_ms)
        magnets = bits >> GATE_BITS
        place = GATE_MOVING
        for outlet in range(wire.OUTLETS):
            if magnets == 1 << outlet:
                place = outlet
        self._settle("gate_at", place, now_ms)

    def _settle(self, name: str, value: int, now_ms: int) -> None:
        """Believe a slow sensor once it has said the same SLOW_SETTLE times running."""
        if value != self._seen[name]:
            self._seen[name] = value
            self._agreed[name] = 0
        self._agreed[name] += 1
        if self._agreed[name] == SLOW_SETTLE and value != self._slow[name]:
            self._slow[name] = value
            self._edges.append((now_ms, name, value))

    def _set_feed(self, value: int) -> None:
        if value == FORWARD and self._fast["window"].value():
            value = STOP  # a card stands there already
        self._feed.move(_signed(value, FEED_STEPS))

    def _set_pass(self, value: int) -> None:
        self._pass.move(_signed(value, PASS_STEPS))

    def _set_gate(self, outlet: int) -> None:
        stands = self._slow["gate_at"]
        if stands == GATE_MOVING:
            # Where it is is not known: to the end stop at N, and from there.
            self._gate.move(-GATE_TRAVEL)
            time.sleep_ms(GATE_TRAVEL * 20 * 1000 // STEP_HZ + 1)
            stands = 0
        self._gate.move((outlet - stands) * GATE_PITCH)

    def _set_shuffle(self, value: int) -> None:
        self._shuffle.duty_u16(SHUFFLE_DUTY if value else 0)

    def _set_lift(self, value: int) -> None:
        """Drive it one way, or neither; the end switches cut the current at top and bottom."""
        up, down = self._lift
        up.value(0)
        down.value(0)
        if value == LIFT_UP:
            up.value(1)
        elif value == LIFT_DOWN:
            down.value(1)

    def _set_trigger(self, value: int) -> None:
        self._trigger.value(value)
        if value:
            time.sleep_us(TRIGGER_US)


class ReaderHal(Rp2Hal):
    """The pins of the reader board, and the engine on its UART.

    To the engine: `S SHOT`, a line. From it: `R SHOT FACE BACK UP CONF`, a line.
    """

    def __init__(self) -> None:
        super().__init__()
        number, baud, tx, rx = ENGINE
        self._engine = machine.UART(number, baud, tx=machine.Pin(tx), rx=machine.Pin(rx))
        self._pulse = self._watch(0, PULSE_PIN)
        self._answers = []
        self._rest = b""

    def read(self, name: str) -> int:
        """Return the level of an input now."""
        return self._pulse.value()

    def set(self, name: str, value: int) -> None:
        """Put an output where it should be; the only one shoots the engine."""
        self._engine.write(b"S %d\n" % value)

    def answers(self) -> list[tuple[int, ...]]:
        """Return (face, back, face_up, confidence, shot) of every answer since last asked."""
        answers, self._answers = self._answers, []
        return answers

    def take(self, now_ms: int) -> None:
        """Collect pulses and answers, as of `now_ms`."""
        for at, _, value in self._ring.take(now_ms):
            self._edges.append((at, "pulse", value))
        if self._engine.any():
            lines = (self._rest + self._engine.read()).split(b"\n")
            self._rest = lines.pop()[-64:]
            for line in lines:
                self._answer(line.split())

    def _answer(self, words: list[bytes]) -> None:
        if len(words) != 6 or words[0] != b"R":
            return
        try:
            shot, face, back, face_up, confidence = [int(word) for word in words[1:]]
        except ValueError:
            return  # noise on the engine's line: the card counts as unreadable
        self._answers.append((face, back, face_up, confidence, shot))


def _signed(value: int, steps: int) -> int:
    return {FORWARD: steps, REVERSE: -steps}.get(value, 0)


HALS = {"dealer": DealerHal, "reader": ReaderHal}


def run(board, hal, line, clock, save) -> None:
    """Run a board's core on the chip, for ever; the watchdog resets a loop that hangs."""
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    while True:
        watchdog.feed()
        now = clock.now_ms()
        hal.take(now)
        tx = board.step(now, line.read() or b"")
        if tx:
            line.write(tx)
        stored = board.to_store()
        if stored:
            save("store", stored)
        if board.deadline() > clock.now_ms():
            time.sleep_ms(LOOP_MS)
