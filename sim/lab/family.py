"""The family: the list of all statistical tests. One common bound judges all their results.

The list was fixed before any deal. LAB.md has the list in plain words. A hash covers the texts
below, so they do not change.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from sim.lab import statistical_tests as tests
from sim.lab.chances import bomb_moments, four_cards_together, guess_moments, longest_run_chances
from sim.lab.collected_deals import CARDS, CollectedDeals
from sim.lab.deal_measures import (
    MIN_DEALS,
    DealMeasures,
    StatisticResult,
    histogram_result,
    mean_result,
    not_answerable,
    pairs_result,
)
from sim.lab.statistical_tests import pair_degrees

FAMILY_LEVEL = 0.99
"""The level of the family: at least this share of fair collections has no test outside."""
SINGLE_LEVELS = (0.95, 0.99)
"""The levels at which each single value is shown."""


class FamilyTest(NamedTuple):
    """One test of the family: its function, what it counts, and the value that fair deals give.

    `shows`: the clauses of a test house, R1–R14 (CLAUSES in lab_page.py). `min_deals`: the number
    of deals that the test needs.
    """

    name: str
    run: Callable[[DealMeasures], StatisticResult]
    counted: str
    expected: str
    shows: tuple[str, ...]
    min_deals: int = MIN_DEALS


FAMILY = (
    FamilyTest(
        "type-seat", tests.type_seat,
        "the 54 × 4 counts of each face at each seat",
        "n/2 a cell. Σ(o − n/2)²/(n/2) × 107/108 is chi-square, df 53 × 3 = 159: hands are drawn "
        "without putting back, which makes counts vary 108/107 as much",
        ("R2", "R3", "R6", "R7"),
    ),
    FamilyTest(
        "strength", tests.strength,
        "the strength of each hand: 0 for a 2 … 12 for an ace, 13 and 14 for the jokers, their "
        "mean taken off",
        "0; variance 108·Σw²/107 · 3/16 a deal, df 3",
        ("R2", "R12", "R13"),
    ),
    FamilyTest(
        "index-seat", tests.index_seat,
        "the 108 × 4 counts of each feed index at each seat",
        "n/4 a cell; × 107/108 as above, df 107 × 3 = 321",
        ("R2", "R5", "R6", "R10"),
    ),
    FamilyTest(
        "index-trend", tests.index_trend,
        "the sum of feed indices (54.5 taken off) of each hand: their correlation with the seat",
        "0; variance 108·Σw²/107 · 3/16 a deal, df 3",
        ("R2", "R5"),
    ),
    FamilyTest(
        "collected-seat", tests.collected_seat,
        "the 108 × 4 counts of each place in the stack before the shuffle at each seat",
        "n/4 a cell; × 107/108, df 321",
        ("R5", "R13"),
    ),
    FamilyTest(
        "collected-trend", tests.collected_trend,
        "the sum of places in the stack before the shuffle (53.5 taken off) of each hand",
        "0; as index-trend, df 3",
        ("R5", "R13"),
    ),
    FamilyTest(
        "collected-pairs", tests.collected_pairs,
        "neighbours in the stack before the shuffle that lie in one hand, of 107 a deal",
        "107 · 26/107 = 26, sd 4.44: exact, from the chances that three cards, and two and two, "
        "lie together",
        ("R5", "R13"),
    ),
    FamilyTest(
        "adjacent", lambda seen: pairs_result(seen.adjacent, pair_degrees(1)),
        "neighbours in the feed order with one pocket, of 107 a deal",
        "26, sd 4.44, as collected-pairs. A machine that never uses a pocket twice running has 0",
        ("R1", "R3", "R6"),
    ),
    FamilyTest(
        "serial", tests.serial,
        "the same of places 2 … 12 apart: the least of 11 chances, times 11",
        "(108 − d) · 26/107 each, exact variance",
        ("R1", "R6"),
    ),
    FamilyTest(
        "poker", lambda seen: pairs_result(seen.pairs_in_blocks, [3] * CARDS),
        "pairs alike within the 27 blocks of four places, of 162 a deal",
        "162 · 26/107 = 39.36, exact variance",
        ("R3", "R6"),
    ),
    FamilyTest(
        "runs", lambda seen: histogram_result(seen.longest, dict(enumerate(longest_run_chances()))),
        "the longest run of one pocket in each sequence",
        "exact distribution (words with no run longer than k, by inclusion and exclusion): mean "
        "3.94, 98.96 % up to 6; chi-square over the classes where 5 are expected",
        ("R3", "R6"),
    ),
    FamilyTest(
        "coupon", tests.coupon,
        "cards until every seat has got one",
        "exact: 1 − Σ(−1)^(k+1)·C(4,k)·C(108−27k, m)/C(108, m) after m cards; chi-square",
        ("R6",),
    ),
    FamilyTest(
        "descents", tests.descents,
        "neighbours in the feed order of which the second has the lower pocket (N < W < S < E); "
        "and valleys, lower than both neighbours: the less likely of the two, times 2",
        "107 · (1 − 26/107)/2 = 40.5 descents, sd 2.92; 23.467 valleys, sd 3.45: exact, all words "
        "of up to six letters counted. What a shelf shuffler leaves of an order shows in valleys "
        "(Diaconis, Fulman, Holmes 2013)",
        ("R1", "R6"),
    ),
    FamilyTest(
        "guessing", lambda seen: mean_result(seen.right_guesses, *guess_moments()),
        "right guesses of the next pocket, of 108, by somebody who sees where each card went, "
        "forgets nothing, and names a seat with the most cards to come",
        "35.026, sd 3.39: exact, by recursion over what the seats have still to get. It is the "
        "best guess there is (card guessing with complete feedback: Diaconis, Graham 1981)",
        ("R4", "R6"),
    ),
    FamilyTest(
        "tail", tests.tail,
        "deals whose last two cards have one pocket",
        "26/107 = 0.2430, binomial. A random pocket among those not full gives 0.815",
        ("R2", "R10"),
    ),
    FamilyTest(
        "twins", lambda seen: pairs_result(seen.twins, [1] * CARDS),
        "faces of which both copies lie in one hand, of 54 a deal",
        "54 · 26/107 = 13.12, sd 3.17, exact",
        ("R2", "R3"),
    ),
    FamilyTest(
        "jokers", lambda seen: histogram_result(seen.jokers, four_cards_together()),
        "how the four jokers are shared: 4, 3+1, 2+2, 2+1+1, 1+1+1+1",
        ".0131 .1768 .1379 .5730 .0992, exact; chi-square, df 4",
        ("R2", "R3"),
    ),
    FamilyTest(
        "bombs", lambda seen: mean_result(seen.bombs, *bomb_moments()),
        "ranks that a hand has four times or more, over 13 ranks × 4 hands a deal",
        "5.483, variance 3.434: exact, from the hypergeometric chances of two such",
        ("R2",),
    ),
    FamilyTest(
        "sides", lambda seen: tests.sides(seen, tray_only=False),
        "the square of side N+S's strength less W+E's",
        "exact mean and variance from the signs' moments −1/107 and 3/(107·105); a gamma number",
        ("R2", "R13"),
    ),
    FamilyTest(
        "carry-over", tests.carry_over,
        "the same physical cards at the same seat as in the deal before, of 108",
        "27, sd 4.52: the diagonal of a 4 × 4 table with 27 in each row and column",
        ("R1", "R5"),
    ),
    FamilyTest(
        "carry-table", tests.carry_table,
        "the 4 × 4 counts of seats then and now",
        "6.75 a cell and deal; × 107/108, df 9",
        ("R1", "R5"),
    ),
    FamilyTest(
        "same-again", tests.same_again,
        "places with one pocket in a sequence and in the next one, of 108",
        "27, sd 4.52, as carry-over",
        ("R1", "R4", "R9"),
    ),
    FamilyTest(
        "repeated", tests.repeated,
        "sequences that were there before",
        "0: n²/2 ÷ 9.4·10⁶¹. One is outside",
        ("R4", "R8", "R9"),
        1,
    ),
    FamilyTest(
        "interplay", tests.interplay,
        "correlations within a deal of adjacent, twins and collected-pairs, less what pairs that "
        "they have in common make: the least chance, times how many",
        "0, given the order in which the cards came; studentised",
        ("R1", "R6"),
    ),
    FamilyTest(
        "successive", tests.successive,
        "correlations of adjacent, twins, collected-pairs, carry-over with each of them in the "
        "next deal: the least chance, times how many",
        "0: the next deal's chances do not depend on this one; studentised",
        ("R1", "R4", "R6"),
    ),
    FamilyTest(
        "waiting-verdict", tests.waiting_verdict,
        "pockets that wait for cards which are read again, go to the tray, go there twice",
        "a quarter each, whatever the verdicts; variance k(108 − k)/107 · ¼ for k such cards of a "
        "deal; chi-square, df 3 a verdict",
        ("R12", "R13"),
    ),
    FamilyTest(
        "tray-face", tests.tray_face,
        "the seats of jokers, of J…A and of others that were in the tray",
        "as waiting-verdict; df 3 a kind of card",
        ("R12", "R13"),
    ),
    FamilyTest(
        "tray-sides", lambda seen: tests.sides(seen, tray_only=True),
        "as sides, of the cards in the tray alone; deals with two of them or more",
        "as sides",
        ("R12", "R13"),
    ),
    FamilyTest(
        "own-place", tests.own_place,
        "cards that lie in another pocket than the one which waited for their feed index",
        "0: the tray gives a card its own place back. One is outside",
        ("R12", "R13"),
        1,
    ),
)  # fmt: skip
"""All tests of the family, in the order of the report."""


class JudgedTest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The result of one statistical test, and whether the family rejects this result.

    `bound`: the value that p must not be below. `outside`: True if the family rejects the test.
    `at_95` and `at_99`: whether the single value is inside at that level. Both are None if these
    deals cannot answer the test.
    """

    name: str
    statistic: float | None
    freedom: int
    seen: str
    expected: str
    p: float | None
    bound: float
    outside: bool
    at_95: bool | None
    at_99: bool | None
    why: str


