"""Steppers on the chip's PIO: a move is a row of words that the DMA hands to a state machine.

Once begun a move needs the processor no more, and ends by itself after the steps that
were counted into it. There is no other way to make a step.
"""

import machine
import rp2

from . import protocol
from .pins import GATE_MOVING
from .speed_ramp import CLOCK_HZ, SpeedProfile, duration_ms, pack_row, trapezoid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import array

    from rp2.asm_pio import jmp, label, mov, out, pull, set, wrap, wrap_target

_WORD = 2  # the DMA's size of a transfer: four bytes


@rp2.asm_pio(set_init=rp2.PIO.OUT_LOW, out_shiftdir=rp2.PIO.SHIFT_RIGHT)
def _step_program() -> None:
    """Take a word: steps - 1 in its low half, cycles to wait at each in its high half."""
    wrap_target()
    pull(block)  # type: ignore[name-defined]  # noqa: F821 - a word of the assembler's
    out(x, 16)  # type: ignore[name-defined]  # noqa: F821
    label("step")
    set(pins, 1)[7]  # type: ignore[name-defined]  # noqa: F821
    set(pins, 0)  # type: ignore[name-defined]  # noqa: F821
    mov(y, osr)  # type: ignore[name-defined]  # noqa: F821
    label("wait")
    jmp(y_dec, "wait")  # type: ignore[name-defined]  # noqa: F821
    jmp(x_dec, "step")  # type: ignore[name-defined]  # noqa: F821
    wrap()


@rp2.asm_pio(set_init=rp2.PIO.OUT_LOW)
def _pulse_program() -> None:
    """Take a number: stay high for so many cycles and two more."""
    wrap_target()
    pull(block)  # type: ignore[name-defined]  # noqa: F821
    mov(x, osr)  # type: ignore[name-defined]  # noqa: F821
    set(pins, 1)  # type: ignore[name-defined]  # noqa: F821
    label("high")
    jmp(x_dec, "high")  # type: ignore[name-defined]  # noqa: F821
    set(pins, 0)  # type: ignore[name-defined]  # noqa: F821
    wrap()


class StepSequence:
    """So many steps one way, ready to be made: its words, and how long it takes."""

    def __init__(self, profile: SpeedProfile, steps: int, back: int = 0, creep: int = 0) -> None:
        """Make `steps` and `creep` slow ones ready; `back`: 1 for the other way."""
        row = trapezoid(profile, steps, creep)
        self.reverse = back
        self.words: array.array[int] = pack_row(row)
        self.count = len(row)
        self.ms = duration_ms(row)


class Stepper:
    """One stepper on state machine `number` (0…3) of the first PIO; pins: step, direction."""

    def __init__(self, number: int, pins: "tuple[int, int]") -> None:
        self._step = machine.Pin(pins[0], machine.Pin.OUT, value=0)
        self._direction = machine.Pin(pins[1], machine.Pin.OUT, value=0)
        self._machine = rp2.StateMachine(number, _step_program, freq=CLOCK_HZ, set_base=self._step)
        self._dma = rp2.DMA()
        # A word for each that the state machine has room for (requests 0…3: the first PIO's).
        self._ctrl = self._dma.pack_ctrl(size=_WORD, inc_write=False, treq_sel=number)

    def begin(self, move: StepSequence) -> None:
        """Make this move from now, and no other any more."""
        self.stop()
        self._direction.value(move.reverse)
        self._dma.config(
            read=move.words, write=self._machine, count=move.count, ctrl=self._ctrl, trigger=True
        )
        self._machine.active(1)

    def stop(self) -> None:
        """Make no further step, and forget what was left of the move."""
        self._machine.active(0)
        self._dma.active(0)
        self._machine.init(_step_program, freq=CLOCK_HZ, set_base=self._step)

    def halt_in_irq(self) -> None:
        """Make no further step; for interrupts, it allocates nothing."""
        self._machine.active(0)


class Pulser:
    """Pulses of one length on a pin, on state machine `number`; nobody waits for their end."""

    def __init__(self, number: int, pin: int, length_us: int) -> None:
        self._cycles = length_us * (CLOCK_HZ // 1_000_000) - 2
        out_pin = machine.Pin(pin, machine.Pin.OUT, value=0)
        self._machine = rp2.StateMachine(number, _pulse_program, freq=CLOCK_HZ, set_base=out_pin)
        self._machine.active(1)

    def pulse(self) -> None:
        """Begin one pulse."""
        self._machine.put(self._cycles)


IDLE = 0
MOVING = 1
HOMING = 2
SETTLING = 3  # the steps are made; the magnets are still to say so
# Until the magnets, read every loop and believed after some, must have seen it.
GATE_SETTLE_MS = 15


class GateDrive:
    """The gate: five outlets in a row, `pitch` steps from one to the next."""

    def __init__(
        self, stepper: Stepper, profile: SpeedProfile, home_profile: SpeedProfile, pitch: int
    ) -> None:
        """Drive `stepper`: `gait` between outlets, `slow` against the end stop."""
        self._stepper = stepper
        ways = range(1, protocol.OUTLETS)
        self._sequences = [
            [StepSequence(profile, way * pitch, back) for way in ways] for back in (0, 1)
        ]
        self._home_sequence = StepSequence(home_profile, protocol.OUTLETS * pitch, 1)
        self._state = IDLE
        self._until_ms = 0
        self._target = 0
        self._heading_to = 0
        self._was_homed = False

    def aim(self, outlet: int, seen: int, now_ms: int) -> None:
        """Go to `outlet`; a move under way is finished first."""
        self._target = outlet
        self._was_homed = False
        if self._state == IDLE:
            self._start_from(seen, now_ms)

    def stop(self) -> None:
        """Stand where it is, wherever that may be."""
        self._stepper.stop()
        self._state = IDLE

    def update(self, seen: int, now_ms: int) -> None:
        """Take what the magnets see (an outlet or GATE_MOVING); begin what is due."""
        if self._state == IDLE:
            return
        if self._state == SETTLING and seen == self._heading_to:
            self._on_arrived(seen, now_ms)
        elif now_ms < self._until_ms:
            return
        elif self._state == MOVING:
            self._state = SETTLING
            self._until_ms = now_ms + GATE_SETTLE_MS
        elif self._state == HOMING:
            self._move_to(0, self._target, now_ms)  # it stands at the stop, whatever is seen
        elif self._was_homed:
            self._state = IDLE  # the core's limit will say that it does not come
        else:
            self._find_home(now_ms)

    def _on_arrived(self, seen: int, now_ms: int) -> None:
        self._state = IDLE
        if seen != self._target:
            self._start_from(seen, now_ms)

    def _start_from(self, seen: int, now_ms: int) -> None:
        if seen == GATE_MOVING:
            self._find_home(now_ms)
        elif seen != self._target:
            self._move_to(seen, self._target, now_ms)

    def _find_home(self, now_ms: int) -> None:
        self._was_homed = True
        self._state = HOMING
        self._begin(self._home_sequence, now_ms)

    def _move_to(self, stands: int, outlet: int, now_ms: int) -> None:
        self._heading_to = outlet
        if stands == outlet:
            self._state = SETTLING
            self._until_ms = now_ms + GATE_SETTLE_MS
            return
        self._state = MOVING
        back = 1 if outlet < stands else 0
        self._begin(self._sequences[back][abs(outlet - stands) - 1], now_ms)

    def _begin(self, move: StepSequence, now_ms: int) -> None:
        self._until_ms = now_ms + move.ms + 1
        self._stepper.begin(move)
