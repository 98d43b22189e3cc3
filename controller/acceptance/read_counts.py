"""Counts of a reader's errors. The input is looks at cards. The output is counts, never a face."""

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
    """The counts of errors over some cards.

    `unreadable`: the first look found no face, or was not sure. `unread`: two more looks failed
    too. `misread`: faces that occurred more often than in a correct set. `wrong`: cards that were
    face up or have another back.
    """

    cards: int = 0
    unreadable: int = 0
    unread: int = 0
    misread: int = 0
    wrong: int = 0


class CardReads:
    """The reader's looks at the cards of one attempt, by feed index. They are used only for counts.

    `composition` contains the number of each of the 54 faces in the set. `back` is the back of the
    set, with the reader board's number for it.
    """

    def __init__(self, composition: Sequence[int], back: int) -> None:
        """Store the composition and the back of a correct set.

        Raises ValueError for a wrong length.
        """
        if len(composition) != FACE_COUNT:
            raise ValueError(f"a composition has {FACE_COUNT} numbers, not {len(composition)}")
        self._composition, self._back = tuple(composition), back
        self._reads: dict[int, list[ReaderLook]] = {}

    def __repr__(self) -> str:
        """Return the number of cards, never their contents."""
        return f"Readings(cards={len(self._reads)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError, because looks must not be copied or pickled."""
        raise TypeError("looks at cards are not copied")

    def take_read(self, event: ReadEvent) -> LookOutcome:
        """Store a READ event. Return whether its card needs another look."""
        reads = self._reads.setdefault(event.index, [])
        reads.append(look_from_event(event))
        return judge_looks(reads, self._back).look

    def count(self, indices: Collection[int]) -> ReadCounts:
        """Return the counts over these cards. A card without a look is unread."""
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
        """Delete every face."""
        self._reads = {}
