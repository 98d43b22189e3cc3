"""Which deal the machine is to deal next, out of its own state and the match's."""

import msgspec

from controller.machine.play.questions import deal_to_prepare, due_deal
from controller.machine.play.values import TableMatch
from controller.machine.state import TableState
from controller.match.phase import MatchPhase
from controller.messages import AttemptOutcome

MISDEALS_BEFORE_CALL = 2
"""Misdeals in a row after which a person decides, not the machine (provisional)."""

_FAILED_OUTCOMES = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)


class NextDeal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A deal to be dealt.

    `again`: the last attempt gave no hands, so that the cards have to be cleared up first;
    `by_itself`: it was one of this deal, which begins without an order then. `ahead`: it is
    dealt while another one is played. `practice`: it belongs to no match.
    """

    match_id: str
    deal: int
    clear_first: bool = False
    is_automatic: bool = False
    is_ahead: bool = False
    is_practice: bool = False


def next_deal(
    state: TableState, play: TableMatch, practice: str, *, ahead: bool
) -> NextDeal | None:
    """Return the deal that is to be dealt; None while the match waits for people.

    `practice` names what is dealt without a match. `ahead`: deals may be dealt ahead.
    """
    if play.match is None or play.match.phase is MatchPhase.SIGNED:
        last = (state.deal or 0) if state.match == practice else 0
        deal = last if _has_failed(state, practice, last) else last + 1
        return _new_next_deal(state, practice, deal, practice=True)
    now = due_deal(play)
    if now is not None:
        return _new_next_deal(state, now.match_id, now.deal)
    early = deal_to_prepare(play) if ahead else None
    return None if early is None else _new_next_deal(state, early.match_id, early.deal, ahead=True)


def _new_next_deal(
    state: TableState, match_id: str, deal: int, *, ahead: bool = False, practice: bool = False
) -> NextDeal:
    same = _has_failed(state, match_id, deal)
    return NextDeal(
        match_id=match_id,
        deal=deal,
        clear_first=state.outcome in _FAILED_OUTCOMES,
        is_automatic=same and state.misdeals_in_a_row < MISDEALS_BEFORE_CALL,
        is_ahead=ahead,
        is_practice=practice,
    )


def _has_failed(state: TableState, match_id: str, deal: int) -> bool:
    """Tell whether the last attempt was one of this deal, and gave no hands."""
    return (state.match, state.deal) == (match_id, deal) and state.outcome in _FAILED_OUTCOMES
