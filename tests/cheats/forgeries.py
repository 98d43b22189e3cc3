"""Every way to change one row of a journal: it is taken out, repeated, moved, or another.

And ways to change several rows so that they agree with each other.
"""

import base64
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from nacl.secret import SecretBox

from controller.commands.registry import PANEL_KEY
from controller.deal.sequence import hands_commitment
from controller.journal.packed_board_events import POCKET_CODES, READ
from controller.messages import ClientCommand
from controller.signing.signed_commands import sign_command
from sim.tables.table_in_process import TABLE_KEY
from tests.cheats.changed import Evening
from tests.cheats.evenings import CORRECTED, TWO_MATCHES
from tests.cheats.rows import SOMEBODY, Change, Rows, of

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


# Several rows that agree with each other.


class Agreeing(NamedTuple):
    """A change of several rows, and the evening in whose journal it is made."""

    evening: Evening
    change: Change


def _outs(rows: Rows) -> list[int]:
    """Return where rows say that a player is out, in the last match."""
    begun = max(at for at, row in enumerate(rows) if row["kind"] == "meeting")
    said = [at for at, row in enumerate(rows) if row["data"].get("event") == "Out" and at > begun]
    assert all(later == earlier + 2 for earlier, later in pairwise(said))  # an order behind each
    return said


def _exchanged(rows: Rows) -> None:
    """Let two orders change places with their rows; the times stay where they were."""
    first, second, *_ = _outs(rows)
    times = [rows[at]["data"]["at_ms"] for at in (first, second)]
    rows[first : second + 2] = [*rows[second : second + 2], *rows[first:second]]
    for at, at_ms in zip((first, second), times, strict=True):
        rows[at] = _with(rows[at], at_ms=at_ms)


def _by_buttons(rows: Rows) -> None:
    """Put presses of the panel, which nobody signs, in the place of signed orders: N and S win."""
    first, *_, last = _outs(rows)
    row, at_ms = rows[first], rows[first]["data"]["at_ms"]
    pressed: Rows = []
    for number, (out, opponent, phase) in enumerate([("N", "E", "play"), ("S", "W", "result")]):
        for event, cmd, seat, then in (
            ("OutSaid", "out", out, "play"),
            ("Out", "confirm", opponent, phase),
        ):
            said = {"at_ms": at_ms + number, "event": event, "seat": out}
            press: dict[str, Any] = {
                "id": f"{row['boot']}-{900 + len(pressed)}",
                "key": PANEL_KEY,
                "cmd": cmd,
            }
            press |= {"role": "table", "who": PANEL_KEY, "person": None, "args": {"seat": seat}}
            press |= {"result": {"phase": then}}
            pressed += [row | {"data": said}, row | {"kind": "command", "data": press}]
    rows[first : last + 2] = pressed


def _left_out(rows: Rows) -> None:
    """Take the chief's correction of a result out, with the row that it caused."""
    order = rows.index(of(rows, "command", cmd="adjust"))
    del rows[order - 1 : order + 1]


def _signed_by_another_key(rows: Rows) -> None:
    """Let another player be out first, by orders that another key signs in a referee's name."""
    first, second, *_ = _outs(rows)
    seats = [rows[at]["data"]["seat"] for at in (second, first)]
    for at, seat in zip((first, second), seats, strict=True):
        rows[at] = _with(rows[at], seat=seat)
        rows[at + 1] = _signed_anew(rows[at + 1], {"seat": seat})


def _signed_anew(row: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    data = row["data"]
    named = {"deal": data["of"][0], "attempt": data["of"][1], "boot": data["boot"]}
    order = ClientCommand(id=data["id"], cmd=data["cmd"], person=data["person"], args=args, **named)
    signed = sign_command(order, TABLE_KEY, SOMEBODY)
    return _with(row, args=args, key=signed.key, sig=signed.sig)


def _cut_off(rows: Rows) -> None:
    """Take all rows out from a player's last card on."""
    del rows[_outs(rows)[0] :]


def _other_hands(rows: Rows) -> None:
    """Let two cards of an opened attempt change hands: record, looks, boxes and hash follow."""
    record = of(rows, "record")
    opened = of(rows, "revealed", record["attempt"])
    own = [at for at, row in enumerate(rows) if row["attempt"] == opened["attempt"]]
    data = record["data"]
    box, faces = SecretBox(bytes.fromhex(data["key"])), bytearray.fromhex(data["hands"])
    first, second = _two_faces(faces)
    other = {first + 1: faces[second], second + 1: faces[first]}
    faces[first], faces[second] = faces[second], faces[first]
    nonce = bytes.fromhex(data["nonce"])
    commitment = bytes.fromhex(of(rows, "committed", record["attempt"])["data"]["commitment"])
    for at in own:
        row = rows[at]
        if row["kind"] == "record":
            groups = [_looks_changed(group, other) for group in row["data"]["events"]]
            rows[at] = _with(row, hands=faces.hex(), events=groups)
        elif row["kind"] == "wire" and "sealed" in row["data"]:
            rows[at] = _with(row, sealed=_sealed_changed(row["data"], box, other))
        elif row["kind"] == "hands_box":
            sealed = bytes(box.encrypt(nonce + bytes(faces)))
            rows[at] = _with(row, box=base64.b64encode(sealed).decode())
        elif row["kind"] == "held":
            rows[at] = _with(row, hands=hands_commitment(commitment, nonce, bytes(faces)).hex())


def _two_faces(faces: bytes | bytearray) -> tuple[int, int]:
    """Return the places of a big joker and of a card that nobody turns up or leads with."""
    return faces.index(53), faces.index(1)


def _looks_changed(group: dict[str, Any], other: Mapping[int, int]) -> dict[str, Any]:
    events, looks = (bytearray(base64.b64decode(group[name])) for name in ("b", "looks"))
    reads = [at for at in range(0, len(events), 5) if events[at] & 0x7F == READ]
    for number, at in enumerate(reads):
        looks[4 * number] = other.get(events[at + 3], looks[4 * number])
    return group | {"looks": base64.b64encode(looks).decode()}


def _sealed_changed(data: dict[str, Any], box: SecretBox, other: Mapping[int, int]) -> str:
    events = base64.b64decode(data["b"])
    sealed, place = bytearray(box.decrypt(base64.b64decode(data["sealed"]))), 0
    for at in range(0, len(events), 5):
        code = events[at] & 0x7F
        if code == READ:
            sealed[place] = other.get(events[at + 3], sealed[place])
        place += 4 if code == READ else code in POCKET_CODES
    return base64.b64encode(box.encrypt(bytes(sealed))).decode()


def _with(row: dict[str, Any], **data: Any) -> dict[str, Any]:
    return row | {"data": row["data"] | data}


AGREEING: Mapping[str, Agreeing] = {
    "two signed commands exchanged": Agreeing(TWO_MATCHES, _exchanged),
    "signed commands replaced by button presses": Agreeing(TWO_MATCHES, _by_buttons),
    "a signed command left out": Agreeing(CORRECTED, _left_out),
    "commands signed by another key": Agreeing(TWO_MATCHES, _signed_by_another_key),
    "all rows after a point removed": Agreeing(TWO_MATCHES, _cut_off),
    "two faces exchanged between opened hands": Agreeing(TWO_MATCHES, _other_hands),
}
"""Changes of several rows that `verify` does not find, by their names in PROOF.md."""
