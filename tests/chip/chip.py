"""A simulated RP2040: what the firmware finds as `machine`, `rp2`, `time` and `gc`.

Time is what `now_s` says; `later` calls something then. Pins are levels by number, and people
(tests, mechanics) drive them or listen to them.
"""

import array
import bisect
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import drivers.firmware
from tests.chip import pio

MODULES = ("speed_ramp", "rp2_motors", "rp2_sensors", "rp2_hal", "rp2_loop")
UID = bytes.fromhex("e660a4931754432f")
PWRON_RESET, WDT_RESET = 1, 3


class Timer(Protocol):
    """Something that will happen."""

    def cancel(self) -> None:
        """Let it not happen."""


class Reset(Exception):
    """The chip began anew: nothing behind this line ran."""


class Irq:
    """What `Pin.irq` returns."""

    def __init__(self) -> None:
        self.handler: Callable[[Any], None] | None = None
        self.trigger = 0
        self.hard = False
        self.pending = 0
        self.shown = 0

    def flags(self) -> int:
        """Return which edges made the handler run."""
        return self.shown


class Line:
    """One pin of the chip, however many objects the firmware makes of it."""

    def __init__(self, chip: "Chip", number: int) -> None:
        self.chip, self.number = chip, number
        self.level = 0
        self.output = False
        self.pull = -1
        self.irq: Irq | None = None
        self.read: Callable[[], int] | None = None
        self.heard: list[Callable[[int], None]] = []

    def put(self, level: int) -> None:
        """Have the pin at this level, whoever does it."""
        if level == self.level:
            return
        self.level = level
        for told in self.heard:
            told(level)
        if self.irq is not None:
            self.irq.pending |= self.irq.trigger & (8 if level else 4)
            self.chip.serve()


