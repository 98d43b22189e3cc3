"""Which messages of a feed are taken: of this table, of this version, such as can be kept. Pure.

Whoever has a table's gateway may send anything. What is none of a table's is counted, and
nothing of it is shown or kept.
"""

import re
from datetime import datetime
from typing import Final, Literal, TypeVar

import msgspec

from controller.messages import SCHEMA, Event, SignedHead, State

Fault = Literal["junk", "other_version", "other_table"]
"""Why a message is not taken: it is none, of another version, or about another table."""

_Ours = TypeVar("_Ours", State, Event)
LARGEST_STATE: Final = 1 << 18
"""Bytes of a state, which goes to browsers as it is: a table's largest is a tenth (provisional).
Events may be as large as a feed's messages (client/line.py): the record of an attempt is."""
_NAMES_OF_MATCHES: Final = ("match", "match_id")
_MOST_N: Final = (1 << 53) - 1
_MOST_DEAL: Final = (1 << 31) - 1
_HEAD: Final = re.compile(r"[0-9a-f]{64}")
_SIG: Final = re.compile(r"[0-9a-f]{128}")
_WORD: Final = re.compile(r"[!-~]{1,64}")
_TIME: Final = re.compile(r"[!-~]{1,40}")
_MATCH: Final = re.compile(r"[^\x00-\x1f\x7f]{0,64}")


class NotTaken(Exception):
    """A message that is none of the table's; `other` is the table that it is about."""

    def __init__(self, why: Fault, other: str = "") -> None:
        """Keep why."""
        super().__init__(why)
        self.why: Fault = why
        self.other = other


def taken_state(body: bytes, table: str) -> State:
    """Return the state in a message of a table's feed. Raises NotTaken."""
    if len(body) > LARGEST_STATE:
        raise NotTaken("junk")
    state = _ours(_decoded(_STATE, body), table)
    since = [*(call.since for call in state.calls), *(alert.since for alert in state.alerts)]
    if not all(map(_is_stamp, (state.time, *since))):
        raise NotTaken("junk")
    return state


def taken_event(body: bytes, table: str) -> Event:
    """Return the event in a message of a table's feed. Raises NotTaken."""
    return _fit_to_keep(_ours(_decoded(_EVENT, body), table))


def answered_event(value: object, table: str) -> Event:
    """Return the event in one item of an answer to `events`. Raises NotTaken."""
    try:
        event = msgspec.convert(value, Event)
    except (msgspec.MsgspecError, RecursionError):
        raise NotTaken("junk") from None
    return _fit_to_keep(_ours(event, table))


def fit_head(signed: SignedHead, time: str) -> bool:
    """Tell whether a signed head, and the stamp of the state that shows it, can be kept."""
    return bool(
        0 <= signed.n <= _MOST_N
        and _HEAD.fullmatch(signed.head)
        and _SIG.fullmatch(signed.sig)
        and _is_stamp(time)
    )


def _ours(value: _Ours, table: str) -> _Ours:
    if value.schema != SCHEMA:
        raise NotTaken("other_version")
    if value.table != table:
        raise NotTaken("other_table", value.table)
    return value


def _fit_to_keep(event: Event) -> Event:
    named = [event.data.get(name, "") for name in _NAMES_OF_MATCHES]
    numbers = (event.deal or 0, event.attempt or 0)
    if (
        0 < event.n <= _MOST_N
        and all(0 <= number <= _MOST_DEAL for number in numbers)
        and _HEAD.fullmatch(event.head)
        and _HEAD.fullmatch(event.prev)
        and _WORD.fullmatch(event.kind)
        and _is_stamp(event.time)
        and all(_MATCH.fullmatch(match) for match in named if isinstance(match, str))
    ):
        return event
    raise NotTaken("junk")


def _is_stamp(text: str) -> bool:
    """Tell whether a text is a moment: what pages and the archive reckon with has to be one."""
    try:
        return bool(_TIME.fullmatch(text)) and datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _decoded(decoder: "msgspec.json.Decoder[_Ours]", body: bytes) -> _Ours:
    """Return what a message says. Raises NotTaken for one of several lines, too.

    Tables write one, and so do streams to browsers and records of events, which have it as it is.
    """
    if b"\n" in body or b"\r" in body:
        raise NotTaken("junk")
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise NotTaken("junk") from None


_STATE: Final = msgspec.json.Decoder(State)
_EVENT: Final = msgspec.json.Decoder(Event)
