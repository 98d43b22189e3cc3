"""Tests of the hands: which faces lie where."""

import numpy as np

from controller.cards import FACE_COUNT
from controller.trials.lab import counting
from controller.trials.lab.answers import (
    MIN_DEALS,
    StatisticResult,
    chi_square_result,
    histogram_result,
    mean_result,
    not_answerable,
)
from controller.trials.lab.answers import pairs_result as pairs
from controller.trials.lab.chances import bomb_moments as bombs_of
from controller.trials.lab.chances import four_cards_together
from controller.trials.lab.counting import Floats
from controller.trials.lab.data import CARDS
from controller.trials.lab.seen import DealMeasures


def type_seat(seen: DealMeasures) -> StatisticResult:
    """Ask whether any of the 54 faces prefers a seat."""
    found = counting.SeatCounts(FACE_COUNT)
    for block in seen.deals.blocks():
        found.add(block.cards % FACE_COUNT, block.seats)
    return chi_square_result(*found.chi_square())


def strength(seen: DealMeasures) -> StatisticResult:
    """Ask whether any seat gets the better cards."""
    statistic = counting.trend_chi_square(seen.side_weights(tray_only=False), seen.deals.seats)
    return chi_square_result(statistic, 3)


def twins(seen: DealMeasures) -> StatisticResult:
    """Ask how many faces lie in a hand with both copies."""
    return pairs(seen.twins, [1] * CARDS)


def jokers(seen: DealMeasures) -> StatisticResult:
    """Ask how the four jokers are shared."""
    chances = {together: float(chance) for together, chance in four_cards_together().items()}
    return histogram_result(seen.jokers, chances)


def bombs(seen: DealMeasures) -> StatisticResult:
    """Ask how many ranks hands have four times or more."""
    return mean_result(seen.bombs, *bombs_of())


def sides(seen: DealMeasures) -> StatisticResult:
    """Ask whether one side is the stronger more than chance has it, whichever side that is."""
    return _sides(seen, tray_only=False)


def tray_sides(seen: DealMeasures) -> StatisticResult:
    """Ask the same of the cards alone that were in the tray."""
    return _sides(seen, tray_only=True)


def _sides(seen: DealMeasures, *, tray_only: bool) -> StatisticResult:
    squares, means, variances = 0.0, 0.0, 0.0
    counted = 0
    for block in seen.deals.blocks():
        part = DealMeasures(block)
        weights: Floats = part.side_weights(tray_only=tray_only)
        some = (weights != 0).sum(1) > 1  # one card's square is the same on either side
        squares += float((part.side_lead(weights)[some] ** 2).sum())
        mean, variance = counting.side_moments(weights[some])
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
        counting.p_of_gamma(squares, means, variances),
    )
