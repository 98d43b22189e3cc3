"""A look at a Modbus line: every mapped place is read once, and nothing is written."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from drivers.adapters.modbus_inputs import (
    ALARM_PREFIX,
    ImplausibleInput,
    ModbusInputs,
    ReadBlock,
    describe_levels,
    plan_blocks,
)
from drivers.adapters.modbus_map import (
    MappedInput,
    MappedWord,
    ModbusMap,
    Table,
    mapped_outputs,
    output_words,
    read_place,
    write_place,
)
from drivers.adapters.modbus_outputs import reply_fault
from drivers.adapters.modbus_rtu import ModbusLine, ModbusPort, ModbusRequest, request_and_wait


class ModbusProbeRow(Struct, frozen=True):
    """One mapped name: where it is, what stands there, and what that means."""

    name: str
    unit: str
    place: str
    says: str
    means: str
    wrong: bool


def probe_line(
    mapping: ModbusMap, port: ModbusPort, clock: Callable[[], int]
) -> Iterator[ModbusProbeRow]:
    """Yield a row for each input, output and watchdog, as far as the units answer.

    Raises MapError where a position does not fit into its registers.
    """
    exchange = ModbusLine(port, mapping.line)
    inputs = ModbusInputs(mapping)
    stands: dict[tuple[str, Table, int], int] = {}
    bad: dict[ReadBlock, str] = {}
    for block in plan_blocks(mapping):
        number = mapping.unit[block.unit].number
        ask = ModbusRequest(number, block.table, block.address, block.count)
        answer = request_and_wait(exchange, ask, clock)
        why = reply_fault(answer)
        if why is not None:
            bad[block] = why
            continue
        for at, value in enumerate(answer.values):
            stands[block.unit, block.table, block.address + at] = value
        try:
            inputs.update(block, answer.values, fresh=True)
        except ImplausibleInput as odd:
            bad[block] = str(odd)
    means = dict(describe_levels(inputs.levels))
    mapped = mapping.input | {ALARM_PREFIX + motor: place for motor, place in mapping.alarm.items()}
    for name, place in mapped.items():
        yield from _input_rows(mapping, name, place, stands, bad, means[name])
    yield _gate_row(mapping, stands, bad, means["gate_at"])
    for name, output in mapped_outputs(mapping):
        words = {
            first[0]: f"stands at {value}" for value, first in output_words(name, output).items()
        }
        table, address = write_place(output)
        yield _read_row(mapping, exchange, clock, name, output.unit, table, address, words)
    for name, unit in mapping.unit.items():
        for key, word in (("watchdog", unit.watchdog), ("halt", unit.halt)):
            if word is not None:
                yield _word_row(mapping, exchange, clock, name, key, word)


def _input_rows(
    mapping: ModbusMap,
    name: str,
    place: MappedInput,
    stands: dict[tuple[str, Table, int], int],
    bad: dict[ReadBlock, str],
    means: str,
) -> Iterator[ModbusProbeRow]:
    at = read_place(place)
    if at is not None:
        yield _value_row(mapping, name, place.unit, *at, stands, bad, means)
    counter = place.counter
    if counter is not None:
        unit = counter.unit or place.unit
        table: Table = "input" if counter.input is not None else "holding"
        address = counter.input if counter.input is not None else counter.holding or 0
        yield _value_row(
            mapping, f"{name} (counter)", unit, table, address, stands, bad, "pulses so far"
        )


def _gate_row(
    mapping: ModbusMap,
    stands: dict[tuple[str, Table, int], int],
    bad: dict[ReadBlock, str],
    means: str,
) -> ModbusProbeRow:
    gate = mapping.gate_at
    if gate.discrete is not None:
        return _value_row(
            mapping, "gate_at", gate.unit, "discrete", gate.discrete[0], stands, bad, means
        )
    table: Table = "input" if gate.input is not None else "holding"
    address = gate.input if gate.input is not None else gate.holding or 0
    return _value_row(mapping, "gate_at", gate.unit, table, address, stands, bad, means)


def _value_row(
    mapping: ModbusMap,
    name: str,
    unit: str,
    table: Table,
    address: int,
    stands: dict[tuple[str, Table, int], int],
    bad: dict[ReadBlock, str],
    means: str,
) -> ModbusProbeRow:
    where = f"{mapping.unit[unit].number} ({unit})", f"{table} {address}"
    value = stands.get((unit, table, address))
    for block, why in bad.items():
        inside = block.address <= address < block.address + block.count
        if (block.unit, block.table) == (unit, table) and inside:
            return ModbusProbeRow(name, *where, "" if value is None else str(value), why, True)
    return ModbusProbeRow(name, *where, str(value), means, False)


def _read_row(
    mapping: ModbusMap,
    exchange: ModbusLine,
    clock: Callable[[], int],
    name: str,
    unit: str,
    table: Table,
    address: int,
    words: dict[int, str],
    other: str = "no order of ours",
) -> ModbusProbeRow:
    """Read one place by itself. A drive may keep no order that it can be asked for: no fault."""
    answer = request_and_wait(
        exchange, ModbusRequest(mapping.unit[unit].number, table, address), clock
    )
    where = f"{mapping.unit[unit].number} ({unit})", f"{table} {address}"
    why = reply_fault(answer)
    if why is not None:
        return ModbusProbeRow(name, *where, "", why, True)
    value = answer.values[0]
    means = words.get(value, other)
    return ModbusProbeRow(name, *where, str(value), means, False)


def _word_row(
    mapping: ModbusMap,
    exchange: ModbusLine,
    clock: Callable[[], int],
    unit: str,
    key: str,
    word: MappedWord,
) -> ModbusProbeRow:
    table, address = write_place(word)
    wanted = {word.value % 0x10000: "as mapped"}
    name = f"{key} of {unit}"
    return _read_row(
        mapping, exchange, clock, name, unit, table, address, wanted, "not written yet"
    )
