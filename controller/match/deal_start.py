"""The handlers of the events that begin a match or a deal: seats, cut, hands, counts, redeals."""

from contextlib import suppress

from msgspec.structs import replace

from controller.cards import Face, face_text, parse_face
from controller.match import match_events as events
from controller.match.big_two_choices import begin_choices
from controller.match.clocks import duty_clocks, match_clock
from controller.match.clocks.duty_clocks import late_clocks, opening_clock, sort_clock
from controller.match.match_effects import Effects, RefereeCalled
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.match.next_deal import (
    MatchT,
    StepResult,
    add_row,
    begin_attempt,
    begin_deal,
    continue_match,
    deal_duties_of,
    follow_standing,
    is_added_time_open,
    is_time_up_for_deals,
    next_row_number,
    outcome_instead_of_deal,
)
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse
from controller.match.rulings import DecidedAct, require_authority
from controller.match.sheet_rows import RedealtRow
from controller.match.tribute_exchange import continue_after_count
from controller.messages import Seat
from controller.rules import deal_duties
from controller.seats import SEATS, card_count_words, seats_of_side, side_of
from controller.words import Words


def take_seat(match: AnyMatch, event: events.SeatTaken) -> StepResult:
    """Record that a player has taken a seat.

    After the start of the match, the first deal is due when the fourth player is seated.
    """
    if event.seat in match.seated:
        refuse("SEAT_TAKEN", event.seat)
    there = (*match.seated, event.seat)
    match = replace(match, seated=there)
    expected = match.meeting.pair_of(event.seat).players.get(event.seat)
    stranger = None not in (event.person, expected) and event.person != expected
    told: Effects = (RefereeCalled("wrong_player", event.seat),) if stranger else ()
    side = side_of(event.seat)
    if set(seats_of_side(side)) <= set(there):
        match = replace(match, clocks=duty_clocks.remove_done(match.clocks, "late", side=side))
    begun, effects = _begin_if_ready(match)
    return begun, (*told, *effects)


def start_match(match: AnyMatch, event: events.MatchStarted) -> StepResult:
    """Start the match and its clock, at the same time as all matches of the area.

    If a player is missing, the first deal waits, and a clock measures how late that side is.
    """
    if match.started:
        refuse("TWICE", Words("the start", "开赛"))
    match = replace(match, started=True, clock=match_clock.start(match.clock, event.at_ms))
    if isinstance(match, GuandanMatch):
        waited_for = tuple(
            clock
            for clock in late_clocks(match.profile, event.at_ms)
            if clock.side and not set(seats_of_side(clock.side)) <= set(match.seated)
        )
        match = replace(match, clocks=waited_for)
    return _begin_if_ready(match)


def _begin_if_ready(match: AnyMatch) -> StepResult:
    if match.started and len(match.seated) == len(SEATS):
        return begin_deal(match)
    return match, ()


def order_hand_deal(match: AnyMatch, event: events.HandDealOrdered) -> StepResult:
    """Begin a new attempt of the present deal, in which people deal by hand.

    People then have all duties of the rulebook, for example to shuffle.
    """
    if match.by_hand:
        refuse("TWICE", Words("this deal", "本副"))
    return begin_attempt(replace(match, by_hand=True))


def accept_shuffle(match: AnyMatch, event: events.SetShuffled) -> StepResult:
    """Record the player who shuffled. The opponents of this player must cut the first deal.

    Source: seed 000 A5.1.2.
    """
    assert match.duties is not None  # A deal is due in this phase.
    if match.duties.shufflers and event.seat not in match.duties.shufflers:
        refuse("NOT_HIS_DUTY", " / ".join(match.duties.shufflers))
    due = deal_duties_of(match, event.seat if match.duties.shufflers else None)
    return replace(match, phase=MatchPhase.CUT, shuffler=event.seat, duties=due), ()


def accept_cut(match: AnyMatch, event: events.SetCut) -> StepResult:
    """Record the cut, or the referee's decision to continue without a cut."""
    assert match.duties is not None  # A deal is due in this phase.
    if event.n is not None:
        if problem := deal_duties.cut_problem(match.profile, event.n):
            refuse("ILLEGAL_CUT", problem)
        anybody = event.ahead and event.seat is not None and not match.by_hand
        if event.seat not in match.duties.cutters and not anybody:
            refuse("NOT_HIS_DUTY", " / ".join(match.duties.cutters))
    by_hand = match.by_hand and match.duties.turnup
    then = MatchPhase.TURNUP if by_hand else MatchPhase.DEALING
    cutter = event.seat if event.n is not None else None
    return replace(match, phase=then, cutter=cutter, cut=event.n), ()


