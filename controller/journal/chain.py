"""The chain over the journal's entries: each head holds everything before it.

head_n = SHA-256( L("dealtable/entry/1") ‖ head_{n-1} ‖ L(body_n) ), head_0 = 32 zero
bytes. Whoever knows a head that was published can tell whether the rows up to it
are those of that day. JOURNAL.md says it for readers in other languages.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from controller.framing import length_prefixed
from controller.journal.entries import MAX_BODY_BYTES, ChainedEntry, JournalEntry, decode, encode

HEAD_BYTES = 32
ZERO_HEAD = bytes(HEAD_BYTES)
_ENTRY_TAG = length_prefixed("dealtable/entry/1")


class StoredRow(NamedTuple):
    """A row as it stands in the file."""

    n: int
    body: bytes
    head: bytes


class ChainBreak(NamedTuple):
    """Something wrong with the chain at row `n`, as found on the way through it."""

    n: int
    what: str


def next_head(prev: bytes, body: bytes) -> bytes:
    """Return the head behind `body`, where `prev` is the head before it."""
    return hashlib.sha256(_ENTRY_TAG + prev + length_prefixed(body)).digest()


def walk_chain(rows: Iterable[StoredRow]) -> Iterator[ChainedEntry | ChainBreak]:
    """Walk the chain: every entry that can be read, and every break between them.

    A row that does not follow from the one before it breaks the chain once; the
    walk goes on from its own head, so that one changed row is one finding or two.
    """
    expected, prev = 1, ZERO_HEAD
    for row in rows:
        entry = _decode_or_none(row.body)
        yield from _find_breaks(row, entry, expected, prev)
        if entry is not None:
            yield ChainedEntry(entry=entry, body=row.body, prev=prev, head=row.head)
        expected, prev = row.n + 1, row.head


def _find_breaks(
    row: StoredRow, entry: JournalEntry | None, expected: int, prev: bytes
) -> Iterator[ChainBreak]:
    if row.n != expected:
        yield ChainBreak(row.n, f"it stands where entry {expected} belongs")
    if len(row.body) > MAX_BODY_BYTES or next_head(prev, row.body) != row.head:
        yield ChainBreak(row.n, "its head does not follow from the head before it and its own text")
    if entry is None:
        yield ChainBreak(row.n, "its text is no entry of a journal")
        return
    if entry.n != row.n:
        yield ChainBreak(row.n, f"its text says that it is entry {entry.n}")
    if not _is_canonical(entry, row.body):
        yield ChainBreak(row.n, "its text is not in the one form an entry has")


def _decode_or_none(body: bytes) -> JournalEntry | None:
    try:
        return decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _is_canonical(entry: JournalEntry, body: bytes) -> bool:
    try:
        return encode(entry) == body
    except (ValueError, RecursionError):
        return False
