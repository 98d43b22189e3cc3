"""The entries of a journal, their chain of hashes, and the errors of a journal."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from controller.host.printable_text import escape_unprintable
from controller.messages import PublicEvent
from controller.signing import canonical_json, length_prefixed


class JournalError(Exception):
    """An error that makes the journal unusable.

    Examples are a foreign or damaged file, a broken chain and a second writer. The message is one
    line for a person.
    """

    def __init__(self, text: str) -> None:
        """Store `text` as one printable line. Parts of it may come from a damaged file."""
        super().__init__(escape_unprintable(text))


class StorageFailed(JournalError):
    """The error for a disk that cannot write or read the journal.

    Nothing after the last commit is stored. The journal must be opened again.
    """


class PrivateEntryError(JournalError):
    """The error for code that tries to publish a private entry on the feed."""


MAX_BODY_BYTES = 0xFFFF
"""The largest number of bytes of a body. Its length is chained as two bytes."""

_MAX_INT = 2**53
_MAX_DEPTH = 64
"""The deepest nesting of lists and objects, because a reader may use recursion."""
_OTHER_FIELDS_BYTES = 1024
"""The number of bytes that is enough for all fields of an entry except its data."""


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One entry of the journal: its number, time, daemon run, kind, deal, attempt and data.

    `n` counts from 1. `time` is UTC as ISO text, for people, and does not determine any order.
    `boot` is the daemon's run (hex). `deal` and `attempt` are null if none is concerned.
    """

    n: int
    time: str
    boot: str
    kind: str
    public: bool
    deal: int | None
    attempt: int | None
    data: dict[str, Any]


class ChainedEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An entry, its bytes, and the chain's head (its last hash, 32 bytes) before and after the
    entry.
    """

    entry: JournalEntry
    body: bytes
    prev: bytes
    head: bytes


def encode(entry: JournalEntry) -> bytes:
    """Return the canonical JSON of an entry: the bytes of its `body` in the journal.

    Raises ValueError for data that JSON writers write in different ways, for data that is nested
    too deep, and for a body longer than MAX_BODY_BYTES.
    """
    _check_value(entry.data, entry.kind)
    body = canonical_json(entry)
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"{entry.kind}: an entry has at most {MAX_BODY_BYTES} bytes")
    return body


def check_entry_data(kind: str, data: dict[str, Any]) -> None:
    """Raise ValueError if `data` is invalid or too long for an entry of this kind.

    The rules are those of `encode`. The other fields of the entry may have any valid length.
    """
    _check_value(data, kind)
    if len(canonical_json(data)) > MAX_BODY_BYTES - _OTHER_FIELDS_BYTES:
        raise ValueError(f"{kind}: an entry has at most {MAX_BODY_BYTES} bytes")


def decode(body: bytes) -> JournalEntry:
    """Return the entry that the JSON in `body` contains. Raises msgspec.MsgspecError."""
    return _decoder.decode(body)


def public_event(chained: ChainedEntry, table: str, simulated: bool) -> PublicEvent:
    """Return a public entry as an event for the feed. Raises PrivateEntryError if it is private."""
    entry = chained.entry
    if not entry.public:
        raise PrivateEntryError(f"entry {entry.n} ({entry.kind}) is private")
    return PublicEvent(
        table=table,
        boot=entry.boot,
        n=entry.n,
        time=entry.time,
        simulated=simulated,
        kind=entry.kind,
        deal=entry.deal,
        attempt=entry.attempt,
        data=entry.data,
        prev=chained.prev.hex(),
        head=chained.head.hex(),
    )


def entry_from_event(event: PublicEvent) -> JournalEntry:
    """Return the journal entry from which an event of the feed was made.

    If the event was not changed, the hash of this entry is the event's `head`.
    """
    return JournalEntry(
        n=event.n,
        time=event.time,
        boot=event.boot,
        kind=event.kind,
        public=True,
        deal=event.deal,
        attempt=event.attempt,
        data=event.data,
    )


def _check_value(value: object, kind: str, depth: int = 0) -> None:
    """Raise ValueError for a value that an entry cannot contain.

    Such a value is nested too deep, or different programs write it differently as JSON.
    """
    if depth > _MAX_DEPTH:
        raise ValueError(f"{kind}: an entry is at most {_MAX_DEPTH} deep")
    if value is None or isinstance(value, bool | str):
        return
    if isinstance(value, int) and abs(value) <= _MAX_INT:
        return
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            _check_value(item, kind, depth + 1)
        return
    # The text shows only numbers, because any other value might be a secret.
    number = value if isinstance(value, int | float) else ""
    raise ValueError(f"{kind}: an entry cannot contain {type(value).__name__} {number}")


_decoder = msgspec.json.Decoder(JournalEntry)


HEAD_BYTES = 32
ZERO_HEAD = bytes(HEAD_BYTES)
_ENTRY_TAG = length_prefixed("dealtable/entry/1")


class StoredRow(NamedTuple):
    """One row of the journal's file. A row that was read is not checked yet."""

    n: int
    body: bytes
    head: bytes


class ChainBreak(NamedTuple):
    """An error in the hash chain at row number `n`, with a description (`what`)."""

    n: int
    what: str


def next_head(prev: bytes, body: bytes) -> bytes:
    """Return the chain's head (last hash) after an entry with the bytes `body`.

    `prev` is the head before the entry.
    """
    return hashlib.sha256(_ENTRY_TAG + prev + length_prefixed(body)).digest()


def walk_chain(rows: Iterable[StoredRow]) -> Iterator[ChainedEntry | ChainBreak]:
    """Yield, row by row, the errors in the hash chain, and then the row's entry if it is readable.

    A row that does not follow from the row before it breaks the chain once. The check continues
    from the head of that row, so that one changed row is one or two findings.
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
        yield ChainBreak(row.n, f"it is in the place of entry {expected}")
    if len(row.body) > MAX_BODY_BYTES or next_head(prev, row.body) != row.head:
        yield ChainBreak(row.n, "its head does not follow from the head before it and its own text")
    if entry is None:
        yield ChainBreak(row.n, "its text is not an entry of a journal")
        return
    if entry.n != row.n:
        yield ChainBreak(row.n, f"its text has the number of entry {entry.n}")
    if not _is_canonical(entry, row.body):
        yield ChainBreak(row.n, "its text is not in the canonical form of an entry")


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
