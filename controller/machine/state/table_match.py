"""What is known of the match at a table, beside the match itself."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.journal.entries import JournalEntry
from controller.machine.state.table_state import WaitingTimes
from controller.match import match_events
from controller.match import match_events as events
from controller.match.match_effects import MatchEffect
from controller.match.match_events import MatchEvent, decode_match_event
from controller.match.match_state import AnyMatch, GuandanMatch, Meeting
from controller.match.next_deal import StepResult
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY, MatchPhase
from controller.match.reducer import new_match, step
from controller.match.referee_calls import call_of_effect, is_call_open
from controller.match.ruling_desk import current_record
from controller.match.transfer_document import TableMove, TransferProof
from controller.messages import AttemptOutcome, RefereeCall
from controller.rules.penalties.penalty_record import PenaltyRecord, pairs_disqualified
from controller.rules.profile import Profile

NEXT_DEAL_PHASES = DEAL_UNDER_WAY | {MatchPhase.FORFEIT, MatchPhase.MATCH_CHECK}
"""While a match is in these phases its next deal may be on its way."""


class DealAhead(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a deal that is dealt before it is due: its cut, and that it is held."""

    deal: int
    cut: events.SetCut
    dealt: events.HandsDealt | None = None


class WithheldEvent(msgspec.Struct, frozen=True):
    """An event of the match that the public was not told yet: its entry, and what it held."""

    n: int
    event: Mapping[str, Any]


class TransferredMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match that went to the table `to`: how it stood, and all that had happened in it.

    `begun` is the journal's entry that it began with here, `n` the one that says it went, of
    the time `wall` and `at_ms` of the table's clock, by whose word (`by`, `entered_by`). `moves`:
    how it had come here.
    """

    match: AnyMatch
    log: tuple[MatchEvent, ...]
    to: str
    first_entry: int
    n: int
    at_ms: int
    wall: str
    by: str
    entered_by: str | None = None
    earlier_proofs: tuple[TransferProof, ...] = ()
    moves: tuple[TableMove, ...] = ()


class ArrivingMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match of another table on its way into the journal: `left` of its events are due.

    It is nowhere before the last of them: a daemon may die between two.
    """

    match_id: str
    events_left: int
    digest: str
    earlier_proofs: tuple[TransferProof, ...]
    moves: tuple[TableMove, ...] = ()
    match_so_far: "TableMatch | None" = None


class TableMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The match, and what its people wait for.

    `attempt`: the attempt whose hands the players hold; None while none are out, or where
    they were drawn by hand. On the table's clock: `due_ms`, when the present deal became due;
    `since_ms`, when its phase began; `said_ms`, when something last happened. `again`: the fault
    for which hands that were out are dealt again. `ahead`: the next deal, dealt while this
    one is played. `waited`: how long this one's hands took, once they are ordered
    out. `kept`: what happened and may only be seen with the rest of it
    (controller/match/tribute_exchange.py). `needs`: what a referee was called for by the match.
    `log`: everything that happened, from the journal's entry `begun` on. Of a match that came
    from another table: `digest`, the document it came in, `brought`, what its attempts elsewhere
    promised, and `moves`, from which table to which. `coming`: one on its way in. `sent`: the
    match that went from here to another table last; `left_out`: its deal, if its hands were out
    then and are played on there. `barred`: the pairs that earlier matches at this table
    disqualified, each with its event.
    """

    match: AnyMatch | None = None
    attempt: int | None = None
    due_ms: int = 0
    phase_since_ms: int = 0
    last_event_ms: int = 0
    redeal_reason: str | None = None
    ahead: DealAhead | None = None
    waiting_times: WaitingTimes | None = None
    withheld: tuple[WithheldEvent, ...] = ()
    match_calls: tuple[RefereeCall, ...] = ()
    events: tuple[MatchEvent, ...] = ()
    first_entry: int = 0
    digest: str | None = None
    earlier_proofs: tuple[TransferProof, ...] = ()
    moves: tuple[TableMove, ...] = ()
    arriving: ArrivingMatch | None = None
    transferred: TransferredMatch | None = None
    played_elsewhere: "DealId | None" = None
    disqualified: frozenset[tuple[str, str]] = frozenset()


class DealId(msgspec.Struct, frozen=True, gc=False):
    """The deal that a match waits for, or will next."""

    match_id: str
    deal: int


def with_changes(play: TableMatch, **changes: Any) -> TableMatch:
    """Return the match at the table with some of its fields replaced."""
    return msgspec.structs.replace(play, **changes)


def apply_event(play: TableMatch, event: MatchEvent, time: str = "") -> TableMatch:
    """Return the match at the table after an event; a refused one changes nothing.

    `time` is the wall's, for those who are called by it.
    """
    assert play.match is not None  # nothing happens without one
    match, effects = step(play.match, event)
    same = match.deal == play.match.deal
    out = match.phase not in BEFORE_RELEASE and not match.by_hand and same
    moved = match.phase is not play.match.phase or not same
    again = _redeal_reason(play.match, match, event)
    after = with_changes(
        play,
        match=match,
        attempt=play.attempt if out else None,
        due_ms=play.due_ms if same and not again else match.now_ms,
        phase_since_ms=match.now_ms if moved else play.phase_since_ms,
        last_event_ms=play.last_event_ms
        if isinstance(event, match_events.TimePassed)
        else match.now_ms,
        redeal_reason=again or (play.redeal_reason if same else None),
        waiting_times=_waiting_times(play, match, event),
        match_calls=_match_calls(play, match, effects, time),
        events=(*play.events, event),
    )
    return apply_ahead(after, time)


def dry_run(play: TableMatch, event: MatchEvent) -> StepResult:
    """Return what an event would lead to; its refusal is among the effects."""
    assert play.match is not None  # nothing happens without one
    return step(play.match, event)


def apply_ahead(play: TableMatch, time: str) -> TableMatch:
    """Return a match whose deal is due with what was dealt ahead for it."""
    ahead, match = play.ahead, play.match
    assert match is not None  # `happened` asks
    due = ahead is not None and match.deal == ahead.deal and match.phase is MatchPhase.CUT
    if ahead is None or not due or match.suspended is not None:
        return play
    play = with_changes(play, ahead=None)
    for event in (ahead.cut, ahead.dealt):
        if event is not None:
            play = apply_event(play, event, time)
    return play


def _match_calls(
    play: TableMatch, match: AnyMatch, effects: tuple[MatchEffect, ...], time: str
) -> tuple[RefereeCall, ...]:
    """Return whom the match waits for: what is still open, and what an event added."""
    called = (why for effect in effects if (why := call_of_effect(effect)) is not None)
    new = (RefereeCall(seat=seat, reason=reason, since=time) for reason, seat in called)
    found: dict[tuple[str, str | None], RefereeCall] = {}
    for call in (*play.match_calls, *new):
        if is_call_open(match, call.reason, call.seat):
            found.setdefault((call.reason, call.seat), call)
    return tuple(found.values())


def _redeal_reason(before: AnyMatch, after: AnyMatch, event: MatchEvent) -> str | None:
    """Return the fault for which hands that were out are dealt again by this event."""
    if before.phase not in DEAL_UNDER_WAY or after.phase not in BEFORE_RELEASE:
        return None
    if before.deal != after.deal:
        return None
    return "COUNT_WRONG" if isinstance(event, match_events.HandsRecounted) else "ORDERED"


def _waiting_times(play: TableMatch, after: AnyMatch, event: MatchEvent) -> WaitingTimes | None:
    """Return how long this deal's hands took, once they are ordered out; None before that."""
    if after.phase in _UNREADY_PHASES:
        return None
    ordered = isinstance(event, match_events.ReleaseOrdered) and after.let_go
    if not ordered or play.match is None or play.match.let_go:
        return play.waiting_times
    return WaitingTimes(
        due_to_ready_ms=play.phase_since_ms - play.due_ms,
        ready_to_button_ms=after.now_ms - play.phase_since_ms,
    )