def accept_turnup(match: AnyMatch, event: events.CardTurnedUp) -> StepResult:
    """Record the card that a person turned up. The card decides which player draws first.

    If the rulebook does not accept the card, the cards are cut again (seed 004 CN5).
    """
    assert match.duties is not None  # A deal is due in this phase.
    face = _parse_turnup(event.card)
    if not deal_duties.is_turnup_valid(match.profile, face):
        return replace(match, phase=MatchPhase.CUT, cutter=None, cut=None), ()
    drawer = None
    if match.cutter is not None and isinstance(match, GuandanMatch):
        # A joker has no pips to count. Then there is no first drawer (seed 003 R4.1).
        with suppress(deal_duties.NoPipsError):
            drawer = deal_duties.first_drawer_by_count(match.profile, match.cutter, face)
    shown = face_text(face)
    return replace(match, phase=MatchPhase.DEALING, turned_up=shown, first_drawer=drawer), ()


def _parse_turnup(card: str) -> Face:
    try:
        return parse_face(card)
    except ValueError:
        refuse("NO_SUCH_CARD", card)


MISDEALS_TO_CALL = 2
"""The number of successive misdeals after which the referee is called (provisional)."""


def accept_hands(match: AnyMatch, event: events.HandsDealt) -> StepResult:
    """Record that four complete hands are ready.

    If people dealt by hand, the players have their hands already, and the deal begins. The
    machine's hands are accepted even if the table is suspended, because dealt hands are a fact.
    """
    if match.suspended is not None and match.by_hand:
        refuse("SUSPENDED")
    there = replace(_with_turnup(match, event), phase=MatchPhase.HELD, in_a_row=0)
    return _begin_released_deal(there, event.at_ms) if match.by_hand else (there, ())


def _with_turnup(match: MatchT, event: events.HandsDealt | events.HandsReleased) -> MatchT:
    """Return the match with the turned-up card, and with the seat that got this card.

    A value that `event` does not have stays as before. Each of the two is None if the deal
    does not need it. Raises RefusedError for an invalid card.
    """
    assert match.duties is not None  # A deal is due in these phases.
    turned_up = match.turned_up if match.duties.turnup else None
    if match.duties.turnup and event.turned_up is not None:
        face = _parse_turnup(event.turned_up)
        turned_up = face_text(face)
        if not deal_duties.is_turnup_valid(match.profile, face):
            refuse("TURN_AGAIN", turned_up)
    turned_to = (event.turned_to or match.turned_to) if _is_leader_by_card(match) else None
    return replace(match, turned_to=turned_to, turned_up=turned_up)


def _is_leader_by_card(match: AnyMatch) -> bool:
    return not isinstance(match, GuandanMatch) or match.follows is None


def fail_attempt(match: AnyMatch, event: events.AttemptFailed) -> StepResult:
    """Begin another attempt of the present deal, because the last attempt failed.

    The deal keeps its number and its level.
    """
    return _begin_next_attempt(match, event.at_ms)


def order_release(match: AnyMatch, event: events.ReleaseOrdered) -> StepResult:
    """Record that a person ordered the release of the held hands.

    From now on the hands belong to the players, whatever the time is.
    """
    if match.let_go:
        refuse("TWICE")
    if instead := _outcome_instead_of_release(match, event.at_ms):
        return instead
    return replace(match, let_go=True), ()


def release_hands(match: AnyMatch, event: events.HandsReleased) -> StepResult:
    """Begin the deal, because the players have their hands.

    If the release was ordered, it is a fact, and the deal begins even if the table is suspended.
    """
    if not match.let_go:
        if match.suspended is not None:
            refuse("SUSPENDED")
        if instead := _outcome_instead_of_release(match, event.at_ms):
            return instead
    return _begin_released_deal(_with_turnup(match, event), event.at_ms)


def _outcome_instead_of_release(match: AnyMatch, at_ms: int) -> StepResult | None:
    """Return the next step of the match if time is up, or None if the hands may be released.

    The next step can be the end of the match. Raises RefusedError while the area is paused,
    or while a referee must decide about lost time.
    """
    if match.clock.watch is not None and match.clock.watch.is_paused:
        refuse("AREA_STOPPED")
    if not isinstance(match, GuandanMatch) or not is_time_up_for_deals(match, at_ms):
        return None
    if is_added_time_open(match, at_ms):
        refuse("ADDED_TIME_DUE")
    return continue_match(match, at_ms)


def _begin_released_deal(match: AnyMatch, at_ms: int) -> StepResult:
    if _is_leader_by_card(match) and match.turned_to is None:
        refuse("TURNED_TO_MISSING")
    if isinstance(match, BigTwoMatch):
        assert match.turned_to is not None  # It was requested just now.
        rules = match.profile.bigtwo
        choices = begin_choices(rules.open_hand, rules.doubling, match.turned_to, at_ms)
        return replace(
            match, phase=MatchPhase.CHOICES, choices=choices, leader=match.turned_to, began_ms=at_ms
        ), ()
    assert isinstance(match, GuandanMatch)  # There are two games.
    # Players who draw their cards sort them meanwhile.
    sorting = None if match.by_hand else sort_clock(match.profile, at_ms)
    running = (sorting, opening_clock(match.profile, at_ms))
    clocks = tuple(clock for clock in running if clock is not None)
    return replace(
        match, phase=MatchPhase.COUNT_CHECK, began_ms=at_ms, begun=True, clocks=clocks
    ), ()


