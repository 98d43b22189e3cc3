"""The family's false alarms are as rare as it says, and each test's chances are what they say."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from sim.lab.family import FAMILY, FAMILY_LEVEL, holm_bounds, judge_deals
from tests.lab.dealing import uniform

pytestmark = pytest.mark.slow

DEALS = 150
_SURE = 1e-6
_EVEN = [one.name for one in FAMILY if one.name not in ("repeated", "own-place", "successive")]


def test_fair_collections_are_outside_as_rarely_as_the_family_says(
    scale: Callable[[int], int],
) -> None:
    collections, rng = scale(2_000), np.random.default_rng(2)
    outside, below = 0, Counter[str]()
    for _ in range(collections):
        judgement = judge_deals(uniform(DEALS, rng, tray=0.03))
        outside += bool(judgement.outside)
        below.update(each.name for each in judgement.results if (each.p or 0) < 0.05)

    most = stats.binom.isf(_SURE, collections, 1 - FAMILY_LEVEL)
    assert outside <= most
    for name in _EVEN:
        assert _as_often(below[name], collections), name
    assert below["successive"] <= stats.binom.isf(_SURE, collections, 0.05)


def _as_often(seen: int, of: int) -> bool:
    """Tell whether a chance below 0.05 comes in 5 % of the collections, or near that.

    Counts have steps and sums are not quite normal: from 3.5 to 6.5 %.
    """
    return bool(stats.binom.ppf(_SURE, of, 0.035) <= seen <= stats.binom.isf(_SURE, of, 0.065))


def test_holm_takes_the_least_chance_first_and_stops_at_the_first_that_is_inside() -> None:
    bounds, rejected = holm_bounds([0.02, 0.001, None, 0.004], 0.01)

    assert bounds == pytest.approx([0.005, 0.0025, 0.01, 0.01 / 3])
    assert rejected == [False, True, False, False]


def test_holm_counts_a_test_that_was_not_answered() -> None:
    _, with_others = holm_bounds([0.004, None, None], 0.01)
    _, alone = holm_bounds([0.004], 0.01)

    assert with_others == [False, False, False]
    assert alone == [True]
