"""The deal that the match needs next, and the deals that are over."""

import msgspec

from controller.machine.state.table_match import NEXT_DEAL_PHASES, DealId, TableMatch
from controller.machine.state.table_state import TableState
from controller.match.next_deal import is_time_up_for_deals
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY, ENDED_PHASES, MatchPhase
from controller.messages import AttemptOutcome


def due_deal(play: TableMatch) -> DealId | None:
    """Return the deal that the match needs from the machine now, or None."""
    match = play.match
    if match is None or match.by_hand or match.phase not in BEFORE_RELEASE:
        return None
    return DealId(match.meeting.match_id, match.deal)


def deal_to_prepare(play: TableMatch) -> DealId | None:
    """Return the deal that may be dealt ahead while the present one is played, or None.

    After a deal by hand the places of the sets are unknown. After the end of time no further deal
    is prepared. An extra deal is dealt when it is ordered.
    """
    match = play.match
    if match is None or match.phase not in DEAL_UNDER_WAY or match.by_hand:
        return None
    known = play.ahead is not None and play.ahead.deal == match.deal + 1
    if known or is_time_up_for_deals(msgspec.structs.replace(match, begun=False), match.now_ms):
        return None
    return DealId(match.meeting.match_id, match.deal + 1)


def is_needed(play: TableMatch, deal: DealId) -> bool:
    """Return whether the hands of a deal are still to be played."""
    match = play.match
    if match is None or match.meeting.match_id != deal.match_id:
        return False
    if match.deal == deal.deal:
        return due_deal(play) == deal
    return match.deal + 1 == deal.deal and match.phase in NEXT_DEAL_PHASES


def is_cut_awaited(play: TableMatch, deal: DealId) -> bool:
    """Return whether the match waits for the cut of a deal and has none.

    An attempt of this deal that was cut before does not count. In that case the match went back to
    the deal before, to decide who leads after it, and begins this deal again.
    """
    at_cut = play.match is not None and play.match.phase is MatchPhase.CUT
    return at_cut and play.ahead is None and due_deal(play) == deal


def is_match_over(play: TableMatch, match_id: str) -> bool:
    """Return whether a match has ended at this table.

    Its verdict ends it, and so does another match that begins here. A match that moved to another
    table continues there, until another match begins here.
    """
    if play.arriving is not None:
        return False  # The arriving match may be this one. It counts when it is complete.
    match = play.match
    if match is None and play.transferred is not None:
        match = play.transferred.match
    if match is None or match.meeting.match_id != match_id:
        return True
    return match.phase in ENDED_PHASES


def is_deal_over(play: TableMatch, deal: DealId) -> bool:
    """Return whether a deal has ended after the release of its hands.

    It has a result then, or it is dealt again. A deal that is played at another table is not over
    here.
    """
    match = play.match
    if deal == play.played_elsewhere:
        return False
    if match is None or match.meeting.match_id != deal.match_id or match.deal != deal.deal:
        return True
    return not match.is_deal_under_way


def is_dealt_again(play: TableMatch, deal: DealId) -> bool:
    """Return whether a deal must be dealt again after the release of its hands."""
    match = play.match
    if match is None or DealId(match.meeting.match_id, match.deal) != deal:
        return False
    return match.phase in BEFORE_RELEASE


MISDEALS_BEFORE_CALL = 2
"""Misdeals in a row after which a person decides, not the machine (provisional)."""

_FAILED_OUTCOMES = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)


class NextDeal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The next deal, as the machine must deal it.

    `clear_first`: the last attempt gave no hands, so the cards must be cleared first.
    `is_automatic`: that attempt was one of this deal, so the deal begins without a command.
    `is_ahead`: it is dealt while another deal is played. `is_practice`: it belongs to no match.
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
    """Return the deal to deal next, or None while the match waits for people.

    `practice` is the match id of deals without a match. `ahead` is True if deals may be dealt
    ahead.
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
    """Return whether the last attempt was at this deal and gave no hands."""
    return (state.match, state.deal) == (match_id, deal) and state.outcome in _FAILED_OUTCOMES
