"""The handlers of events at the end of a deal: players without cards, results, extra deals."""

from msgspec.structs import replace

from controller.match import match_events as events
from controller.match.clocks.match_clock import is_deal_stopped
from controller.match.match_effects import RefereeCalled
from controller.match.match_state import GuandanMatch
from controller.match.next_deal import (
    StepResult,
    add_row,
    begin_deal,
    continue_match,
    is_leader_unnamed,
    next_row_number,
)
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse, refuse_finish
from controller.match.rulings import require_authority
from controller.match.sheet_rows import LeaderRow, last_deal_row
from controller.match.sheet_writing import make_deal_row, stop_deal_under_way
from controller.match.timing import note_lead
from controller.messages import Seat
from controller.rules import deal_result
from controller.seats import SEAT_NAMES, SIDES, side_of
from controller.words import Words


def claim_out(match: GuandanMatch, event: events.OutClaimed) -> StepResult:
    """Record a player's report that this player has no cards left.

    An opponent must confirm the report (provisional).
    """
    _require_place_open(match, event.seat)
    if event.seat in match.outs:
        refuse("TWICE", event.seat)
    return replace(match, outs=(*match.outs, event.seat)), ()


def confirm_out(match: GuandanMatch, event: events.OutConfirmed) -> StepResult:
    """Record that a player has no cards left, and give this player the next finishing place.

    Play ends when the finish order follows from the places. Source: seed 000 A6.4.
    """
    _require_place_open(match, event.seat)
    return update_places(replace(match, gone=(*match.gone, event.seat)))


def _require_place_open(match: GuandanMatch, seat: Seat) -> None:
    if seat in match.places:
        refuse("TWICE", seat)
    if seat in match.dead:
        who = SEAT_NAMES[seat]
        refuse_finish(
            Words(f"the cards of {who.en} are dead: last place", f"{who.zh}手牌作废，判为下游")
        )


def _without_seat(seats: tuple[Seat, ...], gone: Seat) -> tuple[Seat, ...]:
    return tuple(seat for seat in seats if seat != gone)


def withdraw_out(match: GuandanMatch, event: events.OutWithdrawn) -> StepResult:
    """Cancel the finishing place, or the unconfirmed report, of a player who still has cards.

    The players after this place move up by one place.
    """
    if event.seat in match.outs:
        return replace(match, outs=_without_seat(match.outs, event.seat)), ()
    if event.seat not in match.places:
        who = SEAT_NAMES[event.seat]
        refuse_finish(Words(f"{who.en} is not out", f"{who.zh}尚未出完"))
    return update_places(replace(match, gone=_without_seat(match.gone, event.seat)), match.ended_ms)


def update_places(match: GuandanMatch, ended_ms: int | None = None) -> StepResult:
    """Return the match in the phase RESULT if the finish order is complete, otherwise in PLAY.

    `ended_ms` is the time of the last card, or None for the present time. A time before the release
    of the hands is replaced by the time of the release.
    """
    places = {*match.places, *match.dead}
    outs = tuple(seat for seat in match.outs if seat not in places)
    match = replace(note_lead(match), confirmed=(), outs=outs)
    if finish_so_far(match) is None:
        return replace(match, phase=MatchPhase.PLAY, ended_ms=None), ()
    ended_ms = match.now_ms if ended_ms is None else min(match.now_ms, ended_ms)
    ended_ms = max(ended_ms, match.began_ms or 0)
    return replace(match, phase=MatchPhase.RESULT, outs=(), clocks=(), ended_ms=ended_ms), ()


def finish_so_far(match: GuandanMatch) -> deal_result.FinishOrder | None:
    """Return the present deal's finish order if the places so far decide it, otherwise None."""
    try:
        return _finish_order(match.places, match.dead)
    except deal_result.FinishError:
        return None


