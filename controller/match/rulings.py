"""Rulings, and the authority to decide: the referee at the table, or the chief referee.

Seed 000 A15.2 names the chief for fouls, lost matches and every choice between penalties. 002 A15
lists the other decisions of the chief, and makes a deputy the chief during a substitution (the
deputy then uses the chief's key). No other person decides anything of a match.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.match.refusals import refuse
from controller.messages import Role
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import Incident, PenaltyEntry, PenaltyRecord
from controller.rules.penalties.proposals import PenaltyProposal

DecidedAct = Literal[
    "recount",
    "second_count",
    "choice_of_penalty",
    "match_lost",
    "redeal_after_release",
    "void_deal",
    "correction",
    "late_correction",
    "signed_sheet",
    "deal_stopped",
    "transfer",
    "extra_deal",
]
"""The acts about which a referee or the chief decides.

`redeal_after_release` is a redeal other than the misdeal of A5.2.
"""

AUTHORITY_BY_ACT: dict[DecidedAct, Literal["referee", "chief"]] = {
    "recount": "referee",  # seed 000 A5.2
    "second_count": "chief",  # provisional
    "choice_of_penalty": "chief",  # seed 000 A15.2.3
    "match_lost": "chief",  # seed 000 A15.3.4
    "redeal_after_release": "chief",  # provisional
    "void_deal": "chief",  # provisional
    "correction": "referee",  # seed 000 A13.1
    "late_correction": "chief",  # seed 000 A15.3.8
    "signed_sheet": "chief",  # seed 002 A15
    "deal_stopped": "referee",  # seed 000 A14.2.3–4
    "transfer": "chief",  # provisional
    "extra_deal": "chief",  # seed 000 A29.3.2
}
"""The role that decides about each act. A penalty has its role in its proposal."""

REFEREE_ROLES = frozenset({Role.REFEREE, Role.CHIEF})


def require_authority(act: DecidedAct, role: Role, *, verbal: bool = False) -> None:
    """Raise RefusedError unless a person with the role `role` may decide about `act`."""
    require_role(AUTHORITY_BY_ACT[act], role, verbal=verbal)


def require_role(needed: Literal["referee", "chief"], role: Role, *, verbal: bool) -> None:
    """Raise RefusedError unless `role` may make a decision that needs the role `needed`.

    `verbal`: a referee enters a verbal decision of the chief.
    """
    if role not in REFEREE_ROLES:
        refuse("NOT_A_REFEREE")
    if needed == "chief" and role is not Role.CHIEF and not verbal:
        refuse("NEEDS_CHIEF")


class MatchRuling(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A ruling on a charge (an accusation of an offence); it is proposed, decided or rejected.

    `by` proposed it at `at_ms`, `approved_by` decided, `rejected_by` rejected or overturned it.
    `verbal`: the chief approved verbally, `entered_by` entered this, and `confirmed_by` confirmed
    it later. `rejection_entered_by` entered a verbal rejection of the chief. `changed_from` is the
    first proposal, if another penalty was given.
    """

    id: str
    charge: Charge
    proposal: PenaltyProposal
    by: str
    state: Literal["proposed", "decided", "rejected"] = "proposed"
    approved_by: str | None = None
    rejected_by: str | None = None
    verbal: bool = False
    entered_by: str | None = None
    confirmed_by: str | None = None
    rejection_entered_by: str | None = None
    changed_from: PenaltyProposal | None = None
    at_ms: int | None = None


def deal_of_charge(charge: Charge) -> int:
    """Return the number of the deal to which a charge (an accusation) belongs.

    An offence before any deal belongs to the first deal.
    """
    return max(charge.deal, 1)


def propose(
    ruling_id: str, charge: Charge, proposal: PenaltyProposal, by: str, at_ms: int | None = None
) -> MatchRuling:
    """Return a new ruling that the person `by` proposed at `at_ms`. It is not in force."""
    return MatchRuling(id=ruling_id, charge=charge, proposal=proposal, by=by, at_ms=at_ms)


def approve(
    ruling: MatchRuling,
    by: str,
    role: Role,
    verbal: bool = False,
    proposal: PenaltyProposal | None = None,
    *,
    entered_by: str | None = None,
) -> MatchRuling:
    """Return the ruling as decided, with the proposed penalty or with another penalty (改判).

    `proposal` is the other penalty, which must be legal. `verbal`: the referee `entered_by` enters
    the decision of the chief `by`. Raises RefusedError if `role` may not do this, or if the ruling
    is not open.
    """
    if ruling.state != "proposed":
        refuse("NOT_OPEN", ruling.id)
    chosen = proposal or ruling.proposal
    chiefs = "chief" in (chosen.needs, ruling.proposal.needs)
    require_role("chief" if chiefs else "referee", role, verbal=verbal)
    return replace(
        ruling,
        state="decided",
        proposal=chosen,
        approved_by=by,
        verbal=chiefs and role is not Role.CHIEF,
        entered_by=entered_by,
        changed_from=ruling.proposal if chosen != ruling.proposal else None,
    )


def reject(
    ruling: MatchRuling, by: str, role: Role, verbal: bool = False, *, entered_by: str | None = None
) -> MatchRuling:
    """Return the ruling as rejected (驳回), or as overturned by the chief if it was decided.

    `entered_by`: the person who enters this as a verbal decision of the chief. Raises RefusedError
    if `role` may not do this, or if the ruling was rejected before.
    """
    if ruling.state == "rejected":
        refuse("NOT_OPEN", ruling.id)
    need = "chief" if ruling.state == "decided" else ruling.proposal.needs
    require_role(need, role, verbal=verbal)
    return replace(ruling, state="rejected", rejected_by=by, rejection_entered_by=entered_by)


def confirm_verbal(ruling: MatchRuling, by: str, role: Role) -> MatchRuling:
    """Return the ruling with its verbal approval confirmed by the chief. Raises RefusedError."""
    if not is_unconfirmed(ruling):
        refuse("NOT_VERBAL", ruling.id)
    require_role("chief", role, verbal=False)
    return replace(ruling, confirmed_by=by)


def is_in_force(ruling: MatchRuling) -> bool:
    """Return whether a ruling is in force: a person decided it, and it was not overturned."""
    return ruling.state == "decided"


def is_unconfirmed(ruling: MatchRuling) -> bool:
    """Return whether a ruling is in force, but the chief must still confirm its verbal approval."""
    return is_in_force(ruling) and ruling.verbal and ruling.confirmed_by is None


def penalty_entry(ruling: MatchRuling) -> PenaltyEntry | None:
    """Return a ruling as an entry of the penalty record, or None if it has no penalty in force."""
    if not is_in_force(ruling) or ruling.proposal.penalty == "none":
        return None
    incident = {name: getattr(ruling.charge, name) for name in Incident.__struct_fields__}
    return PenaltyEntry(
        **incident, penalty=ruling.proposal.penalty, article=ruling.proposal.article
    )


def record_with_rulings(carried: PenaltyRecord, rulings: Iterable[MatchRuling]) -> PenaltyRecord:
    """Return the penalties of both pairs: from earlier matches, and from rulings of this match.

    `carried` are those from earlier matches. `rulings` are in the order of the offences. An
    overturned ruling leaves no entry.
    """
    entries = (penalty_entry(ruling) for ruling in rulings)
    return (*carried, *(one for one in entries if one is not None))