class Chip:
    """One chip, its pins, and everything on it."""

    def __init__(
        self, now_s: Callable[[], float], later: Callable[[float, Callable[[], None]], Timer]
    ) -> None:
        self.now_s, self.later = now_s, later
        self.lines = [Line(self, number) for number in range(30)]
        self.shifted: Callable[[], int] = lambda: 0
        self.analog: dict[int, int] = {26: 43_000}
        self.machines: dict[int, StateMachine] = {}
        self.uart: Uart | None = None
        self.pwm: dict[int, int] = {}
        self.on_run: Callable[[int, bool], None] = lambda number, begins: None
        self.on_pwm: Callable[[int, int], None] = lambda pin, duty: None
        self.reset_cause = PWRON_RESET
        self.resets: list[int] = []
        self._masked = False
        self._watchdog: Timer | None = None
        self.loaded = self._load()

    # What people do.

    def at(self, number: int, level: int) -> None:
        """Drive an input."""
        self.lines[number].put(level)

    def serve(self) -> None:
        """Run the handlers whose edges have come."""
        if self._masked:
            return
        for line in self.lines:
            irq = line.irq
            if irq is not None and irq.pending and irq.handler is not None:
                irq.shown, irq.pending = irq.pending, 0
                irq.handler(line.chip.pin(line.number))

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Interrupts are shut, as while the chip writes its flash."""
        self._masked = True
        yield
        self._masked = False
        self.serve()

    def reset(self, cause: int) -> None:
        """Begin anew: every pin lets go."""
        self.resets.append(cause)
        self.reset_cause = cause
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None
        for machine in self.machines.values():
            machine.active(0)
        for pin in list(self.pwm):
            self.set_pwm(pin, 0)
        for line in self.lines:
            line.irq = None
            if line.output:
                line.output = False
                line.put(0)

    def feed_watchdog(self, timeout_ms: int) -> None:
        """Wait for the next feeding."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._watchdog = self.later(timeout_ms / 1000, lambda: self.reset(WDT_RESET))

    def set_pwm(self, pin: int, duty: int) -> None:
        """Change a duty."""
        self.pwm[pin] = duty
        self.on_pwm(pin, duty)

    def close(self) -> None:
        """Leave no timer behind."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        for machine in self.machines.values():
            machine.active(0)

    # What the firmware imports.

    def pin(self, number: int) -> "Pin":
        return self.loaded["machine"].Pin(number)  # type: ignore[no-any-return]

    def _load(self) -> dict[str, Any]:
        """Import the chip's own files of the firmware against this chip."""
        found = {
            "machine": self._machine(),
            "rp2": self._rp2(),
            "time": self._time(),
            "gc": self._gc(),
        }
        known = {name: sys.modules.get(name) for name in found}
        own = [f"drivers.firmware.{name}" for name in MODULES]
        sys.modules.update(found)
        try:
            for name in own:
                sys.modules.pop(name, None)
            for short, name in zip(MODULES, own, strict=True):
                found[short] = importlib.import_module(name)
        finally:
            for name, module in known.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module
            for short, name in zip(MODULES, own, strict=True):
                sys.modules.pop(name, None)
                vars(drivers.firmware).pop(short, None)
        return found

    def _machine(self) -> Any:
        module = _module("machine")
        chip = self
        module.Pin = type("Pin", (Pin,), {"chip": chip})
        module.ADC = functools.partial(Adc, chip)
        module.PWM = functools.partial(Pwm, chip)
        module.UART = functools.partial(Uart, chip)
        module.SPI = functools.partial(Spi, chip)
        module.WDT = functools.partial(Wdt, chip)
        module.unique_id = lambda: UID
        module.reset_cause = lambda: chip.reset_cause
        module.PWRON_RESET, module.WDT_RESET = PWRON_RESET, WDT_RESET

        def reset() -> None:
            chip.reset(PWRON_RESET)
            raise Reset

        module.reset = reset
        return module

    def _rp2(self) -> Any:
        module = _module("rp2")
        module.PIO = types.SimpleNamespace(OUT_LOW=2, SHIFT_RIGHT=pio.RIGHT, SHIFT_LEFT=pio.LEFT)
        module.asm_pio = lambda **options: lambda text: pio.assemble(text, **options)
        module.StateMachine = functools.partial(StateMachine, self)
        module.DMA = functools.partial(Dma, self)
        return module

    def _time(self) -> Any:
        module = _module("time")
        wrap = 1 << 30
        module.ticks_ms = lambda: int(self.now_s() * 1000 + 1e-6) % wrap
        module.ticks_diff = lambda a, b: (a - b + wrap // 2) % wrap - wrap // 2
        module.sleep_ms = lambda ms: None
        return module

    def _gc(self) -> Any:
        module = _module("gc")
        module.collect = lambda: None
        return module


def _module(name: str) -> Any:
    return types.ModuleType(name)


class Pin:
    """machine.Pin."""

    IN, OUT, PULL_UP, PULL_DOWN = 0, 1, 1, 2
    IRQ_FALLING, IRQ_RISING = 4, 8
    chip: Chip

    def __init__(self, number: int, mode: int = -1, pull: int = -1, *, value: int = -1) -> None:
        self.line = self.chip.lines[number]
        if pull >= 0:
            self.line.pull = pull
        if mode == self.OUT:
            assert self.line.irq is None, "an output of a pin that is watched"
            self.line.output = True
            if value >= 0:
                self.line.put(value)

    def value(self, level: int | None = None) -> int:
        if level is None:
            return self.line.read() if self.line.read is not None else self.line.level
        assert self.line.output, f"GP{self.line.number} is no output"
        self.line.put(level)
        return level

    def irq(
        self, handler: Callable[[Any], None] | None = None, trigger: int = 12, hard: bool = False
    ) -> Irq:
        assert not self.line.output
        irq = self.line.irq = self.line.irq or Irq()
        irq.handler, irq.trigger, irq.hard = handler, trigger, hard
        return irq


class Adc:
    """machine.ADC."""

    def __init__(self, chip: Chip, pin: Pin) -> None:
        self._chip, self._number = chip, pin.line.number
        assert self._number in (26, 27, 28), "no ADC is there"

    def read_u16(self) -> int:
        return self._chip.analog[self._number]


class Pwm:
    """machine.PWM."""

    def __init__(self, chip: Chip, pin: Pin, *, freq: int, duty_u16: int) -> None:
        self._chip, self._number = chip, pin.line.number
        chip.set_pwm(self._number, duty_u16)

    def duty_u16(self, duty: int) -> None:
        self._chip.set_pwm(self._number, duty)


class Uart:
    """machine.UART: `written` is what the firmware wrote, `arrive` what it will read."""

    def __init__(self, chip: Chip, number: int, baud: int, *, tx: Pin, rx: Pin, rxbuf: int) -> None:
        chip.uart = self
        self._room, self._waiting = rxbuf, bytearray()
        self.on_write: Callable[[bytes], None] = lambda data: None

    def write(self, data: bytes) -> None:
        self.on_write(data)

    def arrive(self, data: bytes) -> None:
        self._waiting += data
        del self._waiting[self._room :]

    def any(self) -> int:
        return len(self._waiting)

    def readinto(self, room: memoryview) -> int | None:
        count = min(len(room), len(self._waiting))
        room[:count] = self._waiting[:count]
        del self._waiting[:count]
        return count or None


class Spi:
    """machine.SPI, reading what `chip.shifted` returns."""

    def __init__(
        self, chip: Chip, number: int, *, baudrate: int, sck: Pin, mosi: Pin, miso: Pin
    ) -> None:
        assert (number, sck.line.number, mosi.line.number, miso.line.number) == (1, 10, 27, 28)
        self._chip = chip

    def readinto(self, room: bytearray) -> None:
        room[:] = self._chip.shifted().to_bytes(len(room), "big")


class Wdt:
    """machine.WDT."""

    def __init__(self, chip: Chip, *, timeout: int) -> None:
        assert timeout <= 8388, "the chip's watchdog waits no longer"
        self._chip, self._timeout = chip, timeout
        self.feed()

    def feed(self) -> None:
        self._chip.feed_watchdog(self._timeout)


_RUNS: dict[tuple[Any, ...], pio.Run] = {}


class StateMachine:
    """rp2.StateMachine: its program is carried out when it has words and is active."""

    def __init__(self, chip: Chip, number: int, program: pio.Program, **options: Any) -> None:
        assert number not in chip.machines, "two on one state machine"
        self._chip, self.number = chip, number
        chip.machines[number] = self
        self.made = 0  # pulses in all of its life
        self._active = False
        self._end: Timer | None = None
        self.init(program, **options)

    def init(self, program: pio.Program, *, freq: int, set_base: Pin) -> None:
        self.active(0)
        self._program, self._freq, self._base = program, freq, set_base
        self._words: list[int] = []

    def active(self, value: int | None = None) -> bool:
        if value is not None:
            self._active = bool(value)
            if self._active:
                self._go()
            elif self._end is not None:
                self._finish(self.steps())
        return self._active

    def put(self, word: int) -> None:
        self.take([word])

    def take(self, words: Sequence[int]) -> None:
        """Have words come into its FIFO, as fast as it takes them."""
        self._words += words
        if self._active:
            self._go()

    def running(self) -> bool:
        return self._end is not None

    def steps(self) -> int:
        """Return how many steps of the run were begun by now."""
        cycle = (self._chip.now_s() - self._begun_s) * self._freq
        return bisect.bisect_right(self._rises, cycle + 1e-6)

    def _go(self) -> None:
        if self.running() or not self._words:
            return
        words, self._words = tuple(self._words), []
        key = (str(self._program), words)
        if key not in _RUNS:
            _RUNS[key] = pio.run(self._program, words)
        done = _RUNS[key]
        self._rises, self._begun_s = done.rises, self._chip.now_s()
        self._end = self._chip.later(
            done.cycles / self._freq, lambda: self._finish(len(self._rises))
        )
        self._chip.on_run(self.number, True)

    def _finish(self, steps: int) -> None:
        assert self._end is not None
        self._end.cancel()
        self._end = None
        self.made += steps
        self.last = steps
        self._chip.on_run(self.number, False)


class Dma:
    """rp2.DMA, as far as it hands words to a state machine."""

    def __init__(self, chip: Chip) -> None:
        self._chip = chip

    def pack_ctrl(self, *, size: int, inc_write: bool, treq_sel: int) -> int:
        assert (size, inc_write) == (2, False)
        return treq_sel

    def config(
        self, *, read: "array.array[int]", write: StateMachine, count: int, ctrl: int, trigger: bool
    ) -> None:
        assert trigger
        assert ctrl == write.number, "words come when another one asks for them"
        assert read.itemsize == 4
        assert count <= len(read), "it reads beyond the words"
        write.take(read[:count])

    def active(self, value: int) -> None:
        """Stop: what is left in the FIFO goes with the state machine's init."""
