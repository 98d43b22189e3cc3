"""The rulings of a match as its public entries tell them, and what its pairs brought along.

A state shows the newest rulings in short; who pointed what out, what a ruling does to the match
and how often a pair was penalised before stands in the entries. Counters are never kept: they
are counted from the record whenever somebody looks.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

import msgspec

from controller.console.view.ladder import Choice, choice
from controller.messages import Event, Match, Ruling, Seat, Side
from controller.rules.penalties.charges import Charge, lapse_article, lapse_reasons, lapse_words
from controller.rules.penalties.offences import offence, words
from controller.rules.penalties.proposals import Proposal
from controller.rules.penalties.records import Entry, Penalty
from controller.rules.profile import GuandanProfile
from controller.rules.seats import SIDES, side
from controller.rules.words import Words

BEGINS: Final = "meeting"
"""The kind of entry with which a match begins at a table, laid out or come from another one."""

COUNTED: Final[tuple[Penalty, ...]] = ("warning", "violation", "foul", "match_forfeit")


class Case(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One ruling with the charge it answers. `at_ms`: when it was proposed; `ended_ms`: decided.

    As controller/match/rulings.py has it, told by entries.
    """

    id: str
    charge: Charge
    proposal: Proposal
    by: str
    at_ms: int
    state: Literal["proposed", "decided", "rejected"] = "proposed"
    approved_by: str | None = None
    rejected_by: str | None = None
    verbal: bool = False
    confirmed_by: str | None = None
    changed_from: Proposal | None = None
    ended_ms: int | None = None


class Docket(msgspec.Struct, frozen=True, kw_only=True):
    """What entries tell of a match's rulings. `brought` None: its beginning was not heard."""

    brought: tuple[Entry, ...] | None = None
    cases: tuple[Case, ...] = ()


def docket(entries: Iterable[Event]) -> Docket:
    """Return the rulings of a match from its entries, in their order, from its `meeting` on."""
    brought: tuple[Entry, ...] | None = None
    cases: dict[str, Case] = {}
    for entry in entries:
        if entry.kind == BEGINS:
            brought, cases = _brought(entry.data), {}
        elif entry.kind == "match":
            _tell(cases, entry.data)
    return Docket(brought=brought, cases=tuple(cases.values()))


def _brought(data: Mapping[str, Any]) -> tuple[Entry, ...] | None:
    try:
        return msgspec.convert(data.get("record", ()), tuple[Entry, ...])
    except msgspec.ValidationError:
        return None


def _tell(cases: dict[str, Case], data: Mapping[str, Any]) -> None:
    """Take one entry of the match; of a newer version, or about nothing known, it is passed."""
    kind, name = data.get("event"), str(data.get("id"))
    try:
        if kind == "RulingProposed":
            said = msgspec.convert(data, _Proposed)
            cases[name] = Case(
                id=name, charge=said.charge, proposal=said.proposal, by=said.by, at_ms=said.at_ms
            )
        elif name in cases and kind in _FATES:
            cases[name] = _FATES[kind](cases[name], msgspec.convert(data, _Fate))
    except msgspec.ValidationError:
        return


class _Proposed(msgspec.Struct):
    charge: Charge
    proposal: Proposal
    by: str
    at_ms: int


class _Fate(msgspec.Struct):
    by: str
    at_ms: int
    role: str
    verbal: bool = False
    proposal: Proposal | None = None


def _approved(case: Case, said: _Fate) -> Case:
    chosen = said.proposal or case.proposal
    chiefs = "chief" in (chosen.needs, case.proposal.needs)
    return msgspec.structs.replace(
        case,
        state="decided",
        proposal=chosen,
        approved_by=said.by,
        verbal=chiefs and said.role != "chief",
        changed_from=case.proposal if chosen != case.proposal else None,
        ended_ms=said.at_ms,
    )


def _rejected(case: Case, said: _Fate) -> Case:
    return msgspec.structs.replace(case, state="rejected", rejected_by=said.by, ended_ms=said.at_ms)


def _confirmed(case: Case, said: _Fate) -> Case:
    return msgspec.structs.replace(case, confirmed_by=said.by)


_FATES: Final = {
    "RulingApproved": _approved,
    "RulingRejected": _rejected,
    "VerbalConfirmed": _confirmed,
}


