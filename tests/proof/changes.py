"""What somebody might change of what a table said of an attempt, and how he chains it anew."""

import base64
import copy
import hashlib
import json
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from controller.journal.packed_board_events import (
    AT_READER,
    GATE,
    LANDED,
    POCKET,
    READ,
    SHUFFLED,
    STRAY,
)

Row = dict[str, Any]
Rows = list[Row]
Change = Callable[[Rows, random.Random], bool]
"""Changes the rows of one attempt in place; False where there is nothing of the kind to change."""

_DIGITS = "0123456789abcdef"
_FIELDS = ("attempt", "boot", "data", "deal", "kind", "n", "time")


def rechained(rows: Rows) -> Rows:
    """Return rows with heads that fit them, as somebody makes who writes the whole chain anew."""
    out: Rows = []
    for row in rows:
        before = out[-1] if out else None
        prev = before["head"] if before and before["n"] == row["n"] - 1 else row["prev"]
        body = {name: row[name] for name in _FIELDS} | {"public": True}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        tag = b"dealtable/entry/1"
        framed = b"".join(len(x).to_bytes(2, "big") + x for x in (tag, text))
        split = 2 + len(tag)
        raw = framed[:split] + bytes.fromhex(prev) + framed[split:]
        out.append(row | {"prev": prev, "head": hashlib.sha256(raw).hexdigest()})
    return out


def attempt_of(feed: Rows, number: int) -> Rows:
    """Return what concerns one attempt, and the row that says whose table it is."""
    rows = [row for row in feed if row["kind"] == "opened"][:1]
    return copy.deepcopy(rows + [row for row in feed if row["attempt"] == number])


def step(rows: Rows, kind: str) -> Row | None:
    """Return the step of this kind."""
    return next((row for row in rows if row["kind"] == kind), None)


def _other_digit(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text))
    return text[:at] + rng.choice(_DIGITS.replace(text[at], "")) + text[at + 1 :]


def _hex(kind: str, field: str) -> Change:
    def change(rows: Rows, rng: random.Random) -> bool:
        row = step(rows, kind)
        if row is None or not row["data"].get(field):
            return False
        row["data"][field] = _other_digit(row["data"][field], rng)
        return True

    return change


def _cut(kind: str) -> Change:
    def change(rows: Rows, rng: random.Random) -> bool:
        row = step(rows, kind)
        if row is None or step(rows, "cut") is None:
            return False
        row["data"]["cut"] = rng.choice(
            [n for n in (None, *range(1, 108)) if n != row["data"]["cut"]]
        )
        return True

    return change


def _words(field: str) -> Change:
    def change(rows: Rows, rng: random.Random) -> bool:
        for row in rows:
            if row["kind"] in ("opened", "committed") and field in row["data"]:
                row["data"][field] = row["data"][field][:-1] + rng.choice("#?!")
        return True

    return change


def _number(field: str) -> Change:
    """The whole attempt is said to have been another."""

    def change(rows: Rows, rng: random.Random) -> bool:
        more = rng.randint(1, 9)
        for row in rows[1:]:
            row[field] += more
        return True

    return change


def _one_deal(rows: Rows, rng: random.Random) -> bool:
    steps = [row for row in rows[1:] if row["kind"] not in ("command", "fault")]
    rng.choice(steps)["deal"] += 1
    return len(steps) > 1


def _moved(code: int, byte: int, among: int, kind: str = "record") -> Change:
    """One event of the opened record says another index (3) or place (4).

    Of cards that were seen to land: any card may be sent to the tray for another look.
    """

    def change(rows: Rows, rng: random.Random) -> bool:
        row, field = step(rows, kind), "events" if kind == "record" else "course"
        if row is None or not row["data"].get(field):
            return False
        group = rng.choice(row["data"][field])
        packed = bytearray(base64.b64decode(group["b"]))
        events = range(0, len(packed), 5)
        landed = {packed[at + 3] for at in events if packed[at] == LANDED}
        found = [at for at in events if packed[at] == code and packed[at + 3] in landed]
        if not found:
            return False
        at = rng.choice(found) + byte
        packed[at] = rng.choice([n for n in range(among) if n != packed[at]])
        group["b"] = base64.b64encode(bytes(packed)).decode()
        return True

    return change