_UNREADY_PHASES = BEFORE_RELEASE - {MatchPhase.HELD}


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


def apply_machine_entry(play: TableMatch, entry: JournalEntry) -> TableMatch:
    """Take what the machine says of the present deal, or keep what it says of the next."""
    assert play.match is not None  # `fold` asks
    event = EVENT_OF_KIND[entry.kind](entry.data)
    if play.ahead is not None and play.ahead.deal == entry.deal:
        return apply_ahead(with_changes(play, ahead=_update_ahead(play.ahead, event)), entry.time)
    if entry.deal == play.match.deal and isinstance(event, match_events.SetCut):
        return _apply_cut(play, event, entry)
    if entry.deal == play.match.deal:
        after = apply_event(play, event, entry.time)
        released = entry.kind == "released"
        return with_changes(after, attempt=entry.attempt) if released else after
    next_one = entry.deal == play.match.deal + 1 and play.match.phase in NEXT_DEAL_PHASES
    return _keep_cut_ahead(play, event, entry.deal) if next_one else play


def _apply_cut(play: TableMatch, event: match_events.SetCut, entry: JournalEntry) -> TableMatch:
    """Take the cut of the present deal; while the table is suspended it waits.

    One that was ordered while the deal was dealt ahead is that of whose turn it was then.
    """
    assert play.match is not None  # `fold` asks
    if play.match.suspended is not None:
        return _keep_cut_ahead(play, event, play.match.deal)
    due = () if play.match.duties is None else play.match.duties.cutters
    ahead = event.seat is not None and event.seat not in due
    return apply_event(play, msgspec.structs.replace(event, ahead=ahead), entry.time)


def _keep_cut_ahead(play: TableMatch, event: MatchEvent, deal: int | None) -> TableMatch:
    """Keep the cut of a deal that is not due yet; what came before it tells nothing."""
    if deal is None or not isinstance(event, match_events.SetCut):
        return play
    cut = msgspec.structs.replace(event, ahead=True)
    return with_changes(play, ahead=DealAhead(deal=deal, cut=cut))


def _update_ahead(ahead: DealAhead, event: MatchEvent) -> DealAhead | None:
    """Return what is known of a deal dealt ahead after the machine's next word; None: no hands."""
    if isinstance(event, match_events.HandsDealt):
        return msgspec.structs.replace(ahead, dealt=event)
    return None


def _verdict_event(data: Mapping[str, Any]) -> MatchEvent:
    if AttemptOutcome(data["outcome"]) is AttemptOutcome.OK:
        return match_events.HandsDealt(at_ms=data["at_ms"])
    return _misdealt_event(data)


def _misdealt_event(data: Mapping[str, Any]) -> MatchEvent:
    return match_events.AttemptFailed(at_ms=data["at_ms"], reasons=tuple(data["reasons"]))


EVENT_OF_KIND: dict[str, Callable[[Mapping[str, Any]], MatchEvent]] = {
    "cut": lambda data: match_events.SetCut(
        at_ms=data["at_ms"], seat=data.get("seat"), n=data["cut"]
    ),
    "verdict": _verdict_event,
    "withdrawn": _misdealt_event,
    "released": lambda data: match_events.HandsReleased(
        at_ms=data["at_ms"], turned_to=data.get("leader"), turned_up=data.get("turned_up")
    ),
}
"""What an entry of the machine is to a match of the same deal."""


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


def disqualified_pairs(play: TableMatch) -> frozenset[tuple[str, str]]:
    """Return event and pair of each pair that a match at this table has disqualified."""
    match = play.match
    if not isinstance(match, GuandanMatch):
        return play.disqualified
    event = match.meeting.event
    return play.disqualified | {
        (event, pair) for pair in pairs_disqualified(current_record(match), event)
    }
