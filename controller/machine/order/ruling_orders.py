"""Orders of the ruling desk: a charge out of what was said, and the rulings made of it.

The program proposes what the rulebook's ladder says; every penalty is a person's (A15.2).
"""

from controller.machine.order.who import Who
from controller.match.authority import require
from controller.match.desk import legal_proposals, require_can_be, ruling_of
from controller.match.events import (
    CorrectionConfirmed,
    MatchEvent,
    RulingApproved,
    RulingProposed,
    RulingRejected,
    VerbalConfirmed,
)
from controller.match.refusals import refuse
from controller.match.sheet import CorrectionRow
from controller.match.state import GuandanMatch, Match
from controller.match_arguments import (
    Accusing,
    Approving,
    Forfeiting,
    OfWord,
    Proposing,
    Rejecting,
)
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.proposals import Proposal, by_discretion
from controller.rules.penalties.records import Incident, Penalty
from controller.rules.seats import side

_AS_SAID = frozenset(Charge.__struct_fields__) - frozenset(Incident.__struct_fields__)
"""What of a charge is taken from the order as it is."""


def guandan(match: Match) -> GuandanMatch:
    """Return a match of Guandan as one. Raises RefusedError for another."""
    if not isinstance(match, GuandanMatch):
        refuse("OTHER_RULES", match.profile.title)
    return match


def charge_of(said: Accusing, match: GuandanMatch, at_ms: int) -> Charge:
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
        **{name: getattr(said, name) for name in _AS_SAID},
    )


def choices(match: Match, said: Accusing, at_ms: int) -> tuple[Proposal, ...]:
    """Return what a charge can lead to now, the ladder's answer first. Raises RefusedError."""
    played = guandan(match)
    charge = charge_of(said, played, at_ms)
    require_can_be(played, charge)
    return legal_proposals(played, charge)


def propose(said: Proposing, who: Who, match: Match, at_ms: int) -> MatchEvent:
    """Propose the ladder's first answer to a charge, or the penalty that was said."""
    played = guandan(match)
    charge = charge_of(said, played, at_ms)
    return RulingProposed(
        at_ms=at_ms,
        id=said.id or next_id(played),
        charge=charge,
        proposal=_chosen(played, charge, said.penalty, who),
        by=who.by,
    )


def approve(said: Approving, who: Who, match: Match, at_ms: int) -> MatchEvent:
    """Put a ruling in force, with another penalty where one was said (改判)."""
    played = guandan(match)
    proposal = None
    if said.penalty is not None:
        charge = ruling_of(played, said.ruling).charge
        proposal = _chosen(played, charge, said.penalty, who, verbal=said.verbal)
    return RulingApproved(
        at_ms=at_ms,
        id=said.ruling,
        by=who.answers_for(said),
        role=who.role,
        verbal=said.verbal,
        entered_by=who.enters(said),
        proposal=proposal,
    )


def reject(said: Rejecting, who: Who, match: Match, at_ms: int) -> MatchEvent:
    """Reject a proposed ruling, or overturn a decided one."""
    return RulingRejected(
        at_ms=at_ms,
        id=said.ruling,
        by=who.answers_for(said),
        role=who.role,
        verbal=said.verbal,
        entered_by=who.enters(said),
    )


def confirm_verbal(said: OfWord, who: Who, match: Match, at_ms: int) -> MatchEvent:
    """Let the chief stand by what a referee entered as his word: a ruling, or a correction."""
    if said.correction is not None:
        return _correction_confirmed(said.correction, who, guandan(match), at_ms)
    assert said.ruling is not None  # one of the two is always said
    return VerbalConfirmed(at_ms=at_ms, id=said.ruling, by=who.by, role=who.role)


def _correction_confirmed(number: int, who: Who, match: GuandanMatch, at_ms: int) -> MatchEvent:
    rows = (row for row in match.sheet if isinstance(row, CorrectionRow) and row.row == number)
    row = next(rows, None)
    if row is None:
        refuse("NOT_VERBAL", str(number))
    return CorrectionConfirmed(at_ms=at_ms, row=number, deal=row.deal, by=who.by, role=who.role)


def forfeit(said: Forfeiting, who: Who, match: Match, at_ms: int) -> tuple[MatchEvent, ...]:
    """Let a side lose the match, proposed and approved by the chief at once (弃权判负).

    The penalty is the ladder's where that has it for the offence, else the chief's choice
    (seed 000 A15.3.4, A15.3.7).
    """
    require("match_lost", who.role)
    charge = Proposing(offence=said.offence, side=said.side, penalty="match_forfeit")
    proposed = propose(charge, who, match, at_ms)
    assert isinstance(proposed, RulingProposed)  # that is what `propose` makes
    approved = RulingApproved(at_ms=at_ms, id=proposed.id, by=who.by, role=who.role)
    return proposed, approved


def next_id(match: Match) -> str:
    """Return the first free one of R1, R2, … from the number of rulings on."""
    taken = {ruling.id for ruling in match.rulings}
    number = len(taken) + 1
    while f"R{number}" in taken:
        number += 1
    return f"R{number}"


def _chosen(
    match: GuandanMatch, charge: Charge, penalty: Penalty | None, who: Who, *, verbal: bool = False
) -> Proposal:
    """Return the proposal with a penalty; one that the ladder has not, is the chief's to name."""
    legal = legal_proposals(match, charge)
    if penalty is None:
        return legal[0]
    for proposal in legal:
        if proposal.penalty == penalty:
            return proposal
    require("choice_of_penalty", who.role, verbal=verbal)
    return by_discretion(match.profile, charge, penalty)