def _outcome(rows: Rows, rng: random.Random) -> bool:
    row = step(rows, "verdict")
    if row is None:
        return False
    others = {"ok", "misdeal", "void"} - {row["data"]["outcome"]}
    row["data"]["outcome"] = rng.choice(sorted(others))
    return True


def _count(rows: Rows, rng: random.Random) -> bool:
    row, record = step(rows, "verdict"), step(rows, "record")
    if row is None or record is None or "events" not in record["data"]:
        return False
    if row["data"]["outcome"] != "ok" and "counted" not in record["data"]:
        return False
    where, name = rng.choice(
        [(row["data"], "fed"), (row["data"], "refed")]
        + [(row["data"]["landed"], outlet) for outlet in ("N", "W", "S", "E", "tray")]
    )
    where[name] = rng.choice([n for n in range(120) if n != where[name]])
    return True


def _order(rows: Rows, rng: random.Random) -> bool:
    """Two neighbouring steps stand the other way round."""
    steps = [at for at, row in enumerate(rows) if at and row["kind"] not in ("command", "fault")]
    if len(steps) < 2:
        return False
    nth = rng.randrange(len(steps) - 1)
    one, other = rows[steps[nth]], rows[steps[nth + 1]]
    for name in ("kind", "data"):
        one[name], other[name] = other[name], one[name]
    return True


def _hands(rows: Rows, rng: random.Random) -> bool:
    row = step(rows, "record")
    if row is None or not row["data"].get("hands"):
        return False
    faces = bytearray.fromhex(row["data"]["hands"])
    one = rng.randrange(len(faces))
    other = rng.choice([at for at, face in enumerate(faces) if face != faces[one]])
    faces[one], faces[other] = faces[other], faces[one]
    row["data"]["hands"] = bytes(faces).hex()
    return True


def reason_that_does_not_follow(rows: Rows, rng: random.Random) -> bool:
    """A verdict for a reason that the record does not bear; also of a deal that was right."""
    row = step(rows, "verdict")
    if row is None or step(rows, "record") is None or "JAM" in str(row["data"]["reasons"]):
        return False
    # Nothing of this is in any record of these lives at the end of an attempt that was stopped.
    made_up = rng.choice([["JAM", "TRAY_FULL"], ["POCKET_NOT_EMPTY"], ["TRAY_FULL"]])
    if set(made_up) & set(row["data"]["reasons"]):
        return False
    row["data"]["reasons"] = made_up
    return True


def _another_class(rows: Rows, rng: random.Random) -> bool:
    """A misdeal is called a jam, a right deal one that was stopped."""
    row = step(rows, "verdict")
    if row is None or row["data"]["outcome"] == "void":
        return False
    row["data"]["reasons"] = [rng.choice(["JAM", "POWER", "ORDERED"])]
    return True


def _hollow(*fields: str) -> Change:
    """The record opens less than a record does."""

    def change(rows: Rows, rng: random.Random) -> bool:
        row = step(rows, "record")
        if row is None or not all(row["data"].get(field) for field in fields):
            return False
        for field in fields:
            if field in ("nonce", "hands"):
                row["data"][field] = None
            elif rng.random() < 0.5:
                del row["data"][field]
            else:
                row["data"][field] = None
        held = step(rows, "held") is not None
        return held or not set(fields) <= {"nonce", "hands"}

    return change


def _end(rows: Rows) -> Row | None:
    """Return the step that says why an attempt gave no hands; None where it gave them."""
    end = step(rows, "recalled") or step(rows, "withdrawn") or step(rows, "verdict")
    return end if end is not None and end["data"]["reasons"] else None


