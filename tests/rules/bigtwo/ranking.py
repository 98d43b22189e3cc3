"""Matchpoints (MP), percentages, places and ranking points of one deal, and the final ranking.

All numbers are exact. A field is the group of entrants who held the same cards at the same seat of
different tables. Only they are compared. A deal that was played at one table only therefore has no
matchpoints (seed 002 A13, App2.1).

No table can compare several tables, so no program uses this reading of the rulebook yet. The
worked examples check it.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import msgspec

from controller.rules.big_two import (
    FinalRankingRules,
    MatchpointRules,
    RankingPointRules,
    TieBreakName,
)

PERCENT_DECIMALS = 2


class DealComparison(msgspec.Struct, frozen=True, gc=False):
    """The result of one entrant in one deal.

    `mp`: its matchpoints, at most `top`. `percent` is only for display. `place` and `points` follow
    from the exact percentage, not from the rounded one.
    """

    entrant: str
    score: int
    mp: int
    top: int
    percent: Decimal
    place: int
    points: Decimal


class _FieldScore(msgspec.Struct, frozen=True, gc=False):
    """An entrant's score, its matchpoints, and the most matchpoints that it could get."""

    score: int
    mp: int
    top: int

    def share(self) -> Fraction:
        return Fraction(self.mp, self.top)


def compare_deal(
    fields: Iterable[Mapping[str, int]], matchpoints: MatchpointRules, ranking: RankingPointRules
) -> tuple[DealComparison, ...]:
    """Return the results of all entrants in one deal, the best first.

    `fields`: one mapping for each seat, with the score of each entrant who held that seat. Places
    are assigned within a field or over all fields (`matchpoints.among`, provisional). Raises
    ValueError for a field with one entrant, because no comparison is possible, and for an entrant
    in two fields.
    """
    fields = tuple(fields)
    for name, times in Counter(name for field in fields for name in field).items():
        if times > 1:
            raise ValueError(f"{name} is in {times} fields: expected one seat an entrant")
    parts = []
    for field in fields:
        top, made = max_matchpoints(len(field), matchpoints), matchpoints_of(field, matchpoints)
        parts.append({name: _FieldScore(of, made[name], top) for name, of in field.items()})
    if matchpoints.among == "deal":
        parts = [{name: line for part in parts for name, line in part.items()}]
    results = (result for part in parts for result in _comparisons(part, ranking))
    return tuple(sorted(results, key=lambda result: (result.place, result.entrant)))


def matchpoints_of(scores: Mapping[str, int], rules: MatchpointRules) -> dict[str, int]:
    """Return the matchpoints of each entrant in a field (the entrants who held the same seat).

    `scores`: the scores of the field.

    With 2 for a worse score and 1 for an equal score, an entrant gets 2 × below + equal - 1, and
    the whole field gets N(N-1) (seed 002 App2.1).
    """
    rising = sorted(scores.values())

    def points(score: int) -> int:
        below, upto = bisect_left(rising, score), bisect_right(rising, score)
        return rules.worse * below + rules.equal * (upto - below - 1)

    return {name: points(score) for name, score in scores.items()}


def max_matchpoints(entrants: int, rules: MatchpointRules) -> int:
    """Return the most matchpoints that an entrant can get if `entrants` entrants are compared.

    Raises ValueError for fewer than two entrants. Source: seed 002 App2.1.
    """
    if entrants < 2:
        raise ValueError(
            f"matchpoints compare two or more entrants at the same seat, not {entrants}: "
            "play the same deal at several tables"
        )
    return rules.worse * (entrants - 1)


def places_by_value(
    values: Mapping[str, Fraction], shared: Literal["skip", "dense"] = "skip"
) -> dict[str, int]:
    """Return each entrant's place, which follows from its value.

    The highest value has place 1, and equal values share a place.

    After a shared place, "skip" leaves out as many places as were shared, and "dense" leaves out
    none.
    """
    rising = sorted(set(values.values()) if shared == "dense" else values.values())
    return {name: len(rising) - bisect_right(rising, value) + 1 for name, value in values.items()}


