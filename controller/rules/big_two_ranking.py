"""Matchpoints (MP), percentages, places and ranking points of one deal.

All numbers are exact. The comparison is between entrants who held the same cards at the same seat.
A deal that was played at one table only therefore has no matchpoints (seed 002 A13, App2.1).
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import msgspec

from controller.rules.big_two import MatchpointRules, RankingPointRules

PERCENT_DECIMALS = 2


class DealComparison(msgspec.Struct, frozen=True, gc=False):
    """The result of one entrant in a deal.

    `mp` is at most `top`, and `percent` is only for display. `place` and `points` follow from the
    exact percentage, not from the rounded one.
    """

    entrant: str
    score: int
    mp: int
    top: int
    percent: Decimal
    place: int
    points: Decimal


class _FieldScore(msgspec.Struct, frozen=True, gc=False):
    """The score of an entrant within one field, before places are assigned."""

    score: int
    mp: int
    top: int

    def share(self) -> Fraction:
        return Fraction(self.mp, self.top)


def compare_deal(
    fields: Iterable[Mapping[str, int]], matchpoints: MatchpointRules, ranking: RankingPointRules
) -> tuple[DealComparison, ...]:
    """Return the results of all entrants in a deal, best first.

    `fields`: one mapping for each seat, with the score of each entrant who held that seat. Places
    are assigned within a field or over all fields (`matchpoints.among`, provisional). Raises
    ValueError for a field with one entrant, because no comparison is possible, and for an entrant
    in two fields.
    """
    fields = tuple(fields)
    for name, times in Counter(name for field in fields for name in field).items():
        if times > 1:
            raise ValueError(f"{name} is in {times} fields: expected one seat an entrant")
    parts: list[dict[str, _FieldScore]] = []
    for field in fields:
        top, made = max_matchpoints(len(field), matchpoints), matchpoints_of(field, matchpoints)
        parts.append({name: _FieldScore(score, made[name], top) for name, score in field.items()})
    if matchpoints.among == "deal":
        parts = [{name: line for part in parts for name, line in part.items()}]
    results = (result for part in parts for result in _comparisons(part, ranking))
    return tuple(sorted(results, key=lambda result: (result.place, result.entrant)))


def matchpoints_of(scores: Mapping[str, int], rules: MatchpointRules) -> dict[str, int]:
    """Return the matchpoints of each entrant of a field.

    With 2 for a worse score and 1 for an equal score, an entrant gets 2 × below + equal - 1, and
    the whole field gets N(N-1) (seed 002 App2.1).
    """
    rising = sorted(scores.values())

    def points(score: int) -> int:
        below, upto = bisect_left(rising, score), bisect_right(rising, score)
        return rules.worse * below + rules.equal * (upto - below - 1)

    return {name: points(score) for name, score in scores.items()}


def max_matchpoints(entrants: int, rules: MatchpointRules) -> int:
    """Return the most matchpoints that one of `entrants` entrants can make (seed 002 App2.1).

    Raises ValueError for fewer than two entrants.
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
    """Return the place of each entrant, the highest value first. Equal values share a place.

    After a shared place, "skip" leaves out as many places as were shared, and "dense" leaves out
    none.
    """
    rising = sorted(set(values.values()) if shared == "dense" else values.values())
    return {name: len(rising) - bisect_right(rising, value) + 1 for name, value in values.items()}


def ranking_points(place: int, rules: RankingPointRules) -> Decimal:
    """Return the ranking points of a place, 1 or more (seed 002 App2.1).

    The seed lost the factor for the places after the listed ones. The formula k(x) = k(x-2) / 2 is
    provisional. The halves are exact, and only the result is rounded. Raises ValueError for a place
    below 1.
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
    """Return a value of 0 or more with `decimals` decimals, halves rounded up (provisional)."""
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
