"""After the deals: corrections of what was written, and signatures under it."""

from controller.match.authority import DecidedAct, require_authority
from controller.match.course import (
    StepResult,
    add_row,
    continue_match,
    next_row_number,
    reconsider_match,
    replace_fields,
)
from controller.match.effects import Effects, RowAdded
from controller.match.events import CorrectionConfirmed, ResultCorrected, SheetSigned
from controller.match.phase import MatchPhase
from controller.match.refusals import refuse, refuse_finish
from controller.match.sheet import (
    CorrectionChoice,
    CorrectionRow,
    StoppedRow,
    find_deal_row,
    last_deal_row,
    replay_sheet,
)
from controller.match.state import AnyMatch, GuandanMatch, SheetSignature
from controller.rules.result import DealResult, FinishError, parse_finish
from controller.rules.seats import SEATS

BIG_TWO_SIGNERS = (*SEATS, "referee")
"""Who signs in Big Two, where each scores for himself (provisional)."""


def correct_deal(match: GuandanMatch, event: ResultCorrected) -> StepResult:
    """Write a recorded deal's result anew; what was played since stays as it was played.

    A referee's, until later deals were played or the sheet was signed: then the chief's.
    """
    require_authority(_correction_act(match, event.deal), event.role, verbal=event.verbal)
    try:
        result = parse_finish(event.order)
    except FinishError as mistake:
        refuse_finish(mistake)
    if event.entered_by is not None:
        match = replace_fields(match, spoken=match.spoken | {next_row_number(match): None})
    return correct_result(
        match,
        event.deal,
        result,
        event.choice,
        by=event.by,
        entered_by=event.entered_by,
        reason=event.reason,
        at_ms=event.at_ms,
    )


def confirm_correction(match: GuandanMatch, event: CorrectionConfirmed) -> StepResult:
    """Note that the chief stands by a correction that he gave by word; the sheet stays as it is."""
    require_authority("late_correction", event.role)
    if match.spoken.get(event.row, "nobody's") is not None:
        refuse("NOT_VERBAL", str(event.row))
    return replace_fields(match, spoken=match.spoken | {event.row: event.by}), ()


def _correction_act(match: GuandanMatch, deal: int) -> DecidedAct:
    if match.signatures:
        return "signed_sheet"
    last = last_deal_row(match.sheet)
    later = match.is_deal_under_way or (last is not None and last.deal > deal)
    return "late_correction" if later else "correction"


def correct_result(
    match: GuandanMatch,
    deal: int,
    result: DealResult,
    choice: CorrectionChoice,
    *,
    by: str,
    reason: str,
    at_ms: int,
    entered_by: str | None = None,
    ruling: str | None = None,
) -> StepResult:
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
    match = replace_fields(match, sheet=sheet, standing=replay_sheet(match.profile, sheet))
    if choice != "void_later" or not match.is_deal_under_way:
        after, effects = reconsider_match(match, at_ms)
        return after, (RowAdded(row), *effects)
    match, stopped = stop_deal_under_way(match, "void_later", at_ms)
    after, effects = continue_match(match, at_ms)
    return after, (RowAdded(row), *stopped, *effects)


def stop_deal_under_way(
    match: GuandanMatch, reason: str, at_ms: int
) -> tuple[GuandanMatch, Effects]:
    """Return the match with its deal under way written down as one that does not count."""
    if not match.is_deal_under_way:
        return match, ()
    row = StoppedRow(row=next_row_number(match), at_ms=at_ms, deal=match.deal, reason=reason)
    return add_row(replace_fields(match, clocks=(), suspended=None, claimed=None), row)


def sign_sheet(match: AnyMatch, event: SheetSigned) -> StepResult:
    """Put a name under the sheet; the last one closes it (`roles.signers`)."""
    due = sheet_signers(match)
    if event.signer not in due or event.signer in {one.signer for one in match.signatures}:
        refuse("NO_SIGNER", event.signer)
    names = (*match.signatures, SheetSignature(event.signer, event.person, event.at_ms))
    phase = MatchPhase.SIGNED if len(names) == len(due) else MatchPhase.OVER
    return replace_fields(match, signatures=names, phase=phase), ()


def sheet_signers(match: AnyMatch) -> tuple[str, ...]:
    """Return who signs the sheet of a match."""
    if isinstance(match, GuandanMatch):
        return tuple(match.profile.roles.signers)
    return BIG_TWO_SIGNERS
