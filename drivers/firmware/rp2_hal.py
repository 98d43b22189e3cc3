"""The HALs of both boards on the chip: pin numbers, motor moves, outputs and sensors.
The tables define the wiring.

Runs only on the RP2040. The core may be late, so these safeguards do not need it: steppers move
only counted numbers of steps; the window's interrupt stops the feeder; low supply switches the
drives off; the watchdog (rp2_loop.py) resets a hung core, which releases every output. Each output
needs a resistor that keeps it off.

Steps and speeds are provisional: the machine is not built yet.
"""

import machine

from . import protocol
from .pins import FORWARD, GATE_MOVING, LIFT_DOWN, LIFT_UP, LOST_EDGES, REVERSE
from .rp2_motors import GateDrive, Pulser, Stepper, StepSequence
from .rp2_sensors import (
    DebouncedBits,
    DebouncedInput,
    EdgeRing,
    InterruptInput,
    ShiftRegister,
    SupplyMonitor,
)
from .speed_ramp import SpeedProfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Dealer board: pin numbers of the chip (GPx).
FAST = (
    ("window", 16),
    ("exit", 18),
    ("double", 17),
    ("land_0", 19),
    ("land_1", 20),
    ("land_2", 21),
    ("land_3", 22),
    ("land_4", 4),
    ("hopper", 14),
    ("tray_feed", 15),
)
# Bits of the shift registers, lowest first (the one shifted out last). The bits of the gate's five
# magnets follow.
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
SLOW_BITS = {name: bit for bit, name in enumerate(SLOW)}
REGISTER_SPI = 1
REGISTER = (10, 27, 28)  # clock, latch, data
FEED_PINS = (2, 3)  # step, direction
PASS_PINS = (5, 6)
GATE_PINS = (7, 8)
SHUFFLE_PIN = 9
LIFT_PINS = (11, 12)  # Up, down; both low: stay in place.
SOURCE_PIN = 1
TRIGGER_PIN = 13
ENABLE_PIN = 0  # Of all drives; low: off.
# The motors' 24 V over 100 k and 10 k, measured before the contacts of lid and e-stop.
SUPPLY_PIN = 26
TRIGGER_US = 100
SHUFFLE_HZ = 20_000
SHUFFLE_DUTY = 48_000  # of 65535

# The first part of a card's move has a ramp up and down, the rest is slow, so that the feeder is
# slow at the window's edge. Reverse runs at most as far.
FEED_STEPS = 1600
FEED_CREEP = 160
PASS_STEPS = 800
PASS_CREEP = 80
GATE_PITCH = 160
FEED_PROFILE = SpeedProfile(4_000, 30_000, 2_500_000, FEED_STEPS + FEED_CREEP)
PASS_PROFILE = SpeedProfile(4_000, 30_000, 2_500_000, PASS_STEPS + PASS_CREEP)
GATE_PROFILE = SpeedProfile(3_000, 20_000, 1_500_000, (protocol.OUTLETS - 1) * GATE_PITCH)
HOME_PROFILE = SpeedProfile(
    6_000, 6_000, 1, protocol.OUTLETS * GATE_PITCH
)  # Against a stop: always slow.

# 20 V and 21 V of 24, as samples of the ADC: 36.3 V would be 65535.
SUPPLY_LOW = 36_100
SUPPLY_RESTORED = 37_900

# Reader board.
PULSE_PIN = 16
ENGINE = (0, 115_200, 12, 13)  # UART, baud, tx, rx
# Shared constants: most turns of the loop create no garbage.
NO_EDGES: "list[tuple[int, str, int]]" = []
NO_ANSWERS: "list[tuple[int, ...]]" = []
ENGINE_BYTES = 256  # Bytes of an answer and a margin. A longer line is noise.


class Rp2Hal:
    """The base class of both boards' HALs, which has the unique id and collects input changes."""

    kind = protocol.HAL_RP2

    def __init__(self) -> None:
        self.uid = machine.unique_id()
        self._edges: list[tuple[int, str, int]] = []
        self._ring = EdgeRing()

    def reset_cause(self) -> int:
        """Return RESET_WATCHDOG if the watchdog caused the last reset, else RESET_POWER."""
        if machine.reset_cause() == machine.WDT_RESET:
            return protocol.RESET_WATCHDOG
        return protocol.RESET_POWER

    def edges(self) -> "list[tuple[int, str, int]]":
        """Return all input changes since the last call, oldest first, as (t_ms, name, value)."""
        if not self._edges:
            return NO_EDGES
        edges, self._edges = self._edges, []
        return edges

    def update(self, now_ms: int) -> bool:
        """Collect input changes up to `now_ms`. Return whether the core must handle any of them."""
        raise NotImplementedError

    def stop(self) -> None:
        """Switch off all motors before the chip restarts. This base class has no motors."""

    def _collect_lost(self, now_ms: int) -> None:
        lost = self._ring.pop_lost()
        if lost:
            self._edges.append((now_ms, LOST_EDGES, lost))


