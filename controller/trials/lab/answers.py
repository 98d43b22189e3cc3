"""What a test answers, and what several tests share."""

from typing import NamedTuple

import numpy as np

from controller.trials.lab import counting
from controller.trials.lab.chances import PAIR, pairs_variance
from controller.trials.lab.seen import Ints

MIN_DEALS = 50
"""Deals that a sum is taken for a normal number from."""


class StatisticResult(NamedTuple):
    """A statistic, what it was counted from, and its chance in fair deals.

    `p` is None where these deals cannot answer; `why` says what they lack. `freedom` is that of a
    chi-square, 0 for another statistic.
    """

    statistic: float | None
    seen: str
    expected: str
    p: float | None
    freedom: int = 0
    why: str = ""


def not_answerable(why: str) -> StatisticResult:
    """Return the answer of a test that these deals cannot answer."""
    return StatisticResult(None, "–", "–", None, why=why)


def chi_square_result(statistic: float, freedom: int, seen: str = "") -> StatisticResult:
    """Return the answer of a chi-square; `seen` is what people may read of it."""
    if not freedom:
        return not_answerable("too few were counted")
    expected = (
        f"{freedom}; 95 %: {counting.chi_square_limit(freedom, 0.95):.1f}, "
        f"99 %: {counting.chi_square_limit(freedom, 0.99):.1f}"
    )
    p = counting.p_of_chi_square(statistic, freedom)
    return StatisticResult(statistic, seen or f"{statistic:.1f}", expected, p, freedom)


def mean_result(figures: Ints, mean: float, variance: float) -> StatisticResult:
    """Return the answer of a sum over deals whose mean and variance a deal are exact."""
    many = len(figures)
    if many < MIN_DEALS:
        return not_answerable(f"fewer than {MIN_DEALS} deals")
    z = (float(figures.sum()) - many * mean) / (many * variance) ** 0.5
    seen = f"{float(figures.mean()):.4f}"
    expected = f"{mean:.4f} ± {(variance / many) ** 0.5:.4f}"
    return StatisticResult(z, seen, expected, counting.p_of_normal(z))


def pairs_result(figures: Ints, degrees: list[int]) -> StatisticResult:
    """Return the answer of a count of pairs in one hand: `degrees` as in pairs_variance."""
    pairs = sum(degrees) // 2
    return mean_result(figures, pairs * float(PAIR), pairs_variance(degrees))


def histogram_result(figures: Ints, chances: dict[int, float]) -> StatisticResult:
    """Return the answer of a histogram of a figure a deal; each class's chance is exact."""
    counts = np.bincount(figures, minlength=max(chances) + 1)
    kinds = sorted(chances)
    statistic, freedom = counting.fit_histogram(
        [int(counts[kind]) for kind in kinds], [chances[kind] for kind in kinds]
    )
    shown = ", ".join(
        f"{kind}: {int(counts[kind]) / max(1, len(figures)):.4f}" for kind in kinds if counts[kind]
    )
    return chi_square_result(statistic, freedom, f"{statistic:.2f} ({shown})")
