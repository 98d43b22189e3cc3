"""After the deals: corrections of what was written, and signatures under it."""

from controller.match.authority import Act, require
from controller.match.course import Stepped, changed, go_on, next_row_number, reopened, written
from controller.match.effects import Effects, Written
from controller.match.events import Corrected, CorrectionConfirmed, Signed
from controller.match.phase import Phase
from controller.match.refusals import refuse, refuse_finish
from controller.match.sheet import (
    Choice,
    CorrectionRow,
    StoppedRow,
    find_deal_row,
    last_deal,
    replay,
)
from controller.match.state import GuandanMatch, Match, Signature
from controller.rules.result import FinishError, Result, finish
from controller.rules.seats import ALL

BIG_TWO_SIGNERS = (*ALL, "referee")
"""Who signs in Big Two, where each scores for himself (provisional)."""


def corrected(match: GuandanMatch, event: Corrected) -> Stepped:
    """Write a recorded deal's result anew; what was played since stays as it was played.

    A referee's, until later deals were played or the sheet was signed: then the chief's.
    """
    require(_correction_act(match, event.deal), event.role, verbal=event.verbal)
    try:
        result = finish(event.order)
    except FinishError as mistake:
        refuse_finish(mistake)
    if event.entered_by is not None:
        match = changed(match, spoken=match.spoken | {next_row_number(match): None})
    return rewritten(
        match,
        event.deal,
        result,
        event.choice,
        by=event.by,
        entered_by=event.entered_by,
        reason=event.reason,
        at_ms=event.at_ms,
    )


def correction_confirmed(match: GuandanMatch, event: CorrectionConfirmed) -> Stepped:
    """Note that the chief stands by a correction that he gave by word; the sheet stays as it is."""
    require("late_correction", event.role)
    if match.spoken.get(event.row, "nobody's") is not None:
        refuse("NOT_VERBAL", str(event.row))
    return changed(match, spoken=match.spoken | {event.row: event.by}), ()


def _correction_act(match: GuandanMatch, deal: int) -> Act:
    if match.signatures:
        return "signed_sheet"
    last = last_deal(match.sheet)
    later = match.under_way or (last is not None and last.deal > deal)
    return "late_correction" if later else "correction"


def rewritten(
    match: GuandanMatch,
    deal: int,
    result: Result,
    choice: Choice,
    *,
    by: str,
    reason: str,
    at_ms: int,
    entered_by: str | None = None,
    ruling: str | None = None,
) -> Stepped:
    """Return the match with another result written for `deal`, and what that changes now.

    Raises RefusedError where the sheet has no such deal.
    """
    was = find_deal_row(match.sheet, deal)
    if was is None:
        refuse("NO_SUCH_DEAL", str(deal))
    row = CorrectionRow(
        row=next_row_number(match),
        at_ms=at_ms,
        deal=deal,
        was=was.result,
        result=result,
        choice=choice,
        by=by,
        reason=reason,
        entered_by=entered_by,
        ruling=ruling,
    )
    sheet = (*match.sheet, row)
    match = changed(match, sheet=sheet, standing=replay(match.profile, sheet))
    if choice != "void_later" or not match.under_way:
        after, effects = reopened(match, at_ms)
        return after, (Written(row), *effects)
    match, stopped = stop_deal_under_way(match, "void_later", at_ms)
    after, effects = go_on(match, at_ms)
    return after, (Written(row), *stopped, *effects)


def stop_deal_under_way(
    match: GuandanMatch, reason: str, at_ms: int
) -> tuple[GuandanMatch, Effects]:
    """Return the match with its deal under way written down as one that does not count."""
    if not match.under_way:
        return match, ()
    row = StoppedRow(row=next_row_number(match), at_ms=at_ms, deal=match.deal, reason=reason)
    return written(changed(match, clocks=(), suspended=None, claimed=None), row)


def signed(match: Match, event: Signed) -> Stepped:
    """Put a name under the sheet; the last one closes it (`roles.signers`)."""
    due = signers(match)
    if event.signer not in due or event.signer in {one.signer for one in match.signatures}:
        refuse("NO_SIGNER", event.signer)
    names = (*match.signatures, Signature(event.signer, event.person, event.at_ms))
    phase = Phase.SIGNED if len(names) == len(due) else Phase.OVER
    return changed(match, signatures=names, phase=phase), ()


def signers(match: Match) -> tuple[str, ...]:
    """Return who signs the sheet of a match."""
    if isinstance(match, GuandanMatch):
        return tuple(match.profile.roles.signers)
    return BIG_TWO_SIGNERS
