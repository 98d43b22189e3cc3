"""The deal that the machine must deal next for the match, and the deals that are over."""

import msgspec

from controller.machine.state.table_match import NEXT_DEAL_PHASES, DealId, TableMatch
from controller.machine.state.table_state import TableState
from controller.match.next_deal import is_time_up_for_deals
from controller.match.phase import BEFORE_RELEASE, DEAL_UNDER_WAY, ENDED_PHASES, MatchPhase
from controller.messages import AttemptOutcome


def due_deal(play: TableMatch) -> DealId | None:
    """Return the deal that the machine must deal for the match now, or None if there is none."""
    match = play.match
    if match is None or match.by_hand or match.phase not in BEFORE_RELEASE:
        return None
    return DealId(match.meeting.match_id, match.deal)


def deal_to_prepare(play: TableMatch) -> DealId | None:
    """Return the deal that may be dealt ahead now, or None if no deal may be dealt ahead.

    A deal is dealt ahead only while the machine's deal before it is played, with time left for
    another deal, and only once. An extra deal is not dealt ahead.
    """
    match = play.match
    if match is None or match.phase not in DEAL_UNDER_WAY or match.by_hand:
        return None
    known = play.ahead is not None and play.ahead.deal == match.deal + 1
    if known or is_time_up_for_deals(msgspec.structs.replace(match, begun=False), match.now_ms):
        return None
    return DealId(match.meeting.match_id, match.deal + 1)


def is_needed(play: TableMatch, deal: DealId) -> bool:
    """Return whether the match needs hands of the machine for `deal`, its present or next deal."""
    match = play.match
    if match is None or match.meeting.match_id != deal.match_id:
        return False
    if match.deal == deal.deal:
        return due_deal(play) == deal
    return match.deal + 1 == deal.deal and match.phase in NEXT_DEAL_PHASES


def is_cut_awaited(play: TableMatch, deal: DealId) -> bool:
    """Return whether the match waits for the cut of `deal`, and no early cut is stored.

    The cut of an earlier attempt of this deal does not count. After such a cut the match can go
    back to name the leader after the deal before, and then it begins this deal again.
    """
    at_cut = play.match is not None and play.match.phase is MatchPhase.CUT
    return at_cut and play.ahead is None and due_deal(play) == deal


def is_match_over(play: TableMatch, match_id: str) -> bool:
    """Return whether the match `match_id` has ended at this table.

    It has ended if its phase is OVER or SIGNED, or if another match began here. A match that moved
    to another table counts as continuing until another match begins here.
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
    """Return whether the play of `deal` has ended. Its hands were released at this table.

    It is over when its result is recorded, when it is stopped or dealt again, or when the match at
    this table is another one. A deal that is now played at another table is not over.
    """
    match = play.match
    if deal == play.played_elsewhere:
        return False
    if match is None or match.meeting.match_id != deal.match_id or match.deal != deal.deal:
        return True
    return not match.is_deal_under_way


def is_dealt_again(play: TableMatch, deal: DealId) -> bool:
    """Return whether `deal` must be dealt again, although its hands were released before."""
    match = play.match
    if match is None or DealId(match.meeting.match_id, match.deal) != deal:
        return False
    return match.phase in BEFORE_RELEASE


MISDEALS_BEFORE_CALL = 2
"""Misdeals in a row after which a person decides, not the machine (provisional)."""

_FAILED_OUTCOMES = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)


class NextDeal(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The next deal for the machine, and how the machine must begin it.

    `clear_first`: the last attempt gave no hands, so people must clear its cards first.
    `is_automatic`: that attempt was at this deal, so the deal begins again without a command. This
    ends after MISDEALS_BEFORE_CALL misdeals in a row.
    `is_ahead`: the deal is dealt while another is played. `is_practice`: it belongs to no match.
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
    """Return the deal that the machine must deal next, or None if no deal is due now.

    Without a match, or after its sheet is signed, return a practice deal, with `practice` as its
    match id. `ahead` is True if deals may be dealt ahead.
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
    """Return whether the table's last attempt belongs to this deal and was a misdeal or void."""
    return (state.match, state.deal) == (match_id, deal) and state.outcome in _FAILED_OUTCOMES
