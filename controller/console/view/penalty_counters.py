"""Counters of a pair: its penalties, and its claims that a hand has a wrong number of cards.

Counters belong to pairs and persons and move with them to other tables. They are not stored: each
view counts them again from the record. No penalty follows from a counter automatically.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import msgspec

from controller.console.view import fill_struct
from controller.console.view.phrases import offence_words
from controller.console.view.ruling_cases import RulingCase, RulingRecord, read_rulings
from controller.messages import PublicEvent, PublicMatch, PublicPair, Side
from controller.rules.penalties.offences import catalogue_words
from controller.rules.penalties.penalty_record import Penalty, PenaltyEntry, PenaltyRecord
from controller.seats import SIDES, side_of

COUNTED_PENALTIES: Final[tuple[Penalty, ...]] = ("warning", "violation", "foul", "match_forfeit")


class PenaltyCount(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The number of a pair's penalties of one kind in the deal, match, round and tournament.

    The round and the tournament include earlier matches. They are null if those are not known.
    """

    deal: int
    match: int
    round: int | None
    event: int | None


class EarlierPenaltyView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A penalty that a pair received in an earlier match, in words."""

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
    """All counters of one pair.

    `signals`: illegal signals in this event. `persons`: penalties in this match by person.
    `brought`: the penalties of earlier matches in words, the newest last, or null if not known.
    """

    side: Side
    pair: str
    name: str
    given: dict[str, PenaltyCount]
    signals: int
    claims: int
    persons: dict[str, dict[str, int]]
    brought: tuple[EarlierPenaltyView, ...] | None


def count_penalties(match: PublicMatch, record: RulingRecord) -> list[PairCounts]:
    """Return the counters of both pairs of a match. An overturned ruling is not counted."""
    now = [entry for case in record.cases if (entry := penalty_entry(case)) is not None]
    return [
        _pair_counts(match, record, pair, now, of_side)
        for of_side in SIDES
        if (pair := match.pairs.get(of_side)) is not None
    ]


def penalty_entry(case: RulingCase) -> PenaltyEntry | None:
    """Return a ruling's penalty, or None if the ruling is not decided or has no penalty."""
    if case.state != "decided" or case.proposal.penalty == "none":
        return None
    return fill_struct(PenaltyEntry, case.charge, case.proposal)


def _pair_counts(
    match: PublicMatch,
    record: RulingRecord,
    pair: PublicPair,
    now: list[PenaltyEntry],
    of_side: Side,
) -> PairCounts:
    here = [entry for entry in now if entry.side == of_side]
    before = [entry for entry in record.earlier_penalties or () if entry.pair == pair.id]
    persons: dict[str, dict[str, int]] = {}
    for entry in here:
        if entry.person is not None:
            counts = persons.setdefault(entry.person, {})
            counts[entry.penalty] = counts.get(entry.penalty, 0) + 1
    heard = record.earlier_penalties is not None

    def count(penalty: Penalty) -> PenaltyCount:
        given = [entry for entry in here if entry.penalty == penalty]
        event = [one for one in before if one.penalty == penalty and one.event == match.event]
        in_round = sum(one.round == match.round for one in event)
        return PenaltyCount(
            deal=sum(entry.deal == match.deal for entry in given),
            match=len(given),
            round=in_round + len(given) if heard else None,
            event=len(event) + len(given) if heard else None,
        )

    return PairCounts(
        side=of_side,
        pair=pair.id,
        name=pair.name,
        given={name: count(name) for name in COUNTED_PENALTIES},
        signals=sum(one.offence == "illegal_signal" for one in (*before, *here)),
        claims=sum(side_of(seat) == of_side for seat in match.claims),
        persons=persons,
        brought=tuple(map(_earlier_penalty_view, before)) if heard else None,
    )


def _earlier_penalty_view(entry: PenaltyEntry) -> EarlierPenaltyView:
    return fill_struct(
        EarlierPenaltyView,
        entry,
        offence=offence_words(entry.offence),
        penalty=catalogue_words("penalty", entry.penalty),
    )


MAX_RECORDS: Final = 30
"""The most earlier penalties that a match receives. A command has room for few more.

If there are more, the newest are used.
"""

_MatchKey = tuple[str, int, str]
"""A match: its event, round and id."""


def earlier_penalties(
    matches: Iterable[Sequence[PublicEvent]], pairs: Collection[str]
) -> PenaltyRecord:
    """Return the last penalties of `pairs` in `matches`, at most MAX_RECORDS, the oldest first.

    `matches`: the entries of each match from its `meeting` on, as tables published them. If the
    entries of a match are missing, its penalties are copied from the records of later matches.
    """
    found: dict[tuple[object, ...], PenaltyEntry | None] = {}
    brought: dict[PenaltyEntry, None] = {}
    known: set[_MatchKey] = set()
    for entries in sorted(matches, key=lambda entries: entries[0].time):
        known.add(_match_key(entries[0]))
        told = read_rulings(entries)
        brought |= dict.fromkeys(told.earlier_penalties or ())
        for case in told.cases:
            # After a transfer the other table has the same ruling again, with that table's times.
            key = (*_match_key(entries[0]), case.id, case.charge.offence, case.charge.deal)
            found[(*key, case.charge.side, case.charge.seat)] = penalty_entry(case)
    before = [one for one in brought if (one.event, one.round, one.match) not in known]
    given = [*before, *(one for one in found.values() if one is not None)]
    return tuple(one for one in given if one.pair in pairs)[-MAX_RECORDS:]


def _match_key(laid_out: PublicEvent) -> _MatchKey:
    said: dict[str, Any] = laid_out.data.get("meeting", {})
    return str(said.get("event")), int(said.get("round", 0)), str(said.get("match_id"))
