"""Exact probabilities in a fair deal of 108 cards to four hands of 27.

The probabilities are counted, not simulated. All 108!/(27!)⁴ deals are equally likely, whatever the
order of the cards. A probability given here for some cards therefore holds for any other cards, if
they are chosen without knowledge of the pockets. A "letter" is the pocket of one card in the
sequence of pockets.
"""

from collections.abc import Callable, Sequence
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
"""The probability that two given cards are in one hand: 26/107."""
TRIPLE = PAIR * Fraction(HAND - 2, N - 2)
"""The probability that three given cards are in one hand."""
TWO_PAIRS = PAIR * Fraction(perm(HAND - 2, 2) + (SEATS - 1) * perm(HAND, 2), perm(N - 2, 2))
"""The probability that two given cards share a hand, and two others share that or another hand."""


def pairs_covariance(same: float, sharing: float, disjoint: float) -> float:
    """Return the covariance of two counts of card pairs that have both cards in one hand.

    Each count has its own list of pairs. Each pair of the first list is combined with each pair of
    the second. Of these combinations, `same` are the same two cards, `sharing` have one card in
    common, and `disjoint` have none.
    """
    square = PAIR * PAIR
    return (
        same * float(PAIR - square)
        + sharing * float(TRIPLE - square)
        + disjoint * float(TWO_PAIRS - square)
    )


def pairs_variance(degrees: Sequence[int]) -> float:
    """Return the variance of the number of listed card pairs that have both cards in one hand.

    `degrees`: for each card, the number of listed pairs with this card. No pair is listed twice.
    """
    pairs = sum(degrees) // 2
    sharing = sum(each * each for each in degrees) - 2 * pairs
    return pairs_covariance(pairs, sharing, pairs * pairs - pairs - sharing)


@cache
def longest_run_chances() -> tuple[Fraction, ...]:
    """Return for n = 0…27 the probability that a deal's longest run of one pocket is n cards."""
    ways = factorial(N) // factorial(HAND) ** SEATS
    upto = [0, *(count_words_with_runs(most) for most in range(1, HAND + 1))]
    return (Fraction(0), *(Fraction(b - a, ways) for a, b in pairwise(upto)))


def count_words_with_runs(most: int, hand: int = HAND, seats: int = SEATS) -> int:
    """Return the number of pocket sequences in which no run of one pocket is longer than `most`.

    A sequence is a word with one letter (pocket) for each card. Each of the `seats` letters occurs
    `hand` times. The letters of a seat are cut into blocks. Inclusion and exclusion counts the
    words in which no two blocks of one seat touch: m blocks are joined to j in C(m−1, j−1) ways,
    with the sign of m−j. The j₁+…+j₄ joined blocks of four seats have (j₁+…+j₄)!/(j₁!…j₄!) orders.
    """
    glued = [Fraction(0)] * (hand + 1)
    for m in range(1, hand + 1):
        # The number of ordered sums of m numbers between 1 and `most` that make `hand`.
        ways = sum(
            (-1) ** k * comb(m, k) * comb(hand - k * most - 1, m - 1)
            for k in range(m + 1)
            if hand - k * most >= m
        )
        for j in range(1, m + 1):
            glued[j] += Fraction((-1) ** (m - j) * ways * comb(m - 1, j - 1), factorial(j))
    total = [Fraction(1)]
    for _ in range(seats):
        product_terms = [Fraction(0)] * (len(total) + len(glued) - 1)
        for (i, x), (j, y) in product(enumerate(total), enumerate(glued)):
            product_terms[i + j] += x * y
        total = product_terms
    words = sum((each * factorial(j) for j, each in enumerate(total)), Fraction(0))
    return words.numerator


def is_descent(letters: Sequence[int]) -> bool:
    """Return True if the second of the two pocket numbers in `letters` is lower than the first."""
    before, after = letters
    return before > after


def is_valley(letters: Sequence[int]) -> bool:
    """Return True if the second of three pocket numbers in `letters` is lower than both others."""
    before, lowest, after = letters
    return before > lowest < after


@cache
def window_moments(
    holds: Callable[[Sequence[int]], bool], width: int, hand: int = HAND, seats: int = SEATS
) -> tuple[float, float]:
    """Return mean and variance of the number of groups in a sequence for which `holds` is True.

    A group is `width` successive letters (pockets) of the sequence. Two groups either overlap or
    have no letter in common. Without overlap, their distance does not matter, because all orders
    are equally likely.
    """
    windows = hand * seats - width + 1

    def chance(shift: int) -> Fraction:
        """Return the probability that `holds` is True for two groups that begin `shift` apart."""
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
    """Return mean and variance of the number of cards for which a player guesses the right seat.

    The player remembers all dealt cards. `left`: how many cards each seat has still to get, in
    descending order. The player guesses a seat with the largest number. The guess is right with
    the probability left[0] / sum(left).
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
    """Return for n = 0…82 the probability that card n gives the last seat its first card."""
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
    """Return by n the probability that n of the pairs of four cards have both cards in one hand.

    Four cards form six pairs. 6: all four cards are in one hand. 3: three and one. 2: two and two.
    1: two, one and one. 0: one in each hand.
    """
    chances: dict[int, Fraction] = {}
    for split in product(range(5), repeat=SEATS):
        if sum(split) == 4:
            pairs = sum(comb(each, 2) for each in split)
            chances[pairs] = chances.get(pairs, Fraction(0)) + _split_chance(4, split)
    return chances


def four_cards_at_seat() -> tuple[Fraction, ...]:
    """Return the probabilities that a seat gets 0…4 of four given cards, such as the jokers."""
    return tuple(_hand_chance(4, k) for k in range(5))


@cache
def bomb_moments() -> tuple[float, float]:
    """Return mean and variance of the number of bombs in a deal.

    A bomb here is a rank that one hand has four times or more, counted over 13 ranks × 4 hands. The
    values are exact. They are calculated from one rank in one hand, one rank in two hands, and two
    ranks in the same hand or in different hands.
    """
    big = range(4, RANK + 1)
    one = sum(_hand_chance(RANK, k) for k in big)
    same_rank = _split_chance(RANK, (4, 4))
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
        + RANKS * (RANKS - 1) * SEATS * (SEATS - 1) * _two_bombs_chance()
    )
    return float(mean), float(second - mean * mean)


def _two_bombs_chance() -> Fraction:
    """Return the probability that two given hands have bombs of two given different ranks."""
    rest = N - 2 * RANK
    ways = 0
    # The counts of rank one (a, b) and of rank two (c, d) in the two hands.
    for a, b, c, d in product(range(RANK + 1), repeat=4):
        if a < 4 or d < 4 or a + b > RANK or c + d > RANK:
            continue
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


def _hand_chance(cards: int, here: int) -> Fraction:
    """Return the probability that one hand has exactly `here` cards of a group of `cards` cards."""
    return Fraction(comb(cards, here) * comb(N - cards, HAND - here), comb(N, HAND))


def _split_chance(cards: int, split: Sequence[int]) -> Fraction:
    """Return the probability that a group of `cards` cards is divided among hands as in `split`.

    `split` has the number of cards of the group in the first hand, in the second, and so on.
    """
    ways, left, others, dealt = 1, cards, N - cards, N
    all_ways = 1
    for here in split:
        ways *= comb(left, here) * comb(others, HAND - here)
        all_ways *= comb(dealt, HAND)
        left, others, dealt = left - here, others - (HAND - here), dealt - HAND
    return Fraction(ways, all_ways)