def _no_reason(rows: Rows, rng: random.Random) -> bool:
    end = _end(rows)
    if end is not None:
        end["data"]["reasons"] = []
    return end is not None


def _no_word(rows: Rows, rng: random.Random) -> bool:
    """A reason that stands in no catalogue, in the place of one that no record can show."""
    end = _end(rows)
    if end is None or end["data"].get("outcome") == "misdeal":
        return False
    end["data"]["reasons"] = [rng.choice(["BAD_HAND", "UNLUCKY_DAY", "JAMMED", "SEED_REUSED"])]
    return True


def _unsaid(rows: Rows, rng: random.Random) -> bool:
    """Nobody says why a deal had no cut."""
    cut = step(rows, "cut")
    return cut is not None and bool(cut["data"].pop("reason", None))


def _ordered(field: str) -> Change:
    """The order that an attempt be cut: another number, or signed for another attempt."""

    def change(rows: Rows, rng: random.Random) -> bool:
        order = _order_to_cut(rows)
        if order is None or "of" not in order["data"]:
            return False
        if field == "of":
            order["data"]["of"][rng.randrange(2)] += rng.choice([-1, 1])
        else:
            order["data"][field]["n" if field == "args" else "cut"] += 1
        return True

    return change


def _another_run(rows: Rows, rng: random.Random) -> bool:
    """An order was given to another run of the daemon than the one that took it."""
    orders = [row for row in rows if row["kind"] == "command" and "boot" in row["data"]]
    if orders:
        rng.choice(orders)["data"]["boot"] = "0badb007"
    return bool(orders)


def _twice(rows: Rows, rng: random.Random) -> bool:
    """An order stands there again, behind all that it can have been for."""
    orders = [row for row in rows if row["kind"] == "command" and "result" in row["data"]]
    if not orders:
        return False
    again = copy.deepcopy(rng.choice(orders)) | {"boot": rows[-1]["boot"], "n": rows[-1]["n"] + 2}
    rows.append(again)
    return True


def _order_to_cut(rows: Rows) -> Row | None:
    return next((r for r in rows if r["kind"] == "command" and r["data"]["cmd"] == "cut"), None)


def _ordered_before(rows: Rows, rng: random.Random) -> bool:
    """The players' number was there before the promise."""
    order, committed = _order_to_cut(rows), step(rows, "committed")
    if order is None or committed is None:
        return False
    order["n"] = committed["n"] - 1  # where the seed stands, which nobody hears of
    rows.sort(key=lambda row: int(row["n"]))
    return True


def _passes(kind: str) -> Change:
    """Another number of passes is promised, said to be done, or done by the boards."""

    def change(rows: Rows, rng: random.Random) -> bool:
        row = step(rows, kind)
        if row is None or step(rows, "shuffled") is None:
            return False
        if kind != "record":
            row["data"]["passes"] += 9 if kind == "committed" else rng.choice([-1, 1])
            return True
        return _in_events(rows, lambda packed: _other_passes(packed, rng))

    return change


def _other_passes(packed: bytearray, rng: random.Random) -> bool:
    found = [at for at in range(0, len(packed), 5) if packed[at] == SHUFFLED]
    for at in found[:1]:
        packed[at + 3] += rng.choice([-1, 1])
    return bool(found)


