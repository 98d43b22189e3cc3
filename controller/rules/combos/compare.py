"""Which of two combinations is greater (seed 000 A8, 003 R2, 004 CN3)."""

from controller.rules.combos.combo import Combo, ComboKind

_SPECIAL_BOMBS: dict[ComboKind, int] = {"straight_flush": 11, "joker_bomb": 99}
"""A straight flush is like a bomb of five and a half cards; four jokers beat all (A8.5–7)."""


def bomb_class(combo: Combo) -> int:
    """Return the class of a combination: 0 for an ordinary one, more for a greater bomb."""
    if combo.kind == "bomb":
        return 2 * combo.size
    return _SPECIAL_BOMBS.get(combo.kind, 0)


def compare_key(combo: Combo) -> tuple[int, int]:
    """Return what is greater for the greater of two that may follow one another.

    Ordinary < bomb of 4 < of 5 < straight flush < bomb of 6 < … < of 10 < joker bomb; then
    the rank. Suits never count (seed 000 A8.1). Two ordinary ones of different kinds cannot
    be compared: `beats` knows.
    """
    return bomb_class(combo), combo.rank


def can_beat(challenger: Combo, table: Combo) -> bool:
    """Tell whether a combination may be played on the one that lies on the table.

    An ordinary one follows its own kind alone (seed 000 A6.1); equal ones never beat.
    """
    if not bomb_class(challenger) and challenger.kind != table.kind:
        return False
    return compare_key(challenger) > compare_key(table)
