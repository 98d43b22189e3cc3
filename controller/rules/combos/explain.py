"""The rules behind a ruling: what makes a play what it is, and what decides between two.

Rules are keys of articles.RULES.
"""

from collections.abc import Iterator, Sequence

from controller.rules.combos.combo import SEQUENCE_KINDS, Combo, ComboKind
from controller.rules.combos.compare import bomb_class, can_beat
from controller.rules.combos.declare import ComboDeclaration
from controller.rules.combos.recognise import must_be_declared
from controller.rules.order import LEVEL_VALUE, is_joker, natural_rank

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
    """Yield the rules that make a play what it is."""
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
    """Yield the rules by which the first reading counts of those that a declaration left."""
    if declaration:
        lower = "declared_lower" if left[0].wild_faces else "declared_plain"
        yield "declared" if bomb_class(left[0]) == bomb_class(found[0]) else lower
    if left[0].wild_faces:
        if must_be_declared(left):
            yield "declare"
        keys = (key for other in left[1:] for key in _rules_of_preference(left[0], other, table))
        yield from dict.fromkeys(keys)


def prefer_kind_on_table(left: Sequence[Combo], table: Combo | None) -> tuple[Combo, ...]:
    """Return undeclared readings with those first that count on what lies on the table.

    Among those of the highest class, the kind of the table's play: else a play that can
    follow would not (provisional).
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
    """Yield the rules by which one combination beats another or does not."""
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
