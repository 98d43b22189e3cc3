"""Suits for cards that were written without one, so that they mean nothing."""

from collections import Counter
from collections.abc import Sequence

from controller.cards import FACE_COUNT, RANKS, Face
from controller.rules.order import is_wild, natural_rank


def faces_of(rank: int) -> tuple[Face, ...]:
    """Return the faces of a natural rank: four, or one joker."""
    return tuple(face for face in range(FACE_COUNT) if natural_rank(face) == rank)


def assign_suits(
    faces: Sequence[Face | None], ranks: Sequence[int], level: int | None, deck: Sequence[int]
) -> tuple[Face, ...]:
    """Return `faces` with one of the rank beside it for each None.

    It is of the suit that the play has least of: no straight flush comes of it. Of the
    level, whose hearts would be wild, hearts are taken last. `deck`, how many of each of
    the 54 faces there are, must hold so many cards of every rank.
    """
    used = Counter(face for face in faces if face is not None)
    suits = Counter(face // len(RANKS) for face in used.elements())

    def burden(face: Face) -> tuple[bool, int]:
        return _is_wild_at(face, level), suits[face // len(RANKS)]

    found = []
    for face, rank in zip(faces, ranks, strict=True):
        if face is None:
            face = min((one for one in faces_of(rank) if used[one] < deck[one]), key=burden)
            used[face] += 1
            suits[face // len(RANKS)] += 1
        found.append(face)
    return tuple(found)


def _is_wild_at(face: Face, level: int | None) -> bool:
    return level is not None and is_wild(face, level)
