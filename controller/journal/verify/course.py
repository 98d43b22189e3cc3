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
    SHUFFLED,
    STRAY,
    LoggedBoardEvent,
    Look,
)

TRAY = "tray"
MOTION_CODES = frozenset({AT_READER, GATE, LANDED})
"""Codes of events that say where a card went."""
SEATS = OUTLETS[:4]
_HOPPER_SOURCE = 0
# Where a JAM is one of a card that crossed the gate and did not land (PROTOCOL.md).
_AT_LANDING = 3

Counts = tuple[int, ...]
"""What a verdict counts: fed, refed, the landings in N, W, S, E, and what lies in the tray."""


class Card(msgspec.Struct):
    """What the boards saw of one feed index; `place` is null where none was left for it.

    `looks` are all at it, `before` how many of them came before its gate. Boards that repeat what
    a daemon missed do so one after the other: then looks stand behind the gates.
    """

    index: int
    place: int | None
    from_tray: bool
    doubled: bool = False
    gate: str | None = None
    landed: str | None = None
    looks: list[Look] = []
    before: int = 0

    @property
    def usable_looks(self) -> list[Look]:
        """The looks that it can have been routed by."""
        return self.looks if self.gate is None else self.looks[: self.before]


class CardCourse(msgspec.Struct):
    """An attempt's cards by index, and what happened beside them.

    `followers` are those strays that fell where the last card had just landed, with no other on
    its way: the second of two that left as one. `blind` are looks at a card that cannot have been
    there; `jams` and `not_landed` those anywhere, and those behind the gate; `odd` events that no
    right attempt has at that point. `passed` are the counts behind so many events, from none on;
    `codes` those events'. `by_last`: strays, and cards not landed, up to the last landing.
    `fed`, `refed`, `doubles` and `landings` count the cards: from the hopper, from the tray,
    those that came as two, and those in each outlet.
    """

    set_of: int
    cards: dict[int, Card] = {}
    looks: dict[int, list[Look]] = {}
    early: bool = False
    strays: int = 0
    followers: int = 0
    jams: int = 0
    not_landed: int = 0
    blind: int = 0
    ran_out: bool = False
    odd: list[str] = []
    counts: Counts = (0,) * 7
    passed: list[Counts] = []
    codes: list[int] = []
    shuffled: bool = False
    by_last: tuple[int, int] = (0, 0)
    fed: int = 0
    refed: int = 0
    doubles: int = 0
    landings: dict[str, int] = {}

    def landed(self, outlet: str) -> int:
        """Return the landings in an outlet."""
        return self.landings.get(outlet, 0)

    def placed(self) -> dict[int, Card]:
        """Return the cards in seats' pockets by their place."""
        return {
            card.place: card
            for card in self.cards.values()
            if card.place is not None and card.landed in SEATS
        }

    def under_way(self) -> bool:
        """Tell whether a card came to the window and was not seen to land."""
        return any(card.landed is None for card in self.cards.values())

    def rounds(self, card: Card) -> int:
        """Return how often a card for its place was fed from the tray."""
        refed = (one for one in self.cards.values() if one.from_tray)
        return sum(one.place == card.place for one in refed)