# -- in words -----------------------------------------------------------------


class Lapse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why the right to a penalty may have lapsed."""

    reason: str
    en: str
    zh: str
    article: str | None


class CaseView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A ruling as the desk shows it; what only entries tell is null where they were not heard."""

    id: str
    offence: str
    offence_en: str
    offence_zh: str
    kind_en: str = ""
    kind_zh: str = ""
    deal: int
    side: Side
    seat: Seat | None
    person: str | None = None
    answer: Choice | None = None
    penalty: str
    penalty_en: str
    penalty_zh: str
    article: str | None
    needs: Literal["referee", "chief"]
    state: Literal["proposed", "decided", "rejected"]
    by: str
    approved_by: str | None = None
    rejected_by: str | None = None
    verbal: bool = False
    confirmed_by: str | None = None
    changed_from: Words | None = None
    pointed_out_by: str | None = None
    pointed_out_when: str | None = None
    harmed: bool = False
    settled_by_players: str | None = None
    lapse_disputed: bool = False
    lapses: tuple[Lapse, ...] = ()
    charge: dict[str, Any] | None = None
    at_ms: int | None = None
    ended_ms: int | None = None


def case_views(profile: GuandanProfile, told: Docket, shown: Iterable[Ruling]) -> list[CaseView]:
    """Return the rulings of a match, oldest first: as entries tell them, else as the state does.

    The state's word on whether a ruling is open stands over an entry that is still on its way.
    """
    newest = {ruling.id: ruling for ruling in shown}
    views = [_heard(profile, case, newest.pop(case.id, None)) for case in told.cases]
    return [*views, *(_bare(ruling) for ruling in newest.values())]


def _bare(ruling: Ruling) -> CaseView:
    return CaseView(**msgspec.structs.asdict(ruling))


def _heard(profile: GuandanProfile, case: Case, newest: Ruling | None) -> CaseView:
    charge, proposal, row = case.charge, case.proposal, offence(case.charge.offence)
    penalty = words("penalty", proposal.penalty)
    kind = next((kind for kind in row.kinds if kind.id == charge.kind), None)
    view = CaseView(
        id=case.id,
        offence=charge.offence,
        offence_en=row.en,
        offence_zh=row.zh,
        kind_en=kind.en if kind else "",
        kind_zh=kind.zh if kind else "",
        deal=charge.deal,
        side=charge.side,
        seat=charge.seat,
        person=charge.person,
        answer=choice(proposal),
        penalty=proposal.penalty,
        penalty_en=penalty.en,
        penalty_zh=penalty.zh,
        article=proposal.article,
        needs=proposal.needs,
        state=case.state,
        by=case.by,
        approved_by=case.approved_by,
        rejected_by=case.rejected_by,
        verbal=case.verbal,
        confirmed_by=case.confirmed_by,
        changed_from=words("penalty", case.changed_from.penalty) if case.changed_from else None,
        pointed_out_by=charge.pointed_out_by,
        pointed_out_when=charge.pointed_out_when,
        harmed=charge.harmed,
        settled_by_players=charge.settled_by_players,
        lapse_disputed=charge.lapse_disputed,
        lapses=tuple(_lapses(profile, charge)),
        charge=_said(charge),
        at_ms=case.at_ms,
        ended_ms=case.ended_ms,
    )
    if newest is None or newest.state == view.state:
        return view
    said = {name: getattr(newest, name) for name in _OF_STATE}
    return msgspec.structs.replace(view, answer=None, **said)


_OF_STATE: Final = (
    "state",
    "penalty",
    "penalty_en",
    "penalty_zh",
    "article",
    "needs",
    "approved_by",
    "rejected_by",
    "verbal",
    "confirmed_by",
)


def _lapses(profile: GuandanProfile, charge: Charge) -> Iterable[Lapse]:
    for reason in lapse_reasons(charge):
        text = lapse_words(reason)
        article = lapse_article(profile, reason)
        yield Lapse(reason=reason, en=text.en, zh=text.zh, article=article)


_SAID: Final = (
    "offence",
    "seat",
    "side",
    "person",
    "deal",
    "pointed_out_by",
    "pointed_out_when",
    "outsider_first",
    "acted_first",
    "exploited",
    "lapse_disputed",
    "settled_by_players",
    "harmed",
    "kind",
    "step",
)


