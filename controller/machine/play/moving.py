"""A match is laid out, comes from another table, or goes to one."""

from collections.abc import Mapping
from typing import Any

import msgspec

from controller.journal.entries import Entry
from controller.machine.play.happening import happened
from controller.machine.play.values import ArrivingMatch, DealId, Play, Sent, changed
from controller.match.events import event_of
from controller.match.meeting import Meeting
from controller.match.reducer import new_match
from controller.match.transfer import Move, Proof
from controller.messages import Call
from controller.rules.penalties.records import Record
from controller.rules.profile import Profile


def on_its_way(data: Mapping[str, Any]) -> ArrivingMatch:
    """Return the match that an entry `taken_over` announces; its events are still to come."""
    return ArrivingMatch(
        match_id=data["match"],
        left=data["events"],
        digest=data["digest"],
        brought=tuple(msgspec.convert(proof, Proof) for proof in data["proofs"]),
        moves=tuple(msgspec.convert(move, Move) for move in data.get("moves", ())),
    )


def laid_out(play: Play, entry: Entry, profile: Profile) -> Play:
    """Return the table with a match before it begins, or with the beginning of one that comes."""
    data, coming = entry.data, play.coming
    meeting = msgspec.convert(data["meeting"], Meeting)
    match = new_match(profile, meeting, msgspec.convert(data["record"], Record))
    fresh = Play(match=match, begun=entry.n)
    if coming is None or coming.play is not None or coming.match_id != meeting.match_id:
        return fresh  # what was on its way before did not come whole
    fresh = changed(fresh, digest=coming.digest, brought=coming.brought, moves=coming.moves)
    return _complete_or_arriving(coming, fresh, coming.left, entry.time)


def arrives(coming: ArrivingMatch, entry: Entry) -> Play:
    """Take the next event of a match that comes from another table."""
    if entry.kind != "match" or coming.play is None:
        return Play(coming=coming)
    play = happened(coming.play, event_of(entry.data), entry.time)
    return _complete_or_arriving(coming, play, coming.left - 1, entry.time)


def _complete_or_arriving(coming: ArrivingMatch, play: Play, left: int, time: str) -> Play:
    """Return a match that is here with its last event, and on its way before that."""
    if left:
        return Play(coming=msgspec.structs.replace(coming, left=left, play=play))
    match = play.match
    if match is None or not match.under_way or match.by_hand:
        return play
    unknown = Call(seat=None, reason="hands_unknown", since=time)
    return changed(play, needs=(*play.needs, unknown))


def gone(play: Play, entry: Entry) -> Play:
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
        sent = play.sent
        return play if sent is None else changed(play, sent=msgspec.structs.replace(sent, **said))
    match = play.match
    out = None if play.attempt is None else DealId(match.meeting.match_id, match.deal)
    came = {"begun": play.begun, "brought": play.brought, "moves": play.moves}
    sent = Sent(match=match, log=play.log, **said | came)
    return Play(sent=sent, left_out=out)
