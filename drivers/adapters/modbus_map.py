"""What a Modbus line carries: which unit, register, coil or input each name of the HAL is.

A person writes it (deploy/modbus.toml has every key, with its meaning); modbus_sound refuses what
could not work, and the rest of the adapter reads it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from drivers.firmware import protocol
from drivers.firmware.pins import FORWARD, LIFT_DOWN, LIFT_STAY, LIFT_UP, REVERSE, STOP

Table = Literal["coil", "discrete", "input", "holding"]
"""The four kinds of places that a unit has; coils and holding registers can be written."""
Address = Annotated[int, Meta(ge=0, le=0xFFFF)]
Value = Annotated[int, Meta(ge=-0x8000, le=0xFFFF)]
Words = Annotated[tuple[Value, ...], Meta(min_length=1, max_length=16)]
Ms = Annotated[int, Meta(ge=1, le=60_000)]
Addresses = Annotated[
    tuple[Address, ...], Meta(min_length=protocol.OUTLETS, max_length=protocol.OUTLETS)
]
Positions = Annotated[
    tuple[float, ...], Meta(min_length=protocol.OUTLETS, max_length=protocol.OUTLETS)
]

REQUIRED_INPUTS = (
    *("hopper", "tray_feed", "window", "double", "exit"),
    *(f"land_{outlet}" for outlet in range(protocol.OUTLETS)),
    *(f"pocket_{outlet}" for outlet in range(protocol.OUTLETS)),
    *("lid", "estop", "lift", "lift_down", "shuffler", "shuffled"),
)
"""The inputs that have two levels, and must be somewhere."""
OPTIONAL_INPUT = "supply"
"""The input that may be left out: a table that cannot tell has supply enough."""
OUTPUT_VALUES: Mapping[str, Mapping[str, int]] = {
    "source": {"hopper": protocol.HOPPER, "tray": protocol.FROM_TRAY},
    "feed": {"stop": STOP, "forward": FORWARD, "reverse": REVERSE},
    "pass": {"stop": STOP, "forward": FORWARD, "reverse": REVERSE},
    "shuffle": {"stop": 0, "run": 1},
    "lift": {"down": LIFT_DOWN, "up": LIFT_UP, "stay": LIFT_STAY},
    "trigger": {"off": 0, "on": 1},
}
"""The outputs but the gate: the words of the map for the values of drivers/firmware/pins.py."""
STOP_VALUES: Mapping[str, int] = {"feed": STOP, "pass": STOP, "shuffle": 0, "lift": LIFT_STAY}
"""The motions that go on until they are stopped, and the value that stops them."""
MOTORS: Mapping[str, int] = {
    "feed": protocol.MOTOR_FEED,
    "pass": protocol.MOTOR_PASS,
    "gate": protocol.MOTOR_GATE,
    "shuffle": protocol.MOTOR_SHUFFLE,
    "lift": protocol.MOTOR_LIFT,
}
OPTIONAL_OUTPUTS = ("trigger",)
"""Outputs that a table may do without: a reader that is asked (PROTOCOL.md, LOOK) has no wire."""


class MapError(Exception):
    """A map that cannot work; its text says which key is wrong, and what is expected there."""


class MappedAdapter(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose place the adapter takes: the dealer board's `id`, and `link`, the port of table.toml.

    `folder` is its own: how often it was started, and what its board stores.
    """

    id: Annotated[str, Meta(pattern="^[0-9a-f]{16}$", description="16 lower-case hex digits")]
    link: Path
    folder: Path


class MappedLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The serial line: its port, its rate, and how long a unit may take to answer.

    `timeout_ms` runs from the end of a request. `gap_ms` is the silence between two frames,
    3.5 characters and at least 1.75 ms where it is not said. `watch_ms`: how often a unit that
    is not read anyway is asked whether it is there. `limit_ms` bounds every such wait.
    """

    port: str
    baud: Annotated[int, Meta(ge=1200, le=1_000_000)] = 115_200
    parity: Literal["none", "even", "odd"] = "even"
    stop_bits: Literal[1, 2] = 1
    timeout_ms: Ms = 30
    retries: Annotated[int, Meta(ge=0, le=5)] = 2
    gap_ms: Ms | None = None
    watch_ms: Annotated[int, Meta(ge=20, le=2_000)] = 250
    probe_ms: Annotated[int, Meta(ge=50, le=10_000)] = 500


class MappedWord(Struct, frozen=True, forbid_unknown_fields=True):
    """One value at one place."""

    value: Value
    coil: Address | None = None
    holding: Address | None = None


class MappedUnit(Struct, frozen=True, forbid_unknown_fields=True):
    """One unit on the line.

    `watchdog`: the register with which the drive itself stops when it is not spoken to; it is
    written and read back whenever the unit comes up. `halt` is written, besides the stop of
    each motion, whenever everything is stopped. `join`: so many places between two that are
    read may be read along with them, to make one read of two.
    """

    number: Annotated[int, Meta(ge=1, le=247)]
    watchdog: MappedWord | None = None
    halt: MappedWord | None = None
    join: Annotated[int, Meta(ge=0, le=100)] = 0


class MappedCounter(Struct, frozen=True, forbid_unknown_fields=True):
    """A register that counts how often an input came on, so that no short pulse is missed."""

    input: Address | None = None
    holding: Address | None = None
    unit: str | None = None
    words: Literal[1, 2] = 1


class MappedInput(Struct, frozen=True, forbid_unknown_fields=True):
    """Where an input is read: exactly one of the four kinds, a counter, or both.

    In a register an input is on where any bit of `mask` is.
    """

    unit: str
    coil: Address | None = None
    discrete: Address | None = None
    input: Address | None = None
    holding: Address | None = None
    mask: Annotated[int, Meta(ge=1, le=0xFFFF)] = 0xFFFF
    invert: bool = False
    counter: MappedCounter | None = None


class MappedGateSensor(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the gate's own sensor is read: five inputs, one an outlet, or a register of its place.

    The register times 1/`scale` is within `tolerance` of the outlet's position, or the gate moves.
    """

    unit: str
    discrete: Addresses | None = None
    input: Address | None = None
    holding: Address | None = None
    words: Literal[1, 2] = 1
    positions: Positions | None = None
    scale: float = 1.0
    tolerance: Annotated[float, Meta(ge=0)] = 0.0
    invert: bool = False


class MappedOutput(Struct, frozen=True, forbid_unknown_fields=True):
    """Where an output is written, and what for each of its words (VALUES).

    A list is written to as many places from the first on, in one request: a command and the
    count of steps or the time that bounds it. `limit_ms`: the adapter stops the motion by then,
    whatever the drive does. `verify`: each order is read back.
    """

    unit: str
    coil: Address | None = None
    holding: Address | None = None
    stop: Value | Words | None = None
    forward: Value | Words | None = None
    reverse: Value | Words | None = None
    run: Value | Words | None = None
    up: Value | Words | None = None
    down: Value | Words | None = None
    stay: Value | Words | None = None
    hopper: Value | Words | None = None
    tray: Value | Words | None = None
    on: Value | Words | None = None
    off: Value | Words | None = None
    limit_ms: Ms | None = None
    verify: bool = False


