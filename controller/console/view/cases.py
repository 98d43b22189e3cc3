"""The rulings of a match as its public entries tell them, and what its pairs brought along.

A state shows the newest rulings in short; who pointed what out, what a ruling does to the match
and how often a pair was penalised before stands in the entries.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from controller.messages import PublicEvent
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.proposals import PenaltyProposal
from controller.rules.penalties.records import PenaltyEntry

MATCH_START: Final = "meeting"
"""The kind of entry with which a match begins at a table, laid out or come from another one."""


class RulingCase(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One ruling with the charge it answers. `at_ms`: when it was proposed; `ended_ms`: decided.

    As controller/match/rulings.py has it, told by entries.
    """

    id: str
    charge: Charge
    proposal: PenaltyProposal
    by: str
    at_ms: int
    state: Literal["proposed", "decided", "rejected"] = "proposed"
    approved_by: str | None = None
    rejected_by: str | None = None
    verbal: bool = False
    entered_by: str | None = None
    confirmed_by: str | None = None
    rejection_entered_by: str | None = None
    changed_from: PenaltyProposal | None = None
    ended_ms: int | None = None


class RulingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What entries tell of a match's rulings. `brought` None: its beginning was not heard."""

    earlier_penalties: tuple[PenaltyEntry, ...] | None = None
    cases: tuple[RulingCase, ...] = ()


def read_rulings(entries: Iterable[PublicEvent]) -> RulingRecord:
    """Return the rulings of a match from its entries, in their order, from its `meeting` on."""
    brought: tuple[PenaltyEntry, ...] | None = None
    cases: dict[str, RulingCase] = {}
    for entry in entries:
        if entry.kind == MATCH_START:
            brought, cases = _earlier_penalties(entry.data), {}
        elif entry.kind == "match":
            _apply_entry(cases, entry.data)
    return RulingRecord(earlier_penalties=brought, cases=tuple(cases.values()))


def _earlier_penalties(data: Mapping[str, Any]) -> tuple[PenaltyEntry, ...] | None:
    try:
        return msgspec.convert(data.get("record", ()), tuple[PenaltyEntry, ...])
    except msgspec.ValidationError:
        return None


def _apply_entry(cases: dict[str, RulingCase], data: Mapping[str, Any]) -> None:
    """Take one entry of the match; of a newer version, or about nothing known, it is passed."""
    kind, name = data.get("event"), str(data.get("id"))
    try:
        if kind == "RulingProposed":
            said = msgspec.convert(data, _ProposalData)
            cases[name] = RulingCase(
                id=name, charge=said.charge, proposal=said.proposal, by=said.by, at_ms=said.at_ms
            )
        elif name in cases and kind in _DECISIONS:
            cases[name] = _DECISIONS[kind](cases[name], msgspec.convert(data, _DecisionData))
    except msgspec.ValidationError:
        return


class _ProposalData(msgspec.Struct):
    charge: Charge
    proposal: PenaltyProposal
    by: str
    at_ms: int


class _DecisionData(msgspec.Struct):
    by: str
    at_ms: int
    role: str
    verbal: bool = False
    entered_by: str | None = None
    proposal: PenaltyProposal | None = None


def _approve(case: RulingCase, decision: _DecisionData) -> RulingCase:
    chosen = decision.proposal or case.proposal
    chiefs = "chief" in (chosen.needs, case.proposal.needs)
    return msgspec.structs.replace(
        case,
        state="decided",
        proposal=chosen,
        approved_by=decision.by,
        verbal=chiefs and decision.role != "chief",
        entered_by=decision.entered_by,
        changed_from=case.proposal if chosen != case.proposal else None,
        ended_ms=decision.at_ms,
    )


def _reject(case: RulingCase, decision: _DecisionData) -> RulingCase:
    return msgspec.structs.replace(
        case,
        state="rejected",
        rejected_by=decision.by,
        rejection_entered_by=decision.entered_by,
        ended_ms=decision.at_ms,
    )


def _confirm(case: RulingCase, decision: _DecisionData) -> RulingCase:
    return msgspec.structs.replace(case, confirmed_by=decision.by)


_DECISIONS: Final = {
    "RulingApproved": _approve,
    "RulingRejected": _reject,
    "VerbalConfirmed": _confirm,
}
