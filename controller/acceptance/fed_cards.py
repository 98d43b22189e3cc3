"""The cards that one attempt of a self-test feeds: how and when each was read and routed.

This module also counts the reader's errors. Only `CardReads` has faces. It returns counts, and
never a face.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec

from controller.acceptance.board_pair import BoardPair
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
from drivers.board_events import BoardEvent, BoardEventCode, CardReadEvent, FeedSource, Outlet


class ReadCounts(msgspec.Struct, frozen=True, gc=False):
    """How many cards were checked, and how many errors of each kind the reader made.

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
    """The results of the reader's looks (tries to read) at the cards of one attempt.

    The looks are stored by card number, and are used only for counts. `composition` contains the
    number of each of the 54 faces in the set. `back` is the back of the set, with the reader
    board's number for it.
    """

    def __init__(self, composition: Sequence[int], back: int) -> None:
        """Store the set's composition and back. Raises ValueError if a face has no number."""
        if len(composition) != FACE_COUNT:
            raise ValueError(f"a composition has {FACE_COUNT} numbers, not {len(composition)}")
        self._composition, self._back = tuple(composition), back
        self._reads: dict[int, list[ReaderLook]] = {}

    def __repr__(self) -> str:
        """Return a text with the number of cards and without faces."""
        return f"Readings(cards={len(self._reads)})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError, because looks must not be copied or pickled."""
        raise TypeError("looks at cards are not copied")

    def take_read(self, event: ReadEvent) -> LookOutcome:
        """Store one look, and return the verdict on the card: accepted, read again, or tray."""
        reads = self._reads.setdefault(event.index, [])
        reads.append(look_from_event(event))
        return judge_looks(reads, self._back).look

    def count(self, indices: Collection[int]) -> ReadCounts:
        """Return the error counts for the cards `indices`. A card without a look is unread."""
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
        """Delete every face that was stored."""
        self._reads = {}


LOOK_GRACE_S = 0.3
"""The wait beyond the time of a look. After this, a card is routed without a look."""

RoutePlan = Callable[["FedCard"], Outlet | None]
"""A function that returns the outlet of a card, or None to let the card wait."""


@dataclass
class FedCard:
    """One card of an attempt: its outlet, and the times of its way through the machine.

    Times are in the loop's seconds. A time is None until its event arrives.
    """

    index: int
    at_window_s: float | None = None
    read_s: float | None = None
    routed_s: float | None = None
    route: Outlet | None = None
    at_gate_s: float | None = None
    gate_outlet: int | None = None
    landed_s: float | None = None
    landed_outlet: int | None = None
    doubled: bool = False
    look_done: bool = False


