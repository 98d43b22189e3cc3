"""After the deals: corrections of what was written, and signatures under it."""

from controller.match.course import Stepped, changed, next_row, reopened
from controller.match.effects import Written
from controller.match.events import Corrected, Signed
from controller.match.phase import Phase
from controller.match.refusals import refuse
from controller.match.sheet import Choice, CorrectionRow, deal_row, replay
from controller.match.state import BigTwoMatch, GuandanMatch, Match, Signature
from controller.rules.result import FinishError, Result, finish

SEATS_AND_REFEREE = ("N", "W", "S", "E", "referee")


def corrected(match: GuandanMatch, event: Corrected) -> Stepped:
    """Write a recorded deal's result anew; what was played since stays as it was played."""
    try:
        result = finish(event.order)
    except FinishError as mistake:
        refuse("NO_FINISH_ORDER", str(mistake))
    return rewritten(
        match,
        event.deal,
        result,
        event.choice,
        by=event.by,
        reason=event.reason,
        at_ms=event.at_ms,
    )


def rewritten(
    match: GuandanMatch,
    deal: int,
    result: Result,
    choice: Choice,
    *,
    by: str,
    reason: str,
    at_ms: int,
) -> Stepped:
    """Return the match with another result written for `deal`, and what that changes now.

    Raises RefusedError where the sheet has no such deal.
    """
    was = deal_row(match.sheet, deal)
    if was is None:
        refuse("NO_SUCH_DEAL", str(deal))
    row = CorrectionRow(
        row=next_row(match),
        at_ms=at_ms,
        deal=deal,
        was=was.result,
        result=result,
        choice=choice,
        by=by,
        reason=reason,
    )
    sheet = (*match.sheet, row)
    standing = replay(match.profile, sheet)
    after, effects = reopened(changed(match, sheet=sheet, standing=standing), at_ms)
    return after, (Written(row), *effects)


def signed(match: Match, event: Signed) -> Stepped:
    """Put a name under the sheet; the last one closes it (seed 000 A13.1)."""
    due = signers(match)
    if event.signer not in due or event.signer in {one.signer for one in match.signatures}:
        refuse("NO_SIGNER", event.signer)
    names = (*match.signatures, Signature(event.signer, event.person, event.at_ms))
    phase = Phase.SIGNED if len(names) == len(due) else Phase.OVER
    return changed(match, signatures=names, phase=phase), ()


def signers(match: Match) -> tuple[str, ...]:
    """Return who signs the sheet of a match."""
    if isinstance(match, BigTwoMatch):
        return SEATS_AND_REFEREE
    assert isinstance(match, GuandanMatch)
    return tuple(match.profile.roles.signers)
