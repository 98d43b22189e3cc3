"""Hands: dealt, refused, released, counted; and their play until somebody has none left."""

from controller.match.clocks.duties import opening_clock, sort_clock
from controller.match.course import (
    Stepped,
    as_it_stands,
    begin_attempt,
    changed,
    go_on,
    instead_of_deal,
    no_more_deals,
)
from controller.match.effects import LeaderKnown, RefereeNeeded
from controller.match.events import (
    CountClaimed,
    Counted,
    Dealt,
    Led,
    Misdealt,
    Recounted,
    Released,
)
from controller.match.exchanging import after_count
from controller.match.phase import Phase
from controller.match.refusals import refuse
from controller.match.state import BigTwoMatch, GuandanMatch, Match
from controller.match.timing import lead_made
from controller.messages import Seat
from controller.rules.bigtwo.choices import begin_opening

FOUR = 4
MISDEALS_TO_CALL = 2
"""So many in a row call the referee."""


def dealt(match: Match, event: Dealt) -> Stepped:
    """Take note of four right hands, and of who got the card that was turned up."""
    assert match.duties is not None  # a deal is due in this phase
    leads = isinstance(match, BigTwoMatch)
    if isinstance(match, GuandanMatch):
        leads = match.follows is None
    if leads and event.turned_to is None:
        refuse("TURNED_TO_MISSING")
    match = changed(
        match,
        phase=Phase.HELD,
        in_a_row=0,
        turned_to=event.turned_to if leads else None,
        turned_up=(event.turned_up or match.turned_up) if match.duties.turnup else None,
    )
    return _taken(match, event.at_ms) if match.by_hand else (match, ())


def misdealt(match: Match, event: Misdealt) -> Stepped:
    """Begin another attempt: nothing else changes, no level, result, number or duty."""
    return _again(match, event.at_ms)


def released(match: Match, event: Released) -> Stepped:
    """Begin the deal: its hands are with the players."""
    if match.clock.watch is not None and match.clock.watch.stands:
        refuse("AREA_STOPPED")
    if isinstance(match, GuandanMatch) and no_more_deals(match, event.at_ms):
        return go_on(match, event.at_ms)
    return _taken(match, event.at_ms)


def _taken(match: Match, at_ms: int) -> Stepped:
    if isinstance(match, BigTwoMatch):
        assert match.turned_to is not None  # `dealt` asks for it
        rules = match.profile.bigtwo
        choices = begin_opening(rules.open_hand, rules.doubling, match.turned_to, at_ms)
        return changed(
            match, phase=Phase.CHOICES, choices=choices, leader=match.turned_to, began_ms=at_ms
        ), (LeaderKnown(match.turned_to),)
    assert isinstance(match, GuandanMatch)
    clocks = tuple(
        clock
        for clock in (sort_clock(match.profile, at_ms), opening_clock(match.profile, at_ms))
        if clock is not None
    )
    return changed(match, phase=Phase.COUNT_CHECK, began_ms=at_ms, clocks=clocks), ()


def counted(match: GuandanMatch, event: Counted) -> Stepped:
    """Take a player's word for his count; the fourth ends the sorting (seed 000 A5.2)."""
    if event.seat in match.counted:
        refuse("TWICE", event.seat)
    match = changed(match, counted=(*match.counted, event.seat))
    return after_count(match, event.at_ms) if len(match.counted) == FOUR else (match, ())


def count_claimed(match: Match, event: CountClaimed) -> Stepped:
    """Stop everything for a claimed wrong count, until the first lead (seed 000 A5.2)."""
    if match.led:
        refuse("AFTER_LEAD")
    stopped = changed(
        match,
        suspended="count",
        claimed=event.seat,
    )
    return stopped, (RefereeNeeded("count", event.seat),)


def recounted(match: Match, event: Recounted) -> Stepped:
    """Play on where the referee's four counts are what the phase demands, else deal again.

    27 each; a payer whose card is not returned yet holds 26, who has it 28. A card that
    was found and given back counts (provisional, `counting.found_card`).
    """
    if match.claimed is None:
        refuse("NOT_SUSPENDED")
    demanded = demanded_counts(match)
    if set(event.counts) != set(demanded) or sum(event.counts.values()) > sum(demanded.values()):
        refuse("WRONG_COUNTS", " ".join(f"{seat} {n}" for seat, n in event.counts.items()))
    going = changed(match, suspended=None, claimed=None)
    return (going, ()) if event.counts == demanded else _again(going, event.at_ms)


def demanded_counts(match: Match) -> dict[Seat, int]:
    """Return how many cards each seat must hold before the first lead."""
    counts: dict[Seat, int] = dict.fromkeys(("N", "W", "S", "E"), match.profile.hand)
    exchange = match.exchange if isinstance(match, GuandanMatch) else None
    if exchange is None or exchange.plan is None:
        return counts
    moved = [*exchange.plan.payments]
    moved += [pair for pair in exchange.plan.returns if pair[0] in exchange.given]
    for giver, to in moved:
        counts[giver] -= 1
        counts[to] += 1
    return counts


def led(match: Match, event: Led) -> Stepped:
    """Note the first lead: the deal can only be played out from now on."""
    return lead_made(match), ()


def _again(match: Match, at_ms: int) -> Stepped:
    """Begin another attempt, by what the sheet says now: no hands are with the players."""
    failed = changed(match, misdeals=match.misdeals + 1, in_a_row=match.in_a_row + 1, began_ms=None)
    if isinstance(failed, GuandanMatch):
        failed = as_it_stands(changed(failed, exchange=None, order=(), dead=None))
        if instead := instead_of_deal(failed, at_ms):
            return instead
    elif isinstance(failed, BigTwoMatch):
        failed = changed(failed, choices=None)
    due, effects = begin_attempt(failed)
    if due.in_a_row < MISDEALS_TO_CALL:
        return due, effects
    return due, (*effects, RefereeNeeded("misdeals_in_a_row"))
