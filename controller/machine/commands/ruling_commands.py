"""Orders of the ruling desk: a charge out of what was said, and the rulings made of it.

The program proposes what the rulebook's ladder says; every penalty is a person's (A15.2).
"""

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
"""What of a charge is taken from the order as it is."""


def require_guandan(match: AnyMatch) -> GuandanMatch:
    """Return a match of Guandan as one. Raises RefusedError for another."""
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return match


def charge_of(args: ChargeArgs, match: GuandanMatch, at_ms: int) -> Charge:
    """Return the charge that was said, with what the match knows about whom it accuses.

    What is not said: the present deal, now, and the player of the seat.
    """
    accused = args.side or side_of(args.seat or "N")  # one of the two is always said
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
    """Return what a charge can lead to now, the ladder's answer first. Raises RefusedError."""
    played = require_guandan(match)
    charge = charge_of(args, played, at_ms)
    require_possible_charge(played, charge)
    return legal_proposals(played, charge)


def propose(args: ProposeArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Propose the ladder's first answer to a charge, or the penalty that was said."""
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
    """Put a ruling in force, with another penalty where one was said (改判)."""
    played = require_guandan(match)
    proposal = None
    if args.penalty is not None:
        charge = find_ruling(played, args.ruling).charge
        proposal = _chosen_proposal(played, charge, args.penalty, signer, verbal=args.verbal)
    return RulingApproved(
        at_ms=at_ms,
        id=args.ruling,
        by=signer.decided_by(args),
        role=signer.role,
        verbal=args.verbal,
        entered_by=signer.entered_by(args),
        proposal=proposal,
    )


def reject(args: RejectArgs, signer: CommandSigner, match: AnyMatch, at_ms: int) -> MatchEvent:
    """Reject a proposed ruling, or overturn a decided one."""
    return RulingRejected(
        at_ms=at_ms,
        id=args.ruling,
        by=signer.decided_by(args),
        role=signer.role,
        verbal=args.verbal,
        entered_by=signer.entered_by(args),
    )


def confirm_verbal(
    args: ConfirmVerbalArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> MatchEvent:
    """Let the chief stand by what a referee entered as his word: a ruling, or a correction."""
    if args.correction is not None:
        return _confirm_correction(args.correction, signer, require_guandan(match), at_ms)
    assert args.ruling is not None  # one of the two is always said
    return VerbalRulingConfirmed(
        at_ms=at_ms, id=args.ruling, by=signer.signed_text, role=signer.role
    )


def _confirm_correction(
    number: int, signer: CommandSigner, match: GuandanMatch, at_ms: int
) -> MatchEvent:
    rows = (row for row in match.sheet if isinstance(row, CorrectionRow) and row.row == number)
    row = next(rows, None)
    if row is None:
        refuse("NOT_VERBAL", str(number))
    return CorrectionConfirmed(
        at_ms=at_ms, row=number, deal=row.deal, by=signer.signed_text, role=signer.role
    )


def forfeit(
    args: ForfeitArgs, signer: CommandSigner, match: AnyMatch, at_ms: int
) -> tuple[MatchEvent, ...]:
    """Let a side lose the match, proposed and approved by the chief at once (弃权判负).

    The penalty is the ladder's where that has it for the offence, else the chief's choice
    (seed 000 A15.3.4, A15.3.7).
    """
    require_authority("match_lost", signer.role)
    charge = ProposeArgs(offence=args.offence, side=args.side, penalty="match_forfeit")
    proposed = propose(charge, signer, match, at_ms)
    assert isinstance(proposed, RulingProposed)  # that is what `propose` makes
    approved = RulingApproved(at_ms=at_ms, id=proposed.id, by=signer.signed_text, role=signer.role)
    return proposed, approved


def next_ruling_id(match: AnyMatch) -> str:
    """Return the first free one of R1, R2, … from the number of rulings on."""
    taken = {ruling.id for ruling in match.rulings}
    number = len(taken) + 1
    while f"R{number}" in taken:
        number += 1
    return f"R{number}"


def _chosen_proposal(
    match: GuandanMatch,
    charge: Charge,
    penalty: Penalty | None,
    signer: CommandSigner,
    *,
    verbal: bool = False,
) -> PenaltyProposal:
    """Return the proposal with a penalty; one that the ladder has not, is the chief's to name."""
    legal = legal_proposals(match, charge)
    if penalty is None:
        return legal[0]
    for proposal in legal:
        if proposal.penalty == penalty:
            return proposal
    require_authority("choice_of_penalty", signer.role, verbal=verbal)
    return discretionary_proposal(match.profile, charge, penalty)
