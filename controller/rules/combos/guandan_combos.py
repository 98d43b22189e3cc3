"""The combinations (牌型) of Guandan: their kinds, their order, and those that given cards form.

There are ten kinds. A reading is one way to count the cards of a play as a combination.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal

import msgspec

from controller.cards import RANKS, Face
from controller.rules.ranks import (
    BIG_JOKER_VALUE,
    HEARTS,
    LEVEL_VALUE,
    SMALL_JOKER_VALUE,
    is_wild,
    natural_rank,
)

ComboKind = Literal[
    "single",
    "pair",
    "triple",
    "full_house",
    "straight",
    "tube",
    "plate",
    "bomb",
    "straight_flush",
    "joker_bomb",
]


class ComboName(msgspec.Struct, frozen=True, gc=False):
    """The English and Chinese names of one kind of combination. `others`: further names in use."""

    en: str
    zh: str
    others: tuple[str, ...] = ()


COMBO_NAMES: dict[ComboKind, ComboName] = {
    "single": ComboName("single", "单张", ("单牌",)),
    "pair": ComboName("pair", "对子", ("一对", "对牌")),
    "triple": ComboName("triple", "三同张", ("三不带", "3张牌", "三张")),
    "full_house": ComboName("full house", "三带对", ("三带二", "三带两", "夯", "葫芦")),
    "straight": ComboName("straight", "顺子", ("杂花顺",)),
    "tube": ComboName("tube", "三连对", ("木板", "连对")),
    "plate": ComboName("plate", "三同连张", ("钢板", "三连张", "三顺", "双飞", "飞机")),
    "bomb": ComboName("bomb", "炸弹"),
    "straight_flush": ComboName("straight flush", "同花顺", ("火箭",)),
    "joker_bomb": ComboName("joker bomb", "四大天王", ("天王炸", "王炸", "四王")),
}
"""Every kind with its names (seed 000 A4). Other names: also 003 R1, 004 CN3 and usage of players.

The articles of the kinds are in combo_rules.py.
"""

SEQUENCE_KINDS: frozenset[ComboKind] = frozenset({"straight", "straight_flush", "tube", "plate"})
"""Kinds in which a level card has its natural rank (seed 000 A7.3.1, A4.3)."""


class Combo(msgspec.Struct, frozen=True, gc=False):
    """A combination that the cards of a play can form: one reading of the play.

    `rank` decides within a kind. For singles, pairs, triples, bombs and the triple of a full house,
    it is the value in level order (controller/rules/ranks.py). For straights, tubes, plates and
    straight flushes, it is the natural rank of the highest group, where a low A counts 1: 5 for
    A2345, 3 for AA2233, 2 for AAA222. `size`: number of cards. `faces`: every card as it counts,
    laid low to high (seed 000 A11.2). `wild_faces`: the faces that the wild cards stand for, each
    of them also in `faces`.
    """

    kind: ComboKind
    rank: int
    size: int
    faces: tuple[Face, ...]
    wild_faces: tuple[Face, ...] = ()


ACE = 14
SUIT_RANKS = tuple(range(2, ACE + 1))
"""The natural ranks 2…A that every suit has."""
JOKER_RANKS = (SMALL_JOKER_VALUE, BIG_JOKER_VALUE)
MAX_BOMB_CARDS = 10
"""The largest bomb: eight of one rank and two wild cards.

