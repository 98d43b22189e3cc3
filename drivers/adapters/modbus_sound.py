"""What a Modbus map must have to work: every input, each place once, values that tell apart."""

from typing import Any

from drivers.adapters.modbus_map import (
    MOTORS,
    OPTIONAL_INPUT,
    OUTPUT_VALUES,
    REQUIRED_INPUTS,
    STOP_VALUES,
    MapError,
    MappedGate,
    MappedOutput,
    ModbusMap,
    as_registers,
    mapped_outputs,
    output_words,
)


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
