"""The course of an attempt's cards, out of the boards' events alone.

Written again here, after PROOF.md §5, and not taken from controller/deal/ledger.py:
a check that shares its code with what it checks finds nothing.
"""

from collections.abc import Sequence

import msgspec

from controller.journal.wire_group import (
    AT_READER,
    DOUBLE,
    GATE,
    HOPPER_EMPTY,
    JAM,
    LANDED,
    OUTLETS,
    READ,
    STRAY,
    Look,
    WireEvent,
)

TRAY = "tray"
SEATS = OUTLETS[:4]
_HOPPER = 0


class Card(msgspec.Struct):
    """What the boards saw of one feed index; `place` is null where none was left for it."""

    index: int
    place: int | None
    from_tray: bool
    gate: str | None = None
    landed: str | None = None


class Course(msgspec.Struct):
    """An attempt's cards by index, and what happened beside them.

    `followers` are those strays that fell where the last card had just landed, with no other on
    its way: the second of two that left as one.
    """

    cards: dict[int, Card] = {}
    doubled: set[int] = set()
    looks: dict[int, list[Look]] = {}
    strays: int = 0
    followers: int = 0
    jams: int = 0
    odd: list[str] = []
    pulses: int = 0

    @property
    def fed(self) -> int:
        """Cards from the hopper."""
        return sum(not card.from_tray for card in self.cards.values())

    @property
    def refed(self) -> int:
        """Cards from the tray."""
        return sum(card.from_tray for card in self.cards.values())

    def landed(self, outlet: str) -> int:
        """Return the landings in an outlet."""
        return sum(card.landed == outlet for card in self.cards.values())

    def placed(self) -> dict[int, Card]:
        """Return the cards in seats' pockets by their place."""
        return {card.place: card for card in self.cards.values() if card.place and self._in(card)}

    def _in(self, card: Card) -> bool:
        return card.landed in SEATS


def course(events: Sequence[WireEvent], cards: int) -> Course:
    """Return the course of a set of `cards` cards through these events, in their order."""
    seen = Course()
    aside: list[int] = []
    from_tray = False
    for event in events:
        card = seen.cards.get(event.index)
        if event.code == AT_READER and card is None:
            if not from_tray and seen.fed == cards:
                from_tray = True
            place = (aside.pop() if aside else None) if from_tray else event.index
            seen.cards[event.index] = Card(event.index, place, from_tray)
        elif event.code == GATE and card is not None:
            card.gate = _outlet(event)
        elif event.code == LANDED and card is not None and card.landed is None:
            card.landed = _outlet(event)
            if card.landed == TRAY and card.place is not None:
                aside.append(card.place)
        elif event.code == HOPPER_EMPTY and event.place == _HOPPER and not from_tray:
            from_tray = True
            aside[:0] = range(cards, seen.fed, -1)
        elif event.code in (AT_READER, GATE, LANDED):
            seen.odd.append(f"index {event.index} out of order")
        else:
            _beside(seen, event)
    return seen


def _beside(seen: Course, event: WireEvent) -> None:
    if event.code == READ:
        looks = seen.looks.setdefault(event.index, [])
        if event.look is not None:
            looks.append(event.look)
    elif event.code == DOUBLE:
        seen.doubled.add(event.index)
    elif event.code == STRAY:
        seen.strays += 1
        seen.followers += _follows(seen, event)
    elif event.code == JAM:
        seen.jams += 1
    if event.board == "reader":
        seen.pulses = event.seen


def _follows(seen: Course, event: WireEvent) -> bool:
    gated = [card for card in seen.cards.values() if card.gate is not None]
    return bool(gated) and all(card.landed for card in gated) and gated[-1].landed == _outlet(event)


def _outlet(event: WireEvent) -> str:
    return OUTLETS[event.place] if event.place < len(OUTLETS) else "nowhere"
