"""WIRING.md and its drawing have the pins that firmware and configuration use."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from drivers.firmware import protocol
from drivers.firmware.pins import GATE_MOVING
from tests.deploy.pins import DRAWING, PAGE, TABLES, USED, labels, named_in_hal, tables

_SVG = "{http://www.w3.org/2000/svg}"


def test_the_page_has_every_table_of_pins() -> None:
    assert set(re.findall(r"<!-- pins: (\w+) -->", PAGE.read_text("utf-8"))) == set(TABLES)


def test_every_pin_of_the_firmware_is_in_a_table() -> None:
    assert named_in_hal() == set(USED)


@pytest.mark.parametrize("name", TABLES)
def test_no_pin_has_two_wires(name: str) -> None:
    used = Counter(pin.at for pin in TABLES[name]())
    assert [at for at, times in used.items() if times > 1] == []


def test_the_shift_registers_have_sixteen_inputs_and_the_gate_five_of_them() -> None:
    assert len(TABLES["register"]()) == 16
    assert tables()["SLOW"][-1] == "lift_down"
    assert protocol.OUTLETS == 5 < GATE_MOVING


@pytest.mark.parametrize("name", TABLES)
def test_the_drawing_has_the_same_pins(name: str) -> None:
    tree = ElementTree.parse(DRAWING)
    (group,) = (one for one in tree.iter(f"{_SVG}g") if one.get("id") == name)
    drawn = [text.text for text in group.iter(f"{_SVG}text") if text.get("class") == "pin"]
    assert sorted(map(str, drawn)) == sorted(labels(name))


def test_the_drawing_is_readable_on_dark_and_on_light() -> None:
    text = DRAWING.read_text("utf-8")
    tree = ElementTree.fromstring(text)
    assert "prefers-color-scheme: dark" in text
    assert tree.get("role") == "img"
    assert (tree.findtext(f"{_SVG}title"), len(tree.findtext(f"{_SVG}desc") or "") > 50) == (
        "How a dealing table is wired",
        True,
    )
    coloured = re.findall(r"(?:fill|stroke)=\"#", text)
    assert coloured == []  # colours stand in the style alone, where the dark ones are


def test_the_levels_of_the_motors_supply_are_those_of_the_firmware() -> None:
    page = PAGE.read_text("utf-8")
    full_v = 3.3 * (100 + 10) / 10
    low = round(tables()["SUPPLY_LOW"] / 65535 * full_v)
    right = round(tables()["SUPPLY_RESTORED"] / 65535 * full_v)
    assert f"below {low} V" in page
    assert f"above {right} V" in page
