"""What is made of the inputs of a Modbus line, block for block."""

import pytest

from controller.host import toml_files
from drivers.adapters.modbus_inputs import ImplausibleInput, ModbusInputs, ReadBlock, plan_blocks
from drivers.adapters.modbus_map import ModbusMap
from drivers.firmware.pins import GATE_MOVING
from tests.adapters.modbus_rig import EXAMPLE, example

COUNTERS, BITS = ReadBlock("io", "input", 0, 7), ReadBlock("io", "discrete", 0, 21)
WINDOW, EXIT, LID, GATE = 2, 4, 10, 16
COUNTED = ("land_0", "land_1", "land_2", "land_3", "land_4", "exit", "shuffled")


class Seen:
    """Inputs of the example, read round after round."""

    def __init__(self) -> None:
        self.inputs = ModbusInputs(example())
        self.bits, self.counts = [0] * 21, [0] * 7
        self.read(fresh=True)

    def read(self, *, fresh: bool = False) -> list[tuple[str, int]]:
        """Read counters, then levels, as the line does."""
        self.inputs.update(COUNTERS, tuple(self.counts), fresh=fresh)
        self.inputs.update(BITS, tuple(self.bits), fresh=fresh)
        return self.inputs.pop_changes()

    def count(self, name: str, pulses: int = 1) -> None:
        place = COUNTED.index(name)
        self.counts[place] = (self.counts[place] + pulses) % 0x10000


def test_a_level_is_told_when_it_changes_and_only_then() -> None:
    seen = Seen()
    seen.bits[LID] = 1
    assert seen.read() == [("lid", 1)]
    assert seen.read() == []
    assert seen.inputs.levels["lid"] == 1


def test_a_pulse_that_was_over_before_it_could_be_read_is_told_by_its_counter() -> None:
    seen = Seen()
    seen.count("land_2")
    assert seen.read() == [("land_2", 1), ("land_2", 0)]


def test_a_counter_goes_on_behind_its_last_number() -> None:
    seen = Seen()
    seen.counts = [0xFFFF] * 7
    seen.read(fresh=True)
    seen.count("land_0")
    assert seen.read() == [("land_0", 1), ("land_0", 0)]


def test_a_card_that_passed_between_two_rounds_passed_in_the_order_of_its_way() -> None:
    seen = Seen()
    seen.bits[WINDOW] = 1
    seen.read()
    seen.bits[WINDOW] = 0
    seen.count("exit")
    seen.count("land_1")
    assert seen.read() == [
        ("exit", 1),
        ("window", 0),
        ("exit", 0),
        ("land_1", 1),
        ("land_1", 0),
    ]


def test_what_the_level_told_the_counter_does_not_tell_again() -> None:
    seen = Seen()
    seen.bits[EXIT] = 1
    assert seen.read() == [("exit", 1)]
    seen.count("exit")  # read before the level rose, counted behind it
    assert seen.read() == []
    seen.bits[EXIT] = 0
    assert seen.read() == [("exit", 0)]


def test_a_beam_that_was_free_for_a_moment_is_told_twice() -> None:
    seen = Seen()
    seen.bits[EXIT] = 1
    seen.count("exit")
    seen.read()
    seen.count("exit")
    assert seen.read() == [("exit", 0), ("exit", 1)]


def test_a_counter_that_stands_still_is_noticed() -> None:
    seen = Seen()

    def cards_pass(cards: int) -> None:
        for level in (1, 1, 0, 0) * cards:
            seen.bits[EXIT] = level
            seen.read()

    cards_pass(2)
    with pytest.raises(ImplausibleInput, match="the counter of exit stands still"):
        cards_pass(2)


def test_a_counter_that_jumps_is_a_unit_that_lost_its_power() -> None:
    seen = Seen()
    seen.counts = [500] * 7
    with pytest.raises(ImplausibleInput, match="jumped"):
        seen.read()
    assert seen.read(fresh=True) == []


def test_the_gate_stands_where_one_switch_says_so_and_moves_else() -> None:
    seen = Seen()
    assert seen.inputs.levels["gate_at"] == GATE_MOVING
    seen.bits[GATE + 3] = 1
    assert seen.read() == [("gate_at", 3)]
    seen.bits[GATE + 2] = 1
    assert seen.read() == [("gate_at", GATE_MOVING)]


def of_registers() -> ModbusMap:
    raw = toml_files.parse_tables(EXAMPLE.read_text(), name="modbus.toml")
    raw["gate_at"] = {"unit": "gate", "input": 0x20, "words": 2}
    raw["gate_at"] |= {"positions": [0.0, 1.0, 2.0, 3.0, 4.0], "scale": 1600.0, "tolerance": 0.02}
    return toml_files.convert_tables(raw, ModbusMap, name="modbus.toml")


@pytest.mark.parametrize(
    ("words", "at"), [((0, 0), 0), ((0, 1570), 1), ((0, 1500), 255), ((0xFFFF, 0xFFFF), 0)]
)
def test_the_gate_stands_at_an_outlet_within_its_tolerance(words: tuple[int, int], at: int) -> None:
    told = of_registers()
    assert ReadBlock("gate", "input", 0x20, 2) in plan_blocks(told)
    inputs = ModbusInputs(told)
    inputs.update(ReadBlock("gate", "input", 0x20, 2), words, fresh=True)
    assert inputs.levels["gate_at"] == at
