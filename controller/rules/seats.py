"""Seats beside each other, as the rules speak of them.

On his right sits the next to play (下家), on his left who plays before him (上家); seed 000
A3.1–2, seen from above counter-clockwise N, W, S, E.
"""

from typing import Literal, cast

from controller.messages import Seat, Side

SEATS: tuple[Seat, ...] = ("N", "W", "S", "E")
SIDES: tuple[Side, ...] = ("NS", "EW")


def next_seat(seat: Seat) -> Seat:
    """Return who sits on the right of `seat` and plays after him (下家)."""
    return SEATS[(SEATS.index(seat) + 1) % len(SEATS)]


def previous_seat(seat: Seat) -> Seat:
    """Return who sits on the left of `seat` and plays before him (上家)."""
    return next_seat(partner(seat))


def partner(seat: Seat) -> Seat:
    """Return the partner of `seat` (对门)."""
    return SEATS[(SEATS.index(seat) + 2) % len(SEATS)]


def opponents(seat: Seat) -> tuple[Seat, Seat]:
    """Return the two on the other side: who plays after `seat`, then who plays before."""
    return next_seat(seat), previous_seat(seat)


def seats_of_side(side: Side) -> tuple[Seat, Seat]:
    """Return the two players of a side."""
    first = cast(Seat, side[0])
    return first, partner(first)


def seat_from(start: Seat, direction: Literal["ccw", "cw"], steps: int) -> Seat:
    """Return who sits `steps` seats from `start`: "ccw" goes to the right, "cw" to the left."""
    return SEATS[(SEATS.index(start) + (steps if direction == "ccw" else -steps)) % len(SEATS)]


def side_of(seat: Seat) -> Side:
    """Return the side `seat` plays for (己方)."""
    return "NS" if seat in "NS" else "EW"


def other_side(side: Side) -> Side:
    """Return the side that plays against `side` (对方)."""
    return "EW" if side == "NS" else "NS"
