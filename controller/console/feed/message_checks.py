"""Checks that a feed message has the right table and version, and storable values. Pure.

An attacker who controls a table's gateway may send anything. A rejected message is counted, and is
neither shown nor stored.
"""

import re
from datetime import datetime
from typing import Final, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from controller.console.console_config import ConfiguredTable
from controller.messages import SCHEMA_VERSION, PublicEvent, PublicState, SignedHead
from controller.signing import signed_heads
from controller.signing.signed_heads import KeptHead

RejectionReason = Literal["junk", "other_version", "other_table"]
"""Why a message is rejected: it is invalid, of another version, or about another table."""

_Ours = TypeVar("_Ours", PublicState, PublicEvent)
MAX_STATE_BYTES: Final = 1 << 18
"""The most bytes of a state, which is sent to browsers unchanged. The largest state of a table is a
tenth of this (provisional). Events may be as large as a feed's messages (controller/client),
because the record of an attempt is large.
"""
_MATCH_FIELDS: Final = ("match", "match_id")
_MAX_N: Final = (1 << 53) - 1
_MAX_DEAL: Final = (1 << 31) - 1
_HEAD_PATTERN: Final = re.compile(r"[0-9a-f]{64}")
_SIGNATURE_PATTERN: Final = re.compile(r"[0-9a-f]{128}")
_KIND_PATTERN: Final = re.compile(r"[!-~]{1,64}")
_STAMP_PATTERN: Final = re.compile(r"[!-~]{1,40}")
_MATCH_PATTERN: Final = re.compile(r"[^\x00-\x1f\x7f]{0,64}")


class MessageRejected(Exception):
    """An error for a message of a table's feed that the console does not accept.

    `other_table` is the table that the message is about, if it is not the table of the feed.
    """

    def __init__(self, why: RejectionReason, other: str = "") -> None:
        super().__init__(why)
        self.reason: RejectionReason = why
        self.other_table = other


def parse_state(body: bytes, table: str) -> PublicState:
    """Return the public state in a message of the feed of `table`. Raises MessageRejected."""
    if len(body) > MAX_STATE_BYTES:
        raise MessageRejected("junk")
    state = _require_own(_decode(_STATE_DECODER, body), table)
    since = [*(call.since for call in state.calls), *(alert.since for alert in state.alerts)]
    if not all(map(_is_stamp, (state.time, *since))):
        raise MessageRejected("junk")
    return state


def parse_event(body: bytes, table: str) -> PublicEvent:
    """Return the public event in a message of the feed of `table`. Raises MessageRejected."""
    return _require_storable(_require_own(_decode(_EVENT_DECODER, body), table))


def convert_event(value: object, table: str) -> PublicEvent:
    """Return the public event in one item of a table's answer to the command `events`.

    Raises MessageRejected.
    """
    try:
        event = msgspec.convert(value, PublicEvent)
    except (msgspec.MsgspecError, RecursionError):
        raise MessageRejected("junk") from None
    return _require_storable(_require_own(event, table))


def is_storable_head(signed: SignedHead, time: str) -> bool:
    """Return whether a signed head, and `time` of the state that contained it, can be stored."""
    return bool(
        0 <= signed.n <= _MAX_N
        and _HEAD_PATTERN.fullmatch(signed.head)
        and _SIGNATURE_PATTERN.fullmatch(signed.sig)
        and _is_stamp(time)
    )


def _require_own(value: _Ours, table: str) -> _Ours:
    if value.schema != SCHEMA_VERSION:
        raise MessageRejected("other_version")
    if value.table != table:
        raise MessageRejected("other_table", value.table)
    return value


def _require_storable(event: PublicEvent) -> PublicEvent:
    named = [event.data.get(name, "") for name in _MATCH_FIELDS]
    numbers = (event.deal or 0, event.attempt or 0)
    if (
        0 < event.n <= _MAX_N
        and all(0 <= number <= _MAX_DEAL for number in numbers)
        and _HEAD_PATTERN.fullmatch(event.head)
        and _HEAD_PATTERN.fullmatch(event.prev)
        and _KIND_PATTERN.fullmatch(event.kind)
        and _is_stamp(event.time)
        and all(_MATCH_PATTERN.fullmatch(match) for match in named if isinstance(match, str))
    ):
        return event
    raise MessageRejected("junk")


def _is_stamp(text: str) -> bool:
    """Return whether a text is a time stamp with a time zone. Pages and the archive need both."""
    try:
        return (
            bool(_STAMP_PATTERN.fullmatch(text)) and datetime.fromisoformat(text).tzinfo is not None
        )
    except ValueError:
        return False


def _decode(decoder: "msgspec.json.Decoder[_Ours]", body: bytes) -> _Ours:
    """Return the value that a message contains, decoded from JSON.

    Raises MessageRejected, also for a message of several lines. Tables write one line. Streams to
    browsers and records of events need one line, because they contain the message unchanged.
    """
    if b"\n" in body or b"\r" in body:
        raise MessageRejected("junk")
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise MessageRejected("junk") from None


_STATE_DECODER: Final = msgspec.json.Decoder(PublicState)
_EVENT_DECODER: Final = msgspec.json.Decoder(PublicEvent)


class RejectionCounts(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Counts of the rejected messages of a table's feed since the console started.

    `other_tables` counts messages about another table, and `other_table` is the last table named in
    them. `unsigned_heads` counts signed heads that the table's key did not sign.
    """

    junk: int = 0
    other_version: int = 0
    other_tables: int = 0
    other_table: str = ""
    unsigned_heads: int = 0

    @property
    def messages(self) -> int:
        """Return how many messages were rejected, for any reason."""
        return self.junk + self.other_version + self.other_tables


def count_rejection(counts: RejectionCounts, wrong: MessageRejected) -> RejectionCounts:
    """Return `counts` with one more message, rejected for the reason in `wrong`."""
    if wrong.reason == "other_table":
        return replace(
            counts, other_tables=counts.other_tables + 1, other_table=wrong.other_table[:24]
        )
    return replace(counts, **{wrong.reason: getattr(counts, wrong.reason) + 1})


def check_signed_head(
    configured: ConfiguredTable, time: str, signed: SignedHead
) -> KeptHead | None:
    """Return a signed head in its stored form, or None if its values or signature are not valid.

    The table's own key must have signed it. `time` is the time stamp of the state that contained
    it. If the configuration does not contain the table's verification key, the signature is not
    checked.
    """
    if not is_storable_head(signed, time):
        return None
    verify = None if configured.verify is None else bytes.fromhex(configured.verify)
    if verify is not None and not signed_heads.is_signed_by(signed, configured.server_key, verify):
        return None
    return KeptHead(
        table=configured.id,
        table_key=configured.server_key,
        n=signed.n,
        head=signed.head,
        sig=signed.sig,
        time=time,
    )
