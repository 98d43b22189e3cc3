"""A look at a Modbus line: every mapped place is read once, and nothing is written."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from drivers.adapters.modbus_inputs import (
    ALARM,
    Block,
    ImplausibleInput,
    ModbusInputs,
    blocks,
    named,
)
from drivers.adapters.modbus_line import Ask, Exchange, Port, request_and_wait
from drivers.adapters.modbus_map import (
    Input,
    ModbusMap,
    Table,
    Word,
    outputs,
    place_of,
    read_place,
    writes,
)
from drivers.adapters.modbus_parts import reply_fault


class Row(Struct, frozen=True):
    """One mapped name: where it is, what stands there, and what that means."""

    name: str
    unit: str
    place: str
    says: str
    means: str
    wrong: bool


def look(told: ModbusMap, port: Port, clock: Callable[[], int]) -> Iterator[Row]:
    """Yield a row for each input, output and watchdog, as far as the units answer.

    Raises MapError where a position does not fit into its registers.
    """
    exchange = Exchange(port, told.line)
    inputs = ModbusInputs(told)
    stands: dict[tuple[str, Table, int], int] = {}
    bad: dict[Block, str] = {}
    for block in blocks(told):
        number = told.unit[block.unit].number
        ask = Ask(number, block.table, block.address, block.count)
        answer = request_and_wait(exchange, ask, clock)
        why = reply_fault(answer)
        if why is not None:
            bad[block] = why
            continue
        for at, value in enumerate(answer.values):
            stands[block.unit, block.table, block.address + at] = value
        try:
            inputs.take(block, answer.values, fresh=True)
        except ImplausibleInput as odd:
            bad[block] = str(odd)
    means = dict(named(inputs.levels))
    mapped = told.input | {ALARM + motor: place for motor, place in told.alarm.items()}
    for name, place in mapped.items():
        yield from _input_rows(told, name, place, stands, bad, means[name])
    yield _gate_row(told, stands, bad, means["gate_at"])
    for name, output in outputs(told):
        words = {first[0]: f"stands at {value}" for value, first in writes(name, output).items()}
        table, address = place_of(output)
        yield _read_row(told, exchange, clock, name, output.unit, table, address, words)
    for name, unit in told.unit.items():
        for key, word in (("watchdog", unit.watchdog), ("halt", unit.halt)):
            if word is not None:
                yield _word_row(told, exchange, clock, name, key, word)


def _input_rows(
    told: ModbusMap,
    name: str,
    place: Input,
    stands: dict[tuple[str, Table, int], int],
    bad: dict[Block, str],
    means: str,
) -> Iterator[Row]:
    at = read_place(place)
    if at is not None:
        yield _seen(told, name, place.unit, *at, stands, bad, means)
    counter = place.counter
    if counter is not None:
        unit = counter.unit or place.unit
        table: Table = "input" if counter.input is not None else "holding"
        address = counter.input if counter.input is not None else counter.holding or 0
        yield _seen(told, f"{name} (counter)", unit, table, address, stands, bad, "pulses so far")


def _gate_row(
    told: ModbusMap,
    stands: dict[tuple[str, Table, int], int],
    bad: dict[Block, str],
    means: str,
) -> Row:
    gate = told.gate_at
    if gate.discrete is not None:
        return _seen(told, "gate_at", gate.unit, "discrete", gate.discrete[0], stands, bad, means)
    table: Table = "input" if gate.input is not None else "holding"
    address = gate.input if gate.input is not None else gate.holding or 0
    return _seen(told, "gate_at", gate.unit, table, address, stands, bad, means)


def _seen(
    told: ModbusMap,
    name: str,
    unit: str,
    table: Table,
    address: int,
    stands: dict[tuple[str, Table, int], int],
    bad: dict[Block, str],
    means: str,
) -> Row:
    where = f"{told.unit[unit].number} ({unit})", f"{table} {address}"
    value = stands.get((unit, table, address))
    for block, why in bad.items():
        inside = block.address <= address < block.address + block.count
        if (block.unit, block.table) == (unit, table) and inside:
            return Row(name, *where, "" if value is None else str(value), why, True)
    return Row(name, *where, str(value), means, False)


def _read_row(
    told: ModbusMap,
    exchange: Exchange,
    clock: Callable[[], int],
    name: str,
    unit: str,
    table: Table,
    address: int,
    words: dict[int, str],
    other: str = "no order of ours",
) -> Row:
    """Read one place by itself. A drive may keep no order that it can be asked for: no fault."""
    answer = request_and_wait(exchange, Ask(told.unit[unit].number, table, address), clock)
    where = f"{told.unit[unit].number} ({unit})", f"{table} {address}"
    why = reply_fault(answer)
    if why is not None:
        return Row(name, *where, "", why, True)
    value = answer.values[0]
    means = words.get(value, other)
    return Row(name, *where, str(value), means, False)


def _word_row(
    told: ModbusMap,
    exchange: Exchange,
    clock: Callable[[], int],
    unit: str,
    key: str,
    word: Word,
) -> Row:
    table, address = place_of(word)
    wanted = {word.value % 0x10000: "as mapped"}
    name = f"{key} of {unit}"
    return _read_row(told, exchange, clock, name, unit, table, address, wanted, "not written yet")
