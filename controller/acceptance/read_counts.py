"""How well a reader reads: looks go in, counts come out, and never a face."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NoReturn

import msgspec

from controller.cards import FACE_COUNT
from controller.deal.observations import LookOutcome
from controller.vault.vault import (
    ReaderLook,
    ReadEvent,
    accepted_face,
    judge_looks,
    look_fault,
    look_from_event,
)


class ReadCounts(msgspec.Struct, frozen=True, gc=False):
    """What the looks at some cards come to.

    `unreadable`: the first look saw no face, or not surely; `unread`: nor did two more.
    `misread`: faces that came more often than a right set has them. `wrong`: cards that lay
    face up or have another back.
    """

    cards: int = 0
    unreadable: int = 0
    unread: int = 0
    misread: int = 0
    wrong: int = 0


class CardReads:
    """What the reader saw of the cards of one attempt, by feed index; for counts alone.

    `composition` says how many of each of the 54 faces the set has, `back` its back as the
    reader board numbers it.
    """

    def __init__(self, composition: Sequence[int], back: int) -> None:
        """Take what a right set looks like."""
        if len(composition) != FACE_COUNT:
            raise ValueError(f"a composition has {FACE_COUNT} numbers, not {len(composition)}")
        self._composition, self._back = tuple(composition), back
        self._reads: dict[int, list[ReaderLook]] = {}

    def __repr__(self) -> str:
        """Say how much it holds, never what."""
        return f"Readings(cards={len(self._reads)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise TypeError("looks at cards are not copied")

    def take_read(self, event: ReadEvent) -> LookOutcome:
        """Take in a READ; return whether its card wants another look."""
        reads = self._reads.setdefault(event.index, [])
        reads.append(look_from_event(event))
        return judge_looks(reads, self._back).look

    def count(self, indices: Collection[int]) -> ReadCounts:
        """Count the looks at these cards; one that was never looked at is unread."""
        looks = [self._reads.get(index, []) for index in indices]
        flaws = [look_fault(reads[0], self._back) if reads else "UNREADABLE" for reads in looks]
        ends = [judge_looks(reads, self._back).why if reads else "UNREADABLE" for reads in looks]
        faces = Counter(accepted_face(reads, self._back) for reads in looks)
        return ReadCounts(
            cards=len(looks),
            unreadable=flaws.count("UNREADABLE"),
            unread=ends.count("UNREADABLE"),
            misread=sum(max(0, faces[face] - due) for face, due in enumerate(self._composition)),
            wrong=ends.count("FACE_UP") + ends.count("FOREIGN_BACK"),
        )

    def forget(self) -> None:
        """Forget every face."""
        self._reads = {}
