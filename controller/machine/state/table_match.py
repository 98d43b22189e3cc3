"""The match at a table, with facts about this match that its own state does not contain."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from controller.journal.entries import JournalEntry
from controller.machine.state.table_state import WaitingTimes
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
"""Phases of a match in which its next deal may be prepared."""


class DealAhead(msgspec.Struct, frozen=True, kw_only=True):
    """A deal ahead: its number, its cut, and the event `dealt` (None until its hands are held)."""

    deal: int
    cut: events.SetCut
    dealt: events.HandsDealt | None = None


class WithheldEvent(msgspec.Struct, frozen=True):
    """An event of the match that is not public yet, and the number of its journal entry."""

    n: int
    event: Mapping[str, Any]


class TransferredMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match that moved from here to the table `to`: its last state here and all its events.

    `first_entry` is the number of the entry with which the match began here. `n` is the number of
    the entry of the move, which has the time `wall` and, by the table's clock, `at_ms`. The person
    `by` ordered the move, and `entered_by` entered a verbal order. `earlier_proofs` are the
    commitments of the match's attempts at other tables, and `moves` its earlier moves.
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
    """A match from another table, while its events are still being written into this journal.

    `events_left` is the number of events that are not written yet. The match counts only with its
    last event, because the daemon may stop between two events.
    """

    match_id: str
    events_left: int
    digest: str
    earlier_proofs: tuple[TransferProof, ...]
    moves: tuple[TableMove, ...] = ()
    match_so_far: "TableMatch | None" = None


class TableMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The match at a table, with its times, calls, withheld events, next deal and transfers.

    `match` is None without a match. `attempt` is the attempt whose hands the players have. It is
    None if the players have no hands, or have hands that people dealt.

    On the table's clock: `due_ms` is when the present deal became due, `phase_since_ms` when its
    phase began, and `last_event_ms` the time of the last event.

    `redeal_reason` is the fault for which released hands are dealt again. `ahead` is the next deal,
    dealt while the present deal is played. `waiting_times` is set when the release of the present
    deal's hands is ordered. `withheld` are events that are not public yet
    (controller/match/tribute_exchange.py). `match_calls` are the calls for a referee. `events` are
    all events since the journal's entry `first_entry`.

    For a match from another table: `digest` is the hash of its document, `earlier_proofs` are the
    commitments of its attempts elsewhere, and `moves` its moves. `arriving` is a match whose events
    are still being written. `transferred` is the match that left this table last, and
    `played_elsewhere` its deal, if its hands were out then. `disqualified` are the pairs that
    matches at this table disqualified, each with its event.
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
    """The identity of a deal: the id of its match, and its number."""

    match_id: str
    deal: int


def apply_event(play: TableMatch, event: MatchEvent, time: str = "") -> TableMatch:
    """Return the table's match after `event`. A refused event does not change the match.

    `time` is the wall time that new calls for a referee get.
    """
    assert play.match is not None  # Events need a match.
    match, effects = step(play.match, event)
    same = match.deal == play.match.deal
    out = match.phase not in BEFORE_RELEASE and not match.by_hand and same
    moved = match.phase is not play.match.phase or not same
    again, passed = _redeal_reason(play.match, match, event), isinstance(event, events.TimePassed)
    after = replace(
        play,
        match=match,
        attempt=play.attempt if out else None,
        due_ms=play.due_ms if same and not again else match.now_ms,
        phase_since_ms=match.now_ms if moved else play.phase_since_ms,
        last_event_ms=play.last_event_ms if passed else match.now_ms,
        redeal_reason=again or (play.redeal_reason if same else None),
        waiting_times=_waiting_times(play, match, event),
        match_calls=_match_calls(play, match, effects, time),
        events=(*play.events, event),
    )
    return apply_ahead(after, time)


def dry_run(play: TableMatch, event: MatchEvent) -> StepResult:
    """Return the match and effects that `event` would cause. A refusal is one of the effects."""
    assert play.match is not None  # Events need a match.
    return step(play.match, event)


def apply_ahead(play: TableMatch, time: str) -> TableMatch:
    """Apply the stored cut and hands of the deal ahead, if the match now waits for that cut."""
    ahead, match = play.ahead, play.match
    assert match is not None  # The caller has checked this.
    if ahead is None or match.suspended is not None:
        return play
    if match.deal != ahead.deal or match.phase is not MatchPhase.CUT:
        return play
    play = replace(play, ahead=None)
    for event in (ahead.cut, ahead.dealt):
        if event is not None:
            play = apply_event(play, event, time)
    return play


def _match_calls(
    play: TableMatch, match: AnyMatch, effects: tuple[MatchEffect, ...], time: str
) -> tuple[RefereeCall, ...]:
    """Return those earlier calls of `play` and new calls from `effects` that are still open."""
    called = (why for effect in effects if (why := call_of_effect(effect)) is not None)
    new = (RefereeCall(seat=seat, reason=reason, since=time) for reason, seat in called)
    found: dict[tuple[str, str | None], RefereeCall] = {}
    for call in (*play.match_calls, *new):
        if is_call_open(match, call.reason, call.seat):
            found.setdefault((call.reason, call.seat), call)
    return tuple(found.values())


def _redeal_reason(before: AnyMatch, after: AnyMatch, event: MatchEvent) -> str | None:
    """Return the name of a fault if `event` causes a redeal of released hands, otherwise None."""
    if before.phase not in DEAL_UNDER_WAY or after.phase not in BEFORE_RELEASE:
        return None
    if before.deal != after.deal:
        return None
    return "COUNT_WRONG" if isinstance(event, events.HandsRecounted) else "ORDERED"


def _waiting_times(play: TableMatch, after: AnyMatch, event: MatchEvent) -> WaitingTimes | None:
    """Return the waiting times of the present deal, or None if its release is not ordered yet."""
    if after.phase in _UNREADY_PHASES:
        return None
    ordered = isinstance(event, events.ReleaseOrdered) and after.let_go
    if not ordered or play.match is None or play.match.let_go:
        return play.waiting_times
    return WaitingTimes(
        due_to_ready_ms=play.phase_since_ms - play.due_ms,
        ready_to_button_ms=after.now_ms - play.phase_since_ms,
    )


_UNREADY_PHASES = BEFORE_RELEASE - {MatchPhase.HELD}


def arriving_match(data: Mapping[str, Any]) -> ArrivingMatch:
    """Return the arriving match that an entry `taken_over` announces, without its events."""
    return ArrivingMatch(
        match_id=data["match"],
        events_left=data["events"],
        digest=data["digest"],
        earlier_proofs=tuple(msgspec.convert(proof, TransferProof) for proof in data["proofs"]),
        moves=tuple(msgspec.convert(move, TableMove) for move in data.get("moves", ())),
    )


def begin_match(play: TableMatch, entry: JournalEntry, profile: Profile) -> TableMatch:
    """Return the table's match that `entry` begins: a new match, or the match that arrives."""
    data, coming = entry.data, play.arriving
    meeting = msgspec.convert(data["meeting"], Meeting)
    match = new_match(profile, meeting, msgspec.convert(data["record"], PenaltyRecord))
    fresh = TableMatch(match=match, first_entry=entry.n)
    if coming is None or coming.match_so_far is not None or coming.match_id != meeting.match_id:
        return fresh  # An earlier arrival was not complete.
    fresh = replace(
        fresh, digest=coming.digest, earlier_proofs=coming.earlier_proofs, moves=coming.moves
    )
    return _complete_or_arriving(coming, fresh, coming.events_left, entry.time)


