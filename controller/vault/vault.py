"""The vault: the faces that the reader read in the present attempt, and verdicts on the cards.

If the first look at a card is poor, a second look follows at once, and then a third. After that the
card goes to the tray, and is read again from there. The first decision is final: later looks at the
card change nothing. So repeated events, also after a restart, lead to the same route.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from controller.cards import FACE_COUNT, Face
from controller.deal.observations import CardVerdict, LookOutcome

MAX_LOOKS = 3
"""The largest number of looks at a card: the first look and two more."""
MIN_CONFIDENCE = 128
"""The lowest confidence, from 0 to 255, at which the result of a look counts."""


class ReadEvent(Protocol):
    """A READ event of the reader board, which reports one look at one card.

    drivers/board_events.py defines the event.
    """

    @property
    def attempt(self) -> int:
        """Return the number of the attempt that the board was in when the event happened."""

    @property
    def index(self) -> int:
        """Return the card's index, which is its number in the order of feeding."""

    @property
    def face(self) -> int:
        """Return the face, from 0 to 53. Any other number means that no face could be read."""

    @property
    def back(self) -> int:
        """Return the back that the reader read: 0 is back A, 1 is back B, 2 is a foreign back."""

    @property
    def face_up(self) -> int:
        """Return 1 if the card lay face up, else 0."""

    @property
    def confidence(self) -> int:
        """Return how certain the result of the look is, from 0 to 255."""


class ReaderLook:
    """The result of one look of the reader at a card, with the face.

    A look cannot be logged, sent or copied. It is not a Struct, because an encoder would write each
    field of a Struct.
    """

    __slots__ = ("back", "confidence", "face", "face_up")

    def __init__(self, face: int, back: int, face_up: bool, confidence: int) -> None:
        self.face, self.back = face, back
        self.face_up, self.confidence = face_up, confidence

    def __repr__(self) -> str:
        """Return a text without the face, because the text may be logged."""
        return "Read(…)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError, so that the look cannot be copied or pickled."""
        raise TypeError("a look at a card is not copied")


class LookDecision(NamedTuple):
    """The verdict on one card after the latest look at it, with the reason.

    `why` is a fault name, or None if the card is accepted.
    """

    look: LookOutcome
    why: str | None = None


def look_from_event(event: ReadEvent) -> ReaderLook:
    """Return the look that a READ event reports."""
    return ReaderLook(event.face, event.back, bool(event.face_up), event.confidence)


def look_fault(look: ReaderLook, back: int) -> str | None:
    """Return the name of the fault that makes `look` unusable, or None if `look` is good.

    `back` is the back of the set of cards that is in use. A card that was face up has been seen by
    everybody, so this fault comes first. If no face was read, the back was not read either.
    """
    if look.face_up:
        return "FACE_UP"
    if not 0 <= look.face < FACE_COUNT:
        return "UNREADABLE"
    if look.back != back:
        return "FOREIGN_BACK"
    return None if look.confidence >= MIN_CONFIDENCE else "UNREADABLE"


def judge_looks(looks: Sequence[ReaderLook], back: int) -> LookDecision:
    """Return the verdict on one card from `looks`: all looks at this card, oldest first.

    There must be at least one look. `back` is the back that the set must have.
    """
    flaws = [look_fault(read, back) for read in looks[:MAX_LOOKS]]
    if None in flaws:
        return LookDecision(LookOutcome.ACCEPT)
    outcome = LookOutcome.TRAY if len(flaws) == MAX_LOOKS else LookOutcome.REREAD
    return LookDecision(outcome, flaws[-1])


def accepted_face(looks: Sequence[ReaderLook], back: int) -> Face | None:
    """Return the face from the first good look at a card, or None if no look is good.

    Only the first MAX_LOOKS looks count.
    """
    return next((read.face for read in looks[:MAX_LOOKS] if look_fault(read, back) is None), None)


NO_FACE = 0xFF
"""The byte that stands for the face of a card that could not be read."""


