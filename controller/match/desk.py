"""The ruling desk: a person proposes, a person decides, and only then the match changes.

What was decided acts on the deal, the levels and the match by the consequences that its
proposal names (enforcing.py); everything else about a ruling is in rulings.py.
"""

from typing import get_args

from controller.match.authority import require
from controller.match.course import Stepped, changed, next_row, reopened, written
from controller.match.effects import Effects, Written
from controller.match.enforcing import FINAL, happens
from controller.match.events import RulingApproved, RulingProposed, RulingRejected, VerbalConfirmed
from controller.match.phase import ENDED
from controller.match.refusals import Refusal, RefusedError, refuse
from controller.match.rulings import Ruling, approve, confirm_verbal, propose, record_of, reject
from controller.match.sheet import EndRow, OverturnedRow, RulingRow, replay
from controller.match.state import GuandanMatch
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.consequences import LevelDown, LevelUp
from controller.rules.penalties.proposals import Proposal, by_discretion, proposals
from controller.rules.penalties.records import Penalty, Record


def record_now(match: GuandanMatch) -> Record:
    """Return the record of both pairs: what they brought, and what holds in this match."""
    return record_of(match.record, match.rulings)


def legal_proposals(match: GuandanMatch, charge: Charge) -> tuple[Proposal, ...]:
    """Return what a charge can lead to in this match, the ladder's answer first."""
    try:
        return proposals(match.profile, record_now(match), charge)
    except LookupError:
        refuse("NOT_LEGAL")


def proposed(match: GuandanMatch, event: RulingProposed) -> Stepped:
    """Put a ruling on the desk: nothing happens until somebody decides it."""
    if any(ruling.id == event.id for ruling in match.rulings):
        refuse("TWICE", event.id)
    charge = event.charge
    if charge.match != match.meeting.match_id or charge.pair != match.meeting.pairs[charge.side].id:
        refuse("OTHER_SIDE", charge.pair)
    _require_legal(match, charge, event.proposal)
    ruling = propose(event.id, charge, event.proposal, event.by, event.at_ms)
    return changed(match, rulings=(*match.rulings, ruling)), ()


def approved(match: GuandanMatch, event: RulingApproved) -> Stepped:
    """Decide a ruling: its penalty is recorded, its consequences happen.

    What comes under a sheet that somebody signed is the chief's (seed 002 A15).
    """
    ruling = ruling_of(match, event.id)
    if match.signatures:
        require("signed_sheet", event.role, verbal=event.verbal)
    if event.proposal is not None:
        _require_legal(match, ruling.charge, event.proposal)
    word = approve(
        ruling,
        event.by,
        event.role,
        event.verbal,
        event.proposal,
        entered_by=event.entered_by,
    )
    decided = _allowed(word)
    match, effects = _noted(_replaced(match, decided), decided, event.at_ms)
    for consequence in decided.proposal.effects:
        after, more = happens(match, decided, consequence, event.at_ms)
        assert isinstance(after, GuandanMatch)  # it stays the match it was
        match, effects = after, (*effects, *more)
    moved = any(isinstance(effect, (LevelUp, LevelDown)) for effect in decided.proposal.effects)
    if moved or _noted_behind_end(match):
        after, more = reopened(match, event.at_ms)
        return after, (*effects, *more)
    return match, effects


def _noted_behind_end(match: GuandanMatch) -> bool:
    """Tell whether rows were added to a sheet that was finished: it is ended and signed anew."""
    return match.phase in ENDED and not isinstance(match.sheet[-1], EndRow)


def rejected(match: GuandanMatch, event: RulingRejected) -> Stepped:
    """Reject a proposed ruling, or overturn a decided one with what it did to levels."""
    ruling = ruling_of(match, event.id)
    overturned = ruling.state == "decided"
    if overturned and any(isinstance(effect, FINAL) for effect in ruling.proposal.effects):
        refuse("IT_ENDED_A_DEAL", event.id)
    word = reject(ruling, event.by, event.role, event.verbal, entered_by=event.entered_by)
    match = _replaced(match, _allowed(word))
    if not overturned:
        return match, ()
    row = OverturnedRow(row=next_row(match), at_ms=event.at_ms, ruling=event.id)
    sheet = (*match.sheet, row)
    standing = replay(match.profile, sheet)
    after, effects = reopened(changed(match, sheet=sheet, standing=standing), event.at_ms)
    return after, (Written(row), *effects)


def verbal_confirmed(match: GuandanMatch, event: VerbalConfirmed) -> Stepped:
    """Note that the chief stands by what he approved by word."""
    ruling = ruling_of(match, event.id)
    return _replaced(match, _allowed(confirm_verbal(ruling, event.by, event.role))), ()


def ruling_of(match: GuandanMatch, ruling_id: str) -> Ruling:
    """Return a ruling of the match by its name. Raises RefusedError where there is none."""
    for ruling in match.rulings:
        if ruling.id == ruling_id:
            return ruling
    refuse("NO_SUCH_RULING", ruling_id)


def _require_legal(match: GuandanMatch, charge: Charge, proposal: Proposal) -> None:
    penalties: tuple[Penalty, ...] = get_args(Penalty)
    legal = legal_proposals(match, charge)
    if proposal in legal:
        return
    if proposal not in [by_discretion(match.profile, charge, penalty) for penalty in penalties]:
        refuse("NOT_LEGAL")


def _allowed(ruling: Ruling | Refusal) -> Ruling:
    if isinstance(ruling, Refusal):
        raise RefusedError(ruling)
    return ruling


def _replaced(match: GuandanMatch, ruling: Ruling) -> GuandanMatch:
    rulings = tuple(ruling if one.id == ruling.id else one for one in match.rulings)
    return changed(match, rulings=rulings)


def _noted(match: GuandanMatch, ruling: Ruling, at_ms: int) -> tuple[GuandanMatch, Effects]:
    """Write a decided penalty on the sheet."""
    charge, proposal = ruling.charge, ruling.proposal
    if proposal.penalty == "none":
        return match, ()
    row = RulingRow(
        row=next_row(match),
        at_ms=at_ms,
        ruling=ruling.id,
        person=charge.person,
        seat=charge.seat,
        side=charge.side,
        deal=charge.deal,
        offence=charge.offence,
        offence_ms=charge.at_ms,
        penalty=proposal.penalty,
        article=proposal.article,
    )
    return written(match, row)