@dataclass
class FedCards:
    """The cards that one attempt has fed. This class routes each card, and records its events.

    `plan` returns the outlet of each card. `look_timeout_s`: the limit for a look. `readings`
    counts the reader's looks. Without `readings`, one look at each card is enough. `close` cancels
    the timer.
    """

    boards: BoardPair
    attempt: int
    plan: RoutePlan
    look_timeout_s: float
    readings: CardReads | None = None
    cards_by_index: dict[int, FedCard] = field(default_factory=dict)
    last_fed: int = 0
    empty_sources: set[int] = field(default_factory=set)
    strays: int = 0
    breakdown: BoardEvent | None = None
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        """Subscribe to the events of the boards."""
        self._handlers: dict[BoardEventCode, Callable[[BoardEvent], None]] = {
            BoardEventCode.AT_READER: self._on_at_reader,
            BoardEventCode.DOUBLE: lambda event: setattr(self.card(event.index), "doubled", True),
            BoardEventCode.READ: self._on_read,
            BoardEventCode.GATE: self._on_gate,
            BoardEventCode.LANDED: self._on_landed,
            BoardEventCode.STRAY: lambda event: setattr(self, "strays", self.strays + 1),
            BoardEventCode.HOPPER_EMPTY: lambda event: self.empty_sources.add(event.place),
            BoardEventCode.JAM: self._on_breakdown,
            BoardEventCode.STALL: self._on_breakdown,
        }
        self.boards.on_event = self._on_event

    def card(self, index: int) -> FedCard:
        """Return the card that was fed as number `index`. The first call creates the object."""
        return self.cards_by_index.setdefault(index, FedCard(index))

    def cards_in_tray(self) -> list[FedCard]:
        """Return all cards that landed in the tray, also if they were fed from the tray later."""
        return [card for card in self.cards_by_index.values() if card.landed_outlet == Outlet.TRAY]

    async def feed(self, up_to: int, source: FeedSource = FeedSource.HOPPER) -> None:
        """Command the dealer board to feed cards from `source` up to card number `up_to`.

        Return when the board has accepted the command. Raises BoardRefused, LineLost.
        """
        await self.boards.dealer.feed(self.attempt, source, up_to)

    async def wait_until(self, done: Callable[[], bool], limit_s: float) -> bool:
        """Wait until `done` returns True, and return True. After a jam or stall, return False.

        If no event arrives for `limit_s` seconds, return the result of `done` at that time.
        """
        while not done():
            if self.breakdown is not None:
                return False
            mark = self.boards.mark()
            if await self.boards.wait_for_event(mark, lambda event: True, limit_s) is None:
                return done()
        return True

    def send_waiting(self) -> None:
        """Call `plan` again for each card that waits for a route. Send the new route, if any."""
        for card in self.cards_by_index.values():
            if card.look_done and card.route is None:
                self._send_route(card)

    def close(self) -> None:
        """Stop receiving events, cancel the timer and delete the faces."""
        self._stop_timer()
        self.boards.on_event = lambda event: None
        if self.readings is not None:
            self.readings.forget()

    def _on_event(self, event: BoardEvent) -> None:
        if event.attempt == self.attempt and event.code in self._handlers:
            self._handlers[event.code](event)

    def _on_at_reader(self, event: BoardEvent) -> None:
        card = self.card(event.index)
        card.at_window_s, self.last_fed = self.boards.now_s, event.index
        self.boards.reader.announce_card(self.attempt, event.index)
        if card.look_done:
            self._send_route(card)
        else:
            self._start_timer(card)

    def _on_read(self, event: BoardEvent) -> None:
        card = self.card(event.index)
        if card.look_done or not isinstance(event, CardReadEvent):
            return
        if card.read_s is None:
            card.read_s = self.boards.now_s
        if self.readings is not None and self.readings.take_read(event) is LookOutcome.REREAD:
            self.boards.reader.reread(self.attempt, card.index)
            self._start_timer(card)
            return
        card.look_done = True
        self._stop_timer()
        if card.at_window_s is not None:
            self._send_route(card)

    def _on_look_timeout(self, card: FedCard) -> None:
        """Route `card`, because its look did not arrive from the reader board in time."""
        self._timer = None
        card.look_done = True
        self._send_route(card)

    def _send_route(self, card: FedCard) -> None:
        if card.route is not None or self.breakdown is not None:
            return
        route = self.plan(card)
        if route is not None:
            card.route, card.routed_s = route, self.boards.now_s
            self.boards.dealer.route(self.attempt, card.index, route)

    def _on_gate(self, event: BoardEvent) -> None:
        card = self.card(event.index)
        card.at_gate_s, card.gate_outlet = self.boards.now_s, event.place

    def _on_landed(self, event: BoardEvent) -> None:
        card = self.card(event.index)
        card.landed_s, card.landed_outlet = self.boards.now_s, event.place

    def _on_breakdown(self, event: BoardEvent) -> None:
        if self.breakdown is None:
            self.breakdown = event
        self._stop_timer()

    def _start_timer(self, card: FedCard) -> None:
        self._stop_timer()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(
            self.look_timeout_s + LOOK_GRACE_S, self._on_look_timeout, card
        )

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
