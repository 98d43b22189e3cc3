"""The entries that `verify` checks, read from a journal or from a file of events.

A file of events has lines of `watch`, or one answer of the table.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from controller.host.printable_text import escape_unprintable
from controller.journal.entries import (
    HEAD_BYTES,
    ChainBreak,
    ChainedEntry,
    JournalError,
    encode,
    entry_from_event,
    next_head,
    walk_chain,
)
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify.verify_report import VerifyFinding
from controller.messages import PublicEvent

_LOG_FORMS = (
    'lines of `watch --json`, an answer of `send events since=0 --json`, or {"events": [...]}'
)


def read_messages(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each event in a file of JSON messages: its position, such as "line 3", and its value.

    States of the table, which `watch` also prints, are left out. The file has one JSON message a
    line, or one message that fills the file. A message is an event, a state, or has a list of
    events: an answer of the table, or the vectors beside PROOF.md. Raises JournalError for a file
    that cannot be read, or is not JSON.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}") from error
    whole = _decode_json(raw)
    if whole is not None:
        yield from _events_in(whole, "line 1")
        return
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        message, where = _decode_json(line), f"line {number}"
        if message is None:
            raise JournalError(f"{path}: {where} is not an event of a feed: expected {_LOG_FORMS}")
        yield from _events_in(message, where)


def _decode_json(text: bytes) -> Any:
    """Return the value of a JSON text, or None if the text is `null` or is not JSON."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None


def _events_in(message: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield each event in `message` with its position. `where` is the position of the message.

    The message is an event, or has a list of events. A state of the table has no event.
    """
    if not isinstance(message, dict) or "prev" in message:
        yield where, message
        return
    answer = message.get("result")
    events = (answer if isinstance(answer, dict) else message).get("events")
    if isinstance(events, list):
        yield from ((f"{where}, event {nth}", each) for nth, each in enumerate(events, start=1))
    elif "machine" not in message:
        yield where, message


_SQLITE = b"SQLite format 3\0"
_ROW_CHANGED = "a row was changed, removed, inserted or moved here"


class JournalSource(msgspec.Struct, frozen=True):
    """The entries of a file in order, and the findings about the file itself, such as chain errors.

    If `whole`, private entries are included, and none may be missing.
    """

    whole: bool
    entries: list[ChainedEntry]
    findings: list[VerifyFinding]


def read_source(path: Path) -> JournalSource:
    """Read the entries from a state directory, a journal's file, or a file of events.

    Raises JournalError for any other file.
    """
    if path.is_dir():
        path = path / STORE_NAME
    try:
        with path.open("rb") as file:
            is_journal = file.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror}") from error
    return _read_journal(path) if is_journal or path.name == STORE_NAME else _read_event_log(path)


def _read_journal(path: Path) -> JournalSource:
    source = JournalSource(True, [], [])
    try:
        with open_read_only(path) as rows:
            for item in walk_chain(rows):
                if isinstance(item, ChainBreak):
                    source.findings.append(VerifyFinding(item.n, item.what, _ROW_CHANGED))
                else:
                    source.entries.append(item)
    except JournalError as error:
        source.findings.append(VerifyFinding(None, str(error), "the file was damaged or replaced"))
    if not (source.entries or source.findings):
        means = "all of its rows were removed"
        source.findings.append(VerifyFinding(None, "it has no entry", means))
    return source


def _read_event_log(path: Path) -> JournalSource:
    source = JournalSource(False, [], [])
    events = sorted(_decode_events(path), key=lambda event: event.n)
    tables = sorted({event.table for event in events})
    if not events:
        raise JournalError(f"{path} has no event: it is neither a journal nor a log of a feed")
    if len(tables) > 1:
        raise JournalError(
            f"{path} has events of {escape_unprintable(', '.join(tables))}: "
            "give the events of one table only"
        )
    before: ChainedEntry | None = None
    for event in events:
        chained = _chain_event(event)
        if before is not None and chained == before:
            continue
        source.findings.extend(_find_event_breaks(chained, before))
        source.entries.append(chained)
        before = chained
    return source


def _decode_events(path: Path) -> Iterator[PublicEvent]:
    """Yield the events in a file of feed messages. Raises JournalError if it has anything else."""
    for where, message in read_messages(path):
        try:
            event = msgspec.convert(message, PublicEvent)
            _chain_event(event)
        except (ValueError, RecursionError) as error:
            raise JournalError(f"{path}: {where} is not an event of a feed: {error}") from error
        yield event


def _chain_event(event: PublicEvent) -> ChainedEntry:
    entry = entry_from_event(event)
    prev, head = bytes.fromhex(event.prev), bytes.fromhex(event.head)
    if len(prev) != HEAD_BYTES or len(head) != HEAD_BYTES:
        raise ValueError(f"a head has {HEAD_BYTES} bytes")
    return ChainedEntry(entry=entry, body=encode(entry), prev=prev, head=head)


def _find_event_breaks(
    chained: ChainedEntry, before: ChainedEntry | None
) -> Iterable[VerifyFinding]:
    n = chained.entry.n
    if next_head(chained.prev, chained.body) != chained.head:
        yield VerifyFinding(n, "its head does not follow from its text", "the event was changed")
    if before is None:
        return
    if n == before.entry.n:
        what = "there are two events of this number"
        yield VerifyFinding(n, what, "one of them is not the table's")
    elif n == before.entry.n + 1 and chained.prev != before.head:
        yield VerifyFinding(n, "it does not follow from the event before it", _ROW_CHANGED)