class WindowInput(InterruptInput):
    """The input of the window sensor: its interrupt stops the feeder, independently of the core."""

    def __init__(self, ring: EdgeRing, number: int, pin: int, feed: Stepper) -> None:
        self._feed = feed
        super().__init__(ring, number, pin)

    def on_rise(self) -> None:
        """Stop the feeder's stepper motor inside the interrupt."""
        self._feed.halt_in_irq()


class Rp2DealerHal(Rp2Hal):
    """The HAL of a dealer board on the chip: its sensors, motors and other outputs."""

    def __init__(self) -> None:
        super().__init__()
        self._enable = _output(ENABLE_PIN)
        self._feed = Stepper(0, FEED_PINS)
        self._pass = Stepper(1, PASS_PINS)
        self._gate = GateDrive(Stepper(2, GATE_PINS), GATE_PROFILE, HOME_PROFILE, GATE_PITCH)
        self._trigger = Pulser(3, TRIGGER_PIN, TRIGGER_US)
        self._feed_moves = {
            FORWARD: StepSequence(FEED_PROFILE, FEED_STEPS, 0, FEED_CREEP),
            REVERSE: StepSequence(FEED_PROFILE, FEED_STEPS, 1),
        }
        self._pass_moves = {
            FORWARD: StepSequence(PASS_PROFILE, PASS_STEPS, 0, PASS_CREEP),
            REVERSE: StepSequence(PASS_PROFILE, PASS_STEPS, 1),
        }
        self._shuffle = machine.PWM(machine.Pin(SHUFFLE_PIN), freq=SHUFFLE_HZ, duty_u16=0)
        self._lift = [_output(pin) for pin in LIFT_PINS]
        self._source = _output(SOURCE_PIN)
        self._register = ShiftRegister(REGISTER_SPI, REGISTER)
        self._supply = SupplyMonitor(SUPPLY_PIN, SUPPLY_LOW, SUPPLY_RESTORED)
        bits = self._register.read()
        self._raw_bits = bits  # Of the register when it was last read.
        self._slow = DebouncedBits(bits, GATE_BITS)
        self._gate_at = DebouncedInput(_gate_outlet(bits >> GATE_BITS))
        self._levels: dict[str, Callable[[], int]] = {"supply": self._supply.value}
        for number, (name, pin) in enumerate(FAST):
            self._levels[name] = self._watch(number, name, pin).value
        self._outputs: dict[str, Callable[[int], None]] = {
            "feed": self._set_feed,
            "pass": self._set_pass,
            "gate": self._set_gate,
            "shuffle": self._set_shuffle,
            "lift": self._set_lift,
            "source": self._set_source,
            "trigger": self._set_trigger,
        }
        self._now = 0
        self._switch_drives()

    def read(self, name: str) -> int:
        """Return the present level of input `name`. Slow inputs are debounced."""
        level = self._levels.get(name)
        if level is not None:
            return level()
        return self._gate_at.value if name == "gate_at" else self._slow.bits >> SLOW_BITS[name] & 1

    def set(self, name: str, value: int) -> None:
        """Set the output `name` to the level `value`."""
        self._outputs[name](value)

    def update(self, now_ms: int) -> bool:
        """Collect input changes, and update the gate drive. Return whether any input changed."""
        self._now = now_ms
        for at, number, value in self._ring.pop_edges(now_ms):
            self._edges.append((at, FAST[number][0], value))
        self._collect_lost(now_ms)
        self._collect_slow(now_ms)
        if self._supply.update():
            self._edges.append((now_ms, "supply", self._supply.value()))
            self._switch_drives()
        self._gate.update(self._gate_at.value, now_ms)
        return bool(self._edges)

    def stop(self) -> None:
        """Switch the drives off, and stop every motor."""
        self._enable.value(0)
        self._feed.stop()
        self._pass.stop()
        self._gate.stop()
        self._set_shuffle(0)
        for pin in self._lift:
            pin.value(0)

    def _watch(self, number: int, name: str, pin: int) -> InterruptInput:
        if name == "window":
            return WindowInput(self._ring, number, pin, self._feed)
        return InterruptInput(self._ring, number, pin)

    def _switch_drives(self) -> None:
        """Switch the drives on, or stop all motors and drives if the supply voltage is too low."""
        if self._supply.value():
            self.stop()
        else:
            self._enable.value(1)

    def _collect_slow(self, now_ms: int) -> None:
        bits = self._register.read()
        if bits == self._raw_bits and self._slow.is_stable and self._gate_at.is_stable():
            return
        self._raw_bits = bits
        before = self._slow.bits
        if self._slow.update(bits):
            changed = before ^ self._slow.bits
            for bit, name in enumerate(SLOW):
                if changed >> bit & 1:
                    self._edges.append((now_ms, name, self._slow.bits >> bit & 1))
        if self._gate_at.update(_gate_outlet(bits >> GATE_BITS)):
            self._edges.append((now_ms, "gate_at", self._gate_at.value))

    def _set_feed(self, value: int) -> None:
        self._run_stepper(self._feed, self._feed_moves, value)
        # Read after the start, not before: the edge may come in between.
        if value == FORWARD and self._levels["window"]():
            self._feed.stop()

    def _set_pass(self, value: int) -> None:
        self._run_stepper(self._pass, self._pass_moves, value)

    def _run_stepper(self, stepper: Stepper, moves: "dict[int, StepSequence]", value: int) -> None:
        move = moves.get(value)
        if move is None:
            stepper.stop()
        else:
            stepper.begin(move)

    def _set_gate(self, outlet: int) -> None:
        self._gate.aim(outlet, self._gate_at.value, self._now)

    def _set_shuffle(self, value: int) -> None:
        self._shuffle.duty_u16(SHUFFLE_DUTY if value else 0)

    def _set_lift(self, value: int) -> None:
        """Drive the lift up (LIFT_UP) or down (LIFT_DOWN), or switch its motor off (LIFT_STAY).

        End switches cut the current at both ends.
        """
        up, down = self._lift
        up.value(0)
        down.value(0)
        if value == LIFT_UP:
            up.value(1)
        elif value == LIFT_DOWN:
            down.value(1)

    def _set_source(self, value: int) -> None:
        self._source.value(value)

    def _set_trigger(self, value: int) -> None:
        if value:
            self._trigger.pulse()  # The pulse ends without the core.


