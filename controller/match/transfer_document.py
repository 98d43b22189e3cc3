"""The document that moves a match to another table (转台), in parts that each fit one command.

The document has no secrets. The table that the match leaves signs the digest of the document
(controller/signing/signed_commands.py). The person who takes it to another table signs the command
there, with the author of the decision. So no program in between can change the document. It names
the journal entry of the transfer. The same document can be made again from that journal, byte for
byte.
"""

import base64
import binascii
import hashlib
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from controller.commands.argument_values import MAX_TABLE_MS
from controller.match.match_events import MatchEvent, ResultEntered, RulingProposed
from controller.match.match_state import AnyMatch, Meeting
from controller.match.reducer import replay_events
from controller.messages import AttemptOutcome
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.profile import Profile
from controller.words import WordsError

TRANSFER_FORMAT = 1
MAX_PART_CHARS = 10_000
"""The largest number of characters in a part.

With its signatures, a part is below a gateway's limit for a message.
"""
MAX_DOCUMENT_BYTES = 1 << 23
"""The largest number of bytes of a document (provisional).

A match of twenty deals has about 50,000.
"""


class TransferError(WordsError):
    """The error for a transfer document that cannot be used.

    The text is one line; `words` has it in both languages.
    """


class TransferProof(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The proof of one attempt of the match: its table, commitment, cut and outcome.

    A field is null if the attempt ended before that step.
    """

    table: str
    deal: int
    attempt: int
    commitment: str
    cut: int | None = None
    hands: str | None = None
    outcome: AttemptOutcome | None = None


class TableMove(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One move of the match: from its former table `left` to its next table `to`.

    `by`: the person who decided. `entered_by`: the person who entered a spoken decision. `row`: the
    number of rows on the sheet at the move. `at_ms`: the time of the move, on the clock of the
    table that has the match.
    """

    left: str
    to: str
    by: str
    entered_by: str | None = None
    row: int
    at_ms: int


class TransferDocument(msgspec.Struct, frozen=True, kw_only=True):
    """All data of a match that moves from its former table `left` to its next table `to`.

    `head` is the head of the journal of table `left` after its entry number `n`, which records the
    move. `at_ms` and `wall` are the time of the move, on that table's clock and by the wall.
    `result` is the digest of the state after the events (`state_digest`). `moves` are the moves
    from table to table. This move is the last.
    """

    format: int
    match: str
    left: str
    left_key: str
    to: str
    n: int
    head: str
    at_ms: int
    wall: str
    profile: str
    profile_hash: str
    meeting: Meeting
    record: PenaltyRecord
    events: tuple[MatchEvent, ...]
    proofs: tuple[TransferProof, ...]
    result: str
    moves: tuple[TableMove, ...] = ()


class PackedDocument(NamedTuple):
    """A transfer document as text, cut into parts that each fit into one command.

    `digest` identifies the document: SHA-256 of its JSON, in hex.
    """

    digest: str
    parts: tuple[str, ...]


def pack_document(transfer: TransferDocument) -> PackedDocument:
    """Return a transfer document as text, cut into parts that each fit into one command."""
    plain = msgspec.json.encode(transfer)
    text = base64.b64encode(zlib.compress(plain, 9)).decode()
    parts = tuple(text[at : at + MAX_PART_CHARS] for at in range(0, len(text), MAX_PART_CHARS))
    return PackedDocument(hashlib.sha256(plain).hexdigest(), parts)


def unpack_document(digest: str, parts: Sequence[str]) -> TransferDocument:
    """Return the transfer document in `parts`, after a check that its SHA-256 (hex) is `digest`.

    Raises TransferError for another digest, for parts in wrong order, and for an unusable document.
    """
    try:
        squeezed = base64.b64decode("".join(parts), validate=True)
        unpacking = zlib.decompressobj()
        plain = unpacking.decompress(squeezed, MAX_DOCUMENT_BYTES)
    except (binascii.Error, zlib.error) as wrong:
        text = f"parts that do not fit together ({wrong})"
        raise TransferError(text, f"各部分不能拼合（{wrong}）") from None
    if not unpacking.eof:
        raise TransferError(
            f"a document that is cut off, or has more than {MAX_DOCUMENT_BYTES} bytes",
            f"数据不完整，或超过{MAX_DOCUMENT_BYTES}字节",
        )
    if hashlib.sha256(plain).hexdigest() != digest:
        raise TransferError("a document with another digest", "数据与其摘要不符")
    try:
        transfer = msgspec.json.decode(plain, type=TransferDocument)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        text = f"an unreadable document ({wrong})"
        raise TransferError(text, f"数据无法识别（{wrong}）") from None
    if transfer.format != TRANSFER_FORMAT:
        raise TransferError(
            f"a document of format {transfer.format}", f"数据格式{transfer.format}本台不识"
        )
    if not 0 <= transfer.at_ms <= MAX_TABLE_MS:
        raise TransferError(
            f"a time of {transfer.at_ms} ms, which no table's clock can show",
            f"时刻{transfer.at_ms}毫秒，非任何台所有",
        )
    return transfer


def rebuild_match(transfer: TransferDocument, profile: Profile) -> AnyMatch:
    """Return the match in the state that it had at its former table.

    Raises TransferError if its events lead to another state by this program's rules.
    """
    match = replay_events(profile, transfer.meeting, transfer.record, transfer.events)
    if match.now_ms > transfer.at_ms:
        raise TransferError("events after the time of the transfer", "有转出之后的事件")
    if state_digest(match) != transfer.result:
        raise TransferError(
            "events that lead to another state, or another version's events",
            "事件与所称结果不符，或程序版本不同",
        )
    return match


def state_digest(match: AnyMatch) -> str:
    """Return the digest of a match's state: the SHA-256 (hex) of its JSON with sorted keys."""
    return hashlib.sha256(msgspec.json.encode(match, order="deterministic")).hexdigest()


def shift_event(event: MatchEvent, by_ms: int) -> MatchEvent:
    """Return an event with `by_ms` added to its times, so that they fit another table's clock."""
    moved = replace(event, at_ms=event.at_ms + by_ms)
    if isinstance(moved, ResultEntered) and moved.ended_ms is not None:
        return replace(moved, ended_ms=moved.ended_ms + by_ms)
    if isinstance(moved, RulingProposed):
        return replace(moved, charge=replace(moved.charge, at_ms=moved.charge.at_ms + by_ms))
    return moved
