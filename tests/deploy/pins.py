"""The pins of both boards and of the panel, from the firmware's own tables and the configuration's.

`rp2_hal.py` runs on the chip alone, so that its tables are read and not imported.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controller.config import PanelSection
from drivers.firmware import protocol

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "deploy" / "WIRING.md"
DRAWING: Final = ROOT / "deploy" / "wiring.svg"
_HAL: Final = ROOT / "drivers" / "firmware" / "rp2_hal.py"
_OUTLETS: Final = ("N", "W", "S", "E", "tray")
_PLACES: Final = (*(f"pocket {seat}" for seat in _OUTLETS[:4]), "the tray")


class Pin(NamedTuple):
    """One wire of a board: what the chip's side is called, its name, which way, and what it is."""

    at: str
    name: str
    way: str
    about: str


@cache
def tables() -> dict[str, Any]:
    """Return every constant of rp2_hal.py that can be read without running it."""
    found: dict[str, Any] = {}
    for node in ast.parse(_HAL.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def named_in_hal() -> set[str]:
    """Return the names of all constants there that hold pins."""
    return {name for name in tables() if re.search(r"(_PINS?|^FAST|^REGISTER|^ENGINE)$", name)} - {
        "GATE_BITS"
    }


USED: Final = (
    *("FAST", "REGISTER", "FEED_PINS", "PASS_PINS", "GATE_PINS", "SHUFFLE_PIN", "LIFT_PINS"),
    *("SOURCE_PIN", "TRIGGER_PIN", "ENABLE_PIN", "SUPPLY_PIN", "PULSE_PIN", "ENGINE"),
)
"""The constants that the pages below are made of."""
_FAST: Final = {
    "window": "high: a card is in the reader's window",
    "exit": "high: a card is behind the gate",
    "double": "high: two or more cards leave the feeder together",
    "hopper": "high: cards are in the hopper",
    "tray_feed": "high: a card is at the tray's feeder",
    **{
        f"land_{n}": f"high: a card passes the landing beam of {place}"
        for n, place in enumerate(_PLACES)
    },
}
_SLOW: Final = {
    **{f"pocket_{n}": f"1: cards are in pocket {seat}" for n, seat in enumerate(_OUTLETS[:4])},
    "pocket_4": "1: cards are in the tray",
    "lid": "1: the lid is open",
    "estop": "1: the e-stop is pressed",
    "lift": "1: the lift is fully up",
    "lift_down": "1: the lift is fully down",
    "shuffler": "1: cards are in the shuffler",
    "shuffled": "1 for a moment after each pass of the shuffler, otherwise 0",
}


def dealer() -> list[Pin]:
    """Return the dealer board's pins, by their numbers."""
    told = tables()
    feed, pass_, gate, lift = (told[f"{name}_PINS"] for name in ("FEED", "PASS", "GATE", "LIFT"))
    pins = [Pin(_gp(at), name, "in", _FAST[name]) for name, at in told["FAST"]]
    clock, latch, data = told["REGISTER"]
    pins += [
        Pin(_gp(clock), "register clock", "out", "the clock of the shift registers"),
        Pin(_gp(latch), "register latch", "out", "low: the shift registers load their inputs"),
        Pin(_gp(data), "register data", "in", "the output of the last shift register"),
        Pin(
            _gp(told["SHUFFLE_PIN"]),
            "shuffle",
            "out",
            "the shuffler's motor (a PWM signal of 20 kHz)",
        ),
        Pin(
            _gp(lift[0]),
            "lift up",
            "out",
            "high: the lift moves up. If `lift up` and `lift down` are low, the lift stays",
        ),
        Pin(_gp(lift[1]), "lift down", "out", "high: the lift moves down"),
        Pin(
            _gp(told["SOURCE_PIN"]),
            "source",
            "out",
            "low: cards are fed from the hopper; high: cards are fed from the tray",
        ),
        Pin(_gp(told["TRIGGER_PIN"]), "trigger", "out", "connect to the reader board's `pulse`"),
        Pin(
            _gp(told["ENABLE_PIN"]),
            "enable",
            "out",
            "high: all drives are on; low: all drives are off",
        ),
        Pin(
            _gp(told["SUPPLY_PIN"]),
            "supply",
            "analog",
            "the voltage of the 24 V supply, divided by 11",
        ),
    ]
    for name, (step, way) in (("feed", feed), ("pass", pass_), ("gate", gate)):
        pins.append(
            Pin(_gp(step), f"{name} step", "out", f"each pulse: one step of the {name} motor")
        )
        pins.append(Pin(_gp(way), f"{name} direction", "out", f"the direction of the {name} motor"))
    return sorted(pins, key=lambda pin: int(pin.at.removeprefix("GP")))


def register() -> list[Pin]:
    """Return the inputs of the shift registers, bit 0 (shifted out last) first."""
    pins = [Pin(f"bit {bit}", name, "in", _SLOW[name]) for bit, name in enumerate(tables()["SLOW"])]
    first = len(pins)
    pins += [
        Pin(f"bit {first + n}", f"gate {outlet}", "in", f"1: the gate is at {_PLACES[n]}")
        for n, outlet in enumerate(_OUTLETS[: protocol.OUTLETS])
    ]
    return pins


def reader() -> list[Pin]:
    """Return the reader board's pins, by their numbers."""
    _, baud, tx, rx = tables()["ENGINE"]
    pins = [
        Pin(_gp(tables()["PULSE_PIN"]), "pulse", "in", "connect to the dealer board's `trigger`"),
        Pin(_gp(tx), "engine tx", "out", f"data to the reading engine ({baud} baud, 3.3 V)"),
        Pin(_gp(rx), "engine rx", "in", f"data from the reading engine ({baud} baud, 3.3 V)"),
    ]
    return sorted(pins, key=lambda pin: int(pin.at.removeprefix("GP")))


_CONTACTS: Final = {
    "lid": "a contact to ground, closed while the lid is shut",
    "estop": "a contact to ground, closed while the e-stop is released",
}


def panel() -> list[Pin]:
    """Return the panel's pins as they are where table.toml says nothing else."""
    pins = []
    for field in msgspec.structs.fields(PanelSection):
        if not isinstance(field.default, int):
            continue
        out = field.name.startswith("lamp_") or field.name == "buzzer"
        contact = _CONTACTS.get(
            field.name, "a contact to ground, closed while the button is pressed"
        )
        about = "high: on (connect through a transistor)" if out else contact
        pins.append(Pin(f"GPIO{field.default}", field.name, "out" if out else "in", about))
    return pins


TABLES: Final = {"dealer": dealer, "register": register, "reader": reader, "panel": panel}
_TITLES: Final = {"dealer": "pin", "register": "input", "reader": "pin", "panel": "GPIO"}
_PART: Final = re.compile(r"(?s)(<!-- pins: (\w+) -->\n).*?(<!-- end -->)")


def page_with_tables(page: str) -> str:
    """Return the page with its tables as the firmware and the configuration have them."""
    return _PART.sub(lambda found: f"{found[1]}{_table(found[2])}\n{found[3]}", page)


def _table(name: str) -> str:
    rows = [f"| {pin.at} | `{pin.name}` | {pin.way} | {pin.about} |" for pin in TABLES[name]()]
    head = f"| {_TITLES[name]} | name | direction | meaning |"
    return "\n".join([head, "|---|---|---|---|", *rows])


def labels(name: str) -> Iterator[str]:
    """Yield what the drawing writes at each pin."""
    for pin in TABLES[name]():
        yield f"{pin.at} {pin.name}"


def _gp(number: int) -> str:
    return f"GP{number}"
