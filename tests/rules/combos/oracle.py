"""What plays are, found the slow way: every substitution of wild cards, then plain looking."""

from itertools import combinations_with_replacement, pairwise

from controller.cards import Face
from tests.rules.combos.plays import wild_face

Found = tuple[str, int, tuple[int, ...]]
"""A kind, what decides inside it, and the ranks that the wild cards stand for, sorted."""


def rank_of(face: Face) -> int:
    return face - 36 if face >= 52 else face % 13 + 2


def all_readings(cards: list[Face], level: int) -> set[Found]:
    plain = [face for face in cards if face != wild_face(level)]
    wilds = len(cards) - len(plain)
    if not plain:
        return {(kind, rank, (level,) * wilds) for kind, rank in look(cards, level)}
    return {
        (kind, rank, tuple(sorted(map(rank_of, stand_ins))))
        for stand_ins in combinations_with_replacement(range(52), wilds)
        for kind, rank in look([*plain, *stand_ins], level)
    }


def look(cards: list[Face], level: int) -> list[tuple[str, int]]:
    """Every (kind, rank) that cards are as they stand."""
    ranks = sorted(rank_of(face) for face in cards)
    size, worth = len(ranks), [15 if rank == level else rank for rank in ranks]
    alike = ranks[0] == ranks[-1]
    if size <= 3 and alike:
        return [(("single", "pair", "triple")[size - 1], worth[0])]
    if size >= 4 and alike:
        return [("bomb", worth[0])]
    if size == 4 and ranks == [16, 16, 17, 17]:
        return [("joker_bomb", 17)]
    if size == 5:
        return _five(cards, ranks, worth)
    if size == 6:
        return _six(ranks)
    return []


def _five(cards: list[Face], ranks: list[int], worth: list[int]) -> list[tuple[str, int]]:
    low_a = ranks == [2, 3, 4, 5, 14]
    in_row = ranks[-1] <= 14 and all(b - a == 1 for a, b in pairwise(ranks))
    if low_a or in_row:
        top = 5 if low_a else ranks[-1]
        flush = len({face // 13 for face in cards}) == 1
        return [("straight", top)] + [("straight_flush", top)] * flush
    if ranks[0] == ranks[1] and ranks[3] == ranks[4]:
        if ranks[2] == ranks[0] and ranks[0] < 16:
            return [("full_house", worth[0])]
        if ranks[2] == ranks[4] and ranks[4] < 16:
            return [("full_house", worth[4])]
    return []


def _six(ranks: list[int]) -> list[tuple[str, int]]:
    text = " ".join(map(str, ranks))
    found = []
    for top in range(2, 15):
        names = [14 if rank == 1 else rank for rank in (top - 2, top - 1, top)]
        if top > 2 and text == " ".join(map(str, sorted(names * 2))):
            found.append(("tube", top))
        if text == " ".join(map(str, sorted(names[1:] * 3))):
            found.append(("plate", top))
    return found
