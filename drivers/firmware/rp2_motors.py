"""Stepper motors on the chip. The chip's programmable I/O (PIO) makes the steps of each move.

The DMA feeds the words of a move to a state machine of the PIO. A started move needs no processor
time and ends after its counted steps. No steps are made in any other way.
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
    """Take a 32-bit word from the PIO's queue, and make the steps that the word describes.

    The word has steps - 1 in its low half, and the wait cycles of each step in its high half.
    """
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
    """Take a number n from the PIO's queue, and make one pulse of n + 2 cycles."""
    wrap_target()
    pull(block)  # type: ignore[name-defined]  # noqa: F821
    mov(x, osr)  # type: ignore[name-defined]  # noqa: F821
    set(pins, 1)  # type: ignore[name-defined]  # noqa: F821
    label("high")
    jmp(x_dec, "high")  # type: ignore[name-defined]  # noqa: F821
    set(pins, 0)  # type: ignore[name-defined]  # noqa: F821
    wrap()


class StepSequence:
    """A prepared move of a stepper motor: its words (32-bit numbers) for the PIO, and its duration.

    All steps go in one direction.
    """

    def __init__(self, profile: SpeedProfile, steps: int, back: int = 0, creep: int = 0) -> None:
        """Prepare a move of `steps` steps with speed ramps, followed by `creep` slow steps.

        `back` is 1 for a move in reverse, otherwise 0.
        """
        row = trapezoid(profile, steps, creep)
        self.reverse = back
        self.words: array.array[int] = pack_row(row)
        self.count = len(row)
        self.ms = duration_ms(row)


class Stepper:
    """One stepper motor on state machine `number` (0…3) of the first PIO.

    It uses a pin for steps and a pin for the direction.
    """

    def __init__(self, number: int, pins: "tuple[int, int]") -> None:
        self._step = machine.Pin(pins[0], machine.Pin.OUT, value=0)
        self._direction = machine.Pin(pins[1], machine.Pin.OUT, value=0)
        self._machine = rp2.StateMachine(number, _step_program, freq=CLOCK_HZ, set_base=self._step)
        self._dma = rp2.DMA()
        # A word for each request of the state machine (requests 0…3: the first PIO's).
        self._ctrl = self._dma.pack_ctrl(size=_WORD, inc_write=False, treq_sel=number)

    def begin(self, move: StepSequence) -> None:
        """Start `move`, and discard the rest of an unfinished move."""
        self.stop()
        self._direction.value(move.reverse)
        self._dma.config(
            read=move.words, write=self._machine, count=move.count, ctrl=self._ctrl, trigger=True
        )
        self._machine.active(1)

    def stop(self) -> None:
        """Stop the motor, and discard the rest of its move."""
        self._machine.active(0)
        self._dma.active(0)
        self._machine.init(_step_program, freq=CLOCK_HZ, set_base=self._step)

    def halt_in_irq(self) -> None:
        """Stop the motor. An interrupt handler may call this, because it allocates no memory."""
        self._machine.active(0)


class Pulser:
    """An output that makes pulses of length `length_us`, on state machine `number` of the PIO.

    A pulse ends without the core.
    """

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
SETTLING = 3  # The steps are made; the magnets must confirm.
# Time for the magnets, which are read in every loop and debounced.
GATE_SETTLE_MS = 15


class GateDrive:
    """The drive of the gate, whose five outlets are side by side, `pitch` steps apart."""

    def __init__(
        self, stepper: Stepper, profile: SpeedProfile, home_profile: SpeedProfile, pitch: int
    ) -> None:
        """Prepare moves by one to four outlets in both directions, and the move to the end stop.

        `profile` is for moves between outlets, `home_profile` for the move against the end stop.
        """
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
        """Move the gate from its position `seen` to `outlet`. A running move is finished first."""
        self._target = outlet
        self._was_homed = False
        if self._state == IDLE:
            self._start_from(seen, now_ms)

    def stop(self) -> None:
        """Stop the gate where it is."""
        self._stepper.stop()
        self._state = IDLE

    def update(self, seen: int, now_ms: int) -> None:
        """Check whether the present move has ended, and start the next move if one is needed.

        `seen` is the position that the gate's magnets report: an outlet or GATE_MOVING.
        """
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
            self._move_to(0, self._target, now_ms)  # It is at the stop, whatever the magnets show.
        elif self._was_homed:
            self._state = IDLE  # The core's limit will report the failure.
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
