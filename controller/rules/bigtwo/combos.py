"""The combinations of Big Two: what a play is, and which of two plays is higher.

Where ranks are equal, suits decide (seed 002 A9.1). A play has one reading at most:
nothing is wild, and the seed knows no declaring.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from controller.cards import RANKS, SMALL_JOKER, SUITS, Face
from controller.rules.bigtwo.tables import BigTwoComboRules
from controller.rules.order import natural_rank

BigTwoKind = Literal[
    "single", "pair", "triple", "straight", "flush", "full_house", "four_one", "straight_flush"
]
FIVE_CARD_KINDS: tuple[BigTwoKind, ...] = (
    "straight",
    "flush",
    "full_house",
    "four_one",
    "straight_flush",
)
"""The kinds of five cards, low to high (seed 002 A9.4)."""

TWO_VALUE = 15
"""What a 2 counts among singles: more than an ace (seed 002 A9.2)."""

USUAL_COMBO_RULES = BigTwoComboRules(
    a_low=True,
    two_in_straights=True,
    straights_by="natural",
    full_house_by="triple",
    four_one_by="four",
    five_cards="one_class",
)
"""What holds where nobody hands in a profile's own table: the same as bigtwo-2017-002."""


class BigTwoKindName(msgspec.Struct, frozen=True, gc=False):
    """How people call a kind, how many cards it has, and where the seed says what it is."""

    en: str
    zh: str
    size: int
    article: str


BIG_TWO_KIND_NAMES: dict[BigTwoKind, BigTwoKindName] = {
    "single": BigTwoKindName("single", "单牌", 1, "002 A8.1"),
    "pair": BigTwoKindName("pair", "对子", 2, "002 A8.2"),
    "triple": BigTwoKindName("triple", "三张", 3, "002 A8.3"),
    "straight": BigTwoKindName("straight", "顺子", 5, "002 A8.4"),
    "flush": BigTwoKindName("flush", "同花", 5, "002 A8.5"),
    "full_house": BigTwoKindName("full house", "葫芦", 5, "002 A8.6"),
    "four_one": BigTwoKindName("four of a kind and one", "铁枝", 5, "002 A8.7"),
    "straight_flush": BigTwoKindName("straight flush", "同花顺", 5, "002 A8.8"),
}


class BigTwoCombo(msgspec.Struct, frozen=True, gc=False):
    """A play as it is read. `faces` are its cards from low to high.

    `rank` and `suit` are those of the card that decides within the kind: 3…14 for 3…A,
    15 for a 2 (in a run, by its place there); suits ♦ 0, ♣ 1, ♥ 2, ♠ 3.
    """

    kind: BigTwoKind
    rank: int
    suit: int
    faces: tuple[Face, ...]

    @property
    def size(self) -> int:
        """How many cards it has."""
        return len(self.faces)


def single_value(face: Face) -> tuple[int, int]:
    """Return what a card counts as a single: its rank, 3 lowest and 2 highest, then its suit.

    Seed 002 A9.1–2. Suits: ♦ 0, ♣ 1, ♥ 2, ♠ 3.
    """
    rank = natural_rank(face)
    return (TWO_VALUE if rank == 2 else rank), len(SUITS) - 1 - face // len(RANKS)


def readings(
    cards: Sequence[Face], combos: BigTwoComboRules = USUAL_COMBO_RULES
) -> tuple[BigTwoCombo, ...]:
    """Return what a play is: one reading, or none where it is no combination.

    A joker, and two of one face, are in no pack of 52 cards: such a play is none.
    """
    if len(set(cards)) != len(cards) or any(face >= SMALL_JOKER for face in cards):
        return ()
    laid = tuple(sorted(cards, key=single_value))
    combo = _read_five_cards(laid, combos) if len(laid) == 5 else _read_equal_ranks(laid)
    return (combo,) if combo else ()


def can_beat(
    challenger: BigTwoCombo, on_table: BigTwoCombo, combos: BigTwoComboRules = USUAL_COMBO_RULES
) -> bool:
    """Tell whether a play is legal on the one before: comparable with it, and higher."""
    return can_follow(challenger, on_table, combos) and compare_key(challenger) > compare_key(
        on_table
    )


def can_follow(
    challenger: BigTwoCombo, on_table: BigTwoCombo, combos: BigTwoComboRules = USUAL_COMBO_RULES
) -> bool:
    """Tell whether two plays can be compared at all: the same kind (seed 002 A7, A9.3).

    Five cards follow any five where they are one class: A9.4 ranks the kinds, against the
    letter of A7 (provisional).
    """
    if combos.five_cards == "one_class" and challenger.kind in FIVE_CARD_KINDS:
        return on_table.kind in FIVE_CARD_KINDS
    return challenger.kind == on_table.kind


def compare_key(combo: BigTwoCombo) -> tuple[int, int, int]:
    """Return what comparable plays are ordered by: kind of five, then the deciding card."""
    place = FIVE_CARD_KINDS.index(combo.kind) if combo.kind in FIVE_CARD_KINDS else 0
    return place, combo.rank, combo.suit


def _read_equal_ranks(laid: tuple[Face, ...]) -> BigTwoCombo | None:
    kinds: dict[int, BigTwoKind] = {1: "single", 2: "pair", 3: "triple"}
    if len(laid) not in kinds or len({natural_rank(face) for face in laid}) != 1:
        return None
    return _combo(kinds[len(laid)], laid, laid)


def _read_five_cards(laid: tuple[Face, ...], combos: BigTwoComboRules) -> BigTwoCombo | None:
    run = _sequence_order(laid, combos)
    flush = len({face // len(RANKS) for face in laid}) == 1
    if run:
        deciding = run[-1:] if combos.straights_by == "natural" else laid
        return _combo("straight_flush" if flush else "straight", run, deciding)
    if flush:
        return _combo("flush", laid, laid)
    return _read_two_ranks(laid, combos)


def _read_two_ranks(laid: tuple[Face, ...], combos: BigTwoComboRules) -> BigTwoCombo | None:
    (rank, most), *_ = Counter(map(natural_rank, laid)).most_common()
    many = tuple(face for face in laid if natural_rank(face) == rank)
    few = tuple(face for face in laid if natural_rank(face) != rank)
    if most == 4:
        return _combo("four_one", many + few, many if combos.four_one_by == "four" else laid)
    if most == 3 and len({natural_rank(face) for face in few}) == 1:
        by_triple = combos.full_house_by == "triple"
        return _combo("full_house", many + few, many if by_triple else laid)
    return None


def _sequence_order(laid: tuple[Face, ...], combos: BigTwoComboRules) -> tuple[Face, ...] | None:
    """Return five cards as they stand in a straight, or None: A and 2 in the middle are none."""
    rising = tuple(sorted(laid, key=natural_rank))
    ranks = [natural_rank(face) for face in rising]
    if ranks == [2, 3, 4, 5, 14]:
        return (rising[-1], *rising[:-1]) if combos.a_low else None
    if ranks != list(range(ranks[0], ranks[0] + 5)):
        return None
    return rising if ranks[0] != 2 or combos.two_in_straights else None


def _combo(kind: BigTwoKind, faces: tuple[Face, ...], deciding: tuple[Face, ...]) -> BigTwoCombo:
    """Return a play that is compared by the highest of its deciding cards.

    In a run the last card decides, at the rank it has there: never a 2 or a low ace.
    """
    rank, suit = max(map(single_value, deciding))
    return BigTwoCombo(kind, rank, suit, faces)
