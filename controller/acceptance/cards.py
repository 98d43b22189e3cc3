"""Cards on their way: fed, looked at, sent where a plan says, and timed. Never seen."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from controller.acceptance.bench import Bench
from controller.deal.sightings import Look
from controller.vault.reading import CardReads
from drivers.events import Code, Event, Outlet, Read, Source

LATE_S = 0.3
"""Beyond a look's own time: then a card goes on without it."""

Plan = Callable[["Card"], Outlet | None]
"""Says where a card goes; None: it waits."""


@dataclass
class Card:
    """One card; moments are the loop's seconds, None for what has not been."""

    index: int
    at_s: float | None = None
    read_s: float | None = None
    routed_s: float | None = None
    route: Outlet | None = None
    gated_s: float | None = None
    outlet: int | None = None
    landed_s: float | None = None
    landed: int | None = None
    doubled: bool = False
    looked: bool = False


@dataclass
class Cards:
    """The cards of one attempt. `close` leaves no timer.

    `readings` counts what the reader saw; without it one look at each card is enough.
    """

    bench: Bench
    attempt: int
    plan: Plan
    look_s: float
    readings: CardReads | None = None
    all: dict[int, Card] = field(default_factory=dict)
    fed: int = 0
    empty_sources: set[int] = field(default_factory=set)
    strays: int = 0
    broken: Event | None = None
    _timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        """Listen to the boards."""
        self._handlers: dict[Code, Callable[[Event], None]] = {
            Code.AT_READER: self._on_at_reader,
            Code.DOUBLE: lambda event: setattr(self.card(event.index), "doubled", True),
            Code.READ: self._read,
            Code.GATE: self._on_gate,
            Code.LANDED: self._on_landed,
            Code.STRAY: self._on_stray,
            Code.HOPPER_EMPTY: lambda event: self.empty_sources.add(event.place),
            Code.JAM: self._on_breakdown,
            Code.STALL: self._on_breakdown,
        }
        self.bench.on_event = self._on_event

    def card(self, index: int) -> Card:
        """Return a card by its index, from its first word on."""
        return self.all.setdefault(index, Card(index))

    def in_tray(self) -> list[Card]:
        """Return the cards that lie in the tray, as far as none was fed from it."""
        return [card for card in self.all.values() if card.landed == Outlet.TRAY]

    async def feed(self, upto: int, source: Source = Source.HOPPER) -> None:
        """Have every card up to an index fed. Raises Refused, LineLost."""
        await self.bench.dealer.feed(self.attempt, source, upto)

    async def settle(self, done: Callable[[], bool], limit_s: float) -> bool:
        """Wait until `done`, something breaks, or nothing was heard for `limit_s`; say which."""
        while not done():
            if self.broken is not None:
                return False
            mark = self.bench.mark()
            if await self.bench.until(mark, lambda event: True, limit_s) is None:
                return done()
        return True

    def go(self) -> None:
        """Ask the plan again about the card that waits."""
        for card in self.all.values():
            if card.looked and card.route is None:
                self._send(card)

    def close(self) -> None:
        """Listen no more."""
        self._stop_timer()
        self.bench.on_event = lambda event: None
        if self.readings is not None:
            self.readings.forget()

    def _on_event(self, event: Event) -> None:
        if event.attempt == self.attempt and event.code in self._handlers:
            self._handlers[event.code](event)

    def _on_at_reader(self, event: Event) -> None:
        card = self.card(event.index)
        card.at_s, self.fed = self.bench.now_s, event.index
        self.bench.reader.announce_card(self.attempt, event.index)
        if card.looked:
            self._send(card)
        else:
            self._start_timer(card)

    def _read(self, event: Event) -> None:
        card = self.card(event.index)
        if card.looked or not isinstance(event, Read):
            return
        if card.read_s is None:
            card.read_s = self.bench.now_s
        if self.readings is not None and self.readings.read(event) is Look.REREAD:
            self.bench.reader.reread(self.attempt, card.index)
            self._start_timer(card)
            return
        card.looked = True
        self._stop_timer()
        if card.at_s is not None:
            self._send(card)

    def _on_look_timeout(self, card: Card) -> None:
        """The reader does not say a word of a card."""
        self._timer = None
        card.looked = True
        self._send(card)

    def _send(self, card: Card) -> None:
        if card.route is not None or self.broken is not None:
            return
        route = self.plan(card)
        if route is not None:
            card.route, card.routed_s = route, self.bench.now_s
            self.bench.dealer.route(self.attempt, card.index, route)

    def _on_gate(self, event: Event) -> None:
        card = self.card(event.index)
        card.gated_s, card.outlet = self.bench.now_s, event.place

    def _on_landed(self, event: Event) -> None:
        card = self.card(event.index)
        card.landed_s, card.landed = self.bench.now_s, event.place

    def _on_stray(self, event: Event) -> None:
        self.strays += 1

    def _on_breakdown(self, event: Event) -> None:
        if self.broken is None:
            self.broken = event
        self._stop_timer()

    def _start_timer(self, card: Card) -> None:
        self._stop_timer()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self.look_s + LATE_S, self._on_look_timeout, card)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
