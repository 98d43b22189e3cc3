"""The fault menu: the faults that a simulated machine can have, their fields and their rates.

The menu is read from sim/faults.toml.
"""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import msgspec

from sim.mechanics.sensors import DEALER_INPUTS, OUTLETS

PLACES = ("feeder", "tray_feeder", "window", "gate", "landing", "shuffler", "lift")
MOTORS = ("feed", "pass", "gate", "shuffle", "lift")
BOARDS = ("dealer", "reader")
WAYS = ("to_board", "to_host")


class FaultError(ValueError):
    """Error for a fault that is not on the menu, or for a wrong field of a fault.

    The message is one line for people.
    """


LACKS = "this simulator has no"
"""Part of the message of each FaultError for a fault that this simulator cannot carry out."""


FaultTarget = Literal["card", "set", "now", "line", "board", "host"]
"""The kinds of targets that a fault strikes. sim/faults.toml explains each of them."""

Bound = bool | int | float | str | tuple[str, ...]
"""A limit of a field: the greatest value, or the allowed values."""


FaultCodes = tuple[str, ...]
"""Names of controller/faults.toml."""


class FaultMenuEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of fault on the menu: its description, its target, and the fields that it takes.

    `blame`: the codes of controller/faults.toml that correctly name the fault, or a table of such
    codes by the values of the field in `by`. `blame_as`: the fault whose `blame` also applies here.
    `mild`: the limits of its fields within which the machine absorbs the fault. With None the fault
    may cost the deal.
    """

    what: str
    strikes: FaultTarget
    takes: tuple[str, ...]
    blame: FaultCodes | dict[str, str | FaultCodes] = ()
    blame_as: str | None = None
    mild: dict[str, Bound] | None = None


class SimulatedFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One planned fault of the simulated machine.

    sim/faults.toml lists the fields of each fault name. `at`: the number of the card that is
    struck. `rate`: the probability for each card, filling or write. With neither, the next card is
    struck. `repeat`: the fault stays after it struck. `clears_after`: the number of tries that
    free a jammed card, or of starts that a stalled motor resists; with None only a person can free
    it. `for_ms`: the duration; None means forever, or the value in sim/faults.toml.
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
    ms: float = 20.0
    board: str = "dealer"
    way: str = "to_host"
    for_ms: float | None = None
    by_s: float = 3600.0


class FaultCombination(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Several faults that occur together, with the same filling of the hopper.

    `rate` is the probability for each filling of the hopper.
    """

    rate: float
    faults: tuple[SimulatedFault, ...]


class WearLevel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How worn a machine is: faults with their rates, and combinations with their rates."""

    rates: tuple[SimulatedFault, ...] = ()
    together: tuple[FaultCombination, ...] = ()


class FaultStrike(msgspec.Struct, frozen=True):
    """One occurrence of a planned fault: which card was struck, and when.

    `number` is the card's number in the filling of the hopper, `at_s` the loop's time.
    """

    fault: SimulatedFault
    number: int
    at_s: float


class _FaultFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fault: dict[str, FaultMenuEntry]
    wear: dict[str, WearLevel]


@functools.cache
def _read_fault_file() -> _FaultFile:
    text = resources.files("sim").joinpath("faults.toml").read_text(encoding="utf-8")
    file = msgspec.convert(tomllib.loads(text), _FaultFile)
    entries = {
        name: entry
        if entry.blame_as is None
        else msgspec.structs.replace(entry, blame=file.fault[entry.blame_as].blame)
        for name, entry in file.fault.items()
    }
    return msgspec.structs.replace(file, fault=entries)


def fault_menu() -> dict[str, FaultMenuEntry]:
    """Return all entries of the fault menu, by fault name."""
    return _read_fault_file().fault


def accepted_codes(fault: SimulatedFault) -> tuple[str, ...]:
    """Return the codes of controller/faults.toml that are a correct report of `fault`."""
    right = fault_menu()[fault.name].blame
    if not isinstance(right, dict):
        return right
    codes = right.get(str(getattr(fault, str(right["by"]))), ())
    return (codes,) if isinstance(codes, str) else codes


def is_mild(fault: SimulatedFault) -> bool:
    """Return True if the machine must tolerate `fault` without a redeal or a person's help."""
    bounds = fault_menu()[fault.name].mild
    return bounds is not None and all(
        _within(getattr(fault, field), bound) for field, bound in bounds.items()
    )


def _within(value: Any, bound: Bound) -> bool:
    if isinstance(bound, tuple):
        return value in bound
    if isinstance(bound, str | bool):
        return bool(value == bound)
    return value is not None and value <= bound


