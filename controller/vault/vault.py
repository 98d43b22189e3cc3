"""The vault: the faces that the reader saw in the present attempt, and verdicts on them.

If the first look is poor, a second look follows at once, and then a third. After that the card goes
to the tray, and is read again from there. The first decision is final: later looks at the card
change nothing. So repeated events, also after a restart, lead to the same route.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from controller.cards import FACE_COUNT, Face
from controller.deal.observations import CardVerdict, LookOutcome

MAX_LOOKS = 3
"""A first look and two more."""
MIN_CONFIDENCE = 128
"""The least confidence, of 255, that counts as a reading."""


class ReadEvent(Protocol):
    """A READ event of the reader board (drivers/board_events.py)."""

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
    """One look of the reader. It cannot be logged, sent or copied.

    It is not a Struct, because an encoder would write each field of a Struct.
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
    """The result of a card's looks. `why` is a fault name if the card was not accepted."""

    look: LookOutcome
    why: str | None = None


def look_from_event(event: ReadEvent) -> ReaderLook:
    """Return the look in a READ event."""
    return ReaderLook(event.face, event.back, bool(event.face_up), event.confidence)


def look_fault(look: ReaderLook, back: int) -> str | None:
    """Return why one look is not good, as a fault name, or None for a good look.

    `back` is the back of the named set. A card that was face up has been seen by everybody, so this
    fault comes first. If no face was read, the back was not read either.
    """
    if look.face_up:
        return "FACE_UP"
    if not 0 <= look.face < FACE_COUNT:
        return "UNREADABLE"
    if look.back != back:
        return "FOREIGN_BACK"
    return None if look.confidence >= MIN_CONFIDENCE else "UNREADABLE"


def judge_looks(looks: Sequence[ReaderLook], back: int) -> LookDecision:
    """Return the verdict on a card after these looks at it, in order, at least one."""
    flaws = [look_fault(read, back) for read in looks[:MAX_LOOKS]]
    if None in flaws:
        return LookDecision(LookOutcome.ACCEPT)
    return LookDecision(
        LookOutcome.TRAY if len(flaws) == MAX_LOOKS else LookOutcome.REREAD, flaws[-1]
    )


def accepted_face(looks: Sequence[ReaderLook], back: int) -> Face | None:
    """Return the face of an accepted card: the first good look's. None for any other."""
    return next((read.face for read in looks[:MAX_LOOKS] if look_fault(read, back) is None), None)


NO_FACE = 0xFF
"""The byte of a place whose card could not be read."""


class Vault:
    """The looks at the cards of the present attempt, by feed index.

    `composition` has the number of each of the 54 faces in the set. `back` is the set's back as the
    reader board numbers it (A 0, B 1).
    """

    def __init__(self, composition: Sequence[int], back: int) -> None:
        """Store the properties of a right set."""
        if len(composition) != FACE_COUNT:
            raise ValueError(f"a composition has {FACE_COUNT} numbers, not {len(composition)}")
        self._composition = tuple(composition)
        self._back = back
        self._attempt: int | None = None
        self._reads: dict[int, list[ReaderLook]] = {}
        self._events: list[Any] = []
        self._hands: bytes | None = None

    def __repr__(self) -> str:
        """Return the number of cards, never a face."""
        return f"Vault(attempt={self._attempt}, cards={len(self._reads)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise TypeError("a vault is not copied")

    @property
    def attempt(self) -> int | None:
        """The attempt whose faces it holds."""
        return self._attempt

    def begin(self, attempt: int) -> None:
        """Delete every face, and accept those of this attempt."""
        self.forget()
        self._attempt = attempt

    def forget(self) -> None:
        """Delete every face, because the attempt is over."""
        self._attempt = None
        self._reads = {}
        self._events = []
        self._hands = None

    def keep_event(self, event: Any) -> None:
        """Store a board's event for the record. A READ has a face.

        The event is not examined here, and not stored outside an attempt.
        """
        if self._attempt is not None:
            self._events.append(event)

    @property
    def events(self) -> tuple[Any, ...]:
        """Return the received events of this attempt, in order."""
        return tuple(self._events)

    def take_read(self, event: ReadEvent) -> CardVerdict:
        """Accept a READ and return the verdict on its card.

        Raises ValueError for a READ of another attempt, which must not count.
        """
        if event.attempt != self._attempt:
            raise ValueError(f"a read of attempt {event.attempt} during {self._attempt}")
        self._reads.setdefault(event.index, []).append(look_from_event(event))
        decision = self._decision(event.index)
        return CardVerdict(event.index, decision.look, decision.why)

    def find_set_faults(self, places: Mapping[int, int], cards: int) -> tuple[str, ...]:
        """Return the faults of the set, by their names; () for a right set.

        `places` is index → place of the cards that landed in a seat's pocket, `cards` the number of
        cards in a set. Call this after every card was fed, because a card that never came counts as
        missing. A card in the tray is not missing: its own fault is the reason.
        """
        unread = ["UNREADABLE" for index in places if self._face(index) is None]
        in_tray = self._flaws_after(max(places, default=0)) if len(places) < cards else []
        have = Counter(self._face(index) for index in places)
        over = any(have[face] > due for face, due in enumerate(self._composition))
        short = any(have[face] < due for face, due in enumerate(self._composition))
        reasons = [*unread, *in_tray]
        if short and (over or not reasons):
            reasons.append("MISSING_CARD")
        if over:
            reasons.append("THIRD_COPY")
        return tuple(dict.fromkeys(reasons))

    def bind_hands(self, places: Mapping[int, int], cards: int) -> bytes:
        """Return one face byte for each place, NO_FACE if its card was not read, and store them.

        `places` as in `find_set_faults`. These are the hands from now on.
        """
        record = bytearray([NO_FACE]) * cards
        for index, place in places.items():
            face = self._face(index)
            record[place - 1] = NO_FACE if face is None else face
        self._hands = bytes(record)
        return self._hands

    def restore_hands(self, attempt: int, record: bytes) -> None:
        """Restore hands that an earlier run of the daemon bound: one face byte for each place."""
        self.begin(attempt)
        self._hands = record

    @property
    def hands(self) -> bytes | None:
        """The bound hands, one face byte per place; None before they are."""
        return self._hands

    def turn_up(self, draws: Iterator[int], redo: Collection[Face] = ()) -> tuple[int, Face]:
        """Return place and face of the turned-up card: the first drawn whose face may stay.

        `draws` are places, from controller/deal/sequence.py; `redo` the faces for which a
        rulebook turns again. Raises ValueError before the hands are bound, and where a
        drawn place has no face.
        """
        for place in draws:
            if self._hands is None or self._hands[place - 1] >= FACE_COUNT:
                raise ValueError(f"no card at place {place} was read")
            if self._hands[place - 1] not in redo:
                return place, self._hands[place - 1]
        raise ValueError("the draws ended before a card could stay turned up")

    def _decision(self, index: int) -> LookDecision:
        reads = self._reads.get(index)
        return (
            judge_looks(reads, self._back)
            if reads
            else LookDecision(LookOutcome.REREAD, "UNREADABLE")
        )

    def _face(self, index: int) -> Face | None:
        return accepted_face(self._reads.get(index, ()), self._back)

    def _flaws_after(self, last_placed: int) -> list[str]:
        """Return the flaws of the cards fed after the last that found a pocket.

        The tray gives its last card first, so one that stays bad is the last one fed.
        """
        behind = [self._decision(index) for index in sorted(self._reads) if index > last_placed]
        return [decision.why for decision in behind if decision.why is not None]
