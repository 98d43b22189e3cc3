"""Counts made from collected deals, and functions that compare counts with fair deals.

`DealMeasures` calculates where each card was fed, where the card finally was, and counts made from
both. The functions below return a `StatisticResult` for a kind of count.
"""

from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

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
"""The value of a card, by its number: 0 for a 2 … 12 for an ace, 13 and 14 for the jokers."""
CENTRED_STRENGTH = STRENGTH - STRENGTH.mean()


class DealMeasures:
    """Positions and counts of the cards in collected deals, for the statistical tests.

    Most counts have one number for each deal. A count of pairs counts the pairs of cards whose two
    cards are in one hand.
    """

    def __init__(self, deals: CollectedDeals) -> None:
        self.deals = deals

    def __len__(self) -> int:
        return len(self.deals)

    @cached_property
    def seat_of(self) -> NDArray[np.uint8]:
        """The final pocket of each card: a row for each deal, a column for each card number."""
        return _by_card(self.deals.cards, self.deals.seats)

    @cached_property
    def place_of(self) -> NDArray[np.uint8]:
        """The feed position (0…107) of each card: a row for each deal, a column for each card."""
        return _by_card(self.deals.cards, np.arange(CARDS, dtype=np.uint8))

    @cached_property
    def stack_of(self) -> NDArray[np.uint8] | None:
        """Each fed card's position in the collected stack (0: top). None: no stack is recorded."""
        stack = self.deals.collected
        if stack is None:
            return None
        depth = _by_card(stack, np.arange(CARDS, dtype=np.uint8))
        return np.take_along_axis(depth, self.deals.cards.astype(np.int64), 1)

    @cached_property
    def followers(self) -> Ints:
        """The rows whose deal came directly after the deal of the row before, with the same set."""
        return np.flatnonzero(self.deals.follows)

    def same_pocket_at(self, distance: int) -> Ints:
        """Return for each deal the number of cards that have the same waiting pocket as the card
        fed `distance` cards earlier.

        Each deal has 108 − `distance` pairs of cards to compare.
        """
        letters = self.deals.waiting
        return np.asarray((letters[:, distance:] == letters[:, :-distance]).sum(1))

    @cached_property
    def adjacent(self) -> Ints:
        """The number of cards (0…107) with the same waiting pocket as the card fed just before."""
        return self.same_pocket_at(1)

    @cached_property
    def pairs_in_blocks(self) -> Ints:
        """The number of pairs with equal waiting pockets (0…162) inside 27 blocks of 4 cards."""
        blocks = self.deals.waiting.reshape(-1, HAND, len(SEATS))
        pairs = [(a, b) for a in range(len(SEATS)) for b in range(a)]
        return np.asarray(sum((blocks[:, :, a] == blocks[:, :, b]).sum(1) for a, b in pairs))

    @cached_property
    def descents(self) -> Ints:
        """The number of cards (0…107) with a lower waiting pocket than the card fed just before."""
        letters = self.deals.waiting
        return np.asarray((letters[:, 1:] < letters[:, :-1]).sum(1))

    @cached_property
    def valleys(self) -> Ints:
        """The number of cards (0…106) with a lower waiting pocket than both neighbouring cards."""
        letters = self.deals.waiting
        middle = letters[:, 1:-1]
        return np.asarray(((middle < letters[:, :-2]) & (middle < letters[:, 2:])).sum(1))

    @cached_property
    def right_guesses(self) -> Ints:
        """How many of 108 waiting pockets a player guesses right, if each guess is the best one.

        The player guesses each card's waiting pocket, and names a seat with the most cards to come.
        After each guess, the player learns where the card went, and remembers it.
        """
        rows, right = np.arange(len(self)), np.zeros(len(self), np.int64)
        left = np.full((len(self), len(SEATS)), HAND)
        for letters in self.deals.waiting.T:
            right += left.argmax(1) == letters
            left[rows, letters] -= 1
        return right

    @cached_property
    def longest(self) -> Ints:
        """The largest number of successive cards with the same waiting pocket."""
        return longest_runs(self.deals.waiting)

    @cached_property
    def twins(self) -> Ints:
        """The number of faces (0…54) that have both copies in one hand."""
        return np.asarray((self.seat_of[:, :FACE_COUNT] == self.seat_of[:, FACE_COUNT:]).sum(1))

    @cached_property
    def jokers(self) -> Ints:
        """The number of joker pairs (0…6) that have both jokers in one hand."""
        seats = self.seat_of[:, list(JOKERS)]
        return np.asarray(sum((seats[:, a] == seats[:, b]) for a in range(4) for b in range(a)))

    @cached_property
    def neighbours_together(self) -> Ints | None:
        """How many pairs of neighbours in the collected stack (0…107) are dealt to one hand.

        The value is None if no stack is recorded.
        """
        stack = self.deals.collected
        if stack is None:
            return None
        seats = np.take_along_axis(self.seat_of, stack.astype(np.int64), 1)
        return np.asarray((seats[:, 1:] == seats[:, :-1]).sum(1))

    @cached_property
    def carried_over(self) -> Ints:
        """The number of cards (0…108) that have the same seat as in the deal before.

        There is one number for each row of `followers`.
        """
        return np.asarray((self.seat_of[self.followers] == self.seat_of[self.followers - 1]).sum(1))

    @cached_property
    def bombs(self) -> Ints:
        """The number of bombs: ranks that one hand has at least four times (13 ranks × 4 hands)."""
        many = np.zeros(len(self), np.int64)
        for rank in range(RANKS):
            same = [rank + RANKS * suit + FACE_COUNT * pack for suit in range(4) for pack in (0, 1)]
            held = self.seat_of[:, same]
            for seat in range(len(SEATS)):
                many += (held == seat).sum(1) >= 4
        return many

    def side_weights(self, *, tray_only: bool) -> Floats:
        """Return a weight for each fed card: the card's strength minus the set's mean strength.

        With `tray_only`, the weight is 0 for cards that were not in the tray.
        """
        worth = CENTRED_STRENGTH[self.deals.cards]
        in_tray = self.deals.verdicts >= ReadingOutcome.TRAY
        return np.where(in_tray, worth, 0.0) if tray_only else worth

    def side_lead(self, weights: Floats) -> Floats:
        """Return for each deal the summed `weights` of the cards of side N+S minus those of W+E."""
        return np.asarray((weights * side_signs(self.deals.seats)).sum(1))