def _complete_or_arriving(
    coming: ArrivingMatch, play: TableMatch, left: int, time: str
) -> TableMatch:
    """Return the match as complete if no events are missing (`left` is 0), else as arriving."""
    if left:
        return TableMatch(arriving=replace(coming, events_left=left, match_so_far=play))
    match = play.match
    if match is None or not match.is_deal_under_way or match.by_hand:
        return play
    unknown = RefereeCall(seat=None, reason="hands_unknown", since=time)
    return replace(play, match_calls=(*play.match_calls, unknown))


def transfer_away(play: TableMatch, entry: JournalEntry) -> TableMatch:
    """Return the table's match after its move to another table.

    If the match left before, its document now goes to a different table instead.
    """
    data = entry.data
    said: dict[str, Any] = {name: data[name] for name in ("to", "at_ms", "by")}
    said |= {"n": entry.n, "wall": entry.time, "entered_by": data.get("entered_by")}
    match, sent = play.match, play.transferred
    if match is None:
        return play if sent is None else replace(play, transferred=replace(sent, **said))
    out = None if play.attempt is None else DealId(match.meeting.match_id, match.deal)
    said |= {name: getattr(play, name) for name in ("first_entry", "earlier_proofs", "moves")}
    sent = TransferredMatch(match=match, log=play.events, **said)
    return TableMatch(transferred=sent, played_elsewhere=out)


def apply_machine_entry(play: TableMatch, entry: JournalEntry) -> TableMatch:
    """Apply a cut, verdict or release of the machine to the present deal or to the deal ahead."""
    assert play.match is not None  # The caller has checked this.
    event = EVENT_OF_KIND[entry.kind](entry.data)
    if play.ahead is not None and play.ahead.deal == entry.deal:
        dealt = event if isinstance(event, events.HandsDealt) else None  # None: no hands.
        ahead = None if dealt is None else replace(play.ahead, dealt=dealt)
        return apply_ahead(replace(play, ahead=ahead), entry.time)
    if entry.deal == play.match.deal and isinstance(event, events.SetCut):
        return _apply_cut(play, event, entry)
    if entry.deal == play.match.deal:
        after = apply_event(play, event, entry.time)
        released = entry.kind == "released"
        return replace(after, attempt=entry.attempt) if released else after
    next_one = entry.deal == play.match.deal + 1 and play.match.phase in NEXT_DEAL_PHASES
    return _keep_cut_ahead(play, event, entry.deal) if next_one else play


