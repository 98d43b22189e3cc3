"""The match at this table, as a fold over the journal.

The hardware's state is folded from the same entries (state.py); neither knows the other.
values.py has what is known, happening.py what an event changes, of_machine.py what the
machine's own entries mean, moving.py how a match comes and goes, questions.py what the machine
asks. What people, clocks and the vault add are entries of kind `match`.
"""

from controller.journal.entries import JournalEntry
from controller.machine.play.happening import apply_event, dry_run
from controller.machine.play.moving import apply_arrival, arriving_match, begin_match, transfer_away
from controller.machine.play.of_machine import EVENT_OF_KIND, apply_machine_entry
from controller.machine.play.questions import (
    deal_to_prepare,
    disqualified_pairs,
    due_deal,
    is_cut_awaited,
    is_deal_over,
    is_dealt_again,
    is_match_over,
    is_needed,
)
from controller.machine.play.values import (
    ArrivingMatch,
    DealAhead,
    DealId,
    TableMatch,
    TransferredMatch,
    WithheldEvent,
    with_changes,
)
from controller.match.events import decode_match_event
from controller.rules.profile import Profile

_REPLACING_KINDS = frozenset({"meeting", "taken_over", "transferred"})
"""Kinds behind which the match of before is no more at the table."""
CLOCKED_KINDS = frozenset({*EVENT_OF_KIND, *_REPLACING_KINDS})
"""Kinds whose data says when, on the table's clock."""


def fold_match(play: TableMatch, entry: JournalEntry, profile: Profile) -> TableMatch:
    """Return the match at the table after an entry; most entries are none of its business."""
    if entry.kind in _REPLACING_KINDS or play.arriving is not None:
        return with_changes(
            _replace_match(play, entry, profile), disqualified=disqualified_pairs(play)
        )
    if play.match is None:
        return play
    if entry.kind == "acknowledged":
        named = entry.data["name"]
        return with_changes(
            play, match_calls=tuple(call for call in play.match_calls if call.reason != named)
        )
    if entry.kind == "match":
        return apply_event(play, decode_match_event(entry.data), entry.time)
    if entry.kind == "match_kept":
        after = apply_event(play, decode_match_event(entry.data), entry.time)
        return with_changes(after, withheld=(*after.withheld, WithheldEvent(entry.n, entry.data)))
    if entry.kind == "match_told":
        return with_changes(play, withheld=())
    if entry.kind not in EVENT_OF_KIND or play.match.by_hand:
        return play
    return apply_machine_entry(play, entry)


def _replace_match(play: TableMatch, entry: JournalEntry, profile: Profile) -> TableMatch:
    """Return what is at the table where a match comes, is on its way, or goes."""
    if entry.kind == "meeting":
        return begin_match(play, entry, profile)
    if entry.kind == "taken_over":
        return TableMatch(arriving=arriving_match(entry.data))
    if entry.kind == "transferred":
        return transfer_away(play, entry)
    assert play.arriving is not None
    return apply_arrival(play.arriving, entry)
