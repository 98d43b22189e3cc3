"""The match at this table, as a fold over the journal.

The hardware's state is folded from the same entries (state.py); neither knows the other.
values.py has what is known, happening.py what an event changes, of_machine.py what the
machine's own entries mean, moving.py how a match comes and goes, questions.py what the machine
asks. What people, clocks and the vault add are entries of kind `match`.
"""

from controller.journal.entries import Entry
from controller.machine.play.happening import happened, tried
from controller.machine.play.moving import arrives, gone, laid_out, on_its_way
from controller.machine.play.of_machine import EVENT_OF_KIND, apply_machine_entry
from controller.machine.play.questions import (
    deal_to_prepare,
    dealt_again,
    disqualified_pairs,
    is_cut_awaited,
    is_match_over,
    needed,
    over,
    wanted,
)
from controller.machine.play.values import (
    ArrivingMatch,
    DealAhead,
    DealId,
    Kept,
    Play,
    Sent,
    changed,
)
from controller.match.events import event_of
from controller.rules.profile import Profile

__all__ = [
    "TIMED",
    "ArrivingMatch",
    "DealAhead",
    "DealId",
    "Kept",
    "Play",
    "Sent",
    "deal_to_prepare",
    "dealt_again",
    "disqualified_pairs",
    "fold",
    "happened",
    "is_cut_awaited",
    "is_match_over",
    "needed",
    "over",
    "tried",
    "wanted",
]

_REPLACING_KINDS = frozenset({"meeting", "taken_over", "transferred"})
"""Kinds behind which the match of before is no more at the table."""
TIMED = frozenset({*EVENT_OF_KIND, *_REPLACING_KINDS})
"""Kinds whose data says when, on the table's clock."""


def fold(play: Play, entry: Entry, profile: Profile) -> Play:
    """Return the match at the table after an entry; most entries are none of its business."""
    if entry.kind in _REPLACING_KINDS or play.coming is not None:
        return changed(_replace_match(play, entry, profile), barred=disqualified_pairs(play))
    if play.match is None:
        return play
    if entry.kind == "acknowledged":
        named = entry.data["name"]
        return changed(play, needs=tuple(call for call in play.needs if call.reason != named))
    if entry.kind == "match":
        return happened(play, event_of(entry.data), entry.time)
    if entry.kind == "match_kept":
        after = happened(play, event_of(entry.data), entry.time)
        return changed(after, kept=(*after.kept, Kept(entry.n, entry.data)))
    if entry.kind == "match_told":
        return changed(play, kept=())
    if entry.kind not in EVENT_OF_KIND or play.match.by_hand:
        return play
    return apply_machine_entry(play, entry)


def _replace_match(play: Play, entry: Entry, profile: Profile) -> Play:
    """Return what is at the table where a match comes, is on its way, or goes."""
    if entry.kind == "meeting":
        return laid_out(play, entry, profile)
    if entry.kind == "taken_over":
        return Play(coming=on_its_way(entry.data))
    if entry.kind == "transferred":
        return gone(play, entry)
    assert play.coming is not None
    return arrives(play.coming, entry)
