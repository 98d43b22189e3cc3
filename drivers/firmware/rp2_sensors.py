"""The sensor inputs of the chip. Fast inputs use interrupts; a shift register reads slow inputs.

Interrupts store the edges of fast sensors in a ring buffer. An interrupt handler allocates no
memory and cannot fail. Edges that do not fit are counted.
"""

import array
import time

import machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RING_SIZE = 64  # edges; a power of two
RISING = machine.Pin.IRQ_RISING
BOTH_EDGES = machine.Pin.IRQ_RISING | machine.Pin.IRQ_FALLING
NO_EDGES: "list[tuple[int, int, int]]" = []  # A shared constant; never changed.
REGISTER_HZ = 2_000_000
STABLE_READINGS = 3  # Equal samples in a row that a slow sensor needs.


class EdgeRing:
    """A ring buffer of input changes: interrupts write into it, and the loop reads from it."""

    def __init__(self) -> None:
        self._ticks: Any = array.array("I", [0] * RING_SIZE)
        self._inputs = bytearray(RING_SIZE)
        self._values = bytearray(RING_SIZE)
        self._head = 0
        self._tail = 0
        self._lost = 0  # Written only by interrupts, only incremented.
        self._lost_reported = 0

    def put(self, number: int, value: int) -> None:
        """Store a change of input `number`. If the ring is full, count it as lost."""
        head = self._head
        after = (head + 1) & (RING_SIZE - 1)
        if after == self._tail:
            self._lost = (self._lost + 1) & 0xFFFF
            return
        self._ticks[head] = time.ticks_ms()
        self._inputs[head] = number
        self._values[head] = value
        self._head = after

    def pop_lost(self) -> int:
        """Return how many edges the full ring could not store since the last call."""
        lost = self._lost
        new, self._lost_reported = (lost - self._lost_reported) & 0xFFFF, lost
        return new

    def pop_edges(self, now_ms: int) -> "list[tuple[int, int, int]]":
        """Remove and return all edges as (t_ms, number, value). `now_ms` is the present t_ms."""
        if self._tail == self._head:
            return NO_EDGES
        edges = []
        now_ticks = time.ticks_ms()
        while self._tail != self._head:
            at = self._tail
            ago = max(0, time.ticks_diff(now_ticks, self._ticks[at]))
            edges.append((now_ms - ago, self._inputs[at], self._values[at]))
            self._tail = (at + 1) & (RING_SIZE - 1)
        return edges


class InterruptInput:
    """A fast input with an interrupt handler, which stores each edge even while the loop is late.

    It stores the edges in `ring`, under `number`. Two edges while interrupts are off (the chip
    writes its flash) give one call of the handler; the pin's flags show both.
    """

    def __init__(self, ring: EdgeRing, number: int, pin: int) -> None:
        self._ring = ring
        self._number = number
        self._pin = machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_DOWN)
        self._irq: Any = self._pin.irq(handler=None, trigger=BOTH_EDGES, hard=True)
        self._pin.irq(handler=self._on_interrupt, trigger=BOTH_EDGES, hard=True)

    def value(self) -> int:
        """Return the present level of the input."""
        return self._pin.value()

    def on_rise(self) -> None:
        """React to a rising edge inside the interrupt. Only a subclass does anything here."""

    def _on_interrupt(self, pin: machine.Pin) -> None:
        flags = self._irq.flags()
        if flags & BOTH_EDGES == BOTH_EDGES:
            value = pin.value()
            self._ring.put(self._number, 1 - value)
        else:
            value = 1 if flags & RISING else 0
        if flags & RISING:
            self.on_rise()
        self._ring.put(self._number, value)


class DebouncedInput:
    """A slow input, whose debounced value changes after STABLE_READINGS equal samples in a row."""

    def __init__(self, value: int) -> None:
        self.value = value
        self._raw = value
        self._agreed = STABLE_READINGS

    def update(self, value: int) -> bool:
        """Add the sample `value` of the input, and return whether the debounced value changed."""
        if value != self._raw:
            self._raw = value
            self._agreed = 0
        if self._agreed < STABLE_READINGS:
            self._agreed += 1
            if self._agreed == STABLE_READINGS and value != self.value:
                self.value = value
                return True
        return False

    def is_stable(self) -> bool:
        """Return whether the last STABLE_READINGS samples were equal to the debounced value."""
        return self._agreed == STABLE_READINGS and self._raw == self.value


class DebouncedBits:
    """Slow inputs as the bits of one number, each debounced separately.

    `bits` is the debounced number. `is_stable` is True if every input is stable.
    """

    def __init__(self, bits: int, count: int) -> None:
        self.bits = bits
        self._raw = bits
        self._inputs = [DebouncedInput(bits >> bit & 1) for bit in range(count)]
        self.is_stable = True

    def update(self, bits: int) -> bool:
        """Add a sample of all inputs, and return whether any debounced bit changed."""
        if self.is_stable and bits == self._raw:
            return False
        self._raw = bits
        believed = self.bits
        self.is_stable = True
        for bit in range(len(self._inputs)):
            one = self._inputs[bit]
            if one.update(bits >> bit & 1):
                self.bits ^= 1 << bit
            if not one.is_stable():
                self.is_stable = False
        return self.bits != believed


class ShiftRegister:
    """Sixteen inputs on two chained shift registers, which the chip reads over SPI.

    `pins`: clock, latch, data. The latch may be on an unused output of the SPI. The last bit
    shifted out is bit 0. An unplugged cable reads as all ones.
    """

    def __init__(self, spi: int, pins: "tuple[int, int, int]") -> None:
        clock, latch, data = pins
        machine.Pin(data, machine.Pin.IN, machine.Pin.PULL_UP)
        self._spi = machine.SPI(
            spi,
            baudrate=REGISTER_HZ,
            sck=machine.Pin(clock),
            mosi=machine.Pin(latch),
            miso=machine.Pin(data),
        )
        self._latch = machine.Pin(latch, machine.Pin.OUT, value=0)
        self._word = bytearray(2)

    def read(self) -> int:
        """Read the sixteen inputs, and return them as the bits of a number."""
        self._latch.value(1)
        self._spi.readinto(self._word)
        self._latch.value(0)
        return self._word[0] << 8 | self._word[1]


class SupplyMonitor:
    """The monitor of the motors' supply voltage, which an ADC pin measures.

    The value is 1 while the voltage is too low. A divider makes the voltage small enough for the
    pin. After low voltage it must rise above `restored`, so that the value does not flutter. Both
    limits are samples, 0…65535.
    """

    def __init__(self, pin: int, low: int, restored: int) -> None:
        self._adc = machine.ADC(machine.Pin(pin))
        self._low = low
        self._restored = restored
        self._state = DebouncedInput(1 if self._adc.read_u16() < low else 0)

    def value(self) -> int:
        """Return 1 if the debounced voltage is too low, else 0."""
        return self._state.value

    def update(self) -> bool:
        """Measure the voltage once, and return whether the debounced value changed."""
        reading = self._adc.read_u16()
        limit = self._restored if self._state.value else self._low
        return self._state.update(1 if reading < limit else 0)
