"""The map of a Modbus line: the example is whole, and what cannot work is refused in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.cli.adapter_files import load_modbus_file
from controller.host import toml_files
from controller.host.toml_files import FileError
from drivers.adapters.modbus_inputs import ReadBlock, plan_blocks
from drivers.adapters.modbus_map import (
    OPTIONAL_OUTPUTS,
    OUTPUT_VALUES,
    MapError,
    MappedGate,
    ModbusMap,
    from_registers,
    mapped_outputs,
    output_words,
    to_registers,
)
from drivers.firmware.pins import FORWARD, LIFT_STAY, STOP
from tests.adapters.modbus_rig import EXAMPLE, example

Change = Callable[[dict[str, Any]], object]


def changed(tmp_path: Path, change: str, instead: str) -> Path:
    text = EXAMPLE.read_text()
    assert text.count(change) == 1, change
    path = tmp_path / "modbus.toml"
    path.write_text(text.replace(change, instead))
    return path


def test_the_example_maps_every_name_of_the_hal() -> None:
    told = load_modbus_file(EXAMPLE)
    assert {name for name, _ in mapped_outputs(told)} == {*OUTPUT_VALUES, "gate"}
    words = {name: output_words(name, output) for name, output in mapped_outputs(told)}
    assert (words["feed"][STOP], words["feed"][FORWARD]) == ((0, 0), (1, 1760))
    assert words["lift"][LIFT_STAY] == (0,)
    assert words["gate"][4] == (0, 6400)


def test_the_example_is_read_in_two_requests() -> None:
    assert plan_blocks(example()) == (
        ReadBlock("io", "input", 0, 7),
        ReadBlock("io", "discrete", 0, 21),
    )


@pytest.mark.parametrize(
    ("change", "instead", "complaint"),
    [
        ("number = 2", "number = 1", "unit.feeder.number = 1: that is unit.io"),
        ('hopper = { unit = "io"', 'hopper = { unit = "oi"', 'input.hopper.unit = "oi"'),
        ("window = { ", "windows = { ", "input.window is missing"),
        ("discrete = 10 }", "discrete = 10, coil = 3 }", "input.lid: expected one of coil"),
        ("reverse = [3, 440]\n", "", "output.feed.reverse is missing"),
        ("reverse = [3, 440]", "reverse = [1, 1760]", "another value for each of stop, forward"),
        ("reverse = [3, 440]", "reverse = [3]", "as many values in each list"),
        ("run = 1", "run = 2", "output.shuffle: a coil is 0 or 1"),
        ("run = 1", "run = 1\nup = 1", "output.shuffle.up: expected stop, run"),
        ("limit_ms = 20000\n", "", "output.lift.limit_ms: expected the time after which"),
        ("hopper = 0\n", "hopper = 0\nlimit_ms = 9\n", "output.source.limit_ms: no motion"),
        ("discrete = [16, 17, 18, 19, 20]", "input = 3", "gate_at.positions: expected for a reg"),
        ("baud = 115200 ", "baud = 15 ", "line.baud = 15"),
        ("scale = 1600.0\nverify", "scale = 1e10\nverify", "does not fit into 2 registers"),
        ("scale = 1600.0\nverify", "scale = 0.0\nverify", "another place for each outlet"),
    ],
)
def test_a_map_that_cannot_work_is_refused_in_one_line(
    tmp_path: Path, change: str, instead: str, complaint: str
) -> None:
    with pytest.raises(FileError) as refused:
        load_modbus_file(changed(tmp_path, change, instead))
    said = str(refused.value)
    assert "\n" not in said
    assert complaint in said
    assert "modbus.toml" in said


def test_the_trigger_may_be_left_out_where_the_reader_is_asked() -> None:
    assert OPTIONAL_OUTPUTS == ("trigger",)
    raw = toml_files.parse_tables(EXAMPLE.read_text(), name="modbus.toml")
    del raw["output"]["trigger"]
    told = toml_files.convert_tables(raw, ModbusMap, name="modbus.toml")
    assert "trigger" not in dict(mapped_outputs(told))


@pytest.mark.parametrize(("value", "words"), [(0, 1), (-1, 1), (40_000, 2), (-70_000, 2)])
def test_a_position_comes_back_out_of_its_registers(value: int, words: int) -> None:
    assert from_registers(to_registers(value, words)) == value


def test_a_position_that_does_not_fit_is_refused() -> None:
    gate = MappedGate(unit="gate", holding=1, positions=(0.0, 1.0, 2.0, 3.0, 4.0), scale=1e5)
    with pytest.raises(MapError, match="does not fit"):
        output_words("gate", gate)
