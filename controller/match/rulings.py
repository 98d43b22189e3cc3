"""Rulings: a proposal becomes one when a person decides, and not before.

A referee proposes; who may decide is in the proposal (controller/rules/penalties/proposals.py):
the chief for fouls and more (seed 000 A15.2). His word may come by mouth: then it is in
force and he confirms it later. A decided ruling is overturned by the chief only (002 A15).
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from controller.match.authority import authority_refusal
from controller.match.refusals import Refusal
from controller.messages import Role
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.proposals import PenaltyProposal
from controller.rules.penalties.records import Incident, PenaltyEntry, PenaltyRecord


class MatchRuling(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is ruled on a charge, or is to be.

    `by` proposed it at `at_ms`, `approved_by` decided, `rejected_by` rejected or overturned it.
    `verbal`: the chief approved by word, which `entered_by` entered; `confirmed_by`: who then
    confirmed it; `rejection_entered_by`: who entered the chief's word that it comes to nothing.
    `changed_from`: what was proposed first, where another penalty was given.
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
    """Return the deal that a charge is about; what happened before any is the first's."""
    return max(charge.deal, 1)


def propose(
    ruling_id: str, charge: Charge, proposal: PenaltyProposal, by: str, at_ms: int | None = None
) -> MatchRuling:
    """Return a ruling that `by` proposes at `at_ms`; it is not in force."""
    return MatchRuling(id=ruling_id, charge=charge, proposal=proposal, by=by, at_ms=at_ms)


def approve(
    ruling: MatchRuling,
    by: str,
    role: Role,
    verbal: bool = False,
    proposal: PenaltyProposal | None = None,
    *,
    entered_by: str | None = None,
) -> MatchRuling | Refusal:
    """Return the ruling in force, as proposed or with another legal `proposal` (改判).

    `verbal`: `entered_by`, a referee, enters the word of the chief, whose name is `by`. Returns
    why not where `role` may not, or the ruling is not open.
    """
    if ruling.state != "proposed":
        return Refusal("NOT_OPEN", ruling.id)
    chosen = proposal or ruling.proposal
    chiefs = "chief" in (chosen.needs, ruling.proposal.needs)
    refused = authority_refusal("chief" if chiefs else "referee", role, verbal=verbal)
    if refused is not None:
        return refused
    return _replace_in_ruling(
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
) -> MatchRuling | Refusal:
    """Return the ruling rejected (驳回), or overturned by the chief where it was decided.

    `entered_by`: who enters that as the chief's word. Returns why not where `role` may not, or it
    was rejected before.
    """
    if ruling.state == "rejected":
        return Refusal("NOT_OPEN", ruling.id)
    need = "chief" if ruling.state == "decided" else ruling.proposal.needs
    refused = authority_refusal(need, role, verbal=verbal)
    return refused or _replace_in_ruling(
        ruling, state="rejected", rejected_by=by, rejection_entered_by=entered_by
    )


def confirm_verbal(ruling: MatchRuling, by: str, role: Role) -> MatchRuling | Refusal:
    """Return the ruling with the chief's word confirmed by him. Returns why not otherwise."""
    if not is_unconfirmed(ruling):
        return Refusal("NOT_VERBAL", ruling.id)
    return authority_refusal("chief", role, verbal=False) or _replace_in_ruling(
        ruling, confirmed_by=by
    )


def is_in_force(ruling: MatchRuling) -> bool:
    """Tell whether a ruling holds: a person decided it, and nobody overturned it."""
    return ruling.state == "decided"


def is_unconfirmed(ruling: MatchRuling) -> bool:
    """Tell whether a ruling holds by the chief's word alone, which he has still to confirm."""
    return is_in_force(ruling) and ruling.verbal and ruling.confirmed_by is None


def penalty_entry(ruling: MatchRuling) -> PenaltyEntry | None:
    """Return what a ruling leaves in the record of the pair; None: it gave no penalty."""
    if not is_in_force(ruling) or ruling.proposal.penalty == "none":
        return None
    incident = {name: getattr(ruling.charge, name) for name in Incident.__struct_fields__}
    return PenaltyEntry(
        **incident, penalty=ruling.proposal.penalty, article=ruling.proposal.article
    )


def record_with_rulings(carried: PenaltyRecord, rulings: Iterable[MatchRuling]) -> PenaltyRecord:
    """Return the record a pair has by now: what it brought with it, and what holds here.

    `rulings` in the order of what happened. An overturned one leaves nothing behind.
    """
    entries = (penalty_entry(ruling) for ruling in rulings)
    return (*carried, *(one for one in entries if one is not None))


def _replace_in_ruling(ruling: MatchRuling, **changes: Any) -> MatchRuling:
    return msgspec.structs.replace(ruling, **changes)
