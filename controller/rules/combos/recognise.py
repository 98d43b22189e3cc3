"""What a play is: every legal reading, the one that counts undeclared, and what it contains."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from controller.cards import RANKS, Face
from controller.rules.combos.combo import COMBO_NAMES, SEQUENCE_KINDS, Combo, ComboKind
from controller.rules.combos.compare import bomb_class
from controller.rules.combos.patterns import JOKER_RANKS, PATTERNS, ComboPattern, fill_pattern
from controller.rules.order import HEARTS, LEVEL_VALUE, is_wild, natural_rank

_SPADES = 0
_UNDECLARED_PREFERENCE: dict[ComboKind, int] = {"plate": -1}
"""Where nothing is declared a tube goes before a plate: provisional, A7.3.2 wants a declaration."""


class SortedCards(msgspec.Struct, frozen=True, gc=False):
    """Cards sorted for reading: the wild ones, the natural ones, and how many of each rank."""

    wild_cards: tuple[Face, ...]
    natural_cards: tuple[Face, ...]
    rank_counts: Mapping[int, int]

    @property
    def suits(self) -> frozenset[int]:
        """Return the suits of the natural cards; a joker has one of its own."""
        return frozenset(face // len(RANKS) for face in self.natural_cards)


def sort_cards(cards: Sequence[Face], level: int) -> SortedCards:
    """Return `cards` sorted for reading; `level` is a natural rank, 2…14."""
    plain = tuple(sorted(face for face in cards if not is_wild(face, level)))
    wild = tuple(face for face in cards if is_wild(face, level))
    return SortedCards(wild, plain, Counter(map(natural_rank, plain)))


def readings(cards: Sequence[Face], level: int) -> tuple[Combo, ...]:
    """Return everything that the cards may be as one play, the reading by default first.

    A wild card stands for any card but a joker (seed 000 A7.2); wild cards without any
    other card are level cards. Readings differ in kind, in rank or in the ranks that wild
    cards stand for, never in suits alone. Five in sequence and of one suit are a straight
    flush, and a straight where that is declared (A7.2).
    """
    sorted_cards = sort_cards(cards, level)
    if not sorted_cards.natural_cards:
        return _wild_only_readings(sorted_cards.wild_cards)
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


def default_reading(cards: Sequence[Face], level: int) -> Combo | None:
    """Return what a play counts as where nobody declared anything, or None if it is nothing.

    Two pairs and a wild card are the higher full house (seed 000 A7.2.2). All else is
    provisional: the higher class, the higher end of a straight, a tube before a plate.
    """
    return next(iter(readings(cards, level)), None)


def must_be_declared(found: Sequence[Combo]) -> bool:
    """Tell whether a player had to say at once which of its readings his play is.

    Where only one of them is of the highest class it speaks for itself; otherwise the wild
    card fits either end, either triple, or a tube and a plate (seed 000 A7.3.2).
    """
    highest = max(map(bomb_class, found), default=0)
    return len({(combo.kind, combo.rank) for combo in found if bomb_class(combo) == highest}) > 1


def contained_kinds(cards: Sequence[Face], level: int) -> tuple[ComboKind, ...]:
    """Return the kinds that can be played with some or all of the cards.

    One of them is named by the left-hand neighbour of a player who led a wrong play
    (seed 000 A16.3.1).
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


def _wild_only_readings(wild: tuple[Face, ...]) -> tuple[Combo, ...]:
    kinds: dict[int, ComboKind] = {1: "single", 2: "pair"}
    if len(wild) not in kinds:
        return ()
    return (Combo(kinds[len(wild)], LEVEL_VALUE, len(wild), wild, wild),)


def _combo(
    pattern: ComboPattern, lacking: tuple[int, ...], cards: SortedCards, level: int
) -> Combo:
    suit = _stand_in_suit(pattern.kind, cards)
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


def _stand_in_suit(kind: ComboKind, cards: SortedCards) -> int:
    """Return the suit that a wild card takes: hearts, its own, where that changes nothing."""
    if kind == "straight_flush":
        return min(cards.suits)
    return _SPADES if kind == "straight" and cards.suits == {HEARTS} else HEARTS


def _preference(combo: Combo, level: int) -> tuple[int, int, int, bool, tuple[int, ...]]:
    """Return what is greatest for the reading that counts by default.

    Where the ranks of a pair are free, wild cards rather stay what they are.
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
