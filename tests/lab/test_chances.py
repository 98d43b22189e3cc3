"""Chances that are counted with whole numbers: against the literature, and against counting all."""

from fractions import Fraction
from itertools import groupby, permutations

import numpy as np
import pytest

from sim.lab import chances, deal_statistics
from sim.lab.collected_deals import CollectedDeals, make_deals
from sim.lab.deal_measures import DealMeasures
from sim.lab.statistical_tests import (
    SAME_SEAT_VARIANCE,
    interplay,
    pair_degrees,
    shared_pair_correlations,
)
from tests.lab.dealing import uniform

pytestmark = pytest.mark.slow

DEALS = 8_000
"""Deals whose figures are compared with what is owed."""


def test_two_cards_lie_in_one_hand_as_often_as_the_literature_says() -> None:
    assert Fraction(26, 107) == chances.PAIR
    assert 107 * chances.PAIR == 26
    assert chances.pairs_variance(pair_degrees(1)) ** 0.5 == pytest.approx(4.44, abs=0.005)
    assert chances.pairs_variance([1] * 108) ** 0.5 == pytest.approx(3.16, abs=0.01)
    assert pytest.approx(20.44, abs=0.01) == SAME_SEAT_VARIANCE


def test_jokers_are_shared_as_the_literature_says() -> None:
    to_one_seat = [float(chance) for chance in chances.four_cards_at_seat()]
    together = chances.four_cards_together()

    assert to_one_seat == pytest.approx([0.31045, 0.42986, 0.21221, 0.04421, 0.00327], abs=1e-5)
    assert float(together[6]) == pytest.approx(0.01310, abs=1e-5)
    assert sum(together.values()) == 1


def test_longest_runs_are_as_long_as_the_literature_says() -> None:
    each = chances.longest_run_chances()

    assert sum(each) == 1
    assert float(sum(run * chance for run, chance in enumerate(each))) == pytest.approx(
        3.95, abs=0.02
    )
    assert float(sum(each[:7])) == pytest.approx(0.99, abs=0.001)  # simulated: 99 % up to 6


def _words(hand: int, seats: int) -> list[tuple[int, ...]]:
    """Return every sequence of `hand` letters for each seat."""
    return sorted(set(permutations([seat for seat in range(seats) for _ in range(hand)])))


@pytest.mark.parametrize(("hand", "seats"), [(2, 3), (3, 2), (2, 2), (4, 2)])
def test_runs_of_small_sets_are_counted_as_by_trying_all(hand: int, seats: int) -> None:
    words = _words(hand, seats)

    for most in range(1, hand + 1):
        short = [word for word in words if max(len(list(run)) for _, run in groupby(word)) <= most]
        assert chances.count_words_with_runs(most, hand, seats) == len(short)


@pytest.mark.parametrize(("hand", "seats"), [(2, 3), (3, 2), (2, 4)])
def test_descents_and_valleys_of_small_sets_are_counted_as_by_trying_all(
    hand: int, seats: int
) -> None:
    letters = np.array(_words(hand, seats))
    down, up = letters[:, 1:] < letters[:, :-1], letters[:, 1:] > letters[:, :-1]
    descents, valleys = down.sum(1), (down[:, :-1] & up[:, 1:]).sum(1)

    counted = chances.window_moments(chances.is_descent, 2, hand, seats)
    assert counted == pytest.approx((descents.mean(), descents.var()))
    counted = chances.window_moments(chances.is_valley, 3, hand, seats)
    assert counted == pytest.approx((valleys.mean(), valleys.var()))


@pytest.mark.parametrize(("hand", "seats"), [(2, 3), (3, 2), (2, 4)])
def test_right_guesses_of_small_sets_are_counted_as_by_trying_all(hand: int, seats: int) -> None:
    right = []
    for word in _words(hand, seats):
        left = [hand] * seats
        right.append(0)
        for letter in word:
            right[-1] += left.index(max(left)) == letter
            left[letter] -= 1

    assert chances.guess_moments((hand,) * seats) == pytest.approx((np.mean(right), np.var(right)))


