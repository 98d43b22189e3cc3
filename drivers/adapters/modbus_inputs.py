"""What the line's units say of the inputs: which blocks are read, and what changed between two.

Levels are read as they stand. Where a counter stands beside one, or for one, it tells of pulses
that were over before they could be read. Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from msgspec import Struct

from drivers.adapters.modbus_map import (
    MappedCounter,
    MappedGateSensor,
    MappedInput,
    ModbusMap,
    ModbusPlace,
    Table,
    from_registers,
)
from drivers.adapters.modbus_map import read_place as level_at
from drivers.firmware import protocol
from drivers.firmware.pins import GATE_MOVING

Edges = list[tuple[str, int]]
ALARM_PREFIX = "alarm "
"""Before a motor's name: its drive says that it has given up."""
_BITS = ("coil", "discrete")
# The most places of one read: bits, registers.
_MAX_PLACES = {"coil": 2000, "discrete": 2000, "input": 125, "holding": 125}
# More pulses than this between two reads are no pulses.
_MAX_PULSES = 50
# A level that rises so often while its counter stands is one that the counter does not count.
_MAX_UNCOUNTED = 3
# What happened between two reads happened in this order: a card's way, hands before everything.
_ORDER: Mapping[tuple[str, int], int] = {
    **{(name, value): 0 for name in ("lid", "estop", "supply") for value in (0, 1)},
    ("double", 1): 2,
    ("window", 1): 3,
    ("exit", 1): 4,
    ("window", 0): 5,
    ("exit", 0): 6,
}
_GATE, _OTHERS = 1, 7


class ImplausibleInput(Exception):
    """A unit says what cannot be; its text says what."""


class ReadBlock(Struct, frozen=True):
    """Neighbouring places of one unit, read in one request."""

    unit: str
    table: Table
    address: int
    count: int


def plan_blocks(mapping: ModbusMap) -> tuple[ReadBlock, ...]:
    """Return the blocks in which every input is read, as few as its units let join.

    Counters come first: where a pulse was counted, the levels are younger than it.
    """
    due: dict[tuple[str, Table], list[tuple[int, int]]] = {}
    for (unit, table, address), count in _read_places(mapping):
        due.setdefault((unit, table), []).append((address, count))
    made = []
    for (unit, table), spans in sorted(due.items(), key=lambda one: (one[0][1] in _BITS, one[0])):
        first, count = min(spans)
        end = first + count
        for address, count in sorted(spans):
            near = address - end <= mapping.unit[unit].join
            if not near or address + count - first > _MAX_PLACES[table]:
                made.append(ReadBlock(unit, table, first, end - first))
                first, end = address, address + count
            end = max(end, address + count)
        made.append(ReadBlock(unit, table, first, end - first))
    return tuple(made)


class ModbusInputs:
    """The levels of every input, as last read; `levels` has them by the names of the HAL.

    An alarm's name is ALARM and its motor's.
    """

    def __init__(self, mapping: ModbusMap) -> None:
        self.levels: dict[str, int] = dict.fromkeys(mapping.input, 0) | {"gate_at": GATE_MOVING}
        self.blocks = plan_blocks(mapping)
        self._read: list[tuple[ModbusPlace, int, Callable[[tuple[int, ...], bool], Edges]]] = []
        self._pulses: dict[str, _PulseCounter] = {}
        self._changes: list[Edges] = []  # of this round
        for name, place in mapping.input.items():
            self._add_input(name, place)
        for motor, place in mapping.alarm.items():
            self.levels[ALARM_PREFIX + motor] = 0
            self._add_input(ALARM_PREFIX + motor, place)
        self._gate = mapping.gate_at
        self._read.append((*_gate_place(mapping.gate_at), self._read_gate))

    def update(self, block: ReadBlock, values: tuple[int, ...], *, fresh: bool) -> None:
        """Take what a block said.

        `fresh`: its unit was away, so that what its counters counted meanwhile is nobody's.
        Raises Implausible.
        """
        for (unit, table, address), count, read in self._read:
            at = address - block.address
            if (unit, table) == (block.unit, block.table) and 0 <= at <= block.count - count:
                edges = read(values[at : at + count], fresh)
                if edges:
                    self._changes.append(edges)

    def pop_changes(self) -> Edges:
        """Return what changed since last asked, in the order in which it happened.

        Asked once a round, so that no pulse is told before the levels that stood behind it.
        """
        changes, self._changes = self._changes, []
        return [edge for edges in sorted(changes, key=_edge_rank) for edge in edges]

    def _add_input(self, name: str, place: MappedInput) -> None:
        at = level_at(place)
        counter = place.counter
        if at is not None:
            table, address = at
            read = partial(self._read_level, name, place)
            self._read.append(((place.unit, table, address), 1, read))
        if counter is not None:
            self._pulses[name] = _PulseCounter(counter.words)
            span = _counter_place(place, counter)
            count = partial(self._read_count, name, at is not None)
            self._read.append((*span, count))

    def _read_level(
        self, name: str, place: MappedInput, values: tuple[int, ...], fresh: bool
    ) -> Edges:
        value = int(bool(values[0] & place.mask) != place.invert)
        if value == self.levels[name]:
            return []
        self.levels[name] = value
        if value and name in self._pulses:
            self._pulses[name].note_rise()
        return [(name, value)]

    def _read_count(self, name: str, leveled: bool, values: tuple[int, ...], fresh: bool) -> Edges:
        """Say the pulses that nobody saw; the last may last: its level tells when it is read."""
        try:
            missed = self._pulses[name].count_missed(from_registers(values, signed=False), fresh)
        except ImplausibleInput as odd:
            raise ImplausibleInput(f"the counter of {name} {odd}") from None
        if not leveled:
            return [(name, 1), (name, 0)] * missed
        edges: Edges = []
        for _ in range(missed):
            edges += [(name, 0)] * self.levels[name] + [(name, 1)]
            self.levels[name] = 1
        return edges

    def _read_gate(self, values: tuple[int, ...], fresh: bool) -> Edges:
        at = _gate_outlet(self._gate, values)
        if at == self.levels["gate_at"]:
            return []
        self.levels["gate_at"] = at
        return [("gate_at", at)]


