"""How often a pair was warned, penalised, or claimed a wrong count.

Counters belong to pairs and persons and travel with them. They are never kept: they are counted
from the record whenever somebody looks, and nothing follows from them by itself.
"""

from typing import Final

import msgspec

from controller.console.view.cases import Case, RulingRecord
from controller.messages import Match, Side
from controller.rules.penalties.offences import offence, words
from controller.rules.penalties.records import Entry, Penalty
from controller.rules.seats import SIDES, side
from controller.words import Words

COUNTED: Final[tuple[Penalty, ...]] = ("warning", "violation", "foul", "match_forfeit")


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


def counters(match: Match, told: RulingRecord) -> list[PairCounts]:
    """Return the counters of both pairs, from what holds: an overturned ruling counts nowhere."""
    now = [entry for case in told.cases if (entry := entry_of(case)) is not None]
    return [_pair_counts(match, told, side_, now) for side_ in SIDES if match.pairs.get(side_)]


def entry_of(case: Case) -> Entry | None:
    """Return what a ruling leaves in the record of its pair; None: it gave no penalty."""
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


def _pair_counts(match: Match, told: RulingRecord, of: Side, now: list[Entry]) -> PairCounts:
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
        brought=tuple(map(_earlier_penalty_view, before)) if heard else None,
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


def _earlier_penalty_view(entry: Entry) -> Brought:
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