def get_wear_level(level: str) -> WearLevel:
    """Return the wear level named `level`, which is `ideal`, `worn` or `hostile`.

    Raises FaultError for another name.
    """
    levels = _read_fault_file().wear
    if level not in levels:
        raise FaultError(f"wear is one of {', '.join(levels)}, not {level!r}")
    return levels[level]


def load_wear(path: Path) -> WearLevel:
    """Return the wear level in the TOML file `path`, which may have `rates` and `together`.

    Raises FaultError, with a one-line message, for a file that cannot be read or a fault that is
    not on the menu.
    """
    try:
        return check_wear(msgspec.convert(tomllib.loads(path.read_text("utf-8")), WearLevel))
    except (OSError, ValueError, RecursionError) as error:
        raise FaultError(f"{path}: {error}") from error


def check_wear(level: WearLevel) -> WearLevel:
    """Check that all faults of `level` are on the menu with correct rates, and return `level`.

    A fault of `rates` has a rate. A combination has a rate, its faults have none. Raises FaultError
    if a check fails.
    """
    for fault in level.rates:
        if not check_fault(fault).rate:
            raise FaultError(f"{fault.name}: a fault of a wear level has a rate above 0")
    for pair in level.together:
        if not 0 < pair.rate <= 1:
            raise FaultError(f"together: rate is above 0 and at most 1, not {pair.rate!r}")
        for fault in pair.faults:
            if check_fault(fault).rate:
                raise FaultError(f"{fault.name}: of faults that come together none has a rate")
    return level


def check_fault(fault: SimulatedFault) -> SimulatedFault:
    """Check that `fault` is on the menu with allowed fields and values, and return `fault`.

    Raises FaultError if a check fails.
    """
    entry = _menu_entry(fault.name)
    for field in msgspec.structs.fields(SimulatedFault):
        given = getattr(fault, field.name) != field.default
        if given and field.name not in ("name", "at", "rate", "repeat", *entry.takes):
            raise FaultError(f"{fault.name} takes {_allowed_fields(entry)}, not {field.name}")
    _check_bounds(fault)
    return fault


def _menu_entry(name: object) -> FaultMenuEntry:
    entry = fault_menu().get(name) if isinstance(name, str) else None
    if entry is None:
        raise FaultError(f"no fault is called {name!r}; the menu: {', '.join(fault_menu())}")
    return entry


def _allowed_fields(entry: FaultMenuEntry) -> str:
    return ", ".join(("at", "rate", "repeat", *entry.takes))


def _check_bounds(fault: SimulatedFault) -> None:
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
        ("ms", fault.ms >= 0, "0 or more"),
        ("board", fault.board in BOARDS, "dealer or reader"),
        ("way", fault.way in WAYS, "to_board or to_host"),
        ("for_ms", fault.for_ms is None or fault.for_ms > 0, "above 0"),
        ("clears_after", fault.clears_after is None or fault.clears_after >= 0, "0 or more"),
    )
    for field, fine, expected in bounds:
        if not fine:
            raise FaultError(f"{fault.name}: {field} is {expected}, not {getattr(fault, field)!r}")


def fault_from_fields(fields: Mapping[str, object], *, strict: bool = True) -> SimulatedFault:
    """Return the fault with the field values in `fields`, which include the fault's `name`.

    If `strict` is False, text is converted to each field's type, as on a command line. Raises
    FaultError for a wrong field.
    """
    name = fields.get("name")
    entry = _menu_entry(name)
    given: dict[str, Any] = {}
    for key, value in fields.items():
        if key not in _FIELDS:
            raise FaultError(f"{name} takes {_allowed_fields(entry)}, not {key}")
        kind, words = _FIELDS[key]
        try:
            given[key] = msgspec.convert(value, kind, strict=strict)
        # this includes bytes that are not valid text
        except (msgspec.ValidationError, UnicodeEncodeError):
            raise FaultError(f"{name}: {key} is {words}, not {value!r}") from None
    return check_fault(SimulatedFault(**given))


_WORDS: dict[object, str] = {
    bool: "true or false",
    int: "a whole number",
    int | None: "a whole number",
    float: "a number",
    float | None: "a number",
    str: "a word",
}
_FIELDS = {
    field.name: (field.type, _WORDS[field.type]) for field in msgspec.structs.fields(SimulatedFault)
}
"""The type of each field of a fault, and that type in plain language for messages."""


def parse_fault(text: str) -> SimulatedFault:
    """Return the fault that a text of the command line describes.

    The text is `NAME` or `NAME:field=value,field=value`. Raises FaultError.
    """
    name, _, rest = text.partition(":")
    fields: dict[str, object] = {"name": name}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise FaultError(f"{text!r}: a field is written field=value, not {pair!r}")
        fields[key.strip()] = value.strip()
    return fault_from_fields(fields, strict=False)
