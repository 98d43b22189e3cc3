"""How a deal ended: who went out in which order, and what class of win that is.

Seed 000 A3.9: UP, 2ND and 3RD are the players who empty their hands, LAST the one
left with cards. A deal that one side lost by a penalty has no finish order at all.
"""

from collections.abc import Sequence
from typing import Literal, cast

import msgspec

from controller.cards import SEATS, next_seat, partner, side_of
from controller.messages import Seat, Side

ResultClass = Literal["R12", "R13", "R14"]
"""R12: UP and 2ND of one side (双下), R13: UP and 3RD, R14: UP and LAST."""


class FinishError(ValueError):
    """No finish order: its text is one line."""


class Finish(msgspec.Struct, frozen=True, gc=False, tag="played_out"):
    """A deal that was played out. After a double-down nobody is 3RD or LAST."""

    up: Seat
    second: Seat
    third: Seat | None = None
    last: Seat | None = None

    @property
    def winners(self) -> Side:
        """Return the side of UP, which alone is upgraded (seed 000 A3.10)."""
        return cast(Side, side_of(self.up))

    @property
    def result_class(self) -> ResultClass:
        """Return the class of the win, by the place of UP's partner (seed 000 A3.10.2)."""
        mate = partner(self.up)
        return "R12" if self.second == mate else "R13" if self.third == mate else "R14"

    @property
    def payers(self) -> tuple[Seat, ...]:
        """Return who owes tribute: LAST, or both losers, UP's next first (seed 000 A10.1–2)."""
        if self.last is not None:
            return (self.last,)
        after = cast(Seat, next_seat(self.up))
        return (after, cast(Seat, partner(after)))

    @property
    def order(self) -> tuple[Seat, ...]:
        """Return the places that were taken: two names after a double-down, else four."""
        places = (self.up, self.second, self.third, self.last)
        return tuple(seat for seat in places if seat is not None)


class Forfeited(msgspec.Struct, frozen=True, gc=False, tag="forfeited"):
    """A deal that `loser` lost by a penalty; it counts as R12 (seed 000 A15.3.3).

    Nobody was UP. `leader` of the next deal is named by the other side; None until then.
    """

    loser: Side
    leader: Seat | None = None

    @property
    def winners(self) -> Side:
        """Return the side that the deal was given to."""
        return "EW" if self.loser == "NS" else "NS"

    @property
    def result_class(self) -> ResultClass:
        """Return R12: it is scored as a double-down."""
        return "R12"


Result = Finish | Forfeited


def finish(order: Sequence[str]) -> Finish:
    """Return the finish order of seats `order`: two after a double-down, else three or four.

    Raises FinishError where the names are no finish order of one deal.
    """
    seats = [seat for seat in order if seat in SEATS]
    if len(seats) != len(order) or len(set(seats)) != len(seats):
        raise FinishError(f"{' '.join(order)}: write each seat once, of N, W, S and E")
    if len(seats) < 2:
        raise FinishError("a deal ends with two seats named after a double-down, else three")
    up, second, *rest = cast(list[Seat], seats)
    if second == partner(up):
        if rest:
            raise FinishError(f"{up} and {second} are partners: the deal ended with these two")
        return Finish(up, second)
    if not rest:
        raise FinishError(f"{up} and {second} are no partners: who went out third?")
    left = next(seat for seat in SEATS if seat not in (up, second, rest[0]))
    return Finish(up, second, rest[0], cast(Seat, left))


def with_dead_hand(order: Sequence[str], offender: Seat) -> Finish:
    """Return the finish of a deal in which `offender`'s hand was declared dead (A18.4).

    `order` is who went out, in turn, the offender among them or not: he counts as LAST and
    who came behind him moves up, so that two others out are enough. Raises FinishError.
    """
    others = [seat for seat in order if seat != offender]
    if len(others) == 2 and others[1] != partner(others[0]):
        others += [seat for seat in SEATS if seat not in (*others, offender)]
    if len(others) > 2 and others[1] == partner(others[0]):
        others = others[:2]
    return finish(others)