def course(events: Sequence[LoggedBoardEvent], cards: int) -> CardCourse:
    """Return the course of a set of `cards` cards through these events, in their order."""
    seen = CardCourse(cards)
    aside: list[int] = []
    doubled: set[int] = set()
    refeeding = False
    seen.passed.append(seen.counts)
    for event in events:
        _note_out_of_turn(seen, event)
        card = seen.cards.get(event.index)
        if event.code == AT_READER and card is None:
            refeeding = refeeding or seen.fed == cards
            place = (aside.pop() if aside else None) if refeeding else event.index
            if event.index != len(seen.cards) + 1:
                seen.odd.append(f"index {event.index} follows {len(seen.cards)}")
            looks = seen.looks.setdefault(event.index, [])
            card = Card(event.index, place, refeeding, event.index in doubled, looks=looks)
            _take_arrival(seen, card)
        elif event.code == GATE and card is not None and card.gate is None:
            card.gate, card.before = _outlet_name(event), len(card.looks)
        elif event.code == LANDED and card is not None and card.gate and card.landed is None:
            _take_landing(seen, card, _outlet_name(event))
            if card.landed == TRAY and card.place is not None:
                aside.append(card.place)
        elif event.code == HOPPER_EMPTY and event.place == _HOPPER_SOURCE:
            if not refeeding:
                aside[:0] = range(cards, seen.fed, -1)
            refeeding = seen.ran_out = True
        elif event.code == DOUBLE:
            doubled.add(event.index)
        elif event.code in (AT_READER, GATE, LANDED):
            seen.odd.append(f"index {event.index} out of order")
        else:
            _take_other_event(seen, event)
        _count(seen, event)
    seen.ran_out = seen.ran_out or seen.fed >= cards
    return seen


def _note_out_of_turn(seen: CardCourse, event: LoggedBoardEvent) -> None:
    """Note an event for which the attempt is not far enough, or too far."""
    moves = event.code in MOTION_CODES or (event.code == JAM and event.place == _AT_LANDING)
    if event.code == SHUFFLED:
        seen.shuffled = True
    elif moves and not seen.shuffled:
        seen.odd.append("a card moved before the set was shuffled")
    elif moves and seen.counts[-1] == 0 and sum(seen.counts[2:6]) >= seen.set_of:
        seen.odd.append("a card moved behind the last one")


def _take_arrival(seen: CardCourse, card: Card) -> None:
    """Take a card that came to the window."""
    seen.cards[card.index], seen.early = card, False
    seen.fed += not card.from_tray
    seen.refed += card.from_tray
    seen.doubles += card.doubled


def _take_landing(seen: CardCourse, card: Card, outlet: str) -> None:
    """Take a card that fell into an outlet."""
    card.landed = outlet
    seen.landings[outlet] = seen.landed(outlet) + 1


def _count(seen: CardCourse, event: LoggedBoardEvent) -> None:
    """Count anew behind an event that may have changed a count."""
    if event.code == LANDED:
        seen.by_last = (seen.strays, seen.not_landed)
    if event.code in (AT_READER, LANDED):
        twice = min(seen.doubles, max(0, seen.set_of - seen.fed))
        in_tray = seen.landed(TRAY) + twice - seen.refed
        seen.counts = (seen.fed, seen.refed, *map(seen.landed, SEATS), in_tray)
    seen.passed.append(seen.counts)
    seen.codes.append(event.code)


def _take_other_event(seen: CardCourse, event: LoggedBoardEvent) -> None:
    if event.code == READ:
        _take_look(seen, event)
    elif event.code == STRAY:
        seen.strays += 1
        seen.followers += _follows(seen, event)
    elif event.code == JAM:
        seen.jams += 1
        seen.not_landed += event.place == _AT_LANDING


def _take_look(seen: CardCourse, event: LoggedBoardEvent) -> None:
    """Take a look: at a card that is there, or at the next one, whose window comes later."""
    if event.look is not None:
        seen.looks.setdefault(event.index, []).append(event.look)
    if event.index not in seen.cards:
        next_one = event.index == len(seen.cards) + 1 and not seen.early
        seen.early = seen.early or next_one
        seen.blind += not next_one


def _follows(seen: CardCourse, event: LoggedBoardEvent) -> bool:
    gated = [card for card in seen.cards.values() if card.gate is not None]
    return (
        bool(gated)
        and all(card.landed for card in gated)
        and gated[-1].landed == _outlet_name(event)
    )


def _outlet_name(event: LoggedBoardEvent) -> str:
    return OUTLETS[event.place] if event.place < len(OUTLETS) else "nowhere"
