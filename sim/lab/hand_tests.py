"""Statistical tests of the hands: which faces are in which hand."""

import numpy as np

from controller.cards import FACE_COUNT
from sim.lab import deal_statistics
from sim.lab.collected_deals import ReadingOutcome
from sim.lab.deal_measures import (
    MIN_DEALS,
    STRENGTH,
    DealMeasures,
    StatisticResult,
    chi_square_result,
    not_answerable,
)
from sim.lab.deal_statistics import Floats


def type_seat(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets any of the 54 faces more often than others."""
    faces = seen.deals.cards % FACE_COUNT
    found = deal_statistics.SeatCounts(FACE_COUNT, faces, seen.deals.seats)
    return chi_square_result(*found.chi_square())


def strength(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets better cards than others."""
    statistic = deal_statistics.trend_chi_square(
        seen.side_weights(tray_only=False), seen.deals.seats
    )
    return chi_square_result(statistic, 3)


def sides(seen: DealMeasures, *, tray_only: bool) -> StatisticResult:
    """Test whether one side is stronger than the other side more than chance explains.

    With `tray_only`, only the cards that were in the tray count.
    """
    squares, means, variances = 0.0, 0.0, 0.0
    counted = 0
    for block in seen.deals.blocks():
        part = DealMeasures(block)
        weights: Floats = part.side_weights(tray_only=tray_only)
        some = (weights != 0).sum(1) > 1  # the square of a single card does not depend on the side
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
"""The lowest value of a joker, and of an honour (J, Q, K or A)."""

_NO_TRAY = "hardly a card was looked at twice"


def waiting_verdict(seen: DealMeasures) -> StatisticResult:
    """Test whether the waiting pocket of a card depends on the card's reading outcome.

    The final pocket needs no test of its own: if it differs from the waiting pocket, `own_place` is
    outside.
    """
    kinds = len(ReadingOutcome) - 1
    labels = seen.deals.verdicts - np.uint8(1)  # ACCEPTED becomes 255, which is no label
    return _seat_result(deal_statistics.SeatCounts(kinds, labels, seen.deals.waiting))


def tray_face(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets the good cards from the tray more often than others."""
    kinds = np.digitize(STRENGTH, (HONOUR_WORTH, JOKER_WORTH))[seen.deals.cards]
    labels = np.where(seen.deals.verdicts >= ReadingOutcome.TRAY, kinds, -1)
    return _seat_result(deal_statistics.SeatCounts(3, labels, seen.deals.seats))


def own_place(seen: DealMeasures) -> StatisticResult:
    """Test whether every card is in the pocket that waited for it."""
    moved = int((seen.deals.seats != seen.deals.waiting).sum())
    return StatisticResult(float(moved), str(moved), "0", 0.0 if moved else 1.0)


def _seat_result(found: deal_statistics.SeatCounts) -> StatisticResult:
    answer = chi_square_result(*found.chi_square())
    if answer.p is None:
        return not_answerable(_NO_TRAY)
    counts = found.counts.sum(0).astype(int)
    return answer._replace(seen=f"{answer.statistic:.2f} (N W S E: {counts.tolist()})")
