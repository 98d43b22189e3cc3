"""Cards written without a suit: where a ruling rests on the suits that they were given."""

from collections.abc import Callable, Iterator

from controller.cards import RANKS, SUITS, Face
from controller.rules.combos.combo import Combo, ComboKind
from controller.rules.combos.notation import TypedPlay
from controller.rules.combos.recognise import contained_kinds, readings
from controller.rules.order import HEARTS, is_joker, is_wild, natural_rank


def bare_notes(play: TypedPlay, combo: Combo | None, level: int, hearts: int) -> Iterator[str]:
    """Yield the rules (keys of articles.RULES) that say what bare cards were taken to be.

    `combo`: what the play counts as; `hearts`: wild cards that neither play shows.
    """
    if combo is not None and combo.kind == "straight" and _may_be_of_one_suit(play, level):
        yield "bare_suits"
    if _may_be_wild(play, level, hearts, lambda faces: _kinds_and_ranks(faces, level)):
        yield "bare_level"


def contained_notes(
    play: TypedPlay, kinds: tuple[ComboKind, ...], level: int, hearts: int
) -> Iterator[str]:
    """Yield the same for the kinds that a play contains."""
    if "straight_flush" not in kinds and any(
        "straight_flush" in contained_kinds(_as_if_of_suit(play, suit, level), level)
        for suit in range(len(SUITS))
    ):
        yield "bare_suits"
    if _may_be_wild(play, level, hearts, lambda faces: contained_kinds(faces, level)):
        yield "bare_level"


def contained_kinds_as_written(play: TypedPlay, level: int) -> tuple[ComboKind, ...]:
    """Return the kinds that a play contains; no straight flush of suits that nobody wrote."""
    kinds = contained_kinds(play.faces, level)
    written = [face for face, bare in _faces_with_bare(play) if not bare or is_wild(face, level)]
    if "straight_flush" in kinds and "straight_flush" not in contained_kinds(written, level):
        return tuple(kind for kind in kinds if kind != "straight_flush")
    return kinds


def _faces_with_bare(play: TypedPlay) -> Iterator[tuple[Face, bool]]:
    yield from zip(play.faces, play.bare, strict=True)


def _may_be_of_one_suit(play: TypedPlay, level: int) -> bool:
    plain = [(face, bare) for face, bare in _faces_with_bare(play) if not is_wild(face, level)]
    written = {face // len(RANKS) for face, bare in plain if not bare}
    return any(bare for _, bare in plain) and len(written) <= 1


def _as_if_of_suit(play: TypedPlay, suit: int, level: int) -> tuple[Face, ...]:
    """Return the cards as if all that are bare were of one suit; none of them becomes wild."""
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
    """Tell whether bare cards of the level would make another play of it as wild ones."""
    wild = HEARTS * len(RANKS) + level - 2
    faces, left = list(play.faces), hearts
    for n, (face, bare) in enumerate(_faces_with_bare(play)):
        if bare and left and natural_rank(face) == level and face != wild:
            faces[n], left = wild, left - 1
            if read(tuple(faces)) != read(play.faces):
                return True
    return False


def _kinds_and_ranks(faces: tuple[Face, ...], level: int) -> set[tuple[ComboKind, int]]:
    return {(combo.kind, combo.rank) for combo in readings(faces, level)}
