"""The way of each card through the machine in one attempt, computed only from board events.

The code follows PROOF.md §5 and does not use controller/deal/ledger.py. A check that shares code
with the checked program cannot find an error of that code.
"""

from collections.abc import Sequence

import msgspec

from controller.journal.packed_board_events import (
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
    CardLook,
    LoggedBoardEvent,
)

TRAY = "tray"
MOTION_CODES = frozenset({AT_READER, GATE, LANDED})
"""Codes of events that show where a card went."""
SEATS = OUTLETS[:4]
_HOPPER_SOURCE = 0
# The place of a JAM after a card crossed the gate and did not land (PROTOCOL.md).
_AT_LANDING = 3

VerdictCounts = tuple[int, ...]
"""The counts of a verdict: fed, refed, the landings in N, W, S, E, and the cards in the tray."""


class CourseCard(msgspec.Struct):
    """One card of an attempt, with everything that the boards reported about it.

    `index` is the number of the card in the order of feeding. `place` is its place in the sequence,
    or None if no place was left for the card. `looks` has all looks at the card.
    `looks_before_gate` is the number of looks before its gate event. Boards repeat the events that
    a daemon missed, one board after the other. Then the looks come after the gate events.
    """

    index: int
    place: int | None
    from_tray: bool
    doubled: bool = False
    gate: str | None = None
    landed: str | None = None
    looks: list[CardLook] = []
    looks_before_gate: int = 0

    @property
    def usable_looks(self) -> list[CardLook]:
        """Return the looks before the card's gate event, or all looks if it has no gate event."""
        return self.looks if self.gate is None else self.looks[: self.looks_before_gate]


class CardCourse(msgspec.Struct):
    """The way of each card through the machine in one attempt, and counts made from its events.

    `cards` has the cards by index. `fed` and `refed` count the cards from the hopper and from the
    tray, `doubles` the double feeds, and `landings` the cards in each outlet. `strays`, `jams` and
    `impossible_looks` count events: a look is impossible if the card cannot have been there.
    `not_landed` counts the jams after the gate.

    `double_strays` counts the strays at the outlet of the last landing while no other card was on
    its way. Such a stray is the second of two cards that left as one.

    `order_errors` describes events that no right attempt has at that point. `counts_after` has the
    counts after each number of events, beginning with none, and `event_codes` the codes of these
    events. `at_last_landing` has the strays and missing landings up to the last landing.
    """

    set_size: int
    cards: dict[int, CourseCard] = {}
    looks: dict[int, list[CardLook]] = {}
    early_look: bool = False
    strays: int = 0
    double_strays: int = 0
    jams: int = 0
    not_landed: int = 0
    impossible_looks: int = 0
    hopper_ran_out: bool = False
    order_errors: list[str] = []
    counts: VerdictCounts = (0,) * 7
    counts_after: list[VerdictCounts] = []
    event_codes: list[int] = []
    is_shuffled: bool = False
    at_last_landing: tuple[int, int] = (0, 0)
    fed: int = 0
    refed: int = 0
    doubles: int = 0
    landings: dict[str, int] = {}

    def landings_in(self, outlet: str) -> int:
        """Return the number of cards that landed in `outlet`: a pocket (its seat) or the tray."""
        return self.landings.get(outlet, 0)

    def cards_by_place(self) -> dict[int, CourseCard]:
        """Return {place in the sequence: card} for all cards that landed in one of the pockets."""
        return {
            card.place: card
            for card in self.cards.values()
            if card.place is not None and card.landed in SEATS
        }

    def tray_rounds(self, card: CourseCard) -> int:
        """Return how many times a card for the same place as `card` was fed from the tray."""
        refed = (one for one in self.cards.values() if one.from_tray)
        return sum(one.place == card.place for one in refed)