class FamilyJudgement(msgspec.Struct, frozen=True):
    """The results of all tests of the family on some deals."""

    results: tuple[JudgedTest, ...]

    @property
    def outside(self) -> tuple[str, ...]:
        """The names of the tests that the family rejects. Fair deals rarely give such results.

        The deals pass if there are none.
        """
        return tuple(result.name for result in self.results if result.outside)


def judge_deals(deals: CollectedDeals) -> FamilyJudgement:
    """Run all tests of the family on `deals`, and judge the results by one common bound."""
    seen = DealMeasures(deals)
    answers = [
        not_answerable(f"fewer than {question.min_deals} deals")
        if len(seen) < question.min_deals
        else question.run(seen)
        for question in FAMILY
    ]
    bounds, rejected = holm_bounds([answer.p for answer in answers], 1 - FAMILY_LEVEL)
    judged = zip(FAMILY, answers, bounds, rejected, strict=True)
    return FamilyJudgement(
        tuple(_judged_test(one.name, answer, bound, out) for one, answer, bound, out in judged)
    )


def holm_bounds(chances: Sequence[float | None], risk: float) -> tuple[list[float], list[bool]]:
    """Return the Holm bound of each probability in `chances`, and whether each is rejected.

    `risk` is the total risk. The smallest of m probabilities is rejected below risk/m, the next
    below risk/(m−1), and so on until the first that is not rejected. In a fair collection, any of
    them is rejected with the probability `risk` at most, even if the tests depend on each other. A
    missing probability counts as 1.
    """
    known = [1.0 if chance is None else chance for chance in chances]
    ranked = sorted(range(len(known)), key=known.__getitem__)
    bounds, rejected = [0.0] * len(chances), [False] * len(chances)
    going = True
    for rank, place in enumerate(ranked):
        bounds[place] = risk / (len(chances) - rank)
        going = going and known[place] < bounds[place]
        rejected[place] = going
    return bounds, rejected


def _judged_test(name: str, answer: StatisticResult, bound: float, outside: bool) -> JudgedTest:
    at = [None if answer.p is None else answer.p >= 1 - level for level in SINGLE_LEVELS]
    return JudgedTest(
        name=name, bound=bound, outside=outside, at_95=at[0], at_99=at[1], **answer._asdict()
    )
