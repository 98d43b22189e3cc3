"""One entry of the journal, its bytes, and what of it may be public.

An entry's body is the canonical JSON (controller/framing.py) of its eight fields.
The chain is taken over these bytes, so they must come out the same in any
language: an entry holds text, whole numbers up to 2^53, true, false, null, lists
and objects. A fraction has no one way to be written, so there is none.
"""

from typing import Any

import msgspec

from controller.framing import canonical_json
from controller.journal.errors import PrivateEntryError
from controller.messages import PublicEvent

MAX_BODY_BYTES = 0xFFFF
"""Most bytes of a body: its length is chained as two bytes."""

_MAX_INT = 2**53
_MAX_DEPTH = 64
"""Lists and objects in one another, at most: a reader may follow them by recursion."""
_OTHER_FIELDS_BYTES = 1024
"""Bytes that suffice for all fields of an entry but its data."""


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """One thing that happened.

    `n` counts from 1; `time` is UTC as ISO text, for people, and orders nothing;
    `boot` is the daemon's (hex); `deal` and `attempt` are null where none is concerned.
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
    """An entry with its bytes and the chain before and behind it (32 bytes each)."""

    entry: JournalEntry
    body: bytes
    prev: bytes
    head: bytes


def encode(entry: JournalEntry) -> bytes:
    """Return the body of an entry.

    Raises ValueError for data that JSON cannot carry the same way everywhere, that is
    deeper than any entry, or for a body longer than LARGEST_BODY.
    """
    _check_value(entry.data, entry.kind)
    body = canonical_json(entry)
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"{entry.kind}: an entry has at most {MAX_BODY_BYTES} bytes")
    return body


def check_entry_data(kind: str, data: dict[str, Any]) -> None:
    """Return if an entry can hold `data`, whatever its other fields say.

    Raises ValueError as `encode` does.
    """
    _check_value(data, kind)
    if len(canonical_json(data)) > MAX_BODY_BYTES - _OTHER_FIELDS_BYTES:
        raise ValueError(f"{kind}: an entry has at most {MAX_BODY_BYTES} bytes")


def decode(body: bytes) -> JournalEntry:
    """Return the entry of a body; raises msgspec.MsgspecError for what is none."""
    return _decoder.decode(body)


def public_event(chained: ChainedEntry, table: str, simulated: bool) -> PublicEvent:
    """Return a public entry as the feed carries it; raises PrivateEntry for a private one."""
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
    """Return the entry that an event of the feed stands for; its body has the event's head."""
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
    """Raise ValueError for a value that two JSON writers might spell differently, or too deep."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"{kind}: an entry is at most {_MAX_DEPTH} deep")
    if value is None or isinstance(value, bool | str):
        return
    if isinstance(value, int) and abs(value) <= _MAX_INT:
        return
    if isinstance(value, list | tuple):
        for item in value:
            _check_value(item, kind, depth + 1)
        return
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for item in value.values():
            _check_value(item, kind, depth + 1)
        return
    raise ValueError(f"{kind}: an entry cannot hold {type(value).__name__} {_number_text(value)}")


def _number_text(value: object) -> str:
    """Numbers may be told; anything else might be a secret."""
    return repr(value) if isinstance(value, int | float) else ""


_decoder = msgspec.json.Decoder(JournalEntry)