def trace_course(events: Sequence[LoggedBoardEvent], cards: int) -> CardCourse:
    """Return the way of each card, computed from the board events. The set has `cards` cards."""
    seen = CardCourse(cards)
    aside: list[int] = []
    doubled: set[int] = set()
    refeeding = False
    seen.counts_after.append(seen.counts)
    for event in events:
        moves = event.code in MOTION_CODES or (event.code == JAM and event.place == _AT_LANDING)
        if event.code == SHUFFLED:
            seen.is_shuffled = True
        elif moves and not seen.is_shuffled:
            seen.order_errors.append("a card moved before the set was shuffled")
        elif moves and seen.counts[-1] == 0 and sum(seen.counts[2:6]) >= seen.set_size:
            seen.order_errors.append("a card moved after the last one")
        card = seen.cards.get(event.index)
        if event.code == AT_READER and card is None:
            refeeding = refeeding or seen.fed == cards
            place = (aside.pop() if aside else None) if refeeding else event.index
            if event.index != len(seen.cards) + 1:
                seen.order_errors.append(f"index {event.index} follows {len(seen.cards)}")
            looks = seen.looks.setdefault(event.index, [])
            card = CourseCard(event.index, place, refeeding, event.index in doubled, looks=looks)
            seen.cards[card.index], seen.early_look = card, False
            seen.fed += not card.from_tray
            seen.refed += card.from_tray
            seen.doubles += card.doubled
        elif event.code == GATE and card is not None and card.gate is None:
            card.gate, card.looks_before_gate = _outlet_name(event), len(card.looks)
        elif event.code == LANDED and card is not None and card.gate and card.landed is None:
            card.landed = _outlet_name(event)
            seen.landings[card.landed] = seen.landings_in(card.landed) + 1
            if card.landed == TRAY and card.place is not None:
                aside.append(card.place)
        elif event.code == HOPPER_EMPTY and event.place == _HOPPER_SOURCE:
            if not refeeding:
                aside[:0] = range(cards, seen.fed, -1)
            refeeding = seen.hopper_ran_out = True
        elif event.code == DOUBLE:
            doubled.add(event.index)
        elif event.code in (AT_READER, GATE, LANDED):
            seen.order_errors.append(f"index {event.index} out of order")
        else:
            _take_other_event(seen, event)
        _update_counts(seen, event)
    seen.hopper_ran_out = seen.hopper_ran_out or seen.fed >= cards
    return seen


def _update_counts(course: CardCourse, event: LoggedBoardEvent) -> None:
    """Store in `course` the counts of fed and landed cards after `event` (see VerdictCounts)."""
    if event.code == LANDED:
        course.at_last_landing = (course.strays, course.not_landed)
    if event.code in (AT_READER, LANDED):
        twice = min(course.doubles, max(0, course.set_size - course.fed))
        in_tray = course.landings_in(TRAY) + twice - course.refed
        course.counts = (course.fed, course.refed, *map(course.landings_in, SEATS), in_tray)
    course.counts_after.append(course.counts)
    course.event_codes.append(event.code)


def _take_other_event(course: CardCourse, event: LoggedBoardEvent) -> None:
    if event.code == READ:
        if event.look is not None:
            course.looks.setdefault(event.index, []).append(event.look)
        if event.index not in course.cards:
            # The arrival of the next card may be reported later.
            next_one = event.index == len(course.cards) + 1 and not course.early_look
            course.early_look = course.early_look or next_one
            course.impossible_looks += not next_one
    elif event.code == STRAY:
        course.strays += 1
        landings = [card.landed for card in course.cards.values() if card.gate is not None]
        course.double_strays += (
            bool(landings) and all(landings) and landings[-1] == _outlet_name(event)
        )
    elif event.code == JAM:
        course.jams += 1
        course.not_landed += event.place == _AT_LANDING


def _outlet_name(event: LoggedBoardEvent) -> str:
    return OUTLETS[event.place] if event.place < len(OUTLETS) else "nowhere"
