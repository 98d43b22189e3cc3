"""How cards rank in Guandan: in the order of the level, and in their natural order.

Suits never matter in either (seed 000 A8.1).
"""

from controller.cards import BIG_JOKER, RANKS, SMALL_JOKER, Face

LEVEL_VALUE = 15
SMALL_JOKER_VALUE = 16
BIG_JOKER_VALUE = 17

HEARTS = 1
"""The place of hearts among the suits of a face."""


def natural_rank(face: Face) -> int:
    """Return the natural rank of a face: 2…10, J 11, Q 12, K 13, A 14, jokers 16 and 17."""
    if face >= SMALL_JOKER:
        return SMALL_JOKER_VALUE + (face - SMALL_JOKER)
    return face % len(RANKS) + 2


def value_at_level(face: Face, level: int) -> int:
    """Return what a face counts beside others: jokers, then the level, then A…2.

    `level` is a natural rank, 2…14 (seed 000 A7.1, A8.1).
    """
    rank = natural_rank(face)
    return LEVEL_VALUE if rank == level else rank


def is_joker(face: Face) -> bool:
    """Tell whether a face is one of the two jokers."""
    return face in (SMALL_JOKER, BIG_JOKER)


def is_wild(face: Face, level: int) -> bool:
    """Tell whether a face is wild (逢人配): the hearts of the level (seed 000 A7.2)."""
    return not is_joker(face) and face // len(RANKS) == HEARTS and natural_rank(face) == level


def wild_card(level: int) -> Face:
    """Return the face that is wild at a level."""
    return HEARTS * len(RANKS) + level - 2


def rank_text(rank: int) -> str:
    """Return a natural rank as people write it: "2"…"10", "J", "Q", "K", "A"."""
    return RANKS[rank - 2]
