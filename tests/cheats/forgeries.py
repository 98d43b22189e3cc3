"""Every way to change one row of a journal: it is taken out, repeated, moved, or another."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.cheats.rows import Rows

_EMPTY: tuple[object, ...] = (None, False, [], {})
_FIELDS = ("boot", "public", "deal", "attempt")
_HEX = frozenset("0123456789abcdef")
_A_HASH = 16
_NEXT = {"N": "E", "E": "S", "S": "W", "W": "N"}


class Forgery(NamedTuple):
    """One change: of which kind of row, what was done to it, and all rows as they are then.

    `kind` is a row's kind, with the command or the event of the match behind a full stop; `change`
    is `removed`, `repeated`, `moved`, or a field that is other, with a minus where it is gone.
    """

    kind: str
    change: str
    rows: Rows


def forgeries(rows: Rows) -> Iterator[Forgery]:
    """Yield every change of a row of each kind: of the second one where there are several."""
    many = Counter(map(_kind, rows))
    seen: Counter[str] = Counter()
    for at, row in enumerate(rows):
        kind = _kind(row)
        seen[kind] += 1
        if seen[kind] == min(2, many[kind]):
            for change, instead in _changes(row, rows[at + 1 : at + 2]):
                behind = at + 2 if change == "moved" else at + 1
                yield Forgery(kind, change, [*rows[:at], *instead, *rows[behind:]])


def _kind(row: dict[str, Any]) -> str:
    named = {"match": "event", "match_kept": "event", "command": "cmd"}.get(row["kind"], "")
    return ".".join(filter(None, (row["kind"], row["data"].get(named))))


def _changes(row: dict[str, Any], behind: Rows) -> Iterator[tuple[str, Rows]]:
    """Yield what may be done to a row, and the rows that stand in its place then."""
    yield "removed", []
    yield "repeated", [row, row]
    if behind:
        yield "moved", [*behind, row]
    for name in _FIELDS:
        yield name, [row | {name: _other(row[name])}]
    data = row["data"]
    for name, value in data.items():
        yield f"data.{name}", [row | {"data": data | {name: _other(value)}}]
        if value not in _EMPTY:  # what is empty may as well be left out
            rest = {other: data[other] for other in data if other != name}
            yield f"-data.{name}", [row | {"data": rest}]


def _other(value: Any) -> Any:
    """Return another value of the same form."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case None:
            return 1
        case "N" | "E" | "S" | "W":
            return _NEXT[value]
        case str() if len(value) >= _A_HASH and set(value) <= _HEX:
            return ("1" if value[0] == "0" else "0") + value[1:]
        case str():
            return value[:-1] + ("A" if not value.endswith("A") else "B")
        case [first, *rest]:
            return [_other(first), *rest]
        case {**fields} if fields:
            name = next(iter(fields))
            return fields | {name: _other(fields[name])}
        case dict():
            return {"x": 1}
        case _:
            return ["x"]
