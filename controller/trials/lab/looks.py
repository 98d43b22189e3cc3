"""Tests of the second looks: whether where a card goes has to do with what the vault said."""

import numpy as np

from controller.trials.lab import counting
from controller.trials.lab.answers import Answer, chi_square, lacking
from controller.trials.lab.data import Verdict
from controller.trials.lab.seen import STRENGTH, Seen

JOKER_WORTH, HONOUR_WORTH = 13, 9
"""Where a card's worth makes it a joker, and a J, Q, K or A."""

_NO_TRAY = "hardly a card was looked at twice"


def waiting_verdict(seen: Seen) -> Answer:
    """Ask whether the pocket that waits for a card has to do with its verdict.

    The card lies there in the end, or own_place is outside: where such cards lie is no question
    of its own.
    """
    found = counting.SeatCounts(len(Verdict) - 1)
    for block in seen.deals.blocks():
        found.add(block.verdicts.astype(np.int64) - 1, block.waiting)
    return _seat_result(found)


def tray_face(seen: Seen) -> Answer:
    """Ask whether good cards that were in the tray go to one seat rather."""
    found = counting.SeatCounts(3)
    for block in seen.deals.blocks():
        worth = STRENGTH[block.cards]
        kind = np.where(worth >= JOKER_WORTH, 2, np.where(worth >= HONOUR_WORTH, 1, 0))
        found.add(np.where(block.verdicts >= Verdict.TRAY, kind, -1), block.seats)
    return _seat_result(found)


def own_place(seen: Seen) -> Answer:
    """Ask whether every card lies in the pocket that waited for it."""
    moved = int((seen.deals.seats != seen.deals.waiting).sum())
    return Answer(float(moved), str(moved), "0", 0.0 if moved else 1.0)


def _seat_result(found: counting.SeatCounts) -> Answer:
    answer = chi_square(*found.chi_square())
    if answer.p is None:
        return lacking(_NO_TRAY)
    counts = found.counts.sum(0).astype(int)
    return answer._replace(seen=f"{answer.statistic:.2f} (N W S E: {counts.tolist()})")
