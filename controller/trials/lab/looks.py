"""Tests of the second looks: whether where a card goes has to do with what the vault said."""

import numpy as np

from controller.trials.lab import counting
from controller.trials.lab.answers import StatisticResult, chi_square_result, not_answerable
from controller.trials.lab.data import ReadingOutcome
from controller.trials.lab.seen import STRENGTH, DealMeasures

JOKER_WORTH, HONOUR_WORTH = 13, 9
"""Where a card's worth makes it a joker, and a J, Q, K or A."""

_NO_TRAY = "hardly a card was looked at twice"


def waiting_verdict(seen: DealMeasures) -> StatisticResult:
    """Ask whether the pocket that waits for a card has to do with its verdict.

    The card lies there in the end, or own_place is outside: where such cards lie is no question
    of its own.
    """
    found = counting.SeatCounts(len(ReadingOutcome) - 1)
    for block in seen.deals.blocks():
        found.add(block.verdicts.astype(np.int64) - 1, block.waiting)
    return _seat_result(found)


def tray_face(seen: DealMeasures) -> StatisticResult:
    """Ask whether good cards that were in the tray go to one seat rather."""
    found = counting.SeatCounts(3)
    for block in seen.deals.blocks():
        worth = STRENGTH[block.cards]
        kind = np.where(worth >= JOKER_WORTH, 2, np.where(worth >= HONOUR_WORTH, 1, 0))
        found.add(np.where(block.verdicts >= ReadingOutcome.TRAY, kind, -1), block.seats)
    return _seat_result(found)


def own_place(seen: DealMeasures) -> StatisticResult:
    """Ask whether every card lies in the pocket that waited for it."""
    moved = int((seen.deals.seats != seen.deals.waiting).sum())
    return StatisticResult(float(moved), str(moved), "0", 0.0 if moved else 1.0)


def _seat_result(found: counting.SeatCounts) -> StatisticResult:
    answer = chi_square_result(*found.chi_square())
    if answer.p is None:
        return not_answerable(_NO_TRAY)
    counts = found.counts.sum(0).astype(int)
    return answer._replace(seen=f"{answer.statistic:.2f} (N W S E: {counts.tolist()})")