def ranking_points(place: int, rules: RankingPointRules) -> Decimal:
    """Return the ranking points for `place`, which counts from 1.

    The seed lost the factor for the places after the listed ones. The formula k(x) = k(x-2) / 2 is
    provisional. The halves are exact, and only the result is rounded. Raises ValueError for a place
    below 1. Source: seed 002 App2.1.
    """
    if place < 1:
        raise ValueError(f"places begin with 1, not {place}")
    past = max(0, place - len(rules.listed))
    if past and rules.rest == "zero":
        return round_half_up(Fraction(0), rules.decimals)
    halvings = (past + 1) // 2
    listed = rules.listed[place - 2 * halvings - 1]
    return round_half_up(Fraction(listed, 2**halvings), rules.decimals)


def round_half_up(value: Fraction, decimals: int) -> Decimal:
    """Return `value` rounded to `decimals` decimals.

    `value` is 0 or more. Halves are rounded up (provisional).
    """
    units = int(value * 10**decimals + Fraction(1, 2))
    return Decimal(units).scaleb(-decimals)


def _comparisons(
    lines: Mapping[str, _FieldScore], ranking: RankingPointRules
) -> Iterator[DealComparison]:
    place = places_by_value({name: line.share() for name, line in lines.items()}, ranking.shared)
    for name, line in lines.items():
        yield DealComparison(
            entrant=name,
            score=line.score,
            mp=line.mp,
            top=line.top,
            percent=round_half_up(line.share() * 100, PERCENT_DECIMALS),
            place=place[name],
            points=ranking_points(place[name], ranking),
        )


RankingReason = Literal[TieBreakName, "total", "play_off"]


class RankedDeal(msgspec.Struct, frozen=True, gc=False):
    """The result of one entrant in one deal, as input of the final ranking.

    `score` is the score of the deal, `points` its ranking points. `time_ms`: the time that the
    entrant took for all plays, or None if the time was not measured.
    """

    entrant: str
    deal: int
    round: int
    table: int
    score: int
    points: Decimal
    time_ms: int | None = None


class RankingLine(msgspec.Struct, frozen=True, gc=False):
    """One entrant's line of the final ranking.

    `decided_by`: the test that separates this line from the line above, None on the first line.
    "play_off": no test separates the two entrants. They share a place until they have played a
    play-off.
    """

    place: int
    entrant: str
    total: Decimal
    decided_by: RankingReason | None


def final_ranking(
    played: Sequence[RankedDeal], final: FinalRankingRules
) -> tuple[RankingLine, ...]:
    """Return the final ranking over all deals, best first.

    If a tie-break lacks its data for one of the tied entrants, it is skipped for all of them.
    Raises ValueError if an entrant has a deal twice.
    """
    record = _RankingRecord(played)
    tests: list[tuple[RankingReason, _TieBreakTest]] = [
        ("total", lambda tied, record: {entrant: record.totals[entrant] for entrant in tied})
    ]
    tests += [(name, _TIE_BREAK_TESTS[name]) for name in final.tie_breaks]
    standings: list[RankingLine] = []
    for n, (entrant, by) in enumerate(_order_tied(sorted(record.rows), tests, record), start=1):
        place = standings[-1].place if by == "play_off" else n
        standings.append(RankingLine(place, entrant, record.totals[entrant], by))
    return tuple(standings)


class _RankingRecord:
    """All played deals and the total points of each entrant, as input of the tie-break tests."""

    def __init__(self, played: Iterable[RankedDeal]) -> None:
        self.rows: dict[str, list[RankedDeal]] = defaultdict(list)
        for row in played:
            if any(row.deal == other.deal for other in self.rows[row.entrant]):
                raise ValueError(f"{row.entrant} has deal {row.deal} twice: expected it once")
            self.rows[row.entrant].append(row)
        self.totals = {
            name: sum((row.points for row in rows), Decimal(0)) for name, rows in self.rows.items()
        }

    def every_row(self) -> Iterator[RankedDeal]:
        """Yield the results of all entrants in all deals."""
        for rows in self.rows.values():
            yield from rows


