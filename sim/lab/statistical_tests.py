"""The statistical tests of the family: which cards go to which pocket, in which order.

The first tests examine the faces in the hands. The others examine the order: the sequence of
pockets by place, and the collected stack.
"""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from scipy import stats

from controller.cards import FACE_COUNT
from controller.seats import SEATS
from sim.lab import deal_statistics
from sim.lab.chances import (
    PAIR,
    cards_until_all_seats,
    is_descent,
    is_valley,
    pairs_covariance,
    pairs_variance,
    window_moments,
)
from sim.lab.collected_deals import CARDS, ReadingOutcome
from sim.lab.deal_measures import (
    MIN_DEALS,
    STRENGTH,
    DealMeasures,
    Ints,
    StatisticResult,
    chi_square_result,
    histogram_result,
    mean_result,
    not_answerable,
    pairs_result,
)
from sim.lab.deal_statistics import Floats, SeatCounts


def type_seat(seen: DealMeasures) -> StatisticResult:
    """Test whether one of the 54 faces goes to one seat more often than to the others."""
    faces = seen.deals.cards % FACE_COUNT
    return chi_square_result(*SeatCounts(FACE_COUNT, faces, seen.deals.seats).chi_square())


def strength(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets better cards than the other seats."""
    weights = seen.side_weights(tray_only=False)
    return chi_square_result(deal_statistics.trend_chi_square(weights, seen.deals.seats), 3)


def sides(seen: DealMeasures, *, tray_only: bool) -> StatisticResult:
    """Test whether the strengths of the two sides differ by as much as in fair deals.

    Too small differences also fail. `tray_only` limits the test to cards that were in the tray.
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
        which = " with two cards in the tray" * tray_only
        return not_answerable(f"fewer than {MIN_DEALS} deals{which}")
    z = (squares - means) / np.sqrt(variances)
    expected = f"{means / counted:.1f} ± {variances**0.5 / counted:.1f}"
    # The sum is treated as a gamma number with the exact mean and variance. Both sides count.
    gamma = stats.gamma(means * means / variances, scale=variances / means)
    p = float(min(1.0, 2 * min(gamma.cdf(squares), gamma.sf(squares))))
    return StatisticResult(float(z), f"{squares / counted:.1f}", expected, p)


JOKER_WORTH, HONOUR_WORTH = 13, 9
"""The lowest value of a joker, and of an honour (J, Q, K or A)."""


def waiting_verdict(seen: DealMeasures) -> StatisticResult:
    """Test whether a card's waiting pocket depends on the card's reading outcome.

    The final pocket needs no test of its own: if it differs from the waiting pocket, `own_place` is
    outside.
    """
    kinds = len(ReadingOutcome) - 1
    labels = seen.deals.verdicts - np.uint8(1)  # ACCEPTED becomes 255, which is no label
    return _seat_result(SeatCounts(kinds, labels, seen.deals.waiting))


def tray_face(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets more of the tray's low cards, honours or jokers than others."""
    kinds = np.digitize(STRENGTH, (HONOUR_WORTH, JOKER_WORTH))[seen.deals.cards]
    labels = np.where(seen.deals.verdicts >= ReadingOutcome.TRAY, kinds, -1)
    return _seat_result(SeatCounts(3, labels, seen.deals.seats))


def own_place(seen: DealMeasures) -> StatisticResult:
    """Test whether every card of every deal ends in its own waiting pocket."""
    moved = int((seen.deals.seats != seen.deals.waiting).sum())
    return StatisticResult(float(moved), str(moved), "0", 0.0 if moved else 1.0)


def _seat_result(found: SeatCounts) -> StatisticResult:
    answer = chi_square_result(*found.chi_square())
    if answer.p is None:
        return not_answerable("hardly a card was looked at twice")
    counts = found.counts.sum(0).astype(int)
    return answer._replace(seen=f"{answer.statistic:.2f} (N W S E: {counts.tolist()})")


DISTANCES = range(2, 13)
"""The distances between the two places of the pairs that `serial` counts."""


def index_seat(seen: DealMeasures) -> StatisticResult:
    """Test whether cards with one feed index go to one seat more often than to other seats."""
    return chi_square_result(*SeatCounts(CARDS, np.arange(CARDS), seen.deals.seats).chi_square())


def index_trend(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets more early-fed or more late-fed cards than the other seats."""
    centred = np.arange(CARDS, dtype=np.float64) - (CARDS - 1) / 2
    return chi_square_result(deal_statistics.trend_chi_square(centred, seen.deals.seats), 3)


def serial(seen: DealMeasures) -> StatisticResult:
    """Test whether cards fed 2 to 12 cards apart have equal waiting pockets as often as expected.

    Each distance has a probability. The smallest counts, multiplied by the number of distances.
    """
    answers = {
        f"at distance {apart}": pairs_result(seen.same_pocket_at(apart), pair_degrees(apart))
        for apart in DISTANCES
    }
    return _least_likely(answers)


def descents(seen: DealMeasures) -> StatisticResult:
    """Test whether sequences have as many descents and valleys as expected.

    A descent is a lower pocket number than before, a valley a lower one than before and after. The
    smaller of the two probabilities counts, multiplied by two.
    """
    falls = mean_result(seen.descents, *window_moments(is_descent, 2))
    valleys = mean_result(seen.valleys, *window_moments(is_valley, 3))
    return _least_likely({"descents": falls, "valleys": valleys})


def coupon(seen: DealMeasures) -> StatisticResult:
    """Test whether the number of cards fed until every seat has a card is as expected."""
    first = [(seen.deals.waiting == seat).argmax(1) for seat in range(len(SEATS))]
    until = np.asarray(np.max(first, axis=0)) + 1
    chances = dict(enumerate(cards_until_all_seats()))
    answer = histogram_result(until, chances)
    mean = float(sum(cards * chance for cards, chance in chances.items()))
    if answer.p is None or answer.statistic is None:
        return answer
    return answer._replace(
        seen=f"{answer.statistic:.2f} (mean {float(until.mean()):.3f}, of {mean:.3f})"
    )


def tail(seen: DealMeasures) -> StatisticResult:
    """Test whether the last two cards have the same waiting pocket as often as expected."""
    letters = seen.deals.waiting
    hits = int((letters[:, -1] == letters[:, -2]).sum())
    p = float(stats.binomtest(hits, len(seen), float(PAIR)).pvalue)
    spread = (float(PAIR) * (1 - float(PAIR)) / len(seen)) ** 0.5
    z = (hits / len(seen) - float(PAIR)) / spread
    return StatisticResult(z, f"{hits / len(seen):.4f}", f"{float(PAIR):.4f} ± {spread:.4f}", p)


def same_again(seen: DealMeasures) -> StatisticResult:
    """Test whether successive deals have equal waiting pockets at as many places as expected."""
    letters = seen.deals.waiting
    figures = np.asarray((letters[1:] == letters[:-1]).sum(1))
    return mean_result(figures, CARDS / 4, SAME_SEAT_VARIANCE)


def repeated(seen: DealMeasures) -> StatisticResult:
    """Test whether any two deals have the same sequence of pockets.

    In 10⁵ deals, the probability of this is 5·10⁻⁵³.
    """
    rows = {row.tobytes() for row in seen.deals.waiting}
    again = len(seen) - len(rows)
    return StatisticResult(float(again), str(again), "0", 0.0 if again else 1.0)


SAME_SEAT_VARIANCE = (
    4 * 3 / 16 * CARDS / (CARDS - 1) * 81 / 4 + 12 / 16 * CARDS / (CARDS - 1) * 27 / 4
)
"""The variance of the number of cards, of 108, with the same seat in two deals: 20.44, sd 4.52.

The 4 × 4 table of both deals has the mean 27·27/108 in each cell. The variance of its diagonal is
4·(3/16)(108/107)(27 − 27²/108) + 12·(1/16)(108/107)(27²/108).
"""


def _least_likely(answers: Mapping[str, StatisticResult]) -> StatisticResult:
    """Return the result in `answers` with the smallest probability.

    This probability is multiplied by the number of probabilities. The result's name is added to
    its text. If no result has a probability, return the first result.
    """
    chances = {name: one.p for name, one in answers.items() if one.p is not None}
    if not chances:
        return next(iter(answers.values()))
    name = min(chances, key=lambda one: chances[one])
    least = answers[name]
    p = deal_statistics.p_of_least(chances.values())
    return StatisticResult(least.statistic, f"{least.seen} {name}", least.expected, p)


def pair_degrees(apart: int) -> list[int]:
    """Return for each of 108 places how many others (0 to 2) are exactly `apart` places away."""
    return [(place >= apart) + (place < CARDS - apart) for place in range(CARDS)]


_NO_STACK = "the stack before the shuffle was not seen"
_NO_CHAIN = f"fewer than {MIN_DEALS} deals follow another"


def collected_seat(seen: DealMeasures) -> StatisticResult:
    """Test whether a card's position in the collected stack affects its seat."""
    depths = seen.stack_of
    if depths is None:
        return not_answerable(_NO_STACK)
    return chi_square_result(*SeatCounts(CARDS, depths, seen.deals.seats).chi_square())


def collected_trend(seen: DealMeasures) -> StatisticResult:
    """Test whether one seat gets more cards from one end of the collected stack than others do."""
    depths = seen.stack_of
    if depths is None:
        return not_answerable(_NO_STACK)
    centred = depths.astype(np.float64) - (CARDS - 1) / 2
    return chi_square_result(deal_statistics.trend_chi_square(centred, seen.deals.seats), 3)


def collected_pairs(seen: DealMeasures) -> StatisticResult:
    """Test whether neighbours in the collected stack come into one hand as often as expected."""
    figures = seen.neighbours_together
    return not_answerable(_NO_STACK) if figures is None else pairs_result(figures, pair_degrees(1))


def carry_over(seen: DealMeasures) -> StatisticResult:
    """Test whether as many cards as expected get the seat that they had in the deal before."""
    if len(seen.followers) < MIN_DEALS:
        return not_answerable(_NO_CHAIN)
    return mean_result(seen.carried_over, CARDS / len(SEATS), SAME_SEAT_VARIANCE)


def carry_table(seen: DealMeasures) -> StatisticResult:
    """Test whether a card's seat in one deal affects the card's seat in the next deal."""
    if len(seen.followers) < MIN_DEALS:
        return not_answerable(_NO_CHAIN)
    before, now = seen.seat_of[seen.followers - 1], seen.seat_of[seen.followers]
    return chi_square_result(*SeatCounts(len(SEATS), before, now).chi_square())


# Two counts of card pairs have an exact covariance if the order of the cards is given. The
# covariance depends only on how many of the pairs are the same or share a card.

_TWINS, _JOKERS = FACE_COUNT, 6
_PATH = CARDS - 1
_MIN_INDEPENDENT = 0.1


def interplay(seen: DealMeasures) -> StatisticResult:
    """Test whether counts of card pairs in one hand are correlated as they are in fair deals.

    The counts are those of `_standardise_counts`.
    """
    figures, owed = _standardise_counts(seen), shared_pair_correlations(seen)
    found = {
        f"{a} × {b}": _mean_and_z(_independent_part(figures[a], figures[b], owed[a, b]))
        for a, b in combinations(figures, 2)
    }
    return _least_likely_correlation(found)


def successive(seen: DealMeasures) -> StatisticResult:
    """Test whether the counts of one deal are correlated with the counts of the next deal.

    The counts are those of `interplay`, and `carried_over`.
    """
    rows = seen.followers
    if len(rows) < MIN_DEALS:
        return not_answerable(_NO_CHAIN)
    figures = _standardise_counts(seen)
    carried = np.zeros(len(seen))
    carried[rows] = (seen.carried_over - CARDS / len(SEATS)) / SAME_SEAT_VARIANCE**0.5
    figures["carried"] = carried
    found = {
        f"{a} → {b}": _mean_and_z(then[rows - 1] * now[rows])
        for a, then in figures.items()
        for b, now in figures.items()
    }
    return _least_likely_correlation(found)


def _standardise_counts(seen: DealMeasures) -> dict[str, Floats]:
    """Return by name each count of card pairs, in standard deviations from its mean."""
    figures: dict[str, tuple[Ints, list[int]]] = {
        "adjacent": (seen.adjacent, pair_degrees(1)),
        "twins": (seen.twins, [1] * CARDS),
    }
    if seen.neighbours_together is not None:
        figures["collected"] = (seen.neighbours_together, pair_degrees(1))
    return {
        key: np.asarray((counts - sum(degrees) // 2 * float(PAIR)) / pairs_variance(degrees) ** 0.5)
        for key, (counts, degrees) in figures.items()
    }


def shared_pair_correlations(seen: DealMeasures) -> dict[tuple[str, str], Floats]:
    """Return, by the names of two counts of card pairs, their correlations in fair deals."""
    path, twin = pairs_variance(pair_degrees(1)) ** 0.5, pairs_variance([1] * CARDS) ** 0.5
    places = seen.place_of.astype(np.int64)
    fed_twins = (abs(places[:, :FACE_COUNT] - places[:, FACE_COUNT:]) == 1).sum(1)
    owed = {("adjacent", "twins"): _neighbour_twin_covariance(fed_twins) / (path * twin)}
    stack = seen.deals.collected
    if stack is not None:
        rows = stack.astype(np.int64)
        beside = (rows[:, 1:] % FACE_COUNT == rows[:, :-1] % FACE_COUNT).sum(1)
        owed["twins", "collected"] = _neighbour_twin_covariance(beside) / (path * twin)
        fed = np.take_along_axis(places, rows, 1)
        kept = (abs(fed[:, 1:] - fed[:, :-1]) == 1).sum(1)
        ends = sum((fed[:, end] == last) for end in (0, -1) for last in (0, _PATH))
        # Σ over cards of degree × degree: 2·2 each, less at four ends, plus one where two ends
        # meet.
        touching = 4 * CARDS - 8 + np.asarray(ends) - 2 * kept
        owed["adjacent", "collected"] = _covariances(kept, touching, _PATH * _PATH) / path**2
    return owed


def _independent_part(one: Floats, other: Floats, correlation: Floats) -> Floats:
    """Return the product of `one` and the part of `other` that does not depend on `one`.

    `one` and `other` are standardised counts of each deal. `correlation` has the correlation of the
    two counts in a fair deal, for each deal. Deals in which one count almost decides the other are
    omitted. This happens if the cards were fed in the order of their collection.
    """
    rest = 1 - correlation**2
    some = rest > _MIN_INDEPENDENT
    return np.asarray((one * (other - correlation * one))[some] / rest[some] ** 0.5)


def _neighbour_twin_covariance(same: Ints) -> Floats:
    """Return the covariance of the neighbour and twin counts, if `same` pairs are in both lists."""
    return _covariances(same, 2 * _PATH - 2 * same, _PATH * _TWINS)


def _covariances(same: Ints, sharing: Ints, all_couples: int) -> Floats:
    unit = pairs_covariance(1, 0, 0), pairs_covariance(0, 1, 0), pairs_covariance(0, 0, 1)
    disjoint = all_couples - same - sharing
    return np.asarray(same * unit[0] + sharing * unit[1] + disjoint * unit[2])


def _mean_and_z(products: Floats) -> tuple[float, float]:
    """Return the mean of `products`, and the z value that tests whether the true mean is 0."""
    size = float((products**2).sum()) ** 0.5
    return (float(products.mean()), float(products.sum()) / size) if size else (0.0, 0.0)


def _least_likely_correlation(found: dict[str, tuple[float, float]]) -> StatisticResult:
    """Return the test result of the least likely correlation in `found`.

    `found` has the mean and the z value of each correlation, by name. The result's probability is
    multiplied by the number of correlations.
    """
    chances = {name: deal_statistics.p_of_normal(z) for name, (_, z) in found.items()}
    worst = min(chances, key=lambda name: chances[name])
    mean, z = found[worst]
    seen = f"{mean:+.4f} ({worst}, the largest of {len(found)})"
    p = deal_statistics.p_of_least(chances.values())
    return StatisticResult(z, seen, "0 behind what pairs in common make", p)