This is provisional (`long_bomb` in combo_rules.py).
"""

RankGroups = tuple[tuple[int, int], ...]
"""The number of cards of each natural rank, laid low to high. A low A comes first."""


class ComboPattern(msgspec.Struct, frozen=True, gc=False):
    """The ranks that one combination consists of, with the number of cards of each rank.

    `rank`: the natural rank that decides between combinations of the same kind.
    """

    kind: ComboKind
    rank: int
    groups: RankGroups

    @property
    def size(self) -> int:
        """Return the number of cards in the combination."""
        return sum(count for _, count in self.groups)


def sequence_groups(top: int, length: int, each: int = 1) -> RankGroups:
    """Return `length` consecutive ranks, the last of them `top`, with `each` cards of each rank.

    The A comes below the 2 (000 A4.7: A2345). Above the A the ranks begin again with 2. Such a
    sequence is no combination, but the program needs it to name the mistake.
    """
    return tuple(
        ((rank - 2) % len(SUIT_RANKS) + 2, each) for rank in range(top - length + 1, top + 1)
    )


def fill_pattern(groups: RankGroups, have: Mapping[int, int], wilds: int) -> tuple[int, ...] | None:
    """Return the ranks that the wild cards must take to complete `groups`, or None if no ranks do.

    `have`: the number of natural cards of each natural rank. `wilds`: the number of wild cards.
    Natural and wild cards together must be as many as the groups take. A card outside all groups
    therefore leaves one place too many open. A wild card is never a joker (seed 000 A7.2).
    """
    lacking = tuple(rank for rank, count in groups for _ in range(count - have.get(rank, 0)))
    if len(lacking) != wilds or any(rank in JOKER_RANKS for rank in lacking):
        return None
    return lacking


def _all_patterns() -> Iterator[ComboPattern]:
    # One rank only (seed 000 A4.1, A4.2, A4.4, A4.8).
    for rank in (*SUIT_RANKS, *JOKER_RANKS):
        yield ComboPattern("single", rank, ((rank, 1),))
        yield ComboPattern("pair", rank, ((rank, 2),))
    for rank in SUIT_RANKS:
        yield ComboPattern("triple", rank, ((rank, 3),))
        for count in range(4, MAX_BOMB_CARDS + 1):
            yield ComboPattern("bomb", rank, ((rank, count),))
    # A triple with a pair of another rank, also of jokers (A4.6).
    for triple in SUIT_RANKS:
        for pair in (*SUIT_RANKS, *JOKER_RANKS):
            if pair != triple:
                yield ComboPattern("full_house", triple, tuple(sorted(((triple, 3), (pair, 2)))))
    # Consecutive ranks, the A low or high (A4.3, A4.5, A4.7, A4.9).
    for top in range(5, ACE + 1):
        yield ComboPattern("straight", top, sequence_groups(top, 5))
        yield ComboPattern("straight_flush", top, sequence_groups(top, 5))
    for top in range(3, ACE + 1):
        yield ComboPattern("tube", top, sequence_groups(top, 3, each=2))
    for top in range(2, ACE + 1):
        yield ComboPattern("plate", top, sequence_groups(top, 2, each=3))
    yield ComboPattern("joker_bomb", BIG_JOKER_VALUE, tuple((rank, 2) for rank in JOKER_RANKS))


PATTERNS: dict[int, tuple[ComboPattern, ...]] = {
    size: tuple(patterns)
    for size, patterns in groupby(
        sorted(_all_patterns(), key=lambda pattern: pattern.size), key=lambda pattern: pattern.size
    )
}
"""Every possible combination, by its number of cards."""


_SPECIAL_BOMBS: dict[ComboKind, int] = {"straight_flush": 11, "joker_bomb": 99}
"""The classes of special bombs. A straight flush ranks between bombs of 5 and 6 cards (A8.5–7)."""


def bomb_class(combo: Combo) -> int:
    """Return the strength class of a bomb as a number, or 0 for a combination that is no bomb."""
    if combo.kind == "bomb":
        return 2 * combo.size
    return _SPECIAL_BOMBS.get(combo.kind, 0)


def compare_key(combo: Combo) -> tuple[int, int]:
    """Return a sort key for combinations: the combination that wins has the greater key.

    The order is: ordinary combinations, bombs of 4 cards, of 5 cards, straight flushes, bombs of 6
    to 10 cards, joker bomb. Within a class the rank decides, and suits never count (seed 000 A8.1).
    The keys of two ordinary combinations of different kinds must not be compared. `can_beat` checks
    the kinds.
    """
    return bomb_class(combo), combo.rank


def can_beat(challenger: Combo, table: Combo) -> bool:
    """Return True if the combination `challenger` may be played on the combination `table`.

    An ordinary combination follows only its own kind (seed 000 A6.1). An equal combination never
    beats another.
    """
    if not bomb_class(challenger) and challenger.kind != table.kind:
        return False
    return compare_key(challenger) > compare_key(table)


_SPADES = 0
_UNDECLARED_PREFERENCE: dict[ComboKind, int] = {"plate": -1}
"""Without a declaration a tube goes before a plate. Provisional: A7.3.2 requires a declaration."""


class SortedCards(msgspec.Struct, frozen=True, gc=False):
    """The wild cards of a play, its other cards, and the number of other cards of each rank."""

    wild_cards: tuple[Face, ...]
    natural_cards: tuple[Face, ...]
    rank_counts: Mapping[int, int]

    @property
    def suits(self) -> frozenset[int]:
        """Return the suits of the cards that are not wild. Jokers count as a suit of their own."""
        return frozenset(face // len(RANKS) for face in self.natural_cards)


def sort_cards(cards: Sequence[Face], level: int) -> SortedCards:
    """Return `cards` split into wild cards and natural cards. `level` is a natural rank, 2…14."""
    plain = tuple(sorted(face for face in cards if not is_wild(face, level)))
    wild = tuple(face for face in cards if is_wild(face, level))
    return SortedCards(wild, plain, Counter(map(natural_rank, plain)))


def readings(cards: Sequence[Face], level: int) -> tuple[Combo, ...]:
    """Return all combinations that the cards can form. Without a declaration the first counts.

    A wild card stands for any card except a joker (seed 000 A7.2). Wild cards without any other
    card are level cards. Readings differ in kind, in rank or in the ranks of the replaced cards,
    never in suits alone. Five cards in sequence and of one suit are a straight flush, and a plain
    straight if the player declares it (A7.2).

    The default reading counts if the player declared nothing. Two pairs and a wild card are then
    the higher full house (seed 000 A7.2.2). All other defaults are provisional: the higher class,
    the higher end of a straight, a tube before a plate.
    """
    sorted_cards = sort_cards(cards, level)
    if not sorted_cards.natural_cards:
        wild = sorted_cards.wild_cards
        kinds: dict[int, ComboKind] = {1: "single", 2: "pair"}
        size = len(wild)
        return (Combo(kinds[size], LEVEL_VALUE, size, wild, wild),) if size in kinds else ()
    found = [
        _combo(pattern, lacking, sorted_cards, level)
        for pattern in PATTERNS.get(len(cards), ())
        if (
            lacking := fill_pattern(
                pattern.groups, sorted_cards.rank_counts, len(sorted_cards.wild_cards)
            )
        )
        is not None
        and (pattern.kind != "straight_flush" or len(sorted_cards.suits) == 1)
    ]
    return tuple(sorted(found, key=lambda combo: _preference(combo, level), reverse=True))


def must_be_declared(found: Sequence[Combo]) -> bool:
    """Return True if a declaration is required: readings of the highest strength class differ.

    `found`: all readings of the play. If only one reading is of the highest class, no declaration
    is needed. Otherwise the wild card fits either end, either triple, or a tube and a plate (seed
    000 A7.3.2).
    """
    highest = max(map(bomb_class, found), default=0)
    return len({(combo.kind, combo.rank) for combo in found if bomb_class(combo) == highest}) > 1


def contained_kinds(cards: Sequence[Face], level: int) -> tuple[ComboKind, ...]:
    """Return the kinds of combination that can be made from some or all of the cards.

    After a wrong lead, the left-hand neighbour of the player names one of these kinds (seed 000
    A16.3.1).
    """
    sorted_cards = sort_cards(cards, level)
    kinds = {
        pattern.kind
        for size, patterns in PATTERNS.items()
        if size <= len(cards)
        for pattern in patterns
        if _is_contained(pattern, sorted_cards)
    }
    return tuple(kind for kind in COMBO_NAMES if kind in kinds)


def _combo(
    pattern: ComboPattern, lacking: tuple[int, ...], cards: SortedCards, level: int
) -> Combo:
    # A wild card stands for a heart, unless hearts would make a straight flush of the play, or
    # unless the play is one.
    suit = HEARTS
    if pattern.kind == "straight_flush":
        suit = min(cards.suits)
    elif pattern.kind == "straight" and cards.suits == {HEARTS}:
        suit = _SPADES
    stands_for = tuple(suit * len(RANKS) + rank - 2 for rank in lacking)
    laid = tuple(
        face
        for rank, _ in pattern.groups
        for face in (*cards.natural_cards, *stands_for)
        if natural_rank(face) == rank
    )
    by_level = pattern.kind not in SEQUENCE_KINDS and pattern.rank == level
    rank = LEVEL_VALUE if by_level else pattern.rank
    return Combo(pattern.kind, rank, len(laid), laid, stands_for)


def _preference(combo: Combo, level: int) -> tuple[int, int, int, bool, tuple[int, ...]]:
    """Return a sort key: an undeclared play counts as the reading with the greatest key.

    If wild cards may be a pair of any rank, they preferably count as level cards.
    """
    stands_for = tuple(map(natural_rank, combo.wild_faces))
    itself = all(rank == level for rank in stands_for)
    return (
        bomb_class(combo),
        _UNDECLARED_PREFERENCE.get(combo.kind, 0),
        combo.rank,
        itself,
        stands_for,
    )


def _is_contained(pattern: ComboPattern, cards: SortedCards) -> bool:
    if pattern.kind != "straight_flush":
        return _can_fill(pattern, cards.rank_counts, len(cards.wild_cards))
    by_suit = {
        suit: Counter(
            natural_rank(face) for face in cards.natural_cards if face // len(RANKS) == suit
        )
        for suit in cards.suits
    }
    return any(_can_fill(pattern, ranks, len(cards.wild_cards)) for ranks in by_suit.values())


def _can_fill(pattern: ComboPattern, ranks: Mapping[int, int], wilds: int) -> bool:
    lacking = {rank: max(0, count - ranks.get(rank, 0)) for rank, count in pattern.groups}
    return sum(lacking.values()) <= wilds and not any(lacking.get(rank, 0) for rank in JOKER_RANKS)
