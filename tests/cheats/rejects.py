"""A machine that routes by face: it sends cards to the tray, and exchanges them on their way back.

Nothing of it stands on paper. It calls a card unreadable that it read, tells of each exchanged
card what the other one's face is, and of each gate what was due. So the journal holds in every
grade; over many deals the cards of the tray lie where nobody's luck would lay them.
"""

from typing import Any

import msgspec

from controller.cards import face_text
from controller.deal import observations as todo
from controller.deal.ledger import MAX_TRAY_CARDS, SEATS
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.card_loop import CardLoop
from controller.machine.boards.table_boards import TableBoards
from drivers.board_events import BoardEvent, BoardEventCode, CardReadEvent, Outlet
from drivers.firmware.protocol import UNREADABLE
from tests.cheats.changed import DEALING, TABLE, Cheat
from tests.cheats.evenings import THREE_DEALS

CARDS = 108
FAVOURED = ("N", "S")
JOKERS = (52, 53)
RANKS = 13
LOW = 3
"""Ranks below this one (2, 3, 4) are what the favoured side gives away."""
EACH = MAX_TRAY_CARDS // 3
"""So many cards each way: the tray holds six, and some come there by themselves."""
_MOVES = (BoardEventCode.GATE, BoardEventCode.LANDED)


class Rejected(msgspec.Struct, frozen=True):
    """A card that was sent to the tray: its face, and the seat of its place."""

    index: int
    face: int
    seat: str

    @property
    def is_good(self) -> bool:
        """Whether it is one that the favoured side is to have."""
        return self.face in JOKERS or face_text(self.face).endswith("A")


class Scheme:
    """What the machine knows of one attempt, and what it says of it."""

    def __init__(self, run: AttemptRun) -> None:
        self.run = run
        self._sequence = run.writer.sequence
        self._rejected: dict[int, Rejected] = {}
        self._tray: list[int] = []
        self._was: dict[int, int] = {}
        self._partner: dict[int, Rejected] = {}

    def told(self, event: BoardEvent) -> BoardEvent:
        """Return what is said of an event."""
        if isinstance(event, CardReadEvent):
            return self._read(event)
        if event.code is BoardEventCode.LANDED and event.place == Outlet.TRAY:
            self._tray.append(self._was.get(event.index, event.index))
            return event
        card = self._card(event.index)
        if event.code in _MOVES and card is not None and event.place != Outlet.TRAY:
            return msgspec.structs.replace(event, place=int(Outlet[card.seat]))
        return event

    def outlet(self, index: int, due: str) -> str:
        """Return where a card really goes."""
        card = self._card(index)
        return due if card is None else self._partner.get(card.index, card).seat

    def _read(self, event: CardReadEvent) -> CardReadEvent:
        if event.index <= CARDS:
            wanted = event.index in self._rejected or self._wants(event)
            return _unread(event) if wanted else event
        if event.index not in self._was and self._tray:
            self._pair()
            self._was[event.index] = self._tray.pop()
        card = self._card(event.index)
        if card is None or card.index not in self._partner or not event.is_readable:
            return event
        return msgspec.structs.replace(event, face=self._partner[card.index].face)

    def _card(self, index: int) -> Rejected | None:
        """Return the rejected card that comes back at an index; None for any other."""
        return self._rejected.get(self._was.get(index, 0))

    def _wants(self, event: CardReadEvent) -> bool:
        """Tell whether to reject a card; remember it."""
        if not event.is_readable:
            return False
        card = Rejected(event.index, event.face, self._sequence[event.index - 1])
        low = event.face not in JOKERS and event.face % RANKS < LOW
        wanted = low if card.seat in FAVOURED else card.is_good
        of_these = [one for one in self._rejected.values() if one.is_good == card.is_good]
        if wanted and len(of_these) < EACH:
            self._rejected[card.index] = card
            return True
        return False

    def _pair(self) -> None:
        """Exchange as many good cards for low ones as there are of both."""
        if self._partner:
            return
        cards = [self._rejected[index] for index in self._tray if index in self._rejected]
        good = [card for card in cards if card.is_good]
        low = [card for card in cards if not card.is_good]
        for one, other in zip(good, low, strict=False):
            self._partner |= {one.index: other, other.index: one}


class LyingTable(TableBoards):
    """Hears the boards, and passes on what it makes of it."""

    scheme: Scheme | None = None

    def on_event(self, event: BoardEvent) -> None:
        """Take an event of a board, and tell another."""
        run = self.run
        if run is not None and run.card_loop is not None and event.attempt == run.number:
            scheme = LyingTable.scheme
            if scheme is None or scheme.run is not run:
                scheme = LyingTable.scheme = Scheme(run)
            event = scheme.told(event)
        super().on_event(event)


class TrueToTheJournal(LyingTable):
    """Tells its own dealing what it makes of the boards' words, and journals what they said."""

    def on_event(self, event: BoardEvent) -> None:
        """Keep what the board said."""
        self.said = event
        super().on_event(event)

    def _log_event(self, event: BoardEvent) -> None:
        super()._log_event(self.said)


class LyingDealing(CardLoop):
    """Sends exchanged cards where they were not due."""

    def _route(self, route: todo.RouteCard) -> None:
        scheme = LyingTable.scheme
        there = route.outlet
        if scheme is not None and scheme.run.card_loop is self and route.outlet in SEATS:
            there = scheme.outlet(route.index, route.outlet)
        super()._route(todo.RouteCard(route.index, there))


CHEATS = (
    Cheat(
        name="routing by face through rejects, with true gates in the journal's boxes",
        gains="its side gets jokers and aces for low cards, deal by deal",
        parts={TABLE: TrueToTheJournal, DEALING: LyingDealing},
        evening=THREE_DEALS,
        found="has other board events than the journal",
        on_feed=None,
        unseen="the feed has none of the boards' rows; over many deals the lab finds it "
        "(test_rejects.py)",
    ),
    Cheat(
        name="routing by face through rejects, and nothing of it on paper",
        gains="its side gets jokers and aces for low cards, deal by deal",
        parts={TABLE: LyingTable, DEALING: LyingDealing},
        evening=THREE_DEALS,
        found=None,
        on_feed=None,
        unseen="what a board says reaches the journal through the machine alone, unsigned: over "
        "many deals the cards of the tray lie where no luck would lay them (test_rejects.py)",
    ),
)


def _unread(event: CardReadEvent) -> Any:
    return msgspec.structs.replace(event, face=UNREADABLE, confidence=0)