def _by_card(cards: NDArray[np.uint8], figures: NDArray[np.uint8]) -> NDArray[np.uint8]:
    out = np.empty(cards.shape, np.uint8)
    np.put_along_axis(out, cards.astype(np.int64), np.broadcast_to(figures, cards.shape), 1)
    return out


MIN_DEALS = 50
"""The number of deals from which a sum is treated as normally distributed."""


class StatisticResult(NamedTuple):
    """The result of a statistical test on some deals.

    `seen` and `expected` are texts of the found and the expected value. `p` is the probability of
    such a result in fair deals. `p` is None if these deals cannot answer the test. `why` then gives
    the reason. `freedom` is the degrees of freedom of a chi-square, and 0 for another statistic.
    """

    statistic: float | None
    seen: str
    expected: str
    p: float | None
    freedom: int = 0
    why: str = ""


def not_answerable(why: str) -> StatisticResult:
    """Return the result of a test that could not be made on the deals, for the reason `why`."""
    return StatisticResult(None, "–", "–", None, why=why)


def chi_square_result(statistic: float, freedom: int, seen: str = "") -> StatisticResult:
    """Return the test result for the chi-square `statistic` with `freedom` degrees of freedom.

    If `freedom` is 0, too few cards were counted, and the test has no answer. `seen` is the text of
    the found value for the report.
    """
    if not freedom:
        return not_answerable("too few were counted")
    expected = (
        f"{freedom}; 95 %: {stats.chi2.ppf(0.95, freedom):.1f}, "
        f"99 %: {stats.chi2.ppf(0.99, freedom):.1f}"
    )
    p = float(stats.chi2.sf(statistic, freedom))
    return StatisticResult(statistic, seen or f"{statistic:.1f}", expected, p, freedom)


def mean_result(figures: Ints, mean: float, variance: float) -> StatisticResult:
    """Return the test result for the mean of the counts `figures`, compared with fair deals.

    In fair deals, each count has the mean `mean` and the variance `variance`.
    """
    many = len(figures)
    if many < MIN_DEALS:
        return not_answerable(f"fewer than {MIN_DEALS} deals")
    z = (float(figures.sum()) - many * mean) / (many * variance) ** 0.5
    seen = f"{float(figures.mean()):.4f}"
    expected = f"{mean:.4f} ± {(variance / many) ** 0.5:.4f}"
    return StatisticResult(z, seen, expected, deal_statistics.p_of_normal(z))


def pairs_result(figures: Ints, degrees: list[int]) -> StatisticResult:
    """Return the test result for counts of card pairs in one hand, compared with fair deals.

    `figures` has one number for each deal. `degrees` is as in `pairs_variance`.
    """
    return mean_result(figures, sum(degrees) // 2 * float(PAIR), pairs_variance(degrees))


def histogram_result(figures: Ints, chances: dict[int, Fraction]) -> StatisticResult:
    """Return the test result for how often each count occurs in `figures`, against fair deals.

    `figures` has one count for each deal, `chances` the exact probability of each count.
    """
    counts = np.bincount(figures, minlength=max(chances) + 1)
    kinds = sorted(chances)
    statistic, freedom = deal_statistics.fit_histogram(
        [int(counts[kind]) for kind in kinds], [float(chances[kind]) for kind in kinds]
    )
    shown = ", ".join(
        f"{kind}: {int(counts[kind]) / max(1, len(figures)):.4f}" for kind in kinds if counts[kind]
    )
    return chi_square_result(statistic, freedom, f"{statistic:.2f} ({shown})")