class Vault:
    """The faces of the cards of the present attempt.

    The vault has the looks at each card by the card's index, which is its number in the order of
    feeding. `composition` has the number of each of the 54 faces in the set of cards. `back` is the
    back of these cards as the reader board numbers it (A 0, B 1).
    """

    def __init__(self, composition: Sequence[int], back: int) -> None:
        """Store how often the set must have each face, and which back its cards must have."""
        if len(composition) != FACE_COUNT:
            raise ValueError(f"a composition has {FACE_COUNT} numbers, not {len(composition)}")
        self._composition, self._back = tuple(composition), back
        self.forget()

    def __repr__(self) -> str:
        """Return a text with the attempt's number and the count of read cards, without any face."""
        return f"Vault(attempt={self._attempt}, cards={len(self._reads)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError, so that the vault cannot be copied or pickled."""
        raise TypeError("a vault is not copied")

    @property
    def attempt(self) -> int | None:
        """Return the number of the attempt whose faces are stored, or None if there is none."""
        return self._attempt

    def forget(self) -> None:
        """Delete all faces, because the attempt is over."""
        self._attempt: int | None = None
        self._reads: dict[int, list[ReaderLook]] = {}
        self._events: list[Any] = []
        self._hands: bytes | None = None

    def begin(self, attempt: int) -> None:
        """Delete all faces, and accept the faces of attempt number `attempt` from now on."""
        self.forget()
        self._attempt = attempt

    def keep_event(self, event: Any) -> None:
        """Store a board's event for the record of the attempt.

        A READ event has a face. The event is not examined here, and it is ignored if there is no
        attempt.
        """
        if self._attempt is not None:
            self._events.append(event)

    @property
    def events(self) -> tuple[Any, ...]:
        """Return all board events that were stored in this attempt, oldest first."""
        return tuple(self._events)

    def take_read(self, event: ReadEvent) -> CardVerdict:
        """Store the look that a READ event reports, and return the verdict on its card.

        Raises ValueError for a READ of another attempt, which must not count.
        """
        if event.attempt != self._attempt:
            raise ValueError(f"a read of attempt {event.attempt} during {self._attempt}")
        self._reads.setdefault(event.index, []).append(look_from_event(event))
        decision = self._decision(event.index)
        return CardVerdict(event.index, decision.look, decision.why)

    def find_set_faults(self, places: Mapping[int, int], cards: int) -> tuple[str, ...]:
        """Return the names of the faults of the set that was fed, or () if the set is right.

        `places` has the place of each card that landed in a seat's pocket, by the card's index.
        `cards` is the number of cards in a set. Call this after every card was fed, because a card
        that never came counts as missing. A card in the tray is not missing: its own fault is the
        reason.
        """
        unread = ["UNREADABLE" for index in places if self._face(index) is None]

        have = Counter(self._face(index) for index in places)
        over = any(have[face] > due for face, due in enumerate(self._composition))
        short = any(have[face] < due for face, due in enumerate(self._composition))
        # The tray gives its last card first, so a card that stays bad is the last one fed.
        last, in_tray = max(places, default=0), len(places) < cards
        behind = sorted(index for index in self._reads if in_tray and index > last)
        flaws = [self._decision(index).why for index in behind]
        reasons = [*unread, *(why for why in flaws if why is not None)]
        if short and (over or not reasons):
            reasons.append("MISSING_CARD")
        if over:
            reasons.append("THIRD_COPY")
        return tuple(dict.fromkeys(reasons))

    def bind_hands(self, places: Mapping[int, int], cards: int) -> bytes:
        """Store and return the faces of the four hands, one byte for each place.

        The byte is NO_FACE if no card of the place was read. `places` and `cards` are as in
        `find_set_faults`. From now on these are the hands of the attempt.
        """
        record = bytearray([NO_FACE]) * cards
        for index, place in places.items():
            face = self._face(index)
            record[place - 1] = NO_FACE if face is None else face
        self._hands = bytes(record)
        return self._hands

    def restore_hands(self, attempt: int, record: bytes) -> None:
        """Begin `attempt` with the hands in `record`, which an earlier run of the daemon stored.

        `record` is as `bind_hands` returns it: one byte for each place.
        """
        self.begin(attempt)
        self._hands = record

    @property
    def hands(self) -> bytes | None:
        """Return the faces of the hands, one byte for each place, or None if there are none yet."""
        return self._hands

    def turn_up(self, draws: Iterator[int], redo: Collection[Face] = ()) -> tuple[int, Face]:
        """Return the place and the face of the card that is turned up to choose the leader.

        `draws` yields places (controller/deal/sequence.py). The first place counts that has a face
        outside `redo`. For a face in `redo` the rulebook requires that another card is turned up.
        Raises ValueError before the hands are bound, and if a drawn place has no face.
        """
        for place in draws:
            if self._hands is None or self._hands[place - 1] >= FACE_COUNT:
                raise ValueError(f"no card at place {place} was read")
            if self._hands[place - 1] not in redo:
                return place, self._hands[place - 1]
        raise ValueError("the draws ended before a card could stay turned up")

    def _decision(self, index: int) -> LookDecision:
        reads = self._reads.get(index)
        if not reads:
            return LookDecision(LookOutcome.REREAD, "UNREADABLE")
        return judge_looks(reads, self._back)

    def _face(self, index: int) -> Face | None:
        return accepted_face(self._reads.get(index, ()), self._back)
