"""Before the cards: seats, the start, and what people do until hands are dealt."""

from controller.cards import face_text, parse_face
from controller.match.clocks import countdown, match_clock
from controller.match.clocks.duties import late_clocks
from controller.match.course import (
    StepResult,
    begin_attempt,
    begin_deal,
    deal_duties_of,
    replace_fields,
    void_hands,
)
from controller.match.effects import Effects, RefereeCalled, TurnupRepeated
from controller.match.events import (
    CardTurnedUp,
    HandDealOrdered,
    MatchStarted,
    SeatTaken,
    SetCut,
    SetShuffled,
)
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse, refuse_card
from controller.match.state import AnyMatch, GuandanMatch
from controller.messages import Seat
from controller.rules.ceremony import (
    NoPipsError,
    cut_problem,
    first_drawer_by_count,
    is_turnup_valid,
)
from controller.rules.seats import SEATS, seats_of_side, side_of
from controller.words import Words


def take_seat(match: AnyMatch, event: SeatTaken) -> StepResult:
    """Take a seat; after the start the fourth player's makes the first deal due."""
    if event.seat in match.seated:
        refuse("SEAT_TAKEN", event.seat)
    there = (*match.seated, event.seat)
    match = replace_fields(match, seated=there)
    expected = match.meeting.pair_of(event.seat).players.get(event.seat)
    stranger = None not in (event.person, expected) and event.person != expected
    told: Effects = (RefereeCalled("wrong_player", event.seat),) if stranger else ()
    if set(seats_of_side(side_of(event.seat))) <= set(there):
        clocks, _ = countdown.remove_done(
            match.clocks, "late", event.at_ms, side=side_of(event.seat)
        )
        match = replace_fields(match, clocks=clocks)
    begun, effects = _begin_if_ready(match)
    return begun, (*told, *effects)


def start_match(match: AnyMatch, event: MatchStarted) -> StepResult:
    """Open the match for the whole area; late players are waited for."""
    if match.started:
        refuse("TWICE", Words("the start", "开赛"))
    match = replace_fields(match, started=True, clock=match_clock.start(match.clock, event.at_ms))
    if isinstance(match, GuandanMatch):
        waited_for = tuple(
            clock
            for clock in late_clocks(match.profile, event.at_ms)
            if clock.side and not set(seats_of_side(clock.side)) <= set(match.seated)
        )
        match = replace_fields(match, clocks=waited_for)
    return _begin_if_ready(match)


def _begin_if_ready(match: AnyMatch) -> StepResult:
    if match.started and len(match.seated) == len(SEATS):
        return begin_deal(match)
    return match, ()


def order_hand_deal(match: AnyMatch, event: HandDealOrdered) -> StepResult:
    """Deal this one by hand: its attempt begins again, with all the rulebook's duties."""
    if match.by_hand:
        refuse("TWICE", Words("this deal", "本副"))
    due, effects = begin_attempt(replace_fields(match, by_hand=True))
    return due, (*void_hands(match, "by_hand"), *effects)


def accept_shuffle(match: AnyMatch, event: SetShuffled) -> StepResult:
    """Note who shuffled; his opponents cut the first deal (seed 000 A5.1.2)."""
    assert match.duties is not None  # a deal is due in this phase
    if match.duties.shufflers and event.seat not in match.duties.shufflers:
        refuse("NOT_HIS_DUTY", _seat_list(match.duties.shufflers))
    due = deal_duties_of(match, event.seat if match.duties.shufflers else None)
    return replace_fields(match, phase=MatchPhase.CUT, shuffler=event.seat, duties=due), ()


def accept_cut(match: AnyMatch, event: SetCut) -> StepResult:
    """Note the cut, and that there was none where the referee lets the deal go on without."""
    assert match.duties is not None  # a deal is due in this phase
    if event.n is not None:
        if problem := cut_problem(match.profile, event.n):
            refuse("ILLEGAL_CUT", problem)
        anybody = event.ahead and event.seat is not None and not match.by_hand
        if event.seat not in match.duties.cutters and not anybody:
            refuse("NOT_HIS_DUTY", _seat_list(match.duties.cutters))
    by_hand = match.by_hand and match.duties.turnup
    then = MatchPhase.TURNUP if by_hand else MatchPhase.DEALING
    cutter = event.seat if event.n is not None else None
    return replace_fields(match, phase=then, cutter=cutter, cut=event.n), ()


def accept_turnup(match: AnyMatch, event: CardTurnedUp) -> StepResult:
    """Count by the card who draws first; some cards do not count (seed 004 CN5)."""
    assert match.duties is not None  # a deal is due in this phase
    try:
        face = parse_face(event.card)
    except ValueError:
        refuse_card(event.card)
    card = face_text(face)
    if not is_turnup_valid(match.profile, face):
        return replace_fields(match, phase=MatchPhase.CUT, cutter=None, cut=None), (
            TurnupRepeated(card),
        )
    return replace_fields(
        match,
        phase=MatchPhase.DEALING,
        turned_up=card,
        first_drawer=_first_drawer_by_card(match, face),
    ), ()


def _first_drawer_by_card(match: AnyMatch, face: int) -> Seat | None:
    if match.cutter is None or not isinstance(match, GuandanMatch):
        return None
    try:
        return first_drawer_by_count(match.profile, match.cutter, face)
    except NoPipsError:  # where any card shows who leads, and nobody counts (seed 003 R4.1)
        return None


def _seat_list(seats: tuple[Seat, ...]) -> str:
    return " / ".join(seats)
