"""Orders of the ruling desk: a charge out of what was said, and the rulings made of it.

The program proposes what the rulebook's ladder says; every penalty is a person's (A15.2).
"""

from controller.machine.order.who import CommandSigner
from controller.match.authority import require
from controller.match.desk import find_ruling, legal_proposals, require_possible_charge
from controller.match.events import (
    CorrectionConfirmed,
    MatchEvent,
    RulingApproved,
    RulingProposed,
    RulingRejected,
    VerbalRulingConfirmed,
)
from controller.match.refusals import refuse
from controller.match.sheet import CorrectionRow
from controller.match.state import GuandanMatch, Match
from controller.match_arguments import (
    ApproveArgs,
    ChargeArgs,
    ConfirmVerbalArgs,
    ForfeitArgs,
    ProposeArgs,
    RejectArgs,
)
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.proposals import PenaltyProposal, discretionary_proposal
from controller.rules.penalties.records import Incident, Penalty
from controller.rules.seats import side

_COPIED_FIELDS = frozenset(Charge.__struct_fields__) - frozenset(Incident.__struct_fields__)
"""What of a charge is taken from the order as it is."""


def guandan(match: Match) -> GuandanMatch:
    """Return a match of Guandan as one. Raises RefusedError for another."""
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return match


def charge_of(said: ChargeArgs, match: GuandanMatch, at_ms: int) -> Charge:
    """Return the charge that was said, with what the match knows about whom it accuses.

    What is not said: the present deal, now, and the player of the seat.
    """
    accused = said.side or side(said.seat or "N")  # one of the two is always said
    named = None if said.seat is None else match.meeting.player(said.seat)
    return Charge(
        offence=said.offence,
        seat=said.seat,
        person=said.person or named,
        pair=match.meeting.pairs[accused].id,
        side=accused,
        event=match.meeting.event,
        round=match.meeting.round,
        match=match.meeting.match_id,
        deal=match.deal if said.deal is None else said.deal,
        at_ms=at_ms if said.offence_ms is None else min(said.offence_ms, at_ms),
        **{name: getattr(said, name) for name in _COPIED_FIELDS},
    )


def choices(match: Match, said: ChargeArgs, at_ms: int) -> tuple[PenaltyProposal, ...]:
    """Return what a charge can lead to now, the ladder's answer first. Raises RefusedError."""
    played = guandan(match)
    charge = charge_of(said, played, at_ms)
    require_possible_charge(played, charge)
    return legal_proposals(played, charge)


def propose(said: ProposeArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Propose the ladder's first answer to a charge, or the penalty that was said."""
    played = guandan(match)
    charge = charge_of(said, played, at_ms)
    return RulingProposed(
        at_ms=at_ms,
        id=said.id or next_ruling_id(played),
        charge=charge,
        proposal=_chosen_proposal(played, charge, said.penalty, who),
        by=who.by,
    )


def approve(said: ApproveArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Put a ruling in force, with another penalty where one was said (改判)."""
    played = guandan(match)
    proposal = None
    if said.penalty is not None:
        charge = find_ruling(played, said.ruling).charge
        proposal = _chosen_proposal(played, charge, said.penalty, who, verbal=said.verbal)
    return RulingApproved(
        at_ms=at_ms,
        id=said.ruling,
        by=who.decided_by(said),
        role=who.role,
        verbal=said.verbal,
        entered_by=who.enters(said),
        proposal=proposal,
    )


def reject(said: RejectArgs, who: CommandSigner, match: Match, at_ms: int) -> MatchEvent:
    """Reject a proposed ruling, or overturn a decided one."""
    return RulingRejected(
        at_ms=at_ms,
        id=said.ruling,
        by=who.decided_by(said),
        role=who.role,
        verbal=said.verbal,
        entered_by=who.enters(said),
    )


def confirm_verbal(
    said: ConfirmVerbalArgs, who: CommandSigner, match: Match, at_ms: int
) -> MatchEvent:
    """Let the chief stand by what a referee entered as his word: a ruling, or a correction."""
    if said.correction is not None:
        return _confirm_correction(said.correction, who, guandan(match), at_ms)
    assert said.ruling is not None  # one of the two is always said
    return VerbalRulingConfirmed(at_ms=at_ms, id=said.ruling, by=who.by, role=who.role)


def _confirm_correction(
    number: int, who: CommandSigner, match: GuandanMatch, at_ms: int
) -> MatchEvent:
    rows = (row for row in match.sheet if isinstance(row, CorrectionRow) and row.row == number)
    row = next(rows, None)
    if row is None:
        refuse("NOT_VERBAL", str(number))
    return CorrectionConfirmed(at_ms=at_ms, row=number, deal=row.deal, by=who.by, role=who.role)


def forfeit(
    said: ForfeitArgs, who: CommandSigner, match: Match, at_ms: int
) -> tuple[MatchEvent, ...]:
    """Let a side lose the match, proposed and approved by the chief at once (弃权判负).

    The penalty is the ladder's where that has it for the offence, else the chief's choice
    (seed 000 A15.3.4, A15.3.7).
    """
    require("match_lost", who.role)
    charge = ProposeArgs(offence=said.offence, side=said.side, penalty="match_forfeit")
    proposed = propose(charge, who, match, at_ms)
    assert isinstance(proposed, RulingProposed)  # that is what `propose` makes
    approved = RulingApproved(at_ms=at_ms, id=proposed.id, by=who.by, role=who.role)
    return proposed, approved


def next_ruling_id(match: Match) -> str:
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
    who: CommandSigner,
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
    require("choice_of_penalty", who.role, verbal=verbal)
    return discretionary_proposal(match.profile, charge, penalty)
