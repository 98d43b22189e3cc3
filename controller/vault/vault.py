"""The vault of one attempt: it takes every face in, and lets verdicts out.

Nothing of it may be logged, and nothing outside this package may hold a face
until the rules make it public.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from controller.cards import FACE_COUNT, Face
from controller.deal.sightings import CardVerdict, LookOutcome
from controller.vault.looks import (
    LookDecision,
    ReaderLook,
    ReadEvent,
    accepted_face,
    judge_looks,
    look_from_event,
)

NO_FACE = 0xFF
"""The byte of a place whose card nobody could read."""


class Vault:
    """What the reader saw of the cards of the present attempt, by feed index.

    `composition` says how many of each of the 54 faces the set has, `back` the
    set's back as the reader board numbers it (A 0, B 1).
    """

    def __init__(self, composition: Sequence[int], back: int) -> None:
        """Take what a right set looks like."""
        if len(composition) != FACE_COUNT:
            raise ValueError(f"a composition has {FACE_COUNT} numbers, not {len(composition)}")
        self._composition = tuple(composition)
        self._back = back
        self._attempt: int | None = None
        self._reads: dict[int, list[ReaderLook]] = {}
        self._events: list[Any] = []
        self._hands: bytes | None = None

    def __repr__(self) -> str:
        """Say how much it holds, never what."""
        return f"Vault(attempt={self._attempt}, cards={len(self._reads)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise TypeError("a vault is not copied")

    @property
    def attempt(self) -> int | None:
        """The attempt whose faces it holds."""
        return self._attempt

    def begin(self, attempt: int) -> None:
        """Forget every face and take in those of this attempt."""
        self.forget()
        self._attempt = attempt

    def forget(self) -> None:
        """Forget every face: the attempt is over."""
        self._attempt = None
        self._reads = {}
        self._events = []
        self._hands = None

    def keep_event(self, event: Any) -> None:
        """Keep a board's event for the record, whole: a READ of it has a face.

        It is not looked at here, and not kept outside an attempt.
        """
        if self._attempt is not None:
            self._events.append(event)

    @property
    def events(self) -> tuple[Any, ...]:
        """The events that were heard of this attempt, in order."""
        return tuple(self._events)

    def take_read(self, event: ReadEvent) -> CardVerdict:
        """Take in a READ and return the verdict on its card.

        Raises ValueError for a read of another attempt: its caller must not count it.
        """
        if event.attempt != self._attempt:
            raise ValueError(f"a read of attempt {event.attempt} during {self._attempt}")
        self._reads.setdefault(event.index, []).append(look_from_event(event))
        decision = self._decision(event.index)
        return CardVerdict(event.index, decision.look, decision.why)

    def find_set_faults(self, places: Mapping[int, int], cards: int) -> tuple[str, ...]:
        """Return what is wrong with the set, as fault names; empty for a right one.

        `places` is index → place of the cards that landed in a seat's pocket, `cards`
        how many a set has. Ask once every card was fed: a card that never came is missing.
        A card that is still in the tray is not missing: its own flaw is the reason.
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
        """Return one face byte per place, NO_FACE where no read card lies, and keep them.

        `places` as in `set_verdict`: these are the hands from here on.
        """
        record = bytearray([NO_FACE]) * cards
        for index, place in places.items():
            face = self._face(index)
            record[place - 1] = NO_FACE if face is None else face
        self._hands = bytes(record)
        return self._hands

    def restore_hands(self, attempt: int, record: bytes) -> None:
        """Take in hands that an earlier run of the daemon bound: one face byte per place."""
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
                raise ValueError(f"no card that was read lies at place {place}")
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
