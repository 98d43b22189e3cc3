"""Tests of the hands: which faces are in which hand."""

import numpy as np

from controller.cards import FACE_COUNT
from sim.lab import deal_statistics
from sim.lab.chances import bomb_moments as bombs_of
from sim.lab.chances import four_cards_together
from sim.lab.collected_deals import CARDS, ReadingOutcome
from sim.lab.deal_measures import (
    MIN_DEALS,
    STRENGTH,
    DealMeasures,
    StatisticResult,
    chi_square_result,
    histogram_result,
    mean_result,
    not_answerable,
)
from sim.lab.deal_measures import pairs_result as pairs
from sim.lab.deal_statistics import Floats


def type_seat(seen: DealMeasures) -> StatisticResult:
    """Test whether any of the 54 faces prefers a seat."""
    found = deal_statistics.SeatCounts(FACE_COUNT)
    for block in seen.deals.blocks():
        found.add(block.cards % FACE_COUNT, block.seats)
    return chi_square_result(*found.chi_square())


def strength(seen: DealMeasures) -> StatisticResult:
    """Test whether some seat gets stronger cards."""
    statistic = deal_statistics.trend_chi_square(
        seen.side_weights(tray_only=False), seen.deals.seats
    )
    return chi_square_result(statistic, 3)


def twins(seen: DealMeasures) -> StatisticResult:
    """Test how many faces have both copies in one hand."""
    return pairs(seen.twins, [1] * CARDS)


def jokers(seen: DealMeasures) -> StatisticResult:
    """Test the distribution of the four jokers."""
    chances = {together: float(chance) for together, chance in four_cards_together().items()}
    return histogram_result(seen.jokers, chances)


def bombs(seen: DealMeasures) -> StatisticResult:
    """Test how many ranks occur four or more times in a hand."""
    return mean_result(seen.bombs, *bombs_of())


def sides(seen: DealMeasures) -> StatisticResult:
    """Test whether one side is stronger more often than expected, whichever side it is."""
    return _sides(seen, tray_only=False)


def tray_sides(seen: DealMeasures) -> StatisticResult:
    """Test the same for the cards that were in the tray only."""
    return _sides(seen, tray_only=True)


def _sides(seen: DealMeasures, *, tray_only: bool) -> StatisticResult:
    squares, means, variances = 0.0, 0.0, 0.0
    counted = 0
    for block in seen.deals.blocks():
        part = DealMeasures(block)
        weights: Floats = part.side_weights(tray_only=tray_only)
        some = (weights != 0).sum(1) > 1  # the square of a single card is the same on either side
        squares += float((part.side_lead(weights)[some] ** 2).sum())
        mean, variance = deal_statistics.side_moments(weights[some])
        means, variances = means + float(mean.sum()), variances + float(variance.sum())
        counted += int(some.sum())
    if counted < MIN_DEALS:
        return not_answerable(
            f"fewer than {MIN_DEALS} deals" + " with two cards in the tray" * tray_only
        )
    z = (squares - means) / np.sqrt(variances)
    return StatisticResult(
        float(z),
        f"{squares / counted:.1f}",
        f"{means / counted:.1f} ± {variances**0.5 / counted:.1f}",
        deal_statistics.p_of_gamma(squares, means, variances),
    )


JOKER_WORTH, HONOUR_WORTH = 13, 9
"""The smallest strength of a joker, and of a J, Q, K or A."""

_NO_TRAY = "hardly a card was looked at twice"


def waiting_verdict(seen: DealMeasures) -> StatisticResult:
    """Test whether the pocket due for a card depends on the card's verdict.

    The card is in that pocket at the end, or else own_place is outside. So the final pocket of such
    cards needs no test of its own.
    """
    found = deal_statistics.SeatCounts(len(ReadingOutcome) - 1)
    for block in seen.deals.blocks():
        found.add(block.verdicts.astype(np.int64) - 1, block.waiting)
    return _seat_result(found)


def tray_face(seen: DealMeasures) -> StatisticResult:
    """Test whether strong cards that were in the tray prefer one seat."""
    found = deal_statistics.SeatCounts(3)
    for block in seen.deals.blocks():
        worth = STRENGTH[block.cards]
        kind = np.where(worth >= JOKER_WORTH, 2, np.where(worth >= HONOUR_WORTH, 1, 0))
        found.add(np.where(block.verdicts >= ReadingOutcome.TRAY, kind, -1), block.seats)
    return _seat_result(found)


def own_place(seen: DealMeasures) -> StatisticResult:
    """Test whether every card is in the pocket that was due for it."""
    moved = int((seen.deals.seats != seen.deals.waiting).sum())
    return StatisticResult(float(moved), str(moved), "0", 0.0 if moved else 1.0)


def _seat_result(found: deal_statistics.SeatCounts) -> StatisticResult:
    answer = chi_square_result(*found.chi_square())
    if answer.p is None:
        return not_answerable(_NO_TRAY)
    counts = found.counts.sum(0).astype(int)
    return answer._replace(seen=f"{answer.statistic:.2f} (N W S E: {counts.tolist()})")
