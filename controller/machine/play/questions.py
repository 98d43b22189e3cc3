"""What the machine asks of the match: which deal is wanted, and which is over."""

import msgspec

from controller.machine.play.values import DealId, Play
from controller.match.desk import current_record
from controller.match.judging import is_time_up_for_deals
from controller.match.phase import AT_THE_TABLE, BEFORE_RELEASE, ENDED_PHASES, Phase
from controller.match.state import GuandanMatch
from controller.rules.penalties.records import pairs_disqualified

NEXT_DEAL_PHASES = AT_THE_TABLE | {Phase.FORFEIT, Phase.MATCH_CHECK}
"""While a match is in these phases its next deal may be on its way."""


def wanted(play: Play) -> DealId | None:
    """Return the deal that the match waits for the machine to deal; None: it waits for none."""
    match = play.match
    if match is None or match.by_hand or match.phase not in BEFORE_RELEASE:
        return None
    return DealId(match.meeting.match_id, match.deal)


def deal_to_prepare(play: Play) -> DealId | None:
    """Return the deal that may be dealt while the present one is played; None: none.

    While a deal was dealt by hand nobody knows which set lies where. Where time is up no
    further deal is prepared; an extra deal is dealt once it is ordered.
    """
    match = play.match
    if match is None or match.phase not in AT_THE_TABLE or match.by_hand:
        return None
    known = play.ahead is not None and play.ahead.deal == match.deal + 1
    if known or is_time_up_for_deals(msgspec.structs.replace(match, begun=False), match.now_ms):
        return None
    return DealId(match.meeting.match_id, match.deal + 1)


def needed(play: Play, deal: DealId) -> bool:
    """Tell whether the hands of a deal, dealt or on their way, are still to be played."""
    match = play.match
    if match is None or match.meeting.match_id != deal.match_id:
        return False
    if match.deal == deal.deal:
        return wanted(play) == deal
    if match.deal + 1 != deal.deal:
        return False
    return match.phase in NEXT_DEAL_PHASES


def is_cut_awaited(play: Play, deal: DealId) -> bool:
    """Tell whether the match waits for the cut of a deal, and knows of none.

    An attempt of that deal which was cut already is not the one that it waits for: the match
    went back to the deal before, for who leads after it, and begins this one anew.
    """
    at_cut = play.match is not None and play.match.phase is Phase.CUT
    return at_cut and play.ahead is None and wanted(play) == deal


def disqualified_pairs(play: Play) -> frozenset[tuple[str, str]]:
    """Return event and pair of each pair that a match at this table has disqualified."""
    match = play.match
    if not isinstance(match, GuandanMatch):
        return play.barred
    event = match.meeting.event
    return play.barred | {
        (event, pair) for pair in pairs_disqualified(current_record(match), event)
    }


def is_match_over(play: Play, match_id: str) -> bool:
    """Tell whether a match has ended: by its verdict, or because another one began at its table.

    One that went to another table is played on there, until another one begins here.
    """
    if play.coming is not None:
        return False  # it may be this one, and tells when it is whole
    match = play.match
    if match is None and play.sent is not None:
        match = play.sent.match
    if match is None or match.meeting.match_id != match_id:
        return True
    return match.phase in ENDED_PHASES


def over(play: Play, deal: DealId) -> bool:
    """Tell whether a deal whose hands were out is over: written, or dealt again.

    One that is played on at another table is not, as far as is known here.
    """
    match = play.match
    if deal == play.left_out:
        return False
    if match is None or match.meeting.match_id != deal.match_id or match.deal != deal.deal:
        return True
    return not match.under_way


def dealt_again(play: Play, deal: DealId) -> bool:
    """Tell whether a deal whose hands were out is due again: a wrong count, or the chief."""
    match = play.match
    same = match is not None and match.meeting.match_id == deal.match_id
    return match is not None and same and match.deal == deal.deal and match.phase in BEFORE_RELEASE
