"""The seats that must act next in a match: press a button, lay a card or give an answer."""

from collections.abc import Callable, Iterable
from typing import cast

from controller.match.clocks.match_clock import MatchClock
from controller.match.deal_end import is_ended_by_time
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch, TributeExchange
from controller.match.next_deal import is_added_time_open, is_time_up_for_deals
from controller.match.phase import MatchPhase
from controller.match.sheet_writing import sheet_signers
from controller.messages import Seat, Side
from controller.rules.deal_result import ForfeitedDeal
from controller.rules.tribute import must_claim_anti_tribute
from controller.seats import SEATS, SIDES, opponents, seats_of_side

Seats = tuple[Seat, ...]


def awaited_seats(match: AnyMatch) -> Seats:
    """Return the seats that must act now, in the order of play.

    While the table is suspended, players can only take their seats. If any one of several seats may
    act for all, all of these seats are returned.
    """
    if match.suspended is not None and match.phase is not MatchPhase.SETUP:
        return ()
    awaited = _AWAITED.get(match.phase)
    named = awaited(match) if awaited else ()
    return tuple(seat for seat in SEATS if seat in named)


def is_area_stopped(clock: MatchClock) -> bool:
    """Return whether this clock is paused, and with it the clocks of all matches in the area."""
    return clock.watch is not None and clock.watch.is_paused


def is_added_time_awaited(match: AnyMatch) -> bool:
    """Return whether time is up and a referee must decide whether this table gets more time."""
    return _is_out_of_time(match) and is_added_time_open(match, match.now_ms)


def sides_to_confirm(match: AnyMatch) -> tuple[Side, ...]:
    """Return the sides that have not confirmed the result of the present deal."""
    return tuple(side for side in SIDES if side not in match.confirmed)


def signers_due(match: AnyMatch) -> tuple[str, ...]:
    """Return the signers (sides, seats, referee) that have not signed the score sheet yet."""
    signed = {one.signer for one in match.signatures}
    return tuple(signer for signer in sheet_signers(match) if signer not in signed)


def require_exchange(match: AnyMatch) -> TributeExchange:
    """Return the exchange of tribute and return cards, which takes place in the present phase.

    The phase of the match must be ANTI_CHECK, TRIBUTE or RETURN.
    """
    exchange = cast(GuandanMatch, match).exchange
    assert exchange is not None  # The phase begins with one.
    return exchange


def _is_out_of_time(match: AnyMatch) -> bool:
    return isinstance(match, GuandanMatch) and is_time_up_for_deals(match, match.now_ms)


def _releasers(match: AnyMatch) -> Seats:
    """Return all four seats if any one player may release the held hands, otherwise ().

    The result is () if the release was ordered, the area is paused, or time is up.
    """
    kept = is_area_stopped(match.clock) or _is_out_of_time(match)
    return () if match.let_go or kept else SEATS


def _anti_payers(match: AnyMatch) -> Seats:
    """Return the payers of tribute if they must answer whether they have both big jokers, else ().

    They must answer after a deal by hand, and under some rulebooks in every deal. Otherwise the
    machine answers, because it has the faces of the hands that it dealt.
    """
    claimed = must_claim_anti_tribute(cast(GuandanMatch, match).profile)
    return require_exchange(match).payers if match.by_hand or claimed else ()


def _givers(match: AnyMatch) -> Seats:
    exchange = require_exchange(match)
    due = exchange.plan.returns if exchange.plan else ()
    return _without([giver for giver, _ in due], exchange.given)


def _choosers(match: AnyMatch) -> Seats:
    choices = cast(BigTwoMatch, match).choices
    return choices.current_round().seats_asked() if choices else ()


def _leader_or_confirmers(match: AnyMatch) -> Seats:
    """Return the leader before the first lead, and later the opponents who must confirm an `out`.

    A player reports with `out` that no cards are left. One of the two opponents must confirm this.
    """
    if not match.led:
        return (match.leader,) if match.leader else ()
    outs = match.outs if isinstance(match, GuandanMatch) else ()
    return tuple(seat for out in outs for seat in opponents(out))


def _confirmers(match: AnyMatch) -> Seats:
    ended = isinstance(match, GuandanMatch) and is_ended_by_time(match)
    sides = () if ended else sides_to_confirm(match)
    return tuple(seat for side in sides for seat in seats_of_side(side))


def _namers(match: AnyMatch) -> Seats:
    previous = cast(GuandanMatch, match).standing.previous
    return seats_of_side(previous.winners) if isinstance(previous, ForfeitedDeal) else ()


def _signers(match: AnyMatch) -> Seats:
    due = signers_due(match)
    return tuple(seat for seat in SEATS if any(seat in one for one in due if one != "referee"))


def _without(seats: Iterable[Seat], done: Iterable[Seat]) -> Seats:
    gone = set(done)
    return tuple(seat for seat in seats if seat not in gone)


_AWAITED: dict[MatchPhase, Callable[[AnyMatch], Seats]] = {
    MatchPhase.SETUP: lambda match: _without(SEATS, match.seated),
    MatchPhase.SHUFFLE: lambda match: (match.duties.shufflers or SEATS) if match.duties else (),
    MatchPhase.CUT: lambda match: match.duties.cutters if match.duties else (),
    # The seat that cut also turns the card up.
    MatchPhase.TURNUP: lambda match: (match.cutter,) if match.cutter else (),
    MatchPhase.HELD: _releasers,
    MatchPhase.COUNT_CHECK: lambda match: _without(SEATS, match.counted),
    MatchPhase.ANTI_CHECK: _anti_payers,
    MatchPhase.TRIBUTE: lambda match: _without(
        require_exchange(match).payers, require_exchange(match).laid
    ),
    MatchPhase.RETURN: _givers,
    MatchPhase.CHOICES: _choosers,
    MatchPhase.PLAY: _leader_or_confirmers,
    MatchPhase.RESULT: _confirmers,
    MatchPhase.FORFEIT: _namers,
    MatchPhase.OVER: _signers,
}
"""For each phase, the function that returns the awaited seats. Other phases await no seat."""
