"""The fault menu: what can go wrong with the machine, as values, and when each strikes."""

import functools
import random
import tomllib
from importlib import resources
from typing import Literal

import msgspec

from sim.mechanics.cards import PhysicalCard
from sim.mechanics.sensors import DEALER_INPUTS, OUTLETS

PLACES = ("feeder", "tray_feeder", "window", "gate", "landing", "shuffler", "lift")
MOTORS = ("feed", "pass", "gate", "shuffle", "lift")


class FaultError(ValueError):
    """A fault that is not on the menu, or a field that it does not take; one line for people."""


class MenuEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fault of the menu: what it is, what it strikes, and the fields it takes."""

    what: str
    strikes: Literal["card", "set", "now"]
    takes: tuple[str, ...]


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that goes wrong (sim/faults.toml says which fields go with which name).

    `at`: the number of the card that is struck; `rate`: the chance of each card;
    neither: the next one. `repeat`: it stays after it struck. `clears_after`: how many
    tries free it, None for a person's hand alone.
    """

    name: str
    at: int | None = None
    rate: float = 0.0
    repeat: bool = False
    place: str = "feeder"
    clears_after: int | None = None
    times: int = 1
    face: int | None = None
    confidence: int = 90
    pocket: int = 0
    motor: str = "feed"
    sensor: str = "window"
    value: int = 1


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fault: dict[str, MenuEntry]
    wear: dict[str, tuple[Fault, ...]]


@functools.cache
def _file() -> _File:
    text = resources.files("sim").joinpath("faults.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _File)


def menu() -> dict[str, MenuEntry]:
    """Return the whole menu, by the fault's name."""
    return _file().fault


def wear(level: str) -> tuple[Fault, ...]:
    """Return the faults of a wear level: `ideal`, `worn`, `hostile`. Raises FaultError."""
    levels = _file().wear
    if level not in levels:
        raise FaultError(f"wear is one of {', '.join(levels)}, not {level!r}")
    return levels[level]


def check(fault: Fault) -> Fault:
    """Return `fault` if it is on the menu with only fields that it takes; raises FaultError."""
    entry = menu().get(fault.name)
    if entry is None:
        raise FaultError(f"no fault is called {fault.name!r}; the menu: {', '.join(menu())}")
    for field in msgspec.structs.fields(Fault):
        given = getattr(fault, field.name) != field.default
        if given and field.name not in ("name", "at", "rate", "repeat", *entry.takes):
            raise FaultError(f"{fault.name} takes {_taken(entry)}, not {field.name}")
    _check_bounds(fault)
    return fault


def _taken(entry: MenuEntry) -> str:
    return ", ".join(("at", "rate", "repeat", *entry.takes))


def _check_bounds(fault: Fault) -> None:
    bounds: tuple[tuple[str, bool, str], ...] = (
        ("at", fault.at is None or fault.at >= 1, "1 or more"),
        ("rate", 0 <= fault.rate <= 1, "0 to 1"),
        ("place", fault.place in PLACES, f"one of {', '.join(PLACES)}"),
        ("motor", fault.motor in MOTORS, f"one of {', '.join(MOTORS)}"),
        ("sensor", fault.sensor in DEALER_INPUTS, f"one of {', '.join(DEALER_INPUTS)}"),
        ("pocket", 0 <= fault.pocket < OUTLETS, "0 to 4"),
        ("times", fault.times >= 1, "1 or more"),
        ("face", fault.face is None or 0 <= fault.face < 54, "0 to 53"),
        ("confidence", 0 <= fault.confidence <= 255, "0 to 255"),
        ("clears_after", fault.clears_after is None or fault.clears_after >= 0, "0 or more"),
    )
    for field, fine, expected in bounds:
        if not fine:
            raise FaultError(f"{fault.name}: {field} is {expected}, not {getattr(fault, field)!r}")


def parse_fault(text: str) -> Fault:
    """Read `NAME` or `NAME:field=value,field=value`, as on the command line. Raises FaultError."""
    name, _, rest = text.partition(":")
    fields: dict[str, object] = {"name": name}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise FaultError(f"{text!r}: a field is written field=value, not {pair!r}")
        fields[key.strip()] = value.strip()
    try:
        return check(msgspec.convert(fields, Fault, strict=False))
    except msgspec.ValidationError as error:
        raise FaultError(f"{text!r}: {error}") from error


class FaultBook:
    """The faults that are still to strike.

    The order of asking is the order of what happens in the machine, so that a seeded
    rate strikes the same cards in every run.
    """

    def __init__(self, faults: tuple[Fault, ...], rng: random.Random) -> None:
        self._rng = rng
        self._open: dict[str, list[Fault]] = {}
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> None:
        """Let `fault` strike when its time comes; raises FaultError if it is not on the menu."""
        self._open.setdefault(check(fault).name, []).append(fault)

    def clear(self, name: str | None = None) -> None:
        """Forget the faults of this name, or all that have not struck yet."""
        if name is None:
            self._open.clear()
        else:
            self._open.pop(name, None)

    def strike(
        self,
        name: str,
        number: int = 0,
        *,
        card: PhysicalCard | None = None,
        place: str | None = None,
    ) -> Fault | None:
        """Return the fault `name` that strikes card `number` here and now, else None.

        One that strikes once is gone from the book with this.
        """
        waiting = self._open.get(name)
        if not waiting:
            return None
        for fault in waiting:
            if self._strikes(fault, number, card, place):
                if not (fault.repeat or fault.rate):
                    waiting.remove(fault)
                return fault
        return None

    def _strikes(
        self, fault: Fault, number: int, card: PhysicalCard | None, place: str | None
    ) -> bool:
        if place is not None and fault.place != place:
            return False
        if card is not None and fault.face is not None and fault.face != card.face:
            return False
        if fault.at is not None:
            return fault.at == number
        return self._rng.random() < fault.rate if fault.rate else True