def _stray(rows: Rows, rng: random.Random) -> bool:
    """A card falls where none is due, and the hands are called right; all tellings agree."""
    verdict = step(rows, "verdict")
    if verdict is None or verdict["data"]["outcome"] != "ok":
        return False

    def fall(packed: bytearray) -> bool:
        landings = [at for at in range(0, len(packed), 5) if packed[at] == LANDED]
        if not landings:
            return False
        at = landings[len(landings) // 2]
        packed[at:at] = bytes([STRAY, packed[at + 1], packed[at + 2], 0, packed[at + 4]])
        return True

    return _in_events(rows, fall)


def _in_events(rows: Rows, change: Callable[[bytearray], bool]) -> bool:
    """Change the first group that can be changed, alike in the record and in the reveal."""
    did = False
    for kind, field in (("record", "events"), ("revealed", "course")):
        for group in (step(rows, kind) or {"data": {}})["data"].get(field) or ():
            packed = bytearray(base64.b64decode(group["b"]))
            many = len(packed)
            if change(packed):
                group["b"] = base64.b64encode(bytes(packed)).decode()
                group["boots"]["dealer"][2] += (len(packed) - many) // 5
                did = True
                break
    return did


def _other_course(rows: Rows, rng: random.Random) -> bool:
    """The reveal tells an event that moves no card otherwise than the record."""
    if step(rows, "record") is None:
        return False
    for group in (step(rows, "revealed") or {"data": {}})["data"].get("course") or ():
        packed = bytearray(base64.b64decode(group["b"]))
        still = [at for at in range(0, len(packed), 5) if packed[at] & 0x7F in (READ, POCKET)]
        if still:
            packed[rng.choice(still) + rng.choice([1, 2, 3])] ^= 1
            group["b"] = base64.b64encode(bytes(packed)).decode()
            return True
    return False


def _leader(rows: Rows, rng: random.Random) -> bool:
    """The turned-up card is the same, and whoever leads is not who got it; or nobody leads."""
    released = step(rows, "released")
    if released is None or step(rows, "record") is None or "turned_up" not in released["data"]:
        return False
    led = released["data"].pop("leader")
    others = [seat for seat in (None, *"NWSE") if seat != led]
    seat = rng.choice(others)
    if seat is not None:
        released["data"]["leader"] = seat
    return True


def _run(rows: Rows, rng: random.Random) -> bool:
    """One row is said to be of another run of the daemon, which was never opened."""
    follows = [row for before, row in pairwise(rows) if row["n"] == before["n"] + 1]
    if not follows:
        return False
    rng.choice(follows)["boot"] = "0badb007"
    return True


CHANGES: dict[str, Change] = {
    "seed": _hex("revealed", "seed"),
    "commitment": _hex("committed", "commitment"),
    "revealed cut": _cut("revealed"),
    "cut": _cut("cut"),
    "table key": _words("table_key"),
    "match": _words("match"),
    "set": _words("set"),
    "profile hash": _hex("committed", "profile_hash"),
    "deal": _number("deal"),
    "attempt": _number("attempt"),
    "deal of one step": _one_deal,
    "gate": _moved(GATE, 4, 5),
    "gate's card": _moved(GATE, 3, 109),
    "landing": _moved(LANDED, 4, 5),
    "landing's card": _moved(LANDED, 3, 109),
    "arrival's card": _moved(AT_READER, 3, 109),
    "revealed gate": _moved(GATE, 4, 5, "revealed"),
    "revealed landing": _moved(LANDED, 4, 5, "revealed"),
    "outcome": _outcome,
    "reasons": reason_that_does_not_follow,
    "class of reasons": _another_class,
    "counts": _count,
    "order": _order,
    "bound hands": _hex("held", "hands"),
    "nonce": _hex("record", "nonce"),
    "hands": _hands,
    "record without events": _hollow("events"),
    "record without its key": _hollow("key"),
    "record of nothing": _hollow("events", "key"),
    "hands kept shut": _hollow("nonce", "hands"),
    "end without a reason": _no_reason,
    "reason that is none": _no_word,
    "uncut without a reason": _unsaid,
    "order's number": _ordered("args"),
    "order's answer": _ordered("result"),
    "order of another attempt": _ordered("of"),
    "order to another run": _another_run,
    "order that acts twice": _twice,
    "order before the promise": _ordered_before,
    "promised passes": _passes("committed"),
    "passes": _passes("shuffled"),
    "board's passes": _passes("record"),
    "stray in a right deal": _stray,
    "still event of the reveal": _other_course,
    "leader": _leader,
    "run of the daemon": _run,
}