class Rp2ReaderHal(Rp2Hal):
    """The HAL of a reader board on the chip: the trigger pulse, and the engine on a UART.

    For each request the engine on the UART gets a line `S shot`. It answers with a line `R shot
    face back up confidence`, all numbers as in READ.
    """

    def __init__(self) -> None:
        super().__init__()
        number, baud, tx, rx = ENGINE
        self._engine = machine.UART(
            number, baud, tx=machine.Pin(tx), rx=machine.Pin(rx), rxbuf=ENGINE_BYTES
        )
        self._pulse = InterruptInput(self._ring, 0, PULSE_PIN)
        self._answers: list[tuple[int, ...]] = []
        self._line = bytearray(ENGINE_BYTES)
        self._length = 0
        self._room = memoryview(bytearray(ENGINE_BYTES))

    def read(self, name: str) -> int:
        """Return the level of input `name`. `engine` is always 1: the board cannot detect it."""
        return 1 if name == "engine" else self._pulse.value()

    def set(self, name: str, value: int) -> None:
        """Send the engine a request with the shot number `value`. `name` is always `shoot`."""
        self._engine.write(b"S %d\n" % value)

    def answers(self) -> "list[tuple[int, ...]]":
        """Return the new answers of the engine, each as (face, back, face_up, confidence, shot)."""
        if not self._answers:
            return NO_ANSWERS
        answers, self._answers = self._answers, []
        return answers

    def update(self, now_ms: int) -> bool:
        """Collect the trigger's pulses and the engine's answers that came up to `now_ms`.

        Return whether the core must handle any of them.
        """
        for at, _, value in self._ring.pop_edges(now_ms):
            self._edges.append((at, "pulse", value))
        self._collect_lost(now_ms)
        if self._engine.any():
            for byte in self._room[: self._engine.readinto(self._room) or 0]:
                self._take_byte(byte)
        return bool(self._edges or self._answers)

    def _take_byte(self, byte: int) -> None:
        if byte == 10:
            if self._length < ENGINE_BYTES:
                self._parse_answer(bytes(self._line[: self._length]).split())
            self._length = 0
        elif self._length < ENGINE_BYTES:
            self._line[self._length] = byte
            self._length += 1

    def _parse_answer(self, words: "list[bytes]") -> None:
        if len(words) != 6 or words[0] != b"R":
            return
        try:
            shot, face, back, face_up, confidence = [int(word) for word in words[1:]]
        except ValueError:
            return  # Noise on the engine's line: the card counts as unreadable.
        self._answers.append((face, back, face_up, confidence, shot))


HALS = {"dealer": Rp2DealerHal, "reader": Rp2ReaderHal}


def _output(pin: int) -> machine.Pin:
    return machine.Pin(pin, machine.Pin.OUT, value=0)


def _gate_outlet(magnets: int) -> int:
    for outlet in range(protocol.OUTLETS):
        if magnets == 1 << outlet:
            return outlet
    return GATE_MOVING
