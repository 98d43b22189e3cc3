"""Tests of the pockets alone: the sequence, place by place, whatever cards come."""

from collections.abc import Mapping

import numpy as np

from controller.trials.lab import counting
from controller.trials.lab.answers import (
    StatisticResult,
    chi_square_result,
    histogram_result,
    mean_result,
    pairs_result,
)
from controller.trials.lab.chances import (
    PAIR,
    cards_until_all_seats,
    guess_moments,
    is_descent,
    is_valley,
    longest_run_chances,
    window_moments,
)
from controller.trials.lab.data import CARDS
from controller.trials.lab.seen import DealMeasures

DISTANCES = range(2, 13)
"""How far apart the pairs of places lie that `serial` looks at."""

_PLACES = np.arange(CARDS)


def index_seat(seen: DealMeasures) -> StatisticResult:
    """Ask whether any place of the feed order prefers a seat."""
    found = counting.SeatCounts(CARDS)
    for block in seen.deals.blocks():
        found.add(_PLACES, block.seats)
    return chi_square_result(*found.chi_square())


def index_trend(seen: DealMeasures) -> StatisticResult:
    """Ask whether early or late cards go to one seat rather."""
    centred = counting.as_floats(_PLACES) - (CARDS - 1) / 2
    return chi_square_result(counting.trend_chi_square(centred, seen.deals.seats), 3)


def adjacent(seen: DealMeasures) -> StatisticResult:
    """Ask whether neighbours in the feed order go together as often as they should."""
    return pairs_result(seen.adjacent, pair_degrees(1))


def serial(seen: DealMeasures) -> StatisticResult:
    """Ask the same of cards some places apart; the least of the chances counts, times as many."""
    return _least_likely(
        {
            f"at distance {apart}": pairs_result(seen.same_pocket_at(apart), pair_degrees(apart))
            for apart in DISTANCES
        }
    )


def descents(seen: DealMeasures) -> StatisticResult:
    """Ask how often the pocket goes down, and how often down and up again; the least of both."""
    return _least_likely(
        {
            "descents": mean_result(seen.descents, *window_moments(is_descent, 2)),
            "valleys": mean_result(seen.valleys, *window_moments(is_valley, 3)),
        }
    )


def guessing(seen: DealMeasures) -> StatisticResult:
    """Ask how often somebody who forgets nothing guesses the next pocket."""
    return mean_result(seen.right_guesses, *guess_moments())


def poker(seen: DealMeasures) -> StatisticResult:
    """Ask how alike the pockets are within blocks of four places."""
    return pairs_result(seen.pairs_in_blocks, [3] * CARDS)


def runs(seen: DealMeasures) -> StatisticResult:
    """Ask how long the longest run of one pocket is."""
    return histogram_result(seen.longest, dict(enumerate(map(float, longest_run_chances()))))


def coupon(seen: DealMeasures) -> StatisticResult:
    """Ask how many cards it takes until every seat has one."""
    until = counting.cards_until_all(seen.deals.waiting)
    chances = dict(enumerate(map(float, cards_until_all_seats())))
    answer = histogram_result(until, chances)
    mean = sum(cards * chance for cards, chance in chances.items())
    if answer.p is None or answer.statistic is None:
        return answer
    return answer._replace(
        seen=f"{answer.statistic:.2f} (mean {float(until.mean()):.3f}, of {mean:.3f})"
    )


def tail(seen: DealMeasures) -> StatisticResult:
    """Ask how often the last two cards go to one seat."""
    letters = seen.deals.waiting
    hits = int((letters[:, -1] == letters[:, -2]).sum())
    p = counting.p_of_binomial(hits, len(seen), float(PAIR))
    spread = (float(PAIR) * (1 - float(PAIR)) / len(seen)) ** 0.5
    z = (hits / len(seen) - float(PAIR)) / spread
    return StatisticResult(z, f"{hits / len(seen):.4f}", f"{float(PAIR):.4f} ± {spread:.4f}", p)


def same_again(seen: DealMeasures) -> StatisticResult:
    """Ask whether the next sequence has the same pocket at the same place too often."""
    letters = seen.deals.waiting
    figures = np.asarray((letters[1:] == letters[:-1]).sum(1))
    return mean_result(figures, CARDS / 4, SAME_SEAT_VARIANCE)


def repeated(seen: DealMeasures) -> StatisticResult:
    """Ask whether a sequence was there before: in 10⁵ deals the chance of one is 5·10⁻⁵³."""
    rows = {row.tobytes() for row in seen.deals.waiting}
    again = len(seen) - len(rows)
    return StatisticResult(float(again), str(again), "0", 0.0 if again else 1.0)


SAME_SEAT_VARIANCE = (
    4 * 3 / 16 * CARDS / (CARDS - 1) * 81 / 4 + 12 / 16 * CARDS / (CARDS - 1) * 27 / 4
)
"""Variance of how many of 108 cards go where four hands of 27 had them: 20.44, sd 4.52.

The 4 × 4 table of then and now has 27·27/108 in each cell; its diagonal's variance is
4·(3/16)(108/107)(27 − 27²/108) + 12·(1/16)(108/107)(27²/108).
"""


def _least_likely(answers: Mapping[str, StatisticResult]) -> StatisticResult:
    """Return the answer with the least chance, by its name; its chance times how many there are."""
    chances = {name: one.p for name, one in answers.items() if one.p is not None}
    if not chances:
        return next(iter(answers.values()))
    name = min(chances, key=lambda one: chances[one])
    least = answers[name]
    p = counting.p_of_least(chances.values())
    return StatisticResult(least.statistic, f"{least.seen} {name}", least.expected, p)


def pair_degrees(apart: int) -> list[int]:
    """Return in how many pairs each place is, where a pair lies so far apart."""
    return [(place >= apart) + (place < CARDS - apart) for place in range(CARDS)]
