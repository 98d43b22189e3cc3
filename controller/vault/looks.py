"""A verdict on one card, out of what the reader saw of it and nothing else.

A second look comes at once where the first was poor, and a third; then the tray,
where the card lies differently. The first decision stands: what the reader says
of the card afterwards changes nothing, so that events told twice, or after a
restart, lead to the same route.
"""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn, Protocol

from controller.cards import FACE_COUNT, Face
from controller.deal.sightings import LookOutcome

MAX_LOOKS = 3
"""A first look and two more."""
MIN_CONFIDENCE = 128
"""The least confidence, of 255, that counts as a reading."""


class ReadEvent(Protocol):
    """A READ event of the reader board, as drivers/events.py has it."""

    @property
    def attempt(self) -> int:
        """The board's attempt when it happened."""

    @property
    def index(self) -> int:
        """The card's number in the attempt."""

    @property
    def face(self) -> int:
        """0…53, anything else: unreadable."""

    @property
    def back(self) -> int:
        """The back the engine saw: A 0, B 1, foreign 2."""

    @property
    def face_up(self) -> int:
        """1 for a card that lay face up."""

    @property
    def confidence(self) -> int:
        """0…255."""


class ReaderLook:
    """What the reader saw once. No log, no message and no copy of it can be made.

    It is no Struct: those write themselves out field by field for whoever encodes them.
    """

    __slots__ = ("back", "confidence", "face", "face_up")

    def __init__(self, face: int, back: int, face_up: bool, confidence: int) -> None:
        self.face, self.back = face, back
        self.face_up, self.confidence = face_up, confidence

    def __repr__(self) -> str:
        """Hide the face."""
        return "Read(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise TypeError("a look at a card is not copied")


class LookDecision(NamedTuple):
    """What a card's looks come to: `why` is a fault name where it was not accepted."""

    look: LookOutcome
    why: str | None = None


def look_from_event(event: ReadEvent) -> ReaderLook:
    """Return what an event says the reader saw."""
    return ReaderLook(event.face, event.back, bool(event.face_up), event.confidence)


def look_fault(look: ReaderLook, back: int) -> str | None:
    """Return why one look does not do, as a fault name; None for a good one.

    `back` is the back of the named set. A card that lies face up has been seen by
    everybody, whatever else is wrong with it; where no face was seen, the back was
    not either.
    """
    if look.face_up:
        return "FACE_UP"
    if not 0 <= look.face < FACE_COUNT:
        return "UNREADABLE"
    if look.back != back:
        return "FOREIGN_BACK"
    return None if look.confidence >= MIN_CONFIDENCE else "UNREADABLE"


def judge_looks(looks: Sequence[ReaderLook], back: int) -> LookDecision:
    """Return the verdict on a card after these looks at it, in order, one at least."""
    flaws = [look_fault(read, back) for read in looks[:MAX_LOOKS]]
    if None in flaws:
        return LookDecision(LookOutcome.ACCEPT)
    return LookDecision(
        LookOutcome.TRAY if len(flaws) == MAX_LOOKS else LookOutcome.REREAD, flaws[-1]
    )


def accepted_face(looks: Sequence[ReaderLook], back: int) -> Face | None:
    """Return the face of an accepted card: the first good look's. None for any other."""
    return next((read.face for read in looks[:MAX_LOOKS] if look_fault(read, back) is None), None)
