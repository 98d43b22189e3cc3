"""The commands about rulings: propose, approve, reject or confirm a penalty for a charge.

The program proposes the penalty of the rulebook's ladder. A person decides every penalty (A15.2).
"""

from itertools import count

from controller.commands.ruling_arguments import (
    ApproveArgs,
    ChargeArgs,
    ConfirmVerbalArgs,
    ForfeitArgs,
    ProposeArgs,
    RejectArgs,
)
from controller.machine.commands.command_request import CommandSigner
from controller.match.match_events import (
    CorrectionConfirmed,
    MatchEvent,
    RulingApproved,
    RulingProposed,
    RulingRejected,
    VerbalRulingConfirmed,
)
from controller.match.match_state import AnyMatch, GuandanMatch
from controller.match.refusals import refuse
from controller.match.ruling_desk import find_ruling, legal_proposals, require_possible_charge
from controller.match.rulings import require_authority
from controller.match.sheet_rows import CorrectionRow
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import Incident, Penalty
from controller.rules.penalties.proposals import PenaltyProposal, discretionary_proposal
from controller.seats import side_of

_COPIED_FIELDS = frozenset(Charge.__struct_fields__) - frozenset(Incident.__struct_fields__)
"""Fields of a charge that are copied from the arguments."""


def require_guandan(match: AnyMatch) -> GuandanMatch:
    """Return the match, or raise RefusedError if it is not a match of Guandan."""
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return match


def charge_of(args: ChargeArgs, match: GuandanMatch, at_ms: int) -> Charge:
    """Return the charge that the arguments describe, with the missing fields from the match.

    Defaults are the present deal, the present time, and the player of the seat.
    """
    accused = args.side or side_of(args.seat or "N")  # One of the two is always given.
    named = None if args.seat is None else match.meeting.player_name(args.seat)
    return Charge(
        offence=args.offence,
        seat=args.seat,
        person=args.person or named,
        pair=match.meeting.pairs[accused].id,
        side=accused,
        event=match.meeting.event,
        round=match.meeting.round,
        match=match.meeting.match_id,
        deal=match.deal if args.deal is None else args.deal,
        at_ms=at_ms if args.offence_ms is None else min(args.offence_ms, at_ms),
        **{name: getattr(args, name) for name in _COPIED_FIELDS},
    )


def legal_rulings(match: AnyMatch, args: ChargeArgs, at_ms: int) -> tuple[PenaltyProposal, ...]:
    """Return the possible penalties for a charge; the next step of the rulebook's ladder is first.

    Raises RefusedError.
    """
    played = require_guandan(match)
    charge = charge_of(args, played, at_ms)
    require_possible_charge(played, charge)
    return legal_proposals(played, charge)


def propose(args: ProposeArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event that proposes a penalty for a charge, by default the first legal one."""
    played = require_guandan(match)
    charge = charge_of(args, played, at_ms)
    return RulingProposed(
        at_ms=at_ms,
        id=args.id or next_ruling_id(played),
        charge=charge,
        proposal=_chosen_proposal(played, charge, args.penalty, signer),
        by=signer.signed_text,
    )


def approve(args: ApproveArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event that approves a ruling, perhaps with another penalty (改判)."""
    played = require_guandan(match)
    proposal = None
    if args.penalty is not None:
        charge = find_ruling(played, args.ruling).charge
        proposal = _chosen_proposal(played, charge, args.penalty, signer, verbal=args.verbal)
    return RulingApproved(
        at_ms=at_ms, id=args.ruling, **signer.decision_fields(args), proposal=proposal
    )


def reject(args: RejectArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Return the event that rejects a proposed ruling, or overturns a decided one."""
    return RulingRejected(at_ms=at_ms, id=args.ruling, **signer.decision_fields(args))


def confirm_verbal(
    args: ConfirmVerbalArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Return the event by which the chief confirms a verbal ruling or correction."""
    if args.correction is not None:
        for row in require_guandan(match).sheet:
            if isinstance(row, CorrectionRow) and row.row == args.correction:
                return CorrectionConfirmed(
                    at_ms=at_ms, row=row.row, deal=row.deal, by=signer.signed_text, role=signer.role
                )
        refuse("NOT_VERBAL", str(args.correction))
    assert args.ruling is not None  # One of the two is always given.
    return VerbalRulingConfirmed(
        at_ms=at_ms, id=args.ruling, by=signer.signed_text, role=signer.role
    )


def forfeit(
    args: ForfeitArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> tuple[MatchEvent, ...]:
    """Return the two events that propose and approve that a side loses the match (弃权判负).

    The chief proposes and approves the penalty at once. If the ladder of the offence has this
    penalty, it is the ladder's. Otherwise it is the chief's choice (seed 000 A15.3.4, A15.3.7).
    """
    require_authority("match_lost", signer.role)
    charge = ProposeArgs(offence=args.offence, side=args.side, penalty="match_forfeit")
    proposed = propose(charge, signer, match, at_ms)
    assert isinstance(proposed, RulingProposed)  # This is the result of `propose`.
    approved = RulingApproved(at_ms=at_ms, id=proposed.id, by=signer.signed_text, role=signer.role)
    return proposed, approved


def next_ruling_id(match: AnyMatch) -> str:
    """Return an unused id for a new ruling, for example R3 after two rulings."""
    taken = {ruling.id for ruling in match.rulings}
    return next(name for n in count(len(taken) + 1) if (name := f"R{n}") not in taken)


def _chosen_proposal(
    match: GuandanMatch,
    charge: Charge,
    penalty: Penalty | None,
    signer: CommandSigner,
    *,
    verbal: bool = False,
) -> PenaltyProposal:
    """Return the proposal for `penalty`, or the first legal proposal if `penalty` is None.

    Only the chief may choose a penalty that the ladder lacks.
    """
    legal = legal_proposals(match, charge)
    if penalty is None:
        return legal[0]
    for proposal in legal:
        if proposal.penalty == penalty:
            return proposal
    require_authority("choice_of_penalty", signer.role, verbal=verbal)
    return discretionary_proposal(match.profile, charge, penalty)
