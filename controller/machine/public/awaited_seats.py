"""The seats that the match waits for: their press, card or answer is next."""

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

    While the table is suspended, players can only take their seats. If one of several seats is
    enough, all of them are returned.
    """
    if match.suspended is not None and match.phase is not MatchPhase.SETUP:
        return ()
    awaited = _AWAITED.get(match.phase)
    named = awaited(match) if awaited else ()
    return tuple(seat for seat in SEATS if seat in named)


def is_area_stopped(clock: MatchClock) -> bool:
    """Return whether the whole area is paused."""
    return clock.watch is not None and clock.watch.is_paused


def is_added_time_awaited(match: AnyMatch) -> bool:
    """Return whether a referee must first decide whether to add the lost time."""
    return _is_out_of_time(match) and is_added_time_open(match, match.now_ms)


def sides_to_confirm(match: AnyMatch) -> tuple[Side, ...]:
    """Return the sides that have not confirmed the result yet."""
    return tuple(side for side in SIDES if side not in match.confirmed)


def signers_due(match: AnyMatch) -> tuple[str, ...]:
    """Return those who still have to sign a finished sheet: sides, seats, the referee."""
    signed = {one.signer for one in match.signatures}
    return tuple(signer for signer in sheet_signers(match) if signer not in signed)


def require_exchange(match: AnyMatch) -> TributeExchange:
    """Return the tribute cards and return cards that are exchanged in the present deal.

    The match must be in a phase that has them.
    """
    exchange = cast(GuandanMatch, match).exchange
    assert exchange is not None  # The phase begins with one.
    return exchange


def _is_out_of_time(match: AnyMatch) -> bool:
    return isinstance(match, GuandanMatch) and is_time_up_for_deals(match, match.now_ms)


def _takers(match: AnyMatch) -> Seats:
    """Return the seats that may request the hands; any one of them may do so for all.

    Return () if no deal may begin now.
    """
    kept = is_area_stopped(match.clock) or _is_out_of_time(match)
    return () if match.let_go or kept else SEATS


def _anti_payers(match: AnyMatch) -> Seats:
    """Return the seats that pay tribute and must now state whether they have the big jokers.

    A machine knows dealt hands. Only the payers know drawn hands, and some rulebooks demand a
    claim.
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


def _players(match: AnyMatch) -> Seats:
    """Return the seat that leads, or after the first lead the seats that must confirm.

    The opponents of a player who reports to be out must confirm this.
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
    MatchPhase.HELD: _takers,
    MatchPhase.COUNT_CHECK: lambda match: _without(SEATS, match.counted),
    MatchPhase.ANTI_CHECK: _anti_payers,
    MatchPhase.TRIBUTE: lambda match: _without(
        require_exchange(match).payers, require_exchange(match).laid
    ),
    MatchPhase.RETURN: _givers,
    MatchPhase.CHOICES: _choosers,
    MatchPhase.PLAY: _players,
    MatchPhase.RESULT: _confirmers,
    MatchPhase.FORFEIT: _namers,
    MatchPhase.OVER: _signers,
}
"""The seats that are awaited in a phase. In other phases the machine, the referee or the chief is.
"""