def enter_result(match: GuandanMatch, event: events.ResultEntered) -> StepResult:
    """Record the finish order that the referee enters. It replaces the order from the buttons."""
    try:
        _finish_order(event.order, match.dead)
    except deal_result.FinishError as mistake:
        refuse_finish(mistake)
    ended_ms = match.ended_ms if event.ended_ms is None else event.ended_ms
    order = tuple(seat for seat in event.order if seat not in match.dead)
    return update_places(replace(match, gone=order), ended_ms)


def _finish_order(order: tuple[Seat, ...], dead: tuple[Seat, ...]) -> deal_result.FinishOrder:
    if not dead:
        return deal_result.parse_finish(order)
    return deal_result.finish_with_dead_hands(order, dead)


def confirm_result(match: GuandanMatch, event: events.ResultConfirmed) -> StepResult:
    """Record that a side or the referee has confirmed the result of the deal.

    The result is put on the score sheet when both sides have confirmed it, or the referee alone.
    Provisional: seed 000 A13.1 demands that every deal is written, but not who confirms it.
    """
    if event.by in match.confirmed:
        refuse("TWICE", event.by)
    if is_ended_by_time(match):
        refuse("TIME_ENDED_IT")
    match = replace(match, confirmed=(*match.confirmed, event.by))
    if event.by != "referee" and not set(match.confirmed) >= set(SIDES):
        return match, ()
    result = finish_so_far(match)
    assert result is not None  # RESULT begins with one.
    noted = add_row(match, make_deal_row(match, result, event.at_ms))
    return continue_match(noted, event.at_ms)


def name_leader(match: GuandanMatch, event: events.LeaderNamed) -> StepResult:
    """Record the next leader, named by the winners of a forfeited deal; continue the match.

    Source: seed 000 A15.3.3.
    """
    previous = match.standing.previous
    assert isinstance(previous, deal_result.ForfeitedDeal)  # FORFEIT begins with one.
    if side_of(event.seat) != previous.winners:
        refuse("OTHER_SIDE", event.seat)
    last = last_deal_row(match.sheet)
    assert last is not None  # The deal was forfeited.
    number = next_row_number(match)
    row = LeaderRow(row=number, at_ms=event.at_ms, deal=last.deal, leader=event.seat)
    noted = add_row(match, row)
    due = match.extra or match.begun  # The deal that has begun is not cancelled by time.
    return begin_deal(noted, extra=match.extra) if due else continue_match(noted, event.at_ms)


def order_extra_deal(match: GuandanMatch, event: events.ExtraDealOrdered) -> StepResult:
    """Begin an extra deal, which the chief ordered because the score is equal (加打一副).

    Source: seed 000 A27.3, A29.3.2.
    """
    require_authority("extra_deal", event.role, verbal=event.verbal)
    drawn = match.verdict is not None and match.verdict.how == "draw" and not match.signatures
    if match.phase is not MatchPhase.MATCH_CHECK and not drawn:
        refuse("NOT_EQUAL")
    match = replace(match, verdict=None, score=None)
    if is_leader_unnamed(match):
        return replace(match, phase=MatchPhase.FORFEIT, extra=True), (RefereeCalled("name_leader"),)
    return begin_deal(match, extra=True)


def is_ended_by_time(match: GuandanMatch) -> bool:
    """Return whether the present deal does not count, because time was up before its last card.

    The result is False if the rulebook allows the end of the deal (`ending.at_time`), and for an
    extra deal. Source: seed 000 A14.2.3–4.
    """
    ended_ms = match.now_ms if match.ended_ms is None else match.ended_ms
    return not match.extra and is_deal_stopped(match.clock, ended_ms)


def stop_deal(match: GuandanMatch, event: events.DealStopped) -> StepResult:
    """Stop the present deal, because time was up before its last card. The deal does not count.

    Source: seed 000 A14.2.3–4.
    """
    require_authority("deal_stopped", event.role)
    if not is_ended_by_time(match):
        refuse("NOT_STOPPED_BY_TIME")
    return continue_match(stop_deal_under_way(match, event.reason, event.at_ms), event.at_ms)
