"""A match is laid out, comes from another table, or goes to one."""

from collections.abc import Mapping
from typing import Any

import msgspec

from controller.journal.entries import JournalEntry
from controller.machine.play.happening import apply_event
from controller.machine.play.values import (
    ArrivingMatch,
    DealId,
    TableMatch,
    TransferredMatch,
    with_changes,
)
from controller.match.events import decode_match_event
from controller.match.meeting import Meeting
from controller.match.reducer import new_match
from controller.match.transfer import TableMove, TransferProof
from controller.messages import RefereeCall
from controller.rules.penalties.records import PenaltyRecord
from controller.rules.profile import Profile


def arriving_match(data: Mapping[str, Any]) -> ArrivingMatch:
    """Return the match that an entry `taken_over` announces; its events are still to come."""
    return ArrivingMatch(
        match_id=data["match"],
        events_left=data["events"],
        digest=data["digest"],
        earlier_proofs=tuple(msgspec.convert(proof, TransferProof) for proof in data["proofs"]),
        moves=tuple(msgspec.convert(move, TableMove) for move in data.get("moves", ())),
    )


def begin_match(play: TableMatch, entry: JournalEntry, profile: Profile) -> TableMatch:
    """Return the table with a match before it begins, or with the beginning of one that comes."""
    data, coming = entry.data, play.arriving
    meeting = msgspec.convert(data["meeting"], Meeting)
    match = new_match(profile, meeting, msgspec.convert(data["record"], PenaltyRecord))
    fresh = TableMatch(match=match, first_entry=entry.n)
    if coming is None or coming.match_so_far is not None or coming.match_id != meeting.match_id:
        return fresh  # what was on its way before did not come whole
    fresh = with_changes(
        fresh, digest=coming.digest, earlier_proofs=coming.earlier_proofs, moves=coming.moves
    )
    return _complete_or_arriving(coming, fresh, coming.events_left, entry.time)


def apply_arrival(coming: ArrivingMatch, entry: JournalEntry) -> TableMatch:
    """Take the next event of a match that comes from another table."""
    if entry.kind != "match" or coming.match_so_far is None:
        return TableMatch(arriving=coming)
    play = apply_event(coming.match_so_far, decode_match_event(entry.data), entry.time)
    return _complete_or_arriving(coming, play, coming.events_left - 1, entry.time)


def _complete_or_arriving(
    coming: ArrivingMatch, play: TableMatch, left: int, time: str
) -> TableMatch:
    """Return a match that is here with its last event, and on its way before that."""
    if left:
        return TableMatch(
            arriving=msgspec.structs.replace(coming, events_left=left, match_so_far=play)
        )
    match = play.match
    if match is None or not match.is_deal_under_way or match.by_hand:
        return play
    unknown = RefereeCall(seat=None, reason="hands_unknown", since=time)
    return with_changes(play, match_calls=(*play.match_calls, unknown))


def transfer_away(play: TableMatch, entry: JournalEntry) -> TableMatch:
    """Return a table whose match went elsewhere, or one that went is sent to another table."""
    data = entry.data
    said: dict[str, Any] = {
        "to": data["to"],
        "n": entry.n,
        "at_ms": data["at_ms"],
        "wall": entry.time,
        "by": data["by"],
        "entered_by": data.get("entered_by"),
    }
    if play.match is None:
        sent = play.transferred
        return (
            play
            if sent is None
            else with_changes(play, transferred=msgspec.structs.replace(sent, **said))
        )
    match = play.match
    out = None if play.attempt is None else DealId(match.meeting.match_id, match.deal)
    came = {
        "first_entry": play.first_entry,
        "earlier_proofs": play.earlier_proofs,
        "moves": play.moves,
    }
    sent = TransferredMatch(match=match, log=play.events, **said | came)
    return TableMatch(transferred=sent, played_elsewhere=out)
