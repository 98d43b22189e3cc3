"""The result of a deal: the order in which players emptied their hands, and the result class.

Seed 000 A3.9: UP, 2ND and 3RD are the players who empty their hands first, second and third. LAST
is the player left with cards. A double-down (双下) is a deal in which both players of one side
finish first. A deal that one side lost by a penalty has no finish order.
"""

from collections.abc import Collection, Sequence
from typing import Literal, cast

import msgspec

from controller.messages import Seat, Side
from controller.seats import SEAT_NAMES, SEATS, join_words, next_seat, other_side, partner, side_of
from controller.words import Words, WordsError

ResultClass = Literal["R12", "R13", "R14"]
"""R12: UP and 2ND of one side (双下), R13: UP and 3RD, R14: UP and LAST."""


class FinishError(WordsError):
    """The error for a list of seats that is no finish order of a deal.

    Its text is one line, `words` has both languages.
    """


class FinishOrder(msgspec.Struct, frozen=True, gc=False, tag="played_out"):
    """The order in which the players of a deal emptied their hands.

    After a double-down, `third` and `last` are None.
    """

    up: Seat
    second: Seat
    third: Seat | None = None
    last: Seat | None = None

    @property
    def winners(self) -> Side:
        """Return the side of the player who finished first.

        The result of the deal raises only the level of this side. Source: seed 000 A3.10.
        """
        return side_of(self.up)

    @property
    def result_class(self) -> ResultClass:
        """Return R12, R13 or R14: the winners finished 1st and 2nd, 1st and 3rd, or 1st and 4th.

        It depends on the place of the partner of UP. Source: seed 000 A3.10.2.
        """
        mate = partner(self.up)
        return "R12" if self.second == mate else "R13" if self.third == mate else "R14"

    @property
    def payers(self) -> tuple[Seat, ...]:
        """Return the seats that owe tribute: the last player, or both losers if the winners
        were 1st and 2nd.

        Of two losers, the seat next to UP is first. Source: seed 000 A10.1–2.
        """
        if self.last is not None:
            return (self.last,)
        following = next_seat(self.up)
        return (following, partner(following))

    @property
    def places(self) -> tuple[Seat, ...]:
        """Return the seats in their finish order: only two if the winners were 1st and 2nd,
        otherwise four.
        """
        places = (self.up, self.second, self.third, self.last)
        return tuple(seat for seat in places if seat is not None)


class ForfeitedDeal(msgspec.Struct, frozen=True, gc=False, tag="forfeited"):
    """A deal that the side `loser` lost by a penalty.

    It counts as R12 (seed 000 A15.3.3). No seat was UP. The other side names the `leader` of the
    next deal, and until then `leader` is None.
    """

    loser: Side
    leader: Seat | None = None

    @property
    def winners(self) -> Side:
        """Return the side that won the deal by the penalty of the other side."""
        return other_side(self.loser)

    @property
    def result_class(self) -> ResultClass:
        """Return R12, because the deal counts as if the winners had finished 1st and 2nd."""
        return "R12"


DealResult = FinishOrder | ForfeitedDeal


def parse_finish(places: Sequence[str]) -> FinishOrder:
    """Return the finish order that is given as a list of seats.

    `places` contains two seats after a double-down, else three or four. Raises FinishError if the
    seats are not the finish order of one deal.
    """
    if not set(places) <= set(SEATS) or len(set(places)) != len(places):
        said = " ".join(places)
        raise FinishError(
            f"{said}: write each seat once, of N, W, S and E", f"{said}：每家只写一次"
        )
    if len(places) < 2:
        raise FinishError(
            "a deal ends with two seats named after a double-down, else three",
            "双下录入两家，否则三家",
        )
    up, second, *rest = cast(Sequence[Seat], places)
    if second == partner(up):
        if rest:
            raise FinishError(
                f"{_both_seats(up, second).en} are partners: the deal ended with these two",
                f"{_both_seats(up, second).zh}是搭档：双下只录入这两家",
            )
        return FinishOrder(up, second)
    if not rest:
        raise FinishError(
            f"{_both_seats(up, second).en} are no partners: enter the third place",
            f"{_both_seats(up, second).zh}不是搭档：还须录入三游",
        )
    left = next(seat for seat in SEATS if seat not in (up, second, rest[0]))
    return FinishOrder(up, second, rest[0], left)


def _both_seats(one: Seat, other: Seat) -> Words:
    return join_words((one, other), SEAT_NAMES.__getitem__, " and ", "与")


def finish_with_dead_hands(places: Sequence[str], dead_seats: Collection[str]) -> FinishOrder:
    """Return the finish order of a deal with dead hands: the seats in `dead_seats` count as last.

    `places` are the seats that went out, in order. The list may include `dead_seats` or not,
    because those seats count as LAST and later seats move up. All other seats except one are
    therefore enough. If there are several dead hands, the one of UP's partner is LAST
    (provisional). Raises FinishError. Source: seed 000 A18.4.
    """
    others = [seat for seat in cast(Sequence[Seat], places) if seat not in dead_seats]
    alive = [seat for seat in SEATS if seat not in dead_seats]
    if len(others) == len(alive) - 1:
        others += [seat for seat in alive if seat not in others]
    if len(others) < len(alive) or not alive:
        # The list is too short, so parse_finish raises FinishError.
        return parse_finish(others[:1])
    up, mate = others[0], partner(others[0])
    if len(others) > 1 and others[1] == mate:
        return parse_finish(others[:2])
    behind = [seat for seat in SEATS if seat in dead_seats and seat not in (up, mate)]
    return parse_finish([*others, *behind][:3])