class MappedGate(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the gate's drive is told its place: positions of N W S E and the tray.

    Each, times `scale`, goes into a register, or with `words = 2` into two, the high one first.
    A drive that takes an order stops at its place by itself.
    """

    unit: str
    holding: Address
    positions: Positions
    scale: float = 1.0
    words: Literal[1, 2] = 1
    verify: bool = False


class MappedOutputs(Struct, frozen=True, forbid_unknown_fields=True):
    """Where each output is."""

    source: MappedOutput
    feed: MappedOutput
    pass_: MappedOutput = field(name="pass")
    shuffle: MappedOutput
    lift: MappedOutput
    gate: MappedGate
    trigger: MappedOutput | None = None


class ModbusMap(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file. `alarm` says for a motor where its drive tells that it has given up."""

    adapter: MappedAdapter
    line: MappedLine
    unit: dict[str, MappedUnit]
    input: dict[str, MappedInput]
    gate_at: MappedGateSensor
    output: MappedOutputs
    alarm: dict[str, MappedInput] = {}


ModbusPlace = tuple[str, Table, int]
"""A unit by its name, a kind and an address."""


def mapped_outputs(mapping: ModbusMap) -> Iterator[tuple[str, MappedOutput | MappedGate]]:
    """Yield each output that is mapped, by its name in drivers/firmware/pins.py."""
    for name in ("source", "feed", "pass", "shuffle", "lift", "gate", "trigger"):
        output = getattr(mapping.output, "pass_" if name == "pass" else name)
        if output is not None:
            yield name, output


def units_without_watchdog(mapping: ModbusMap) -> list[str]:
    """Return the units that move something and do not stop when nobody speaks to them."""
    movers = {output.unit for name, output in mapped_outputs(mapping) if name in STOP_VALUES}
    return [name for name in sorted(movers) if mapping.unit[name].watchdog is None]


def output_words(name: str, output: MappedOutput | MappedGate) -> dict[int, tuple[int, ...]]:
    """Return what is written for each of an output's values."""
    if isinstance(output, MappedGate):
        scaled = (round(position * output.scale) for position in output.positions)
        return {at: to_registers(value, output.words) for at, value in enumerate(scaled)}
    said = {value: getattr(output, word) for word, value in OUTPUT_VALUES[name].items()}
    return {value: as_registers(words) for value, words in said.items()}


def write_place(output: MappedOutput | MappedGate | MappedWord) -> tuple[Table, int]:
    """Return the kind and the address that are written."""
    coil = getattr(output, "coil", None)
    return ("coil", coil) if coil is not None else ("holding", output.holding or 0)


def read_place(place: MappedInput) -> tuple[Table, int] | None:
    """Return the kind and the address of an input's level; None where only a counter tells."""
    tables: tuple[Table, ...] = ("coil", "discrete", "input", "holding")
    for table in tables:
        address = getattr(place, table)
        if address is not None:
            return table, address
    return None


def to_registers(value: int, words: int) -> tuple[int, ...]:
    """Return a number as so many registers, the high one first; negative ones as two's complement.

    Raises MapError where it does not fit.
    """
    bits = 16 * words
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise MapError(f"{value} does not fit into {words} register{'s' * (words > 1)}")
    whole = value % (1 << bits)
    return tuple(whole >> 16 * part & 0xFFFF for part in reversed(range(words)))


def from_registers(words: tuple[int, ...], *, signed: bool = True) -> int:
    """Return the number in some registers, the high one first."""
    value = 0
    for word in words:
        value = value << 16 | word
    half = 1 << 16 * len(words) - 1
    return value - 2 * half if signed and value >= half else value


def as_registers(said: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the registers of one value or several; negative ones as two's complement."""
    listed = said if isinstance(said, tuple) else (said,)
    return tuple(value % 0x10000 for value in listed)


def check_map(mapping: ModbusMap) -> None:
    """Raise MapError where a map names what is not there, or leaves something open."""
    for name, unit in mapping.unit.items():
        twins = [other for other, one in mapping.unit.items() if one.number == unit.number]
        if twins != [name]:
            raise MapError(f"unit.{twins[-1]}.number = {unit.number}: that is unit.{twins[0]}")
        for key, word in (("watchdog", unit.watchdog), ("halt", unit.halt)):
            if word is not None:
                _check_one_place(f"unit.{name}.{key}", word, ("coil", "holding"))
    _check_inputs(mapping)
    for name, output in mapped_outputs(mapping):
        _check_unit(mapping, f"output.{name}", output.unit)
        if isinstance(output, MappedOutput):
            _check_output(name, output)
        else:
            _check_gate(output)
    for name, place in mapping.alarm.items():
        if name not in MOTORS:
            raise MapError(f"alarm.{name}: expected one of {', '.join(MOTORS)}")
        _check_unit(mapping, f"alarm.{name}", place.unit)
        _check_one_place(f"alarm.{name}", place, ("coil", "discrete", "input", "holding"))


def _check_inputs(mapping: ModbusMap) -> None:
    for name in REQUIRED_INPUTS:
        if name not in mapping.input:
            raise MapError(f"input.{name} is missing")
    for name, place in mapping.input.items():
        if name not in REQUIRED_INPUTS and name != OPTIONAL_INPUT:
            raise MapError(
                f"input.{name}: expected one of {', '.join((*REQUIRED_INPUTS, OPTIONAL_INPUT))}"
            )
        _check_unit(mapping, f"input.{name}", place.unit)
        if place.counter is None:
            _check_one_place(f"input.{name}", place, ("coil", "discrete", "input", "holding"))
        else:
            _check_one_place(f"input.{name}.counter", place.counter, ("input", "holding"))
            _check_unit(mapping, f"input.{name}.counter", place.counter.unit or place.unit)
    gate = mapping.gate_at
    _check_unit(mapping, "gate_at", gate.unit)
    _check_one_place("gate_at", gate, ("discrete", "input", "holding"))
    if not gate.scale:
        raise MapError("gate_at.scale = 0: expected counts of the drive for one of yours")
    if (gate.positions is None) != (gate.discrete is not None):
        raise MapError("gate_at.positions: expected for a register, and for nothing else")


def _check_output(name: str, output: MappedOutput) -> None:
    where = f"output.{name}"
    _check_one_place(where, output, ("coil", "holding"))
    words = OUTPUT_VALUES[name]
    for every in OUTPUT_VALUES.values():
        for word in every:
            if word not in words and getattr(output, word) is not None:
                raise MapError(f"{where}.{word}: expected {', '.join(words)}")
    said = {word: getattr(output, word) for word in words}
    for word, value in said.items():
        if value is None:
            raise MapError(f"{where}.{word} is missing")
    coil = output.coil is not None
    if coil and any(value not in (0, 1) for one in said.values() for value in as_registers(one)):
        raise MapError(f"{where}: a coil is 0 or 1")
    if len({len(as_registers(one)) for one in said.values()}) != 1:
        raise MapError(f"{where}: expected as many values in each list")
    if len({as_registers(one) for one in said.values()}) != len(said):
        raise MapError(f"{where}: expected another value for each of {', '.join(words)}")
    if (name in STOP_VALUES) != (output.limit_ms is not None):
        wanted = (
            "expected the time after which the adapter stops it"
            if name in STOP_VALUES
            else "no motion"
        )
        raise MapError(f"{where}.limit_ms: {wanted}")


def _check_gate(gate: MappedGate) -> None:
    try:
        ways = output_words("gate", gate)
    except MapError as odd:
        raise MapError(f"output.gate.positions: {odd}") from None
    if len(set(ways.values())) != len(ways):
        raise MapError("output.gate.positions: expected another place for each outlet")


def _check_unit(mapping: ModbusMap, where: str, unit: str) -> None:
    if unit not in mapping.unit:
        raise MapError(f'{where}.unit = "{unit}": expected one of {", ".join(mapping.unit)}')


def _check_one_place(where: str, said: Any, tables: tuple[str, ...]) -> None:
    found = [table for table in tables if getattr(said, table, None) is not None]
    if len(found) != 1:
        raise MapError(f"{where}: expected one of {', '.join(tables)}")
