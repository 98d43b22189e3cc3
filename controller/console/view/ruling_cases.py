"""The rulings of a match, and earlier penalties of its pairs, read from its public entries.

A state contains only a summary of the newest rulings. The entries contain who pointed an offence
out, what a ruling does to the match, and how often a pair was penalised before.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from controller.commands.ruling_arguments import ChargeArgs
from controller.console.view import fill_struct
from controller.messages import PublicEvent, PublicRuling
from controller.rules.penalties.charges import (
    Charge,
    LapseReason,
    lapse_article,
    lapse_reasons,
    lapse_words,
)
from controller.rules.penalties.offences import find_offence
from controller.rules.penalties.penalty_record import Penalty, PenaltyEntry
from controller.rules.penalties.proposals import PenaltyProposal, consequence_words, penalty_words
from controller.rules.profile import GuandanProfile
from controller.words import Words, decided_by_words, reason_words

MATCH_START: Final = "meeting"
"""The kind of entry with which a match begins at a table, new or after a transfer."""


class RulingCase(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One ruling, with the charge (the accusation) that it decides.

    `at_ms`: when it was proposed. `ended_ms`: when it was decided.

    The contents are those of controller/match/rulings.py, but built from entries.
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
    """The rulings of a match and the earlier penalties of its pairs, read from journal entries.

    `earlier_penalties` is None if the first entry of the match is missing or unreadable.
    """

    earlier_penalties: tuple[PenaltyEntry, ...] | None = None
    cases: tuple[RulingCase, ...] = ()


def read_rulings(entries: Iterable[PublicEvent]) -> RulingRecord:
    """Return the rulings and earlier penalties that the journal entries of one match contain."""
    brought: tuple[PenaltyEntry, ...] | None = None
    cases: dict[str, RulingCase] = {}
    for entry in entries:
        if entry.kind == MATCH_START:
            cases = {}
            try:
                brought = msgspec.convert(entry.data.get("record", ()), tuple[PenaltyEntry, ...])
            except msgspec.ValidationError:
                brought = None
        elif entry.kind == "match":
            _apply_entry(cases, entry.data)
    return RulingRecord(earlier_penalties=brought, cases=tuple(cases.values()))


def _apply_entry(cases: dict[str, RulingCase], data: Mapping[str, Any]) -> None:
    """Update `cases` with one entry of the match. An unreadable or unknown entry is ignored."""
    kind, name = str(data.get("event")), str(data.get("id"))
    try:
        if kind == "RulingProposed":
            cases[name] = fill_struct(RulingCase, msgspec.convert(data, _ProposalData), id=name)
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


_DECISIONS: Final[Mapping[str, Callable[[RulingCase, _DecisionData], RulingCase]]] = {
    "RulingApproved": _approve,
    "RulingRejected": lambda case, decision: msgspec.structs.replace(
        case,
        state="rejected",
        rejected_by=decision.by,
        rejection_entered_by=decision.entered_by,
        ended_ms=decision.at_ms,
    ),
    "VerbalConfirmed": lambda case, decision: msgspec.structs.replace(
        case, confirmed_by=decision.by
    ),
}


class PenaltyChoice(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One decision that the rulebook allows for a charge, in words.

    `effects`: what it does to the match.

    `article` None: the rulebook has no rule, and the answer is a proposal.
    """

    penalty: Penalty
    en: str
    zh: str
    why_en: str
    why_zh: str
    needs: Literal["referee", "chief"]
    article: str | None
    provisional: bool
    loses_turn: bool
    effects: tuple[Words, ...]


def build_penalty_choice(
    proposal: PenaltyProposal, earlier_deal: int | None = None
) -> PenaltyChoice:
    """Return the possible decision `proposal` on a charge, with its penalty and effects in words.

    `earlier_deal`: the deal of the offence, if another deal is played now.
    """
    return fill_struct(
        PenaltyChoice,
        proposal,
        penalty_words(proposal.penalty, proposal.effects),
        effects=tuple(consequence_words(effect, earlier_deal) for effect in proposal.effects),
    )


