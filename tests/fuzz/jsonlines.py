"""Inputs of JSON lines, and how one is changed: a mutator for coverage and for hypothesis alike.

Random bytes seldom make JSON. This takes whole values out, puts others in, and takes pieces
of one line into another, so that what comes is nearly always something a reader looks into.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

Json = Any
MOST_LINES = 60
LARGEST = 60_000
_WORDS = (
    *("", "N", "W", "S", "E", "NS", "EW", "tray", "ok", "misdeal", "void", "S1", "♠A", "BJ", "H10"),
    *("00" * 32, "ff" * 32, "AA==", "R1", "M1", "P1", "\x00", "\x1b[2J", "é", "漢" * 9, "a" * 300),
    *("2027-01-01T00:00:00Z", "9" * 40, "-1", "true", "null", "{}", "T01", "T02", "chief"),
    *("nan", "inf", "1e400", "0x10"),
)
_NUMBERS = (
    *(0, 1, 2, 3, 4, 5, 27, 54, 107, 108, 109, 255, 256, 65536),
    *(-1, -256, 2**31, 2**32, 2**53, 2**53 + 1, 2**63, 2**64),
)
_ODD: tuple[Json, ...] = (None, True, False, [], {}, [[]], 0.5, -0.0, 1e300)


def lines_of(data: bytes) -> list[Json]:
    """The lines that are JSON, up to MOST_LINES of them."""
    found = []
    for line in data.split(b"\n")[:MOST_LINES]:
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return found


def written(lines: list[Json]) -> bytes:
    """Lines of JSON."""
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
        for line in lines
    )


def changed(data: bytes, chance: random.Random, most: int = LARGEST) -> bytes:
    """One to four changes of an input, at most `most` bytes long."""
    lines = lines_of(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _change(lines, chance)
    made = written(lines)
    return made if len(made) <= most else data[:most]


def crossed(data: bytes, other: bytes, chance: random.Random, most: int = LARGEST) -> bytes:
    """The front of one input and the back of another."""
    one, two = lines_of(data), lines_of(other)
    cut, at = chance.randrange(len(one) + 1), chance.randrange(len(two) + 1)
    made = written((one[:cut] + two[at:])[:MOST_LINES])
    return made if len(made) <= most else data[:most]


def _change(lines: list[Json], chance: random.Random) -> None:
    if not lines:
        lines.append(_fresh(chance, []))
        return
    at = chance.randrange(len(lines))
    deed = chance.randrange(16)
    if deed == 0:
        del lines[at]
    elif deed == 1 and len(lines) < MOST_LINES:
        lines.insert(at, json.loads(json.dumps(chance.choice(lines))))
    elif deed == 2:
        other = chance.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        _change_value(lines, at, chance)


def _change_value(lines: list[Json], at: int, chance: random.Random) -> None:
    """Change one place of one line, most often a value far inside."""
    places = list(_places(lines[at]))
    if not places:
        lines[at] = _fresh(chance, lines)
        return
    holder, key = chance.choice(places)
    deed = chance.randrange(8)
    if deed == 0:
        del holder[key]
    elif deed == 1 and isinstance(holder, dict):
        holder[chance.choice(_names(lines))] = holder[key]
    elif deed == 1:
        holder.insert(key, holder[key])
    elif deed == 2:
        holder[key] = [holder[key]] if chance.random() < 0.5 else {"N": holder[key]}
    elif deed in (3, 4):
        holder[key] = _near(holder[key], chance)
    else:
        holder[key] = _fresh(chance, lines)


def _places(value: Json, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    if depth > 40:
        return
    if isinstance(value, dict):
        for key, held in value.items():
            yield value, key
            yield from _places(held, depth + 1)
    elif isinstance(value, list):
        for number, held in enumerate(value):
            yield value, number
            yield from _places(held, depth + 1)


def _names(lines: list[Json]) -> list[str]:
    return [key for line in lines for _, key in _places(line) if isinstance(key, str)] or ["N"]


def _near(value: Json, chance: random.Random) -> Json:
    """Something of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((1, -1, 1000, -value, value, 1 << chance.randrange(60)))
    if isinstance(value, str) and value:
        place = chance.randrange(len(value))
        put = chance.choice(("", "0", "f", "=", "\n", "漢", value))
        return value[:place] + put + value[place + chance.randrange(2) :]
    if isinstance(value, list) and value:
        return value[:: chance.choice((-1, 2, 1))] + value[: chance.randrange(2)]
    return _fresh(chance, [])


def _fresh(chance: random.Random, lines: list[Json]) -> Json:
    """A value out of a drawer, or one that stands somewhere in these lines."""
    deed = chance.randrange(8)
    if deed < 3 and lines:
        places = list(_places(chance.choice(lines)))
        if places:
            holder, key = chance.choice(places)
            return json.loads(json.dumps(holder[key]))
    if deed < 5:
        return chance.choice(_WORDS)
    if deed < 7:
        return chance.choice(_NUMBERS)
    return json.loads(json.dumps(chance.choice(_ODD)))