class _PulseCounter:
    """One counter, and the pulses of which its level has told already."""

    def __init__(self, words: int) -> None:
        self._modulus = 1 << 16 * words
        self._last = 0
        self._rises_ahead = 0  # rises of the level that the counter has not counted yet
        self._was_read_before = False
        self._uncounted = 0

    def note_rise(self) -> None:
        """Its level rose: the counter counts that, too."""
        self._rises_ahead += 1
        self._was_read_before = False

    def count_missed(self, value: int, fresh: bool) -> int:
        """Return how many pulses it counted of which nobody knows. Raises Implausible."""
        counted = (value - self._last) % self._modulus
        self._last = value
        if fresh:
            self._rises_ahead = self._uncounted = 0
            return 0
        if counted > _MAX_PULSES:
            raise ImplausibleInput("jumped: has the unit lost its power?")
        missed = max(0, counted - self._rises_ahead)
        self._rises_ahead -= counted - missed
        if counted:
            self._uncounted = 0
        if self._rises_ahead and self._was_read_before:  # read twice, and still not counted
            self._uncounted += self._rises_ahead
            self._rises_ahead = 0
            if self._uncounted >= _MAX_UNCOUNTED:
                raise ImplausibleInput("stands still")
        self._was_read_before = bool(self._rises_ahead)
        return missed


def _read_places(mapping: ModbusMap) -> Iterator[tuple[ModbusPlace, int]]:
    """Yield every place that is read, and of how many addresses it is."""
    for place in (*mapping.input.values(), *mapping.alarm.values()):
        at = level_at(place)
        if at is not None:
            yield (place.unit, *at), 1
        if place.counter is not None:
            yield _counter_place(place, place.counter)
    yield _gate_place(mapping.gate_at)


def _counter_place(place: MappedInput, counter: MappedCounter) -> tuple[ModbusPlace, int]:
    unit = counter.unit or place.unit
    if counter.input is not None:
        return (unit, "input", counter.input), counter.words
    assert counter.holding is not None
    return (unit, "holding", counter.holding), counter.words


def _gate_place(gate: MappedGateSensor) -> tuple[ModbusPlace, int]:
    """Return the first place of the gate's sensor, and how far the others reach."""
    if gate.discrete is not None:
        first = min(gate.discrete)
        return (gate.unit, "discrete", first), max(gate.discrete) - first + 1
    if gate.input is not None:
        return (gate.unit, "input", gate.input), gate.words
    assert gate.holding is not None
    return (gate.unit, "holding", gate.holding), gate.words


def _gate_outlet(gate: MappedGateSensor, values: tuple[int, ...]) -> int:
    """Return the outlet at which the gate stands, or GATE_MOVING."""
    if gate.discrete is not None:
        first = min(gate.discrete)
        seen = [bool(values[at - first]) != gate.invert for at in gate.discrete]
        return seen.index(True) if sum(seen) == 1 else GATE_MOVING
    assert gate.positions is not None
    stands = from_registers(values) / gate.scale
    near = [abs(stands - position) <= gate.tolerance for position in gate.positions]
    return near.index(True) if sum(near) == 1 else GATE_MOVING


def _edge_rank(edges: Edges) -> int:
    name = edges[0][0]
    return _GATE if name == "gate_at" else _ORDER.get(edges[0], _OTHERS)


def describe_levels(levels: Mapping[str, int]) -> Iterable[tuple[str, str]]:
    """Yield each input and what it says, in words."""
    outlets = ("N", "W", "S", "E", "tray")
    for name, value in levels.items():
        if name == "gate_at":
            yield name, outlets[value] if value < protocol.OUTLETS else "between two"
        else:
            yield name, "on" if value else "off"
