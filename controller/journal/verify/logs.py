"""What a file of events holds, however it was kept: as `watch` prints them, or as one answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from controller.journal.errors import JournalError

_LOG_FORMS = (
    'lines of `watch --json`, an answer of `send events since=0 --json`, or {"events": [...]}'
)


def read_messages(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each event of a log and where it stands; states, which `watch` prints, are passed over.

    A log is one JSON message a line, or one that fills the file. A message is an event, a state,
    or has a list of events: an answer of the table, the vectors beside PROOF.md. Raises
    JournalError for a file that cannot be read, or is no JSON.
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
            raise JournalError(f"{path}: {where} is no event of a feed: expected {_LOG_FORMS}")
        yield from _events_in(message, where)


def _decode_json(text: bytes) -> Any:
    """Return the one JSON value of a text; None for any other text, and for null."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None


def _events_in(message: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield what a message holds: itself, nothing for a state, the events of a list."""
    if not isinstance(message, dict) or "prev" in message:
        yield where, message
        return
    answer = message.get("result")
    events = (answer if isinstance(answer, dict) else message).get("events")
    if isinstance(events, list):
        yield from ((f"{where}, event {nth}", each) for nth, each in enumerate(events, start=1))
    elif "machine" not in message:
        yield where, message
