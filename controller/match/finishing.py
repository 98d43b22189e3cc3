"""The end of a deal: who is out, the result both sides confirm, and what follows from it."""

from controller.match.authority import require
from controller.match.clocks.match_clock import stops_deal
from controller.match.course import (
    Stepped,
    begin_deal,
    changed,
    go_on,
    lacks_leader,
    next_row,
    written,
)
from controller.match.effects import RefereeNeeded
from controller.match.events import (
    Confirmed,
    DealStopped,
    ExtraDealOrdered,
    LeaderNamed,
    Out,
    OutSaid,
    OutWithdrawn,
    ResultEntered,
)
from controller.match.phase import Phase
from controller.match.refusals import no_finish, refuse
from controller.match.rows import row_of_deal
from controller.match.sheet import LeaderRow, StoppedRow, last_deal
from controller.match.state import GuandanMatch
from controller.match.timing import lead_made
from controller.messages import Seat
from controller.rules.result import Finish, FinishError, Forfeited, finish, with_dead_hands
from controller.rules.seat_words import SEATS
from controller.rules.seats import SIDES, side
from controller.words import Words


def out_said(match: GuandanMatch, event: OutSaid) -> Stepped:
    """Note who says that he is out; an opponent has to confirm it (provisional)."""
    _require_place(match, event.seat)
    if event.seat in match.outs:
        refuse("TWICE", event.seat)
    return changed(match, outs=(*match.outs, event.seat)), ()


def out(match: GuandanMatch, event: Out) -> Stepped:
    """Note who has no cards left; the deal ends when the rest follows (seed 000 A6.4)."""
    _require_place(match, event.seat)
    return place_taken(changed(match, gone=(*match.gone, event.seat)))


def _require_place(match: GuandanMatch, seat: Seat) -> None:
    if seat in match.order:
        refuse("TWICE", seat)
    if seat in match.dead:
        who = SEATS[seat]
        no_finish(
            Words(f"the cards of {who.en} are dead: he is last", f"{who.zh}手牌作废，判为下游")
        )


def _without(seats: tuple[Seat, ...], gone: Seat) -> tuple[Seat, ...]:
    return tuple(seat for seat in seats if seat != gone)


def out_withdrawn(match: GuandanMatch, event: OutWithdrawn) -> Stepped:
    """Take a place back that was pressed by mistake; who came behind moves up.

    One that was only said is gone without a trace.
    """
    if event.seat in match.outs:
        return changed(match, outs=_without(match.outs, event.seat)), ()
    if event.seat not in match.order:
        who = SEATS[event.seat]
        no_finish(Words(f"{who.en} is not out", f"{who.zh}尚未出完"))
    return place_taken(changed(match, gone=_without(match.gone, event.seat)), match.ended_ms)


def place_taken(match: GuandanMatch, ended_ms: int | None = None) -> Stepped:
    """Return the match waiting for its confirmation if the order is a finish by now.

    `ended_ms`: when the last card was played, if not now; not before the hands were released.
    """
    places = {*match.order, *match.dead}
    outs = tuple(seat for seat in match.outs if seat not in places)
    match = changed(lead_made(match), confirmed=(), outs=outs)
    if finished(match) is None:
        return changed(match, phase=Phase.PLAY, ended_ms=None), ()
    ended_ms = match.now_ms if ended_ms is None else min(match.now_ms, ended_ms)
    ended_ms = max(ended_ms, match.began_ms or 0)
    return changed(match, phase=Phase.RESULT, outs=(), clocks=(), ended_ms=ended_ms), ()


def finished(match: GuandanMatch) -> Finish | None:
    """Return the finish that the order so far makes; None: the deal goes on."""
    try:
        return _finish(match.order, match.dead)
    except FinishError:
        return None


def result_entered(match: GuandanMatch, event: ResultEntered) -> Stepped:
    """Take the finish order that the referee enters, instead of what was pressed."""
    try:
        _finish(event.order, match.dead)
    except FinishError as mistake:
        no_finish(mistake)
    ended_ms = match.ended_ms if event.ended_ms is None else event.ended_ms
    order = tuple(seat for seat in event.order if seat not in match.dead)
    return place_taken(changed(match, gone=order), ended_ms)


def _finish(order: tuple[Seat, ...], dead: tuple[Seat, ...]) -> Finish:
    return with_dead_hands(order, dead) if dead else finish(order)


def confirmed(match: GuandanMatch, event: Confirmed) -> Stepped:
    """Write the deal down once both sides, or the referee, have confirmed its result.

    Provisional: seed 000 A13.1 has every deal written, but not who confirms it.
    """
    if event.by in match.confirmed:
        refuse("TWICE", event.by)
    if ended_by_time(match):
        refuse("TIME_ENDED_IT")
    match = changed(match, confirmed=(*match.confirmed, event.by))
    if event.by != "referee" and not set(match.confirmed) >= set(SIDES):
        return match, ()
    result = finished(match)
    assert result is not None  # RESULT begins with one
    noted, effects = written(match, row_of_deal(match, result, event.at_ms))
    after, more = go_on(noted, event.at_ms)
    return after, (*effects, *more)


def leader_named(match: GuandanMatch, event: LeaderNamed) -> Stepped:
    """Let the side that was given a deal name who leads the next (seed 000 A15.3.3)."""
    previous = match.standing.previous
    assert isinstance(previous, Forfeited)  # FORFEIT begins with one
    if side(event.seat) != previous.winners:
        refuse("OTHER_SIDE", event.seat)
    last = last_deal(match.sheet)
    assert last is not None  # it was forfeited
    row = LeaderRow(row=next_row(match), at_ms=event.at_ms, deal=last.deal, leader=event.seat)
    noted, effects = written(match, row)
    due = match.extra or match.begun  # that deal, which time does not take back
    after, more = begin_deal(noted, extra=match.extra) if due else go_on(noted, event.at_ms)
    return after, (*effects, *more)


def extra_deal_ordered(match: GuandanMatch, event: ExtraDealOrdered) -> Stepped:
    """Begin an extra deal where the match is equal (加打一副; seed 000 A27.3, A29.3.2)."""
    require("extra_deal", event.role, verbal=event.verbal)
    drawn = match.verdict is not None and match.verdict.how == "draw" and not match.signatures
    if match.phase is not Phase.MATCH_CHECK and not drawn:
        refuse("NOT_EQUAL")
    match = changed(match, verdict=None, score=None)
    if lacks_leader(match):
        return changed(match, phase=Phase.FORFEIT, extra=True), (RefereeNeeded("name_leader"),)
    return begin_deal(match, extra=True)


def ended_by_time(match: GuandanMatch) -> bool:
    """Tell whether time was up before the deal's last card, where that ends it (A14.2.3–4)."""
    ended_ms = match.now_ms if match.ended_ms is None else match.ended_ms
    return not match.extra and stops_deal(match.clock, ended_ms)


def deal_stopped(match: GuandanMatch, event: DealStopped) -> Stepped:
    """End a deal that time has overtaken, by the letter (seed 000 A14.2.3–4); it does not count."""
    require("deal_stopped", event.role)
    if not ended_by_time(match):
        refuse("NOT_STOPPED_BY_TIME")
    row = StoppedRow(row=next_row(match), at_ms=event.at_ms, deal=match.deal, reason=event.reason)
    noted, effects = written(changed(match, clocks=(), suspended=None, claimed=None), row)
    after, more = go_on(noted, event.at_ms)
    return after, (*effects, *more)
