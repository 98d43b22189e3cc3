"""Counts of cards in deals, and the probabilities of such counts in fair deals.

Nearly all tests use two kinds of counts. The first is counts of labelled cards by seat: a
chi-square with exact covariance, because a hand of 27 is drawn without replacement. The second is
counts of pairs of cards in one hand, with exact mean and variance from sim/lab/chances.py.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from controller.seats import SEATS
from sim.lab.collected_deals import BLOCK_DEALS, CARDS

Floats = NDArray[np.float64]

MIN_EXPECTED = 5.0
"""The smallest expected count in a class of a chi-square. Smaller classes are joined."""

_EPSILON = 1e-9


class SeatCounts:
    """A count, for each label and each seat, of the cards with this label that the seat got.

    A label is a number, for example the face of the card. Let k[g] be the number of cards with
    label g. In a fair deal, the counts o[g, s] have the mean k[g]/4 and the covariance
    (108·[g=h]·k[g] − k[g]·k[h])/107 · ([s=t] − ¼)/4. Let d = o − k/4, and let C be the sum of the
    first factor over the deals. Then the sum over seats of dᵀ(C/4)⁻¹d is chi-square with 3 × rank C
    degrees of freedom.
    """

    def __init__(self, kinds: int, labels: NDArray[np.integer], seats: NDArray[np.integer]) -> None:
        """Count, for each label and seat, the cards with this label that the seat got.

        `labels` and `seats` have one number for each card (rows of 108). The labels are 0 to
        `kinds` − 1. Any other number means no label.
        """
        self.counts: Floats = np.zeros((kinds, len(SEATS)))
        self._spread: Floats = np.zeros((kinds, kinds))
        labels = np.broadcast_to(labels, seats.shape)
        for begin in range(0, len(seats), BLOCK_DEALS):
            rows = slice(begin, begin + BLOCK_DEALS)
            self._add(labels[rows], seats[rows])

    def _add(self, labels: NDArray[np.integer], seats: NDArray[np.integer]) -> None:
        many, kinds, size = len(seats), len(self.counts), len(self.counts) + 1
        marked = labels.astype(np.int64)
        marked = np.where((marked >= 0) & (marked < kinds), marked, kinds)
        cells = np.bincount((marked * len(SEATS) + seats).ravel(), minlength=size * len(SEATS))
        self.counts += cells.reshape(size, len(SEATS))[:kinds]
        rows = np.arange(many)[:, None] * size
        each = np.bincount((rows + marked).ravel(), minlength=many * size)
        of_deal = each.reshape(many, size)[:, :kinds].astype(np.float64)
        self._spread += (CARDS * np.diag(of_deal.sum(0)) - of_deal.T @ of_deal) / (CARDS - 1)

    @property
    def expected(self) -> Floats:
        """The mean number of cards of each label at one seat, which is the same for all seats."""
        return np.asarray(self.counts.sum(1) / len(SEATS))

    def chi_square(self) -> tuple[float, int]:
        """Return the chi-square of the counts against fair deals, and its degrees of freedom.

        Labels with too few counts are omitted. The degrees of freedom are 0 if no label remains.
        """
        enough = self.expected >= MIN_EXPECTED
        if not enough.any():
            return 0.0, 0
        off = (self.counts - self.expected[:, None])[enough]
        spread = self._spread[np.ix_(enough, enough)] / len(SEATS)
        rank = len(spread)
        if abs(spread.sum(1)).max() < _EPSILON * spread.max():
            # Every card has a label, so the counts of a seat add up to 27 for each deal. One of the
            # counts therefore gives no information.
            spread, rank = spread + spread.max(), rank - 1
        statistic = float((off * np.linalg.solve(spread, off)).sum())
        return statistic, (len(SEATS) - 1) * rank


def trend_chi_square(weights: Floats, seats: NDArray[np.integer]) -> float:
    """Return the chi-square of the test whether all four seats get the same sum of card weights.

    It has 3 degrees of freedom. `weights`: a number for each card, in rows of 108 or in one row for
    all deals. The sums differ from their mean with the variance (108·Σw² − (Σw)²)/107 · ¼, as in
    SeatCounts.
    """
    many = len(seats)
    number = np.broadcast_to(weights, seats.shape)
    sums = np.array([(number * (seats == seat)).sum() for seat in range(len(SEATS))])
    rows = np.atleast_2d(weights)
    spread = float((CARDS * (rows**2).sum(1) - rows.sum(1) ** 2).sum() / (CARDS - 1))
    spread *= many / len(rows)
    off = sums - sums.mean()
    return float((off**2).sum() / (spread / len(SEATS))) if spread else 0.0


def p_of_normal(z: float) -> float:
    """Return the probability that a standard normal number is at least as far from 0 as `z`."""
    return float(2 * stats.norm.sf(abs(z)))


def p_of_least(chances: Iterable[float]) -> float:
    """Return the smallest probability in `chances` times their number, at most 1 (Bonferroni)."""
    each = list(chances)
    return min(1.0, len(each) * min(each)) if each else 1.0


def fit_histogram(seen: Sequence[int], chances: Sequence[float]) -> tuple[float, int]:
    """Return the chi-square of counts against expected probabilities, and its degrees of freedom.

    `seen` are the counts of the classes, `chances` their expected probabilities. Neighbouring
    classes are joined until at least MIN_EXPECTED is expected in each class. Only the expected
    counts decide this, never the counts found. A last class that is too small joins the class
    before.
    """
    many = sum(seen)
    classes: list[tuple[float, float]] = []
    have = due = 0.0
    for count, chance in zip(seen, chances, strict=True):
        have, due = have + count, due + many * chance
        if due >= MIN_EXPECTED:
            classes.append((have, due))
            have = due = 0.0
    if classes:
        last_have, last_due = classes.pop()
        classes.append((last_have + have, last_due + due))
    statistic = sum((have - due) ** 2 / due for have, due in classes)
    return statistic, max(0, len(classes) - 1)


def longest_runs(letters: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return for each row the length of the longest run of equal letters."""
    run = np.ones(len(letters), np.int64)
    longest = run.copy()
    for before, after in pairwise(letters.T):
        run = np.where(before == after, run + 1, 1)
        np.maximum(longest, run, out=longest)
    return longest


def side_signs(seats: NDArray[np.integer]) -> Floats:
    """Return +1 for each seat of the side N+S and −1 for each seat of the side W+E."""
    return np.where(np.asarray(seats) % 2 == 0, 1.0, -1.0)


_TWO = -1 / (CARDS - 1)
_FOUR = 3 / ((CARDS - 1) * (CARDS - 3))


def side_moments(weights: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of one side's squared lead in fair deals, for each row of `weights`.

    The lead is the sum of the weights of one side's cards, minus that sum of the other side. The
    signs of two cards have the mean product −1/107, and the signs of four cards 3/(107·105). Each
    way in which some of four cards are the same card has its own sum of powers. `weights`: rows of
    108, with 0 for a card without weight.
    """
    p1, p2, p3, p4 = ((weights**power).sum(1) for power in (1, 2, 3, 4))
    mean = p2 + (p1**2 - p2) * _TWO
    even = p4 + 3 * (p2**2 - p4)
    two = 4 * (p3 * p1 - p4) + 6 * (p2 * p1**2 - p2**2 - 2 * p3 * p1 + 2 * p4)
    four = p1**4 - 6 * p2 * p1**2 + 3 * p2**2 + 8 * p3 * p1 - 6 * p4
    return mean, even + two * _TWO + four * _FOUR - mean**2