def accept_count(match: GuandanMatch, event: events.HandCounted) -> StepResult:
    """Record a player's right count of the hand. The fourth count ends sorting (seed 000 A5.2)."""
    if event.seat in match.counted:
        refuse("TWICE", event.seat)
    match = replace(match, counted=(*match.counted, event.seat))
    if len(match.counted) < len(SEATS):
        return match, ()
    return continue_after_count(match)


def claim_count(match: AnyMatch, event: events.CountClaimed) -> StepResult:
    """Suspend the table, because a player claims that the number of cards in a hand is wrong.

    A claim is possible until the first lead (seed 000 A5.2). The chief decides about a pair's
    second claim in a match (provisional).
    """
    if match.led:
        refuse("AFTER_LEAD")
    again = any(side_of(seat) == side_of(event.seat) for seat in match.claims)
    claims = (*match.claims, event.seat)
    stopped = replace(match, suspended="count", claimed=event.seat, claims=claims)
    return stopped, (RefereeCalled("second_count" if again else "count", event.seat),)


def judge_recount(match: AnyMatch, event: events.HandsRecounted) -> StepResult:
    """Continue the deal if the referee's four counts are right, otherwise begin a new attempt.

    Each seat must have the cards of `required_counts`. While the receivers of tribute cards are not
    decided, a payer who laid a card may have one card less. If a found card made the counts right,
    the profile decides whether a new attempt begins (`counting.found_card`, provisional). After a
    pair's second claim only the chief may decide (provisional).
    """
    if match.claimed is None:
        refuse("NOT_SUSPENDED")
    pair = side_of(match.claimed)
    claimed_before = sum(side_of(seat) == pair for seat in match.claims) > 1
    act: DecidedAct = "second_count" if claimed_before else "recount"
    require_authority(act, event.role, verbal=event.verbal)
    most = match.profile.deck.cards
    if set(event.counts) != set(SEATS) or not all(0 <= n <= most for n in event.counts.values()):
        refuse("WRONG_COUNTS", card_count_words(event.counts))
    going = replace(match, suspended=None, claimed=None)
    guandan = match.profile.counting if isinstance(match, GuandanMatch) else None
    redeals = event.found and guandan is not None and guandan.found_card == "redeal"
    exchange = match.exchange if isinstance(match, GuandanMatch) else None
    laid = () if exchange is None or exchange.plan is not None else exchange.laid
    right = all(
        event.counts[seat] == due or (seat in laid and event.counts[seat] == due - 1)
        for seat, due in required_counts(match).items()
    )
    if redeals or not right:
        return _redeal(going, "count", event, claimed=match.claimed)
    return going, ()


def void_deal(match: AnyMatch, event: events.DealVoided) -> StepResult:
    """Begin another attempt of a deal that the chief voided after the release of its hands.

    The chief may void a deal even after the first lead (provisional).
    """
    act: DecidedAct = "void_deal" if match.led else "redeal_after_release"
    require_authority(act, event.role, verbal=event.verbal)
    return _redeal(replace(match, suspended=None, claimed=None), event.reason, event)


def required_counts(match: AnyMatch) -> dict[Seat, int]:
    """Return the number of cards that each seat must have now, before the first lead."""
    counts: dict[Seat, int] = dict.fromkeys(SEATS, match.profile.hand)
    exchange = match.exchange if isinstance(match, GuandanMatch) else None
    if exchange is None or exchange.plan is None:
        return counts
    moved = [*exchange.plan.payments]
    moved += [pair for pair in exchange.plan.returns if pair[0] in exchange.given]
    for giver, to in moved:
        counts[giver] -= 1
        counts[to] += 1
    return counts


def _redeal(
    match: AnyMatch,
    reason: str,
    event: events.HandsRecounted | events.DealVoided,
    *,
    claimed: Seat | None = None,
) -> StepResult:
    """Begin another attempt after the release of the hands. In Guandan, note this on the sheet."""
    if not isinstance(match, GuandanMatch):
        return _begin_next_attempt(match, event.at_ms)
    row = RedealtRow(
        row=next_row_number(match),
        at_ms=event.at_ms,
        deal=match.deal,
        reason=reason,
        by=event.by,
        claimed=claimed,
        entered_by=event.entered_by,
    )
    return _begin_next_attempt(add_row(match, row), event.at_ms)


def _begin_next_attempt(match: AnyMatch, at_ms: int) -> StepResult:
    """Begin another attempt of the present deal, because its hands cannot be played.

    If the match has ended, or first needs a named leader, return that step instead.
    """
    failed = replace(
        match, misdeals=match.misdeals + 1, in_a_row=match.in_a_row + 1, began_ms=None, let_go=False
    )
    if isinstance(failed, GuandanMatch):
        failed = follow_standing(replace(failed, exchange=None, gone=(), outs=(), dead=()))
        if instead := outcome_instead_of_deal(failed, at_ms):
            return instead
    elif isinstance(failed, BigTwoMatch):
        failed = replace(failed, choices=None, left={})
    due, effects = begin_attempt(failed)
    if due.in_a_row < MISDEALS_TO_CALL:
        return due, effects
    return due, (*effects, RefereeCalled("misdeals_in_a_row"))
