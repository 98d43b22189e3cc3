"""Exact probabilities in a fair deal of 108 cards to four hands of 27, by counting.

All 108!/(27!)⁴ ways are equally likely, whatever the order of the cards. So a probability for
certain cards holds for any cards, if they are chosen without knowledge of the pockets.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import comb, factorial, perm, prod

N = 108
SEATS = 4
HAND = N // SEATS
RANK = 8
"""The number of cards of one rank in two packs."""
RANKS = 13

PAIR = Fraction(HAND - 1, N - 1)
"""The probability that two cards are in one hand: 26/107."""
TRIPLE = PAIR * Fraction(HAND - 2, N - 2)
"""The probability that three cards are in one hand."""
TWO_PAIRS = PAIR * Fraction(perm(HAND - 2, 2) + (SEATS - 1) * perm(HAND, 2), perm(N - 2, 2))
"""The probability that two cards share a hand and two others share a hand.

The two hands may be the same hand or different hands.
"""

SPREAD = Fraction(N, N - 1)
"""The effect of drawing without replacement on the variance of seat counts: 108/107."""


def pairs_covariance(same: float, sharing: float, disjoint: float) -> float:
    """Return the covariance of two counts of pairs in one hand.

    Both count pairs of cards that are in one hand. A couple is a pair of the first count and a pair
    of the second. `same` couples have the same two cards, `sharing` couples have one card in
    common, `disjoint` couples have none.
    """
    square = PAIR * PAIR
    return (
        same * float(PAIR - square)
        + sharing * float(TRIPLE - square)
        + disjoint * float(TWO_PAIRS - square)
    )


def pairs_variance(degrees: Sequence[int]) -> float:
    """Return the variance of the number of pairs that are in one hand.

    `degrees`: for each card, the number of pairs that contain it. No pair occurs twice.
    """
    pairs = sum(degrees) // 2
    sharing = sum(each * each for each in degrees) - 2 * pairs
    return pairs_covariance(pairs, sharing, pairs * pairs - pairs - sharing)


@cache
def longest_run_chances() -> tuple[Fraction, ...]:
    """Return the probabilities of a longest run of 0, 1, …, 27 equal letters in the sequence."""
    ways = factorial(N) // factorial(HAND) ** SEATS
    upto = [0, *(count_words_with_runs(most) for most in range(1, HAND + 1))]
    return (Fraction(0), *(Fraction(b - a, ways) for a, b in pairwise(upto)))


def count_words_with_runs(most: int, hand: int = HAND, seats: int = SEATS) -> int:
    """Return the number of sequences without a run longer than `most`.

    Each sequence has `hand` letters for each seat. The letters of a seat are cut into blocks. Words
    in which no two blocks of a seat touch are counted by inclusion and exclusion. m blocks are
    joined to j blocks in C(m−1, j−1) ways, with the sign of m−j. j₁+…+j₄ joined blocks of four
    seats have (j₁+…+j₄)!/(j₁!…j₄!) orders.
    """
    glued = [Fraction(0)] * (hand + 1)
    for m in range(1, hand + 1):
        ways = _compositions(hand, m, most)
        for j in range(1, m + 1):
            glued[j] += Fraction((-1) ** (m - j) * ways * comb(m - 1, j - 1), factorial(j))
    total = [Fraction(1)]
    for _ in range(seats):
        total = _multiply(total, glued)
    words = sum((each * factorial(j) for j, each in enumerate(total)), Fraction(0))
    return words.numerator


def _compositions(total: int, parts: int, most: int) -> int:
    """Return the number of ways to write `total` as a sum of `parts` numbers from 1 to `most`."""
    return sum(
        (-1) ** k * comb(parts, k) * comb(total - k * most - 1, parts - 1)
        for k in range(parts + 1)
        if total - k * most >= parts
    )


def _multiply(a: Sequence[Fraction], b: Sequence[Fraction]) -> list[Fraction]:
    out = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def is_descent(letters: Sequence[int]) -> bool:
    """Return True if the second of two letters is lower: a descent."""
    before, after = letters
    return before > after


def is_valley(letters: Sequence[int]) -> bool:
    """Return True if the second of three letters is lower than both others: a valley."""
    before, lowest, after = letters
    return before > lowest < after


@cache
def window_moments(
    holds: Callable[[Sequence[int]], bool], width: int, hand: int = HAND, seats: int = SEATS
) -> tuple[float, float]:
    """Return mean and variance of the number of places where `holds` is True of a sequence.

    `holds` receives each window of `width` successive letters. Two windows either overlap in some
    letters or have none in common. In the second case their distance does not matter, because all
    orders are equally likely.
    """
    windows = hand * seats - width + 1

    def chance(shift: int) -> Fraction:
        """Return the probability of `holds` for both the first window and that at `shift`."""
        ways = sum(
            prod(perm(hand, word.count(seat)) for seat in range(seats))
            for word in product(range(seats), repeat=width + shift)
            if holds(word[:width]) and holds(word[shift:])
        )
        return Fraction(ways, perm(hand * seats, width + shift))

    mean = windows * chance(0)
    overlapping = sum(2 * (windows - shift) * chance(shift) for shift in range(1, width))
    apart = (windows - width) * (windows - width + 1) * chance(width)
    return float(mean), float(mean + overlapping + apart - mean * mean)


@cache
def guess_moments(left: tuple[int, ...] = (HAND,) * SEATS) -> tuple[float, float]:
    """Return mean and variance of the number of right guesses with perfect memory.

    `left`: the number of cards that each seat still has to get, in descending order. The best guess
    is a seat with the most cards left. It is right with probability left[0] / sum(left).
    """
    mean = square = 0.0
    for place, cards in enumerate(left):
        if cards:
            rest = tuple(sorted((*left[:place], cards - 1, *left[place + 1 :]), reverse=True))
            later, spread = guess_moments(rest)
            later += place == 0
            mean += cards / sum(left) * later
            square += cards / sum(left) * (spread + later * later)
    return mean, square - mean * mean


@cache
def cards_until_all_seats() -> tuple[Fraction, ...]:
    """Return the probabilities that the last seat to get a card gets it as card 0, 1, …, 82."""
    met = [
        1
        - sum(
            (-1) ** (k + 1) * comb(SEATS, k) * Fraction(comb(N - k * HAND, cards), comb(N, cards))
            for k in range(1, SEATS + 1)
        )
        for cards in range(N - HAND + 2)
    ]
    return (met[0], *(b - a for a, b in pairwise(met)))


@cache
def four_cards_together() -> dict[int, Fraction]:
    """Return the probabilities of the number of pairs in one hand, among four cards.

    Four cards have 6 pairs. 6: all four in one hand. 3: three and one. 2: two and two. 1: two in
    one hand, two apart. 0: all apart.
    """
    chances: dict[int, Fraction] = {}
    for split in product(range(5), repeat=SEATS):
        if sum(split) == 4:
            pairs = sum(comb(each, 2) for each in split)
            chances[pairs] = chances.get(pairs, Fraction(0)) + _split(4, split)
    return chances


def four_cards_at_seat() -> tuple[Fraction, ...]:
    """Return the probabilities that a seat gets 0…4 of four cards, such as the four jokers."""
    return tuple(_hand(4, k) for k in range(5))


@cache
def bomb_moments() -> tuple[float, float]:
    """Return mean and variance, per deal, of the number of ranks with four cards in a hand.

    Four means four or more. The count covers 13 ranks × 4 hands. The values are exact, from the
    hands of one rank, and from two ranks in one hand or in two hands.
    """
    big = range(4, RANK + 1)
    one = sum(_hand(RANK, k) for k in big)
    same_rank = _split(RANK, (4, 4))
    same_hand = sum(
        Fraction(comb(RANK, a) * comb(RANK, b) * comb(N - 2 * RANK, HAND - a - b), comb(N, HAND))
        for a in big
        for b in big
    )
    mean = RANKS * SEATS * one
    second = (
        mean
        + RANKS * SEATS * (SEATS - 1) * same_rank
        + RANKS * (RANKS - 1) * SEATS * same_hand
        + RANKS * (RANKS - 1) * SEATS * (SEATS - 1) * _two_hands()
    )
    return float(mean), float(second - mean * mean)


def _two_hands() -> Fraction:
    """Return the probability of four of a rank in one hand, and four of another rank in another."""
    rest = N - 2 * RANK
    ways = 0
    for a, b, c, d in _counts():
        first, second = HAND - a - c, HAND - b - d
        ways += (
            comb(RANK, a)
            * comb(RANK - a, b)
            * comb(RANK, c)
            * comb(RANK - c, d)
            * comb(rest, first)
            * comb(rest - first, second)
        )
    return Fraction(ways, comb(N, HAND) * comb(N - HAND, HAND))


def _counts() -> Iterator[tuple[int, int, int, int]]:
    """Yield possible counts of one rank in two hands (a, b), and of another rank (c, d)."""
    for a, b, c, d in product(range(RANK + 1), repeat=4):
        if a >= 4 and d >= 4 and a + b <= RANK and c + d <= RANK:
            yield a, b, c, d


def _hand(cards: int, here: int) -> Fraction:
    """Return the probability that a hand has exactly `here` of `cards` given cards."""
    return Fraction(comb(cards, here) * comb(N - cards, HAND - here), comb(N, HAND))


def _split(cards: int, split: Sequence[int]) -> Fraction:
    """Return the probability that the first hands have `split` of `cards` given cards."""
    ways, left, others, dealt = 1, cards, N - cards, N
    all_ways = 1
    for here in split:
        ways *= comb(left, here) * comb(others, HAND - here)
        all_ways *= comb(dealt, HAND)
        left, others, dealt = left - here, others - (HAND - here), dealt - HAND
    return Fraction(ways, all_ways)
