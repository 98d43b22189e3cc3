"""What each kind of combination is made of: groups of equal ranks, as data.

A pattern is one combination without its suits: "three 9, two J". Cards are that
combination when they leave exactly as many places of it open as there are wild cards.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby

import msgspec

from controller.rules.combos.combo import ComboKind
from controller.rules.order import BIG_JOKER_VALUE, SMALL_JOKER_VALUE

ACE = 14
SUIT_RANKS = tuple(range(2, ACE + 1))
"""The natural ranks 2…A that every suit has."""
JOKER_RANKS = (SMALL_JOKER_VALUE, BIG_JOKER_VALUE)
MAX_BOMB_CARDS = 10
"""The largest bomb: eight of one rank, two wild cards (provisional, `long_bomb` in articles.py)."""

RankGroups = tuple[tuple[int, int], ...]
"""How many cards of which natural rank, laid low to high; a low A comes first."""


class ComboPattern(msgspec.Struct, frozen=True, gc=False):
    """A kind with its groups. `rank`: the natural rank that decides inside the kind."""

    kind: ComboKind
    rank: int
    groups: RankGroups

    @property
    def size(self) -> int:
        """Return how many cards it takes."""
        return sum(count for _, count in self.groups)


def sequence_groups(top: int, length: int, each: int = 1) -> RankGroups:
    """Return `length` consecutive groups of `each` cards up to the rank `top`.

    Below 2 comes the A (000 A4.7: A2345), above the A it begins again with 2: what wraps
    is no combination, but has to be known to be refused.
    """
    return tuple(
        ((rank - 2) % len(SUIT_RANKS) + 2, each) for rank in range(top - length + 1, top + 1)
    )


def fill_pattern(groups: RankGroups, have: Mapping[int, int], wilds: int) -> tuple[int, ...] | None:
    """Return the ranks that the wild cards stand for where cards fill `groups`, else None.

    `have`: how many natural cards there are of each natural rank; with the wild cards they
    must be as many as the groups take. A card that belongs to no group leaves a place
    open too many. A wild card is never a joker (seed 000 A7.2).
    """
    lacking = tuple(rank for rank, count in groups for _ in range(count - have.get(rank, 0)))
    if len(lacking) != wilds or any(rank in JOKER_RANKS for rank in lacking):
        return None
    return lacking


def _equal_rank_patterns() -> Iterator[ComboPattern]:
    """Yield what has one rank only (seed 000 A4.1, A4.2, A4.4, A4.8)."""
    for rank in (*SUIT_RANKS, *JOKER_RANKS):
        yield ComboPattern("single", rank, ((rank, 1),))
        yield ComboPattern("pair", rank, ((rank, 2),))
    for rank in SUIT_RANKS:
        yield ComboPattern("triple", rank, ((rank, 3),))
        for count in range(4, MAX_BOMB_CARDS + 1):
            yield ComboPattern("bomb", rank, ((rank, count),))


def _full_house_patterns() -> Iterator[ComboPattern]:
    """Yield a triple with a pair of another rank, jokers too (seed 000 A4.6)."""
    for triple in SUIT_RANKS:
        for pair in (*SUIT_RANKS, *JOKER_RANKS):
            if pair != triple:
                yield ComboPattern("full_house", triple, tuple(sorted(((triple, 3), (pair, 2)))))


def _sequence_patterns() -> Iterator[ComboPattern]:
    """Yield what is consecutive, the A low or high (seed 000 A4.3, A4.5, A4.7, A4.9)."""
    for top in range(5, ACE + 1):
        yield ComboPattern("straight", top, sequence_groups(top, 5))
        yield ComboPattern("straight_flush", top, sequence_groups(top, 5))
    for top in range(3, ACE + 1):
        yield ComboPattern("tube", top, sequence_groups(top, 3, each=2))
    for top in range(2, ACE + 1):
        yield ComboPattern("plate", top, sequence_groups(top, 2, each=3))


def _all_patterns() -> Iterator[ComboPattern]:
    yield from _equal_rank_patterns()
    yield from _full_house_patterns()
    yield from _sequence_patterns()
    yield ComboPattern("joker_bomb", BIG_JOKER_VALUE, tuple((rank, 2) for rank in JOKER_RANKS))


PATTERNS: dict[int, tuple[ComboPattern, ...]] = {
    size: tuple(patterns)
    for size, patterns in groupby(
        sorted(_all_patterns(), key=lambda pattern: pattern.size), key=lambda pattern: pattern.size
    )
}
"""Every combination there is, by its number of cards."""
