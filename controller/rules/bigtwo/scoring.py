"""Scores of one deal of Big Two: card points, and what each takes from the others."""

from collections.abc import Collection, Mapping

from controller.cards import SEATS
from controller.messages import Seat
from controller.rules.bigtwo.tables import BigTwoRules, ScoringRules


def card_points(left: int, scoring: ScoringRules) -> int:
    """Return the card points (牌分) of `left` cards in hand (seed 002 App1.1).

    Raises ValueError for a number that no hand has.
    """
    for band in scoring.card_points:
        if band.least <= left <= band.most:
            return left * band.times
    raise ValueError(f"a hand has {scoring.card_points[-1].most} cards at most, not {left}")


def deal_scores(
    left: Mapping[Seat, int],
    rules: BigTwoRules,
    open_hands: Collection[Seat] = (),
    doubled: Collection[Seat] = (),
) -> dict[Seat, int]:
    """Return the scores (得分) of the four seats; they add up to 0 (seed 002 App1.1).

    Two seats settle the difference of their card points, times the factor of either: who
    showed his hand, and who doubled. `left`: cards left, by seat. Raises ValueError where
    it does not hold four seats of which just one is out (A10), or a seat chose that is none.
    """
    if set(left) != set(SEATS):
        raise ValueError(f"cards left of {' '.join(left)}: expected {' '.join(SEATS)}")
    out = [seat for seat in left if not left[seat]]
    if len(out) != 1:
        raise ValueError(f"{len(out)} seats are out: expected just one, who ends the deal")
    if strangers := {*open_hands, *doubled} - set(left):
        raise ValueError(f"{' '.join(sorted(strangers))}: expected seats, {' '.join(SEATS)}")
    points = {seat: card_points(cards, rules.scoring) for seat, cards in left.items()}
    factor = {
        seat: (rules.open_hand.factor if seat in open_hands else 1)
        * (rules.doubling.factor if seat in doubled else 1)
        for seat in left
    }
    return {
        mine: sum((points[other] - points[mine]) * factor[mine] * factor[other] for other in left)
        for mine in left
    }
