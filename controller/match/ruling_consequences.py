"""The consequences of a ruling in force: one function for each kind.

controller/rules/penalties/proposals.py lists the kinds, and the penalties that have them.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from controller.match.deal_end import update_places
from controller.match.match_state import GuandanMatch
from controller.match.next_deal import (
    StepResult,
    add_row,
    continue_match,
    end_match,
    next_row_number,
    open_new_version,
    verdict_by_ruling,
)
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.match.refusals import refuse, refuse_finish
from controller.match.rulings import MatchRuling, deal_of_charge
from controller.match.sheet_rows import RedealtRow, ShiftRow, find_deal_row
from controller.match.sheet_writing import correct_result, make_deal_row, stop_deal_under_way
from controller.rules import deal_result
from controller.rules.penalties.offences import find_offence
from controller.rules.penalties.proposals import (
    Consequence,
    DeadHand,
    DealLost,
    LevelDown,
    LevelUp,
    MatchLost,
    PairDisqualified,
    TurnLost,
)


def apply_consequence(
    match: GuandanMatch, ruling: MatchRuling, consequence: Consequence, at_ms: int
) -> StepResult:
    """Return the match after one consequence of a ruling that is in force.

    Raises RefusedError if the consequence is not possible.
    """
    return _HANDLERS[type(consequence)](match, ruling, consequence, at_ms)


def _lose_deal(match: GuandanMatch, ruling: MatchRuling, what: DealLost, at_ms: int) -> StepResult:
    """Forfeit the deal in which the offence happened.

    It is the present deal, or a deal that is on the score sheet already. A deal is forfeited once:
    the first ruling counts (provisional).
    """
    if not match.deal:
        refuse("NOT_BEGUN")
    lost, deal = deal_result.ForfeitedDeal(what.side), deal_of_charge(ruling.charge)
    due = match.is_deal_under_way or match.phase in BEFORE_RELEASE
    if deal != match.deal or not due:
        was = find_deal_row(match.sheet, deal)
        if was is not None and isinstance(was.result, deal_result.ForfeitedDeal):
            return match, ()
        return _correct_result(match, ruling, deal, lost, at_ms)
    row = make_deal_row(match, lost, at_ms)
    over = replace(match, phase=MatchPhase.FORFEIT, clocks=(), suspended=None, claimed=None)
    return continue_match(add_row(over, row), at_ms)


def _correct_result(
    match: GuandanMatch, ruling: MatchRuling, deal: int, result: deal_result.DealResult, at_ms: int
) -> StepResult:
    by, reason = ruling.approved_by or ruling.by, find_offence(ruling.charge.offence).en
    return correct_result(
        match,
        deal,
        result,
        "from_now",
        by=by,
        entered_by=ruling.entered_by,
        ruling=ruling.id,
        reason=reason,
        at_ms=at_ms,
    )


def _move_level(
    match: GuandanMatch, ruling: MatchRuling, what: LevelUp | LevelDown, at_ms: int
) -> StepResult:
    steps = what.steps if isinstance(what, LevelUp) else -what.steps
    number = next_row_number(match)
    row = ShiftRow(row=number, at_ms=at_ms, ruling=ruling.id, side=what.side, steps=steps)
    return add_row(match, row), ()


def _lose_match(
    match: GuandanMatch, ruling: MatchRuling, what: MatchLost, at_ms: int
) -> StepResult:
    end = verdict_by_ruling(match)
    assert end is not None  # The ruling is in force now.
    stopped = stop_deal_under_way(match, "match_lost", at_ms)
    return end_match(open_new_version(stopped), end, at_ms)


def _make_hand_dead(
    match: GuandanMatch, ruling: MatchRuling, what: DeadHand, at_ms: int
) -> StepResult:
    """Declare the hand of a seat dead, so that later places move up.

    If the deal is written already, its row changes. In a forfeited deal no seat has a place
    (provisional). If the deal was dealt again since the offence, the hand no longer exists. Source:
    seed 000 A18.4.
    """
    if not match.deal:
        refuse("NOT_BEGUN")
    deal = deal_of_charge(ruling.charge)
    if any(
        isinstance(row, RedealtRow) and row.deal == deal and row.at_ms > ruling.charge.at_ms
        for row in match.sheet
    ):
        return match, ()
    if deal == match.deal and match.phase in _PLAY_PHASES:
        dead = replace(match, dead=(*match.dead, what.seat))
        return update_places(dead, match.ended_ms)
    was = find_deal_row(match.sheet, deal)
    if was is None:
        refuse("NOT_BEGUN")
    if not isinstance(was.result, deal_result.FinishOrder):
        return match, ()
    try:
        result = deal_result.finish_with_dead_hands(was.result.places, (*was.dead, what.seat))
    except deal_result.FinishError as mistake:
        refuse_finish(mistake)
    return _correct_result(match, ruling, deal, result, at_ms)


_HANDLERS: dict[type[Consequence], Callable[[GuandanMatch, MatchRuling, Any, int], StepResult]] = {
    DealLost: _lose_deal,
    LevelUp: _move_level,
    LevelDown: _move_level,
    MatchLost: _lose_match,
    DeadHand: _make_hand_dead,
    # The event handles an expelled pair, and the referee a lost turn.
    PairDisqualified: lambda match, ruling, what, at_ms: (match, ()),
    TurnLost: lambda match, ruling, what, at_ms: (match, ()),
}


def undo_consequences(match: GuandanMatch, ruling: MatchRuling) -> StepResult:
    """Return the match without the effects that an overturned ruling had on a deal.

    While the deal of a dead hand is played, the hand is in play again, with the place it had. If
    that deal is being dealt again, none of its hands is dead. Raises RefusedError for a deal that
    is written: correct its result instead.
    """
    final = [one for one in ruling.proposal.effects if isinstance(one, DealLost | DeadHand)]
    if not final:
        return match, ()
    due = match.is_deal_under_way or match.phase in BEFORE_RELEASE
    hands = [one.seat for one in final if isinstance(one, DeadHand)]
    if deal_of_charge(ruling.charge) != match.deal or not due or len(hands) < len(final):
        refuse("IT_ENDED_A_DEAL", ruling.id)
    if match.phase not in _PLAY_PHASES:
        return match, ()
    dead = list(match.dead)
    for seat in hands:
        if seat in dead:  # The seat is not dead if the deal was dealt again since.
            dead.remove(seat)  # once: another ruling may have made the same hand dead
    return update_places(replace(match, dead=tuple(dead)), match.ended_ms)


_PLAY_PHASES = (MatchPhase.PLAY, MatchPhase.RESULT)