def _said(charge: Charge) -> dict[str, Any]:
    """Return a charge as the command `rulings` takes it, to ask again what it can lead to."""
    said = {name: getattr(charge, name) for name in _SAID} | {"offence_ms": charge.at_ms}
    return {name: value for name, value in said.items() if value not in (None, False)}


# -- counters -----------------------------------------------------------------


class Count(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How often a pair was given something: in this deal, this match, this round, this event.

    The round and the event have what the pair brought from earlier matches; null: not heard.
    """

    deal: int
    match: int
    round: int | None
    event: int | None


class Brought(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A penalty of an earlier match."""

    match: str
    round: int
    deal: int
    person: str | None
    offence_en: str
    offence_zh: str
    penalty_en: str
    penalty_zh: str
    article: str | None


class PairCounts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The counters of a pair. `claims`: wrong counts claimed in this match.

    `signals`: illegal signals in this event; `persons`: penalties in this match by person.
    `brought`: what was applied in earlier matches, in words, the newest last; null: not heard.
    """

    side: Side
    pair: str
    name: str
    given: dict[str, Count]
    signals: int
    claims: int
    persons: dict[str, dict[str, int]]
    brought: tuple[Brought, ...] | None


def counters(match: Match, told: Docket) -> list[PairCounts]:
    """Return the counters of both pairs, from what holds: an overturned ruling counts nowhere."""
    now = [entry for case in told.cases if (entry := _entry(case)) is not None]
    return [_pair_counts(match, told, side_, now) for side_ in SIDES if match.pairs.get(side_)]


def _entry(case: Case) -> Entry | None:
    if case.state != "decided" or case.proposal.penalty == "none":
        return None
    charge = case.charge
    return Entry(
        offence=charge.offence,
        seat=charge.seat,
        person=charge.person,
        pair=charge.pair,
        side=charge.side,
        event=charge.event,
        round=charge.round,
        match=charge.match,
        deal=charge.deal,
        at_ms=charge.at_ms,
        penalty=case.proposal.penalty,
        article=case.proposal.article,
    )


def _pair_counts(match: Match, told: Docket, of: Side, now: list[Entry]) -> PairCounts:
    pair = match.pairs[of]
    assert pair is not None  # asked before
    here = [entry for entry in now if entry.side == of]
    before = [entry for entry in told.brought or () if entry.pair == pair.id]
    persons: dict[str, dict[str, int]] = {}
    for entry in here:
        if entry.person is not None:
            counts = persons.setdefault(entry.person, {})
            counts[entry.penalty] = counts.get(entry.penalty, 0) + 1
    heard = told.brought is not None
    return PairCounts(
        side=of,
        pair=pair.id,
        name=pair.name,
        given={name: _count(match, name, here, before, heard) for name in COUNTED},
        signals=sum(one.offence == "illegal_signal" for one in (*before, *here)),
        claims=sum(side(seat) == of for seat in match.claims),
        persons=persons,
        brought=tuple(map(_brought_words, before)) if heard else None,
    )


def _count(
    match: Match, penalty: Penalty, here: list[Entry], before: list[Entry], heard: bool
) -> Count:
    given = [entry for entry in here if entry.penalty == penalty]
    event = [one for one in before if one.penalty == penalty and one.event == match.event]
    in_round = sum(one.round == match.round for one in event)
    return Count(
        deal=sum(entry.deal == match.deal for entry in given),
        match=len(given),
        round=in_round + len(given) if heard else None,
        event=len(event) + len(given) if heard else None,
    )


def _brought_words(entry: Entry) -> Brought:
    row, penalty = _offence_words(entry.offence), words("penalty", entry.penalty)
    return Brought(
        match=entry.match,
        round=entry.round,
        deal=entry.deal,
        person=entry.person,
        offence_en=row.en,
        offence_zh=row.zh,
        penalty_en=penalty.en,
        penalty_zh=penalty.zh,
        article=entry.article,
    )


def _offence_words(name: str) -> Words:
    try:
        row = offence(name)
    except LookupError:
        return Words(name, name)
    return Words(row.en, row.zh)
