"""The chain over the journal's entries: each head holds everything before it.

head_n = SHA-256( L("dealtable/entry/1") ‖ head_{n-1} ‖ L(body_n) ), head_0 = 32 zero
bytes. Whoever knows a head that was published can tell whether the rows up to it
are those of that day. JOURNAL.md says it for readers in other languages.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from controller.framing import lp
from controller.journal.entries import LARGEST_BODY, Chained, Entry, decode, encode

HEAD_BYTES = 32
ZERO = bytes(HEAD_BYTES)
_TAG = lp("dealtable/entry/1")


class Row(NamedTuple):
    """A row as it stands in the file."""

    n: int
    body: bytes
    head: bytes


class Break(NamedTuple):
    """Something wrong with the chain at row `n`, as found on the way through it."""

    n: int
    what: str


def next_head(prev: bytes, body: bytes) -> bytes:
    """Return the head behind `body`, where `prev` is the head before it."""
    return hashlib.sha256(_TAG + prev + lp(body)).digest()


def follow(rows: Iterable[Row]) -> Iterator[Chained | Break]:
    """Walk the chain: every entry that can be read, and every break between them.

    A row that does not follow from the one before it breaks the chain once; the
    walk goes on from its own head, so that one changed row is one finding or two.
    """
    expected, prev = 1, ZERO
    for row in rows:
        entry = _entry(row.body)
        yield from _breaks(row, entry, expected, prev)
        if entry is not None:
            yield Chained(entry=entry, body=row.body, prev=prev, head=row.head)
        expected, prev = row.n + 1, row.head


def _breaks(row: Row, entry: Entry | None, expected: int, prev: bytes) -> Iterator[Break]:
    if row.n != expected:
        yield Break(row.n, f"it stands where entry {expected} belongs")
    if len(row.body) > LARGEST_BODY or next_head(prev, row.body) != row.head:
        yield Break(row.n, "its head does not follow from the head before it and its own text")
    if entry is None:
        yield Break(row.n, "its text is no entry of a journal")
        return
    if entry.n != row.n:
        yield Break(row.n, f"its text says that it is entry {entry.n}")
    if not _canonical(entry, row.body):
        yield Break(row.n, "its text is not in the one form an entry has")


def _entry(body: bytes) -> Entry | None:
    try:
        return decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _canonical(entry: Entry, body: bytes) -> bool:
    try:
        return encode(entry) == body
    except (ValueError, RecursionError):
        return False
