"""The steps of a match that only Big Two has: choices before play, counts of cards left, scores.

Big Two is a profile for practice. A match has the totals of its own table, but no matchpoints,
which compare the same deal at several tables (seed 002 A13).
"""

from msgspec.structs import replace

from controller.match.big_two_choices import answer_choice, answer_for_silent
from controller.match.match_events import CardsLeftEntered, ChoiceAnswered, ResultConfirmed
from controller.match.match_state import BigTwoMatch, BigTwoRow
from controller.match.next_deal import StepResult, begin_deal
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse
from controller.match.timing import update_choices
from controller.messages import Seat
from controller.rules.big_two import deal_scores
from controller.seats import SEATS, SIDES, card_count_words
from controller.words import Words


def accept_answer(match: BigTwoMatch, event: ChoiceAnswered) -> StepResult:
    """Record a seat's answer to the present choice: open hand or doubling. Source: seed 002 A6."""
    assert match.choices is not None  # The phase CHOICES begins with choices.
    try:
        choices = answer_choice(match.choices, event.seat, event.yes, event.at_ms)
    except ValueError:
        asked = answer_for_silent(match.choices, event.at_ms).current_round().seats_asked()
        refuse("NOT_HIS_DUTY", " / ".join(asked))
    return update_choices(replace(match, choices=choices), event.at_ms), ()


def accept_cards_left(match: BigTwoMatch, event: CardsLeftEntered) -> StepResult:
    """Record how many cards each hand has left at the end of a deal. Source: seed 002 A10."""
    try:
        _deal_scores(match, event.left)
    except ValueError:
        words = Words("the cards that each has left", "各家所剩张数")
        refuse("NO_FINISH_ORDER", card_count_words(event.left), words)
    return replace(match, left=event.left, phase=MatchPhase.RESULT, confirmed=(), led=True), ()


def confirm_score(match: BigTwoMatch, event: ResultConfirmed) -> StepResult:
    """Record that a side or the referee has confirmed the result of the deal.

    The result is put on the score sheet when both sides have confirmed it, or the referee alone.
    Provisional: seed 002 does not state who confirms a score.
    """
    if event.by in match.confirmed:
        refuse("TWICE", event.by)
    match = replace(match, confirmed=(*match.confirmed, event.by))
    if event.by != "referee" and not set(match.confirmed) >= set(SIDES):
        return match, ()
    rows = (*match.rows, _deal_row(match, event.at_ms))
    match = replace(match, rows=rows, totals=seat_totals(rows))
    if len(rows) >= match.profile.deals:
        return replace(match, phase=MatchPhase.OVER), ()
    return begin_deal(match)


def seat_totals(rows: tuple[BigTwoRow, ...]) -> dict[Seat, int]:
    """Return each seat's total of the scores in `rows`. Source: seed 002 App2.2."""
    return {seat: sum(row.scores[seat] for row in rows) for seat in SEATS}


def _deal_row(match: BigTwoMatch, at_ms: int) -> BigTwoRow:
    assert match.choices is not None  # A deal was played.
    assert match.leader is not None  # The leader has the card that must be led.
    doubling = match.choices.doubling
    return BigTwoRow(
        row=len(match.rows) + 1,
        at_ms=at_ms,
        deal=match.deal,
        by_hand=match.by_hand,
        uncut=match.cut is None,
        leader=match.leader,
        left=match.left,
        opened=match.choices.open_hand.seats_agreed(),
        doubled=() if doubling is None else doubling.seats_agreed(),
        scores=_deal_scores(match, match.left),
        misdeals=match.misdeals,
    )


def _deal_scores(match: BigTwoMatch, left: dict[Seat, int]) -> dict[Seat, int]:
    assert match.choices is not None  # A deal was played.
    doubling = match.choices.doubling
    return deal_scores(
        left,
        match.profile.bigtwo,
        match.choices.open_hand.seats_agreed(),
        () if doubling is None else doubling.seats_agreed(),
    )