class LapseView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A reason why the right to a penalty may have lapsed, for example after a late report."""

    reason: str
    en: str
    zh: str
    article: str | None


class RulingView(PublicRuling, frozen=True, kw_only=True, gc=False):
    """A ruling with the additional facts and texts that the ruling desk shows.

    A field that only entries contain is null if there is no entry. `decided`, `rejected`: who did
    it, in words. For an oral decision of the chief, they also name the person who entered it.
    """

    kind_en: str = ""
    kind_zh: str = ""
    person: str | None = None
    answer: PenaltyChoice | None = None
    decided: Words | None = None
    rejected: Words | None = None
    changed_from: Words | None = None
    pointed_out_by: str | None = None
    pointed_out_when: str | None = None
    harmed: bool = False
    settled_by_players: str | None = None
    lapse_disputed: bool = False
    lapses: tuple[LapseView, ...] = ()
    charge: dict[str, Any] | None = None
    ended_ms: int | None = None


def build_ruling_views(
    profile: GuandanProfile, record: RulingRecord, rulings: Iterable[PublicRuling], deal: int
) -> list[RulingView]:
    """Return all rulings of a match as the ruling desk shows them during `deal`, the oldest first.

    A ruling comes from the entries (`record`), or from the state (`rulings`) if no entry contains
    it. `deal` is played now. The effects of a ruling on an earlier deal contain that deal's number.

    If the state and the entries differ about whether a ruling is open, the state is used, because
    an entry may not have arrived yet.
    """
    newest = {ruling.id: ruling for ruling in rulings}
    views = [_view_of_case(profile, case, newest.pop(case.id, None), deal) for case in record.cases]
    views += [fill_struct(RulingView, ruling) for ruling in newest.values()]
    return [_with_deciders(one) for one in views]


def _with_deciders(view: RulingView) -> RulingView:
    """Return `view` with words that name the people who approved or rejected the ruling."""
    decided = rejected = None
    if view.approved_by is not None:
        decided = decided_by_words(view.approved_by, view.entered_by)
    if view.rejected_by is not None:
        rejected = decided_by_words(view.rejected_by, view.rejection_entered_by)
    return msgspec.structs.replace(view, decided=decided, rejected=rejected)


def _view_of_case(
    profile: GuandanProfile, case: RulingCase, newest: PublicRuling | None, deal: int
) -> RulingView:
    charge, proposal, row = case.charge, case.proposal, find_offence(case.charge.offence)
    before = case.changed_from
    kind = next((kind for kind in row.kinds if kind.id == charge.kind), None)
    said = msgspec.structs.asdict(charge) | {"offence_ms": charge.at_ms}
    # With these arguments, the command `rulings` requests the answers to the charge again.
    args = {name: said[name] for name in ChargeArgs.__struct_fields__}
    view = fill_struct(
        RulingView,
        proposal,
        charge,
        case,
        offence=Words(row.en, row.zh),
        kind=Words(kind.en, kind.zh) if kind else Words("", ""),
        answer=build_penalty_choice(proposal, charge.deal if charge.deal < deal else None),
        penalty=penalty_words(proposal.penalty, proposal.effects),
        changed_from=penalty_words(before.penalty, before.effects) if before else None,
        lapses=tuple(_lapse(profile, charge, reason) for reason in lapse_reasons(charge)),
        charge={name: value for name, value in args.items() if value not in (None, False)},
    )
    if newest is None or newest.state == view.state:
        return view
    return fill_struct(RulingView, view, newest, answer=None, at_ms=view.at_ms)


def _lapse(profile: GuandanProfile, charge: Charge, reason: LapseReason) -> LapseView:
    article = lapse_article(profile, reason)
    return fill_struct(LapseView, lapse_words(reason, charge), reason=reason, article=article)


def lost_time_with_reasons(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's answer to the query `lost_time`, with words for the reason of each stop."""
    stops = [
        stop | {"words": reason_words(str(stop.get("reason")))} for stop in answer.get("stops", ())
    ]
    return {**answer, "stops": stops}