def test_figures_of_many_deals_are_as_counted() -> None:
    deals = 4_000
    seen = DealMeasures(uniform(deals, np.random.default_rng(3)))
    for figures, (mean, variance) in (
        (seen.descents, chances.window_moments(chances.is_descent, 2)),
        (seen.valleys, chances.window_moments(chances.is_valley, 3)),
        (seen.right_guesses, chances.guess_moments()),
    ):
        assert figures.mean() == pytest.approx(mean, abs=4 * (variance / deals) ** 0.5)
        assert figures.var() == pytest.approx(variance, rel=0.1)


def test_every_seat_has_a_card_after_82_at_the_latest() -> None:
    each = chances.cards_until_all_seats()

    assert sum(each) == 1
    assert set(each[:4]) == {Fraction(0)}
    assert each[4] == Fraction(27**4 * 24, 108 * 107 * 106 * 105)
    assert len(each) == 83


def test_bombs_and_sides_vary_as_counted_in_many_deals() -> None:
    seen = DealMeasures(uniform(4_000, np.random.default_rng(4)))
    mean, variance = chances.bomb_moments()
    weights = seen.side_weights(tray_only=False)
    squares = seen.side_lead(weights) ** 2
    due, spread = deal_statistics.side_moments(weights)

    assert seen.bombs.mean() == pytest.approx(mean, abs=4 * (variance / 4_000) ** 0.5)
    assert seen.bombs.var() == pytest.approx(variance, rel=0.1)
    assert squares.mean() == pytest.approx(due.mean(), abs=4 * (spread.mean() / 4_000) ** 0.5)
    assert squares.var() == pytest.approx(spread.mean(), rel=0.2)


def test_the_chi_square_of_faces_is_the_usual_one_times_107_to_108() -> None:
    deals = uniform(300, np.random.default_rng(5))
    found = deal_statistics.SeatCounts(54, deals.cards % 54, deals.seats)
    statistic, freedom = found.chi_square()

    usual = ((found.counts - 150) ** 2 / 150).sum()
    assert statistic == pytest.approx(usual * 107 / 108)
    assert freedom == 159


def test_small_classes_of_a_histogram_are_joined_by_what_is_expected() -> None:
    assert deal_statistics.fit_histogram([50, 46, 4], [0.5, 0.46, 0.04]) == (0.0, 1)
    assert deal_statistics.fit_histogram([1, 1], [0.5, 0.5])[1] == 0


def fed_alike(deals: int, passes: float) -> CollectedDeals:
    """Fair deals in which the cards always come in one order; the less mixed, the more alike."""
    rng = np.random.default_rng(6)
    dealt = uniform(deals, rng)
    stack = np.argsort(np.arange(108) % 54 + rng.random(108))
    fed = stack[np.argsort(np.arange(108) + passes * rng.random(108))]
    rows = (np.tile(each, (deals, 1)) for each in (fed, stack))
    cards, stacks = rows
    return make_deals(cards, dealt.waiting, dealt.seats, collected=stacks)


@pytest.mark.parametrize("passes", [3, 12, 200])
def test_figures_go_together_as_much_as_their_pairs_of_cards_do(passes: float) -> None:
    seen = DealMeasures(fed_alike(DEALS, passes))
    together = seen.neighbours_together
    assert together is not None
    figures = {"adjacent": seen.adjacent, "twins": seen.twins, "collected": together}

    for (one, other), owed in shared_pair_correlations(seen).items():
        found = np.corrcoef(figures[one], figures[other])[0, 1]
        assert found == pytest.approx(owed[0], abs=5 / DEALS**0.5)
    assert (interplay(seen).p or 0) > 1e-4


def test_cards_that_are_hardly_mixed_make_figures_go_together() -> None:
    owed = shared_pair_correlations(DealMeasures(fed_alike(2, 3)))

    assert owed["adjacent", "collected"][0] > 0.3
    assert owed["twins", "collected"][0] > 0.3
    assert (
        abs(
            shared_pair_correlations(DealMeasures(fed_alike(2, 10_000)))["adjacent", "collected"][0]
        )
        < 0.1
    )
