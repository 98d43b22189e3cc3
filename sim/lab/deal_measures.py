"""Figures that the tests use, calculated once for each deal, and the results of the tests.

`DealMeasures` calculates where each card was fed, where the card finally was, and counts made from
both. The functions below return a `StatisticResult` for a kind of figure.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.cards import FACE_COUNT
from controller.seats import SEATS
from sim.lab import deal_statistics
from sim.lab.chances import PAIR, pairs_variance
from sim.lab.collected_deals import CARDS, HAND, CollectedDeals, ReadingOutcome
from sim.lab.deal_statistics import Floats, longest_runs, side_signs

Ints = NDArray[np.int64]

JOKERS = (52, 53, 106, 107)
RANKS = 13
STRENGTH = np.array(
    [*(face % RANKS for face in range(FACE_COUNT - 2)), RANKS, RANKS + 1] * 2, np.float64
)
"""The worth of a card, by its number: 0 for a 2 … 12 for an ace, 13 and 14 for the jokers."""
CENTRED_STRENGTH = STRENGTH - STRENGTH.mean()


class DealMeasures:
    """Figures of each deal. A figure of pairs counts the pairs of cards that are in one hand."""

    def __init__(self, deals: CollectedDeals) -> None:
        """Store the deals."""
        self.deals = deals

    def __len__(self) -> int:
        """Return the number of deals."""
        return len(self.deals)

    @cached_property
    def seat_of(self) -> NDArray[np.uint8]:
        """The final pocket of each card, by card number."""
        return _by_card(self.deals.cards, self.deals.seats)

    @cached_property
    def place_of(self) -> NDArray[np.uint8]:
        """The feed position of each card, by card number, from 0."""
        places = np.broadcast_to(np.arange(CARDS, dtype=np.uint8), self.deals.cards.shape)
        return _by_card(self.deals.cards, places)

    @cached_property
    def stack_of(self) -> NDArray[np.uint8] | None:
        """The position in the collected stack of each fed card, by feed index, from 0."""
        stack = self.deals.collected
        if stack is None:
            return None
        places = np.broadcast_to(np.arange(CARDS, dtype=np.uint8), stack.shape)
        depth = _by_card(stack, places)
        return np.take_along_axis(depth, self.deals.cards.astype(np.int64), 1)

    @cached_property
    def followers(self) -> Ints:
        """The rows whose deal follows the deal of the row before."""
        return np.flatnonzero(self.deals.follows)

    def same_pocket_at(self, distance: int) -> Ints:
        """Return how many of the 108 − `distance` pairs of places have the same waiting pocket."""
        letters = self.deals.waiting
        return np.asarray((letters[:, distance:] == letters[:, :-distance]).sum(1))

    @cached_property
    def adjacent(self) -> Ints:
        """The number of neighbours in the feed order with the same pocket, of 107."""
        return self.same_pocket_at(1)

    @cached_property
    def pairs_in_blocks(self) -> Ints:
        """The number of pairs with the same pocket within the 27 blocks of four places, of 162."""
        blocks = self.deals.waiting.reshape(-1, HAND, len(SEATS))
        pairs = [(a, b) for a in range(len(SEATS)) for b in range(a)]
        return np.asarray(sum((blocks[:, :, a] == blocks[:, :, b]).sum(1) for a, b in pairs))

    @cached_property
    def descents(self) -> Ints:
        """The number of neighbours in the feed order whose second has the lower pocket, of 107."""
        letters = self.deals.waiting
        return np.asarray((letters[:, 1:] < letters[:, :-1]).sum(1))

    @cached_property
    def valleys(self) -> Ints:
        """The number of places whose pocket is lower than the pockets before and after, of 106."""
        letters = self.deals.waiting
        middle = letters[:, 1:-1]
        return np.asarray(((middle < letters[:, :-2]) & (middle < letters[:, 2:])).sum(1))

    @cached_property
    def right_guesses(self) -> Ints:
        """The number of correct guesses of the best guesser, of 108.

        The guesser always names a seat with the most cards to come. After each guess, the guesser
        learns where the card went, and forgets nothing.
        """
        rows, right = np.arange(len(self)), np.zeros(len(self), np.int64)
        left = np.full((len(self), len(SEATS)), HAND)
        for letters in self.deals.waiting.T:
            right += left.argmax(1) == letters
            left[rows, letters] -= 1
        return right

    @cached_property
    def longest(self) -> Ints:
        """The length of the longest run of one pocket."""
        return longest_runs(self.deals.waiting)

    @cached_property
    def twins(self) -> Ints:
        """The number of faces with both copies in one hand, of 54."""
        return np.asarray((self.seat_of[:, :FACE_COUNT] == self.seat_of[:, FACE_COUNT:]).sum(1))

    @cached_property
    def jokers(self) -> Ints:
        """The number of pairs of jokers in one hand, of 6."""
        seats = self.seat_of[:, list(JOKERS)]
        return np.asarray(sum((seats[:, a] == seats[:, b]) for a in range(4) for b in range(a)))

    @cached_property
    def neighbours_together(self) -> Ints | None:
        """The number of neighbours in the collected stack that are in one hand, of 107."""
        stack = self.deals.collected
        if stack is None:
            return None
        seats = np.take_along_axis(self.seat_of, stack.astype(np.int64), 1)
        return np.asarray((seats[:, 1:] == seats[:, :-1]).sum(1))

    @cached_property
    def carried_over(self) -> Ints:
        """The number of cards with the same seat as in the deal before, of 108 (followers only)."""
        return np.asarray((self.seat_of[self.followers] == self.seat_of[self.followers - 1]).sum(1))

    @cached_property
    def bombs(self) -> Ints:
        """The number of ranks held four times or more, over 13 ranks and 4 hands."""
        many = np.zeros(len(self), np.int64)
        for rank in range(RANKS):
            copies = [
                rank + RANKS * suit + FACE_COUNT * pack for suit in range(4) for pack in range(2)
            ]
            held = self.seat_of[:, copies]
            for seat in range(len(SEATS)):
                many += (held == seat).sum(1) >= 4
        return many

    def side_weights(self, *, tray_only: bool) -> Floats:
        """Return the worth of each fed card, minus the mean of the set.

        With `tray_only`, cards that were not in the tray have the value 0.
        """
        worth = CENTRED_STRENGTH[self.deals.cards]
        return (
            np.where(self.deals.verdicts >= ReadingOutcome.TRAY, worth, 0.0) if tray_only else worth
        )

    def side_lead(self, weights: Floats) -> Floats:
        """Return the sum of the weights of side N+S minus the sum of side W+E."""
        return np.asarray((weights * side_signs(self.deals.seats)).sum(1))


def _by_card(cards: NDArray[np.uint8], figures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    out = np.empty(cards.shape, np.uint8)
    np.put_along_axis(out, cards.astype(np.int64), figures, 1)
    return out


MIN_DEALS = 50
"""The number of deals from which a sum is treated as normally distributed."""


class StatisticResult(NamedTuple):
    """The result of a test: statistic, found and expected values, and chance in fair deals.

    `p` is None if these deals cannot answer the test. `why` then gives the reason. `freedom` is the
    degrees of freedom of a chi-square, and 0 for another statistic.
    """

    statistic: float | None
    seen: str
    expected: str
    p: float | None
    freedom: int = 0
    why: str = ""


def not_answerable(why: str) -> StatisticResult:
    """Return the result of a test that these deals cannot answer."""
    return StatisticResult(None, "–", "–", None, why=why)


def chi_square_result(statistic: float, freedom: int, seen: str = "") -> StatisticResult:
    """Return the result of a chi-square. `seen` is the text of the found value for the report."""
    if not freedom:
        return not_answerable("too few were counted")
    expected = (
        f"{freedom}; 95 %: {deal_statistics.chi_square_limit(freedom, 0.95):.1f}, "
        f"99 %: {deal_statistics.chi_square_limit(freedom, 0.99):.1f}"
    )
    p = deal_statistics.p_of_chi_square(statistic, freedom)
    return StatisticResult(statistic, seen or f"{statistic:.1f}", expected, p, freedom)


def mean_result(figures: Ints, mean: float, variance: float) -> StatisticResult:
    """Return the result of a sum over deals. Mean and variance of one deal are exact."""
    many = len(figures)
    if many < MIN_DEALS:
        return not_answerable(f"fewer than {MIN_DEALS} deals")
    z = (float(figures.sum()) - many * mean) / (many * variance) ** 0.5
    seen = f"{float(figures.mean()):.4f}"
    expected = f"{mean:.4f} ± {(variance / many) ** 0.5:.4f}"
    return StatisticResult(z, seen, expected, deal_statistics.p_of_normal(z))


def pairs_result(figures: Ints, degrees: list[int]) -> StatisticResult:
    """Return the result of a count of pairs in one hand. `degrees` is as in `pairs_variance`."""
    pairs = sum(degrees) // 2
    return mean_result(figures, pairs * float(PAIR), pairs_variance(degrees))


def histogram_result(figures: Ints, chances: dict[int, float]) -> StatisticResult:
    """Return the result of a histogram of one figure per deal.

    `chances` are the exact chances of its classes.
    """
    counts = np.bincount(figures, minlength=max(chances) + 1)
    kinds = sorted(chances)
    statistic, freedom = deal_statistics.fit_histogram(
        [int(counts[kind]) for kind in kinds], [chances[kind] for kind in kinds]
    )
    shown = ", ".join(
        f"{kind}: {int(counts[kind]) / max(1, len(figures)):.4f}" for kind in kinds if counts[kind]
    )
    return chi_square_result(statistic, freedom, f"{statistic:.2f} ({shown})")