def _apply_cut(play: TableMatch, event: events.SetCut, entry: JournalEntry) -> TableMatch:
    """Apply the cut of the present deal, or store it for later if the table is suspended.

    If another seat must cut now, the cut was made early, by the seat that had to cut then.
    """
    assert play.match is not None  # The caller has checked this.
    if play.match.suspended is not None:
        return _keep_cut_ahead(play, event, play.match.deal)
    due = () if play.match.duties is None else play.match.duties.cutters
    ahead = event.seat is not None and event.seat not in due
    return apply_event(play, replace(event, ahead=ahead), entry.time)


def _keep_cut_ahead(play: TableMatch, event: MatchEvent, deal: int | None) -> TableMatch:
    """Store an early cut of `deal` until the match waits for the cut of this deal.

    Other events of the deal change nothing.
    """
    if deal is None or not isinstance(event, events.SetCut):
        return play
    cut = replace(event, ahead=True)
    return replace(play, ahead=DealAhead(deal=deal, cut=cut))


def _verdict_event(data: Mapping[str, Any]) -> MatchEvent:
    if data.get("outcome") == AttemptOutcome.OK:
        return events.HandsDealt(at_ms=data["at_ms"])
    return events.AttemptFailed(at_ms=data["at_ms"], reasons=tuple(data["reasons"]))


EVENT_OF_KIND: dict[str, Callable[[Mapping[str, Any]], MatchEvent]] = {
    "cut": lambda data: events.SetCut(at_ms=data["at_ms"], seat=data.get("seat"), n=data["cut"]),
    "verdict": _verdict_event,
    "withdrawn": _verdict_event,
    "released": lambda data: events.HandsReleased(
        at_ms=data["at_ms"], turned_to=data.get("leader"), turned_up=data.get("turned_up")
    ),
}
"""The event of the match for each kind of entry of the machine."""


_REPLACING_KINDS = frozenset({"meeting", "taken_over", "transferred"})
"""Kinds of entries that replace the match of the table."""
CLOCKED_KINDS = frozenset({*EVENT_OF_KIND, *_REPLACING_KINDS})
"""Kinds of entries that get the time of the table's clock as `at_ms`."""


def fold_match(play: TableMatch, entry: JournalEntry, profile: Profile) -> TableMatch:
    """Return the match of the table after any entry. Most kinds of entries do not change it."""
    if entry.kind in _REPLACING_KINDS or play.arriving is not None:
        return replace(_replace_match(play, entry, profile), disqualified=disqualified_pairs(play))
    if play.match is None:
        return play
    if entry.kind == "acknowledged":
        calls = (call for call in play.match_calls if call.reason != entry.data["name"])
        return replace(play, match_calls=tuple(calls))
    if entry.kind in ("match", "match_kept"):
        after = apply_event(play, decode_match_event(entry.data), entry.time)
        kept = (WithheldEvent(entry.n, entry.data),) if entry.kind == "match_kept" else ()
        return replace(after, withheld=(*after.withheld, *kept))
    if entry.kind == "match_told":
        return replace(play, withheld=())
    if entry.kind not in EVENT_OF_KIND or play.match.by_hand:
        return play
    return apply_machine_entry(play, entry)


def _replace_match(play: TableMatch, entry: JournalEntry, profile: Profile) -> TableMatch:
    """Return the table's match after an entry of _REPLACING_KINDS or during an arrival."""
    if entry.kind == "meeting":
        return begin_match(play, entry, profile)
    if entry.kind == "taken_over":
        return TableMatch(arriving=arriving_match(entry.data))
    if entry.kind == "transferred":
        return transfer_away(play, entry)
    coming = play.arriving
    assert coming is not None
    if entry.kind != "match" or coming.match_so_far is None:
        return TableMatch(arriving=coming)
    after = apply_event(coming.match_so_far, decode_match_event(entry.data), entry.time)
    return _complete_or_arriving(coming, after, coming.events_left - 1, entry.time)


def disqualified_pairs(play: TableMatch) -> frozenset[tuple[str, str]]:
    """Return all pairs disqualified at this table, each as (tournament, id of the pair)."""
    match = play.match
    if not isinstance(match, GuandanMatch):
        return play.disqualified
    event = match.meeting.event
    return play.disqualified | {
        (event, pair) for pair in pairs_disqualified(current_record(match), event)
    }
