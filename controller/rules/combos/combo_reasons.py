"""The reasons for the judgement of a play: the rules on combinations and on their comparison.

Rules are keys of combo_rules.COMBO_RULES.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from controller.cards import RANKS, SUITS, Face
from controller.rules.combos.guandan_combos import (
    ACE,
    JOKER_RANKS,
    PATTERNS,
    SEQUENCE_KINDS,
    SUIT_RANKS,
    Combo,
    ComboKind,
    RankGroups,
    SortedCards,
    bomb_class,
    can_beat,
    contained_kinds,
    fill_pattern,
    must_be_declared,
    readings,
    sequence_groups,
    sort_cards,
)
from controller.rules.combos.play_notation import ComboDeclaration, TypedPlay
from controller.rules.ranks import HEARTS, LEVEL_VALUE, is_joker, is_wild, natural_rank

_LISTED_BOMB = 8
"""The longest bomb that seeds 003 R1 and 004 CN3 list."""

_COMPARISON_RULES: dict[ComboKind, tuple[str, ...]] = {
    "single": ("by_rank",),
    "pair": ("by_rank",),
    "triple": ("by_rank",),
    "full_house": ("by_triple", "by_rank"),
    "straight": ("by_top",),
    "tube": ("by_top_group",),
    "plate": ("by_top_group",),
}
"""The rules by which two ordinary combinations of one kind compare."""


def rules_of_kind(combo: Combo, level: int) -> Iterator[str]:
    """Yield the keys of the rules that make the cards of a play the combination `combo`."""
    yield combo.kind
    if combo.kind == "bomb" and combo.size > _LISTED_BOMB:
        yield "long_bomb"
    if combo.kind == "full_house" and any(map(is_joker, combo.faces)):
        yield "joker_pair"
    if combo.wild_faces:
        yield "wild_alone" if len(combo.wild_faces) == combo.size else "wild"
    if combo.kind in SEQUENCE_KINDS and level in map(natural_rank, combo.faces):
        yield "natural_place"


def rules_of_choice(
    left: Sequence[Combo],
    found: Sequence[Combo],
    declaration: ComboDeclaration | None,
    table: Combo | None = None,
) -> Iterator[str]:
    """Yield the keys of the rules that select the reading `left[0]` as the one that counts.

    `found`: all readings of the play. `left`: the readings that remain after the declaration.
    `table`: the combination on the table.
    """
    if declaration:
        lower = "declared_lower" if left[0].wild_faces else "declared_plain"
        yield "declared" if bomb_class(left[0]) == bomb_class(found[0]) else lower
    if left[0].wild_faces:
        if must_be_declared(left):
            yield "declare"
        keys = (key for other in left[1:] for key in _rules_of_preference(left[0], other, table))
        yield from dict.fromkeys(keys)


def prefer_kind_on_table(left: Sequence[Combo], table: Combo | None) -> tuple[Combo, ...]:
    """Return the readings `left`, with the kind of `table` first among those of the highest class.

    `left`: the readings of an undeclared play, the highest class first. Without the new order, a
    play that can follow would not be read as one that follows (provisional).
    """
    if table is None or not left:
        return tuple(left)
    best = bomb_class(left[0])
    return tuple(sorted(left, key=lambda one: (bomb_class(one) != best, one.kind != table.kind)))


def _rules_of_preference(counts: Combo, other: Combo, table: Combo | None) -> Iterator[str]:
    if bomb_class(counts) != bomb_class(other):
        yield "undeclared_class"
    elif counts.kind != other.kind:
        follows = table is not None and counts.kind == table.kind
        yield "undeclared_follows" if follows else "undeclared_tube"
    elif counts.rank != other.rank:
        yield "undeclared_triple" if counts.kind == "full_house" else "undeclared_high"


def rules_of_comparison(challenger: Combo, table: Combo) -> Iterator[str]:
    """Yield the keys of the rules that decide whether `challenger` beats `table`."""
    kinds = {challenger.kind, table.kind}
    bombs = [combo for combo in (challenger, table) if combo.kind == "bomb"]
    if "joker_bomb" in kinds:
        yield "jokers_over_all"
    elif kinds == {"straight_flush"}:
        yield "flush_rank"
    elif kinds == {"straight_flush", "bomb"}:
        longer = bomb_class(bombs[0]) > bomb_class(table if bombs[0] is challenger else challenger)
        yield "bomb_over_flush" if longer else "flush_over_bomb"
    elif "straight_flush" in kinds:
        yield "flush_over_all"
    elif len(bombs) == 2:
        yield "bomb_rank" if challenger.size == table.size else "more_cards"
    elif bombs:
        yield "bomb_over_all"
    elif len(kinds) == 2:
        yield "same_kind"
    else:
        level = (
            LEVEL_VALUE in (challenger.rank, table.rank) and challenger.kind not in SEQUENCE_KINDS
        )
        yield from _COMPARISON_RULES[challenger.kind]
        if level:
            yield "by_level"
    if len(kinds) == 1 and not can_beat(challenger, table):
        yield "greater"


def broken_rule(cards: Sequence[Face], level: int) -> str:
    """Return the key (of COMBO_RULES) of the rule that explains why `cards` are no combination."""
    sorted_cards = sort_cards(cards, level)
    if any(map(is_joker, cards)):
        if _uses_wild_as_joker(sorted_cards, len(cards)):
            return "wild_no_joker"
        if len(cards) == 2 and all(map(is_joker, cards)):
            return "unlike_jokers"
    for rule, groups in _MISTAKES.get(len(cards), ()):
        if fill_pattern(groups, sorted_cards.rank_counts, len(sorted_cards.wild_cards)) is not None:
            return rule
    most = max(
        (n for rank, n in sorted_cards.rank_counts.items() if rank not in JOKER_RANKS), default=0
    )
    has_triple = most >= 2 and most + len(sorted_cards.wild_cards) >= 3
    if len(cards) in (4, 5) and has_triple:
        return "triple_with"
    return "no_type"


def _uses_wild_as_joker(cards: SortedCards, size: int) -> bool:
    """Return True if the cards would be a combination if a wild card could replace a joker."""
    jokers = [
        dict(pattern.groups)
        for pattern in PATTERNS.get(size, ())
        if any(rank in JOKER_RANKS for rank, _ in pattern.groups)
    ]
    lacking = [
        sum(max(0, count - cards.rank_counts.get(rank, 0)) for rank, count in groups.items())
        for groups in jokers
    ]
    return len(cards.wild_cards) in lacking


def _mistake_patterns() -> Iterator[tuple[str, RankGroups]]:
    """Yield patterns that resemble combinations, each with the key of the rule that it breaks.

    The patterns are too long, too short, or go past the A.
    """
    for top in range(ACE + 1, ACE + 4):
        yield "straight_wraps", sequence_groups(top, 5)
    yield "tube_wraps", sequence_groups(ACE + 1, 3, each=2)
    lengths = {
        "straight_length": (1, {3, 4, *range(6, len(SUIT_RANKS) + 1)}),
        "tube_length": (2, {2, *range(4, len(SUIT_RANKS) + 1)}),
        "plate_length": (3, set(range(3, 10))),
    }
    for rule, (each, wrong) in lengths.items():
        for length in sorted(wrong):
            for top in range(length, ACE + 1):
                yield rule, sequence_groups(top, length, each)


_MISTAKES: dict[int, list[tuple[str, RankGroups]]] = defaultdict(list)
for _rule, _groups in _mistake_patterns():
    _MISTAKES[sum(count for _, count in _groups)].append((_rule, _groups))
"""The mistakes by their number of cards. The first matching mistake is reported."""


def bare_notes(play: TypedPlay, combo: Combo | None, level: int, hearts: int) -> Iterator[str]:
    """Yield the keys of the rules that explain the assumed suits of cards typed without a suit.

    `combo`: the combination that the play counts as. `hearts`: number of wild cards that neither
    play shows.
    """
    plain = [(face, bare) for face, bare in _faces_with_bare(play) if not is_wild(face, level)]
    written_suits = {face // len(RANKS) for face, bare in plain if not bare}
    may_be_of_one_suit = any(bare for _, bare in plain) and len(written_suits) <= 1
    if combo is not None and combo.kind == "straight" and may_be_of_one_suit:
        yield "bare_suits"
    if _may_be_wild(
        play, level, hearts, lambda faces: {(one.kind, one.rank) for one in readings(faces, level)}
    ):
        yield "bare_level"


def contained_notes(
    play: TypedPlay, kinds: tuple[ComboKind, ...], level: int, hearts: int
) -> Iterator[str]:
    """Yield the keys of the rules to cite if the cards typed without a suit could, with other
    suits, give other kinds of combination than `kinds`.
    """
    if "straight_flush" not in kinds and any(
        "straight_flush" in contained_kinds(_as_if_of_suit(play, suit, level), level)
        for suit in range(len(SUITS))
    ):
        yield "bare_suits"
    if _may_be_wild(play, level, hearts, lambda faces: contained_kinds(faces, level)):
        yield "bare_level"


def contained_kinds_as_written(play: TypedPlay, level: int) -> tuple[ComboKind, ...]:
    """Return the kinds of combination in a play; a straight flush needs written suits."""
    kinds = contained_kinds(play.faces, level)
    written = [face for face, bare in _faces_with_bare(play) if not bare or is_wild(face, level)]
    if "straight_flush" in kinds and "straight_flush" not in contained_kinds(written, level):
        return tuple(kind for kind in kinds if kind != "straight_flush")
    return kinds


def _faces_with_bare(play: TypedPlay) -> Iterator[tuple[Face, bool]]:
    yield from zip(play.faces, play.bare, strict=True)


def _as_if_of_suit(play: TypedPlay, suit: int, level: int) -> tuple[Face, ...]:
    """Return the cards of a play, with `suit` as the suit of each card typed without a suit.

    A level card that would become wild is left out.
    """
    return tuple(
        face
        if not bare or is_joker(face) or is_wild(face, level)
        else suit * len(RANKS) + natural_rank(face) - 2
        for face, bare in _faces_with_bare(play)
        if suit != HEARTS or not bare or natural_rank(face) != level
    )


def _may_be_wild(
    play: TypedPlay, level: int, hearts: int, read: Callable[[tuple[Face, ...]], object]
) -> bool:
    """Return True if counting bare level cards (typed without a suit) as wild changes `read`.

    At most `hearts` of these cards count as wild.
    """
    wild = HEARTS * len(RANKS) + level - 2
    faces, left = list(play.faces), hearts
    for n, (face, bare) in enumerate(_faces_with_bare(play)):
        if bare and left and natural_rank(face) == level and face != wild:
            faces[n], left = wild, left - 1
            if read(tuple(faces)) != read(play.faces):
                return True
    return False