_KeyByEntrant = dict[str, Any]
_TieBreakTest = Callable[[Sequence[str], _RankingRecord], _KeyByEntrant | None]


def _order_tied(
    tied: Sequence[str],
    tests: Sequence[tuple[RankingReason, _TieBreakTest]],
    record: _RankingRecord,
) -> Iterator[tuple[str, RankingReason | None]]:
    """Yield tied entrants in their final order, each with the test that separates it from the
    previous one.

    The test of the first entrant is None.
    """
    if len(tied) < 2 or not tests:
        yield from ((entrant, "play_off" if n else None) for n, entrant in enumerate(tied))
        return
    (name, test), *later = tests
    keys = test(tied, record) or dict.fromkeys(tied, 0)
    for n, key in enumerate(sorted(set(keys.values()), reverse=True)):
        equal = [entrant for entrant in tied if keys[entrant] == key]
        for entrant, by in _order_tied(equal, later, record):
            yield entrant, by or (name if n else None)


def _beaten_average(tied: Sequence[str], record: _RankingRecord) -> _KeyByEntrant:
    """Return the key of tie-break 1: the average total of the opponents whom an entrant has beaten.

    An opponent is beaten if it sat at the same table and had a lower score in that round.
    Provisional: an opponent who was beaten in two rounds counts twice, and an entrant without
    beaten opponents gets 0.
    """
    tables: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for row in record.every_row():
        tables[row.round, row.table][row.entrant] += row.score

    def average(entrant: str) -> Fraction:
        beaten = [
            record.totals[other]
            for scores in tables.values()
            if entrant in scores
            for other in scores
            if scores[other] < scores[entrant]
        ]
        return Fraction(sum(beaten, Decimal(0))) / max(1, len(beaten))

    return {entrant: average(entrant) for entrant in tied}


def _round_places(tied: Sequence[str], record: _RankingRecord) -> _KeyByEntrant:
    """Return the key of tie-break 2: how often an entrant came 1st in a round, 2nd, and so on.

    Provisional: a round is ranked by the sum of its ranking points, among all entrants.
    """
    rounds: dict[int, dict[str, Fraction]] = defaultdict(dict)
    for row in record.every_row():
        sums = rounds[row.round]
        sums[row.entrant] = sums.get(row.entrant, Fraction(0)) + Fraction(row.points)
    taken = Counter(
        (entrant, place)
        for sums in rounds.values()
        for entrant, place in places_by_value(sums).items()
    )
    every = range(1, len(record.rows) + 1)
    return {entrant: tuple(taken[entrant, place] for place in every) for entrant in tied}


def _total_time(tied: Sequence[str], record: _RankingRecord) -> _KeyByEntrant | None:
    """Return the key of tie-break 3: a shorter total playing time gives a higher key."""
    times = _playing_times(tied, record, least=1)
    return times and {entrant: -sum(of) for entrant, of in times.items()}


def _trimmed_time(tied: Sequence[str], record: _RankingRecord) -> _KeyByEntrant | None:
    """Return the key of tie-break 4: a shorter average playing time of a deal gives a higher key.

    The slowest and the fastest deal are left out.
    """
    times = _playing_times(tied, record, least=3)
    return times and {
        entrant: -Fraction(sum(sorted(of)[1:-1]), len(of) - 2) for entrant, of in times.items()
    }


def _playing_times(
    tied: Sequence[str], record: _RankingRecord, least: int
) -> dict[str, list[int]] | None:
    """Return the playing times of each tied entrant's deals, or None if any entrant lacks times.

    An entrant lacks data if a deal has no time, or if it has fewer than `least` deals.
    """
    times = {
        entrant: [row.time_ms for row in record.rows[entrant] if row.time_ms is not None]
        for entrant in tied
    }
    whole = all(len(of) == len(record.rows[entrant]) >= least for entrant, of in times.items())
    return times if whole else None


_TIE_BREAK_TESTS: dict[TieBreakName, _TieBreakTest] = {
    "beaten_average": _beaten_average,
    "round_places": _round_places,
    "total_time": _total_time,
    "trimmed_time": _trimmed_time,
}
"""One function for each tie-break. The higher key ranks first."""
