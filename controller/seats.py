"""Seats and sides of a table: neighbours, partners and their names.

The seat to the right plays next (下家), the seat to the left plays before (上家). Seen from above
the order is counter-clockwise: N, W, S, E (seed 000 A3.1–2).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeVar, cast

from controller.messages import Seat, Side
from controller.words import Words

SEATS: tuple[Seat, ...] = ("N", "W", "S", "E")
SIDES: tuple[Side, ...] = ("NS", "EW")
POCKETS = (*SEATS, "tray")
"""The outlets of the machine, into which it deals cards.

The index of an outlet is its number on the serial line.
"""


def next_seat(seat: Seat) -> Seat:
    """Return the seat to the right of `seat`, which plays next (下家)."""
    return SEATS[(SEATS.index(seat) + 1) % len(SEATS)]


def previous_seat(seat: Seat) -> Seat:
    """Return the seat to the left of `seat`, which plays before it (上家)."""
    return next_seat(partner(seat))


def partner(seat: Seat) -> Seat:
    """Return the seat opposite `seat`, where the partner of that player sits (对门)."""
    return SEATS[(SEATS.index(seat) + 2) % len(SEATS)]


def opponents(seat: Seat) -> tuple[Seat, Seat]:
    """Return the seats of the other side: first `next_seat(seat)`, then `previous_seat(seat)`."""
    return next_seat(seat), previous_seat(seat)


def seats_of_side(side: Side) -> tuple[Seat, Seat]:
    """Return the two seats of `side`, which are North and South, or East and West."""
    first = cast(Seat, side[0])
    return first, partner(first)


def seat_from(start: Seat, direction: Literal["ccw", "cw"], steps: int) -> Seat:
    """Return the seat that is `steps` seats to the right ("ccw") or left ("cw") of `start`."""
    return SEATS[(SEATS.index(start) + (steps if direction == "ccw" else -steps)) % len(SEATS)]


def side_of(seat: Seat) -> Side:
    """Return the side for which the player at `seat` plays (己方)."""
    return "NS" if seat in "NS" else "EW"


def other_side(side: Side) -> Side:
    """Return the side that plays against `side` (对方)."""
    return "EW" if side == "NS" else "NS"


SEAT_NAMES: dict[str, Words] = {
    "N": Words("North", "北家"),
    "W": Words("West", "西家"),
    "S": Words("South", "南家"),
    "E": Words("East", "东家"),
}
SEAT_LETTERS: dict[str, Words] = {
    "N": Words("N", "北"),
    "W": Words("W", "西"),
    "S": Words("S", "南"),
    "E": Words("E", "东"),
}
SIDE_NAMES: dict[str, Words] = {
    "NS": Words("North-South", "南北"),
    "EW": Words("East-West", "东西"),
}
SIGNER_NAMES: dict[str, Words] = SEAT_NAMES | SIDE_NAMES | {"referee": Words("referee", "裁判员")}
"""Names of all signers that a score sheet may need."""

T = TypeVar("T")


def seat_list_words(named: Iterable[Seat]) -> Words:
    """Return the names of the seats in `named` as one list, such as "North, South"."""
    return join_words(named, SEAT_NAMES.__getitem__)


def seat_choice_words(named: Iterable[Seat]) -> Words:
    """Return the names of the seats in `named` as alternatives, such as "North or South"."""
    return join_words(named, SEAT_NAMES.__getitem__, " or ", "或")


def signer_list_words(named: Iterable[str]) -> Words:
    """Return the names of signers of a score sheet in one line, as in "North-South, referee"."""
    return join_words(named, SIGNER_NAMES.__getitem__)


def card_count_words(cards: Mapping[Seat, int]) -> Words:
    """Return how many cards were counted for each seat, as in "North 27, West 26"."""
    if not cards:
        return Words("nothing counted", "未清点")
    counted = [(SEAT_NAMES[seat], count) for seat, count in cards.items()]
    return join_words(counted, lambda one: Words(f"{one[0].en} {one[1]}", f"{one[0].zh}{one[1]}张"))


def join_words(
    things: Iterable[T], words: Callable[[T], Words], en: str = ", ", zh: str = "、"
) -> Words:
    """Return the texts `words(thing)` of all `things`, joined by the separators `en` and `zh`."""
    told = [words(thing) for thing in things]
    return Words(en.join(one.en for one in told), zh.join(one.zh for one in told))
