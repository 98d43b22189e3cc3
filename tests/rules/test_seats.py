import pytest

from controller.messages import Seat
from controller.seats import (
    SEATS,
    next_seat,
    opponents,
    other_side,
    partner,
    previous_seat,
    seat_from,
    seats_of_side,
    side_of,
)


def test_the_next_player_sits_on_the_right_counter_clockwise() -> None:
    assert [next_seat(seat) for seat in SEATS] == ["W", "S", "E", "N"]


def test_the_one_before_sits_on_the_left() -> None:
    assert [previous_seat(seat) for seat in SEATS] == ["E", "N", "W", "S"]


@pytest.mark.parametrize("seat", SEATS)
def test_opponents_are_the_two_neighbours(seat: Seat) -> None:
    assert opponents(seat) == (next_seat(seat), previous_seat(seat))
    assert {seat, partner(seat), *opponents(seat)} == set(SEATS)


def test_a_side_has_two_partners() -> None:
    assert seats_of_side("NS") == ("N", "S")
    assert seats_of_side("EW") == ("E", "W")
    assert [side_of(seat) for seat in SEATS] == ["NS", "EW", "NS", "EW"]


def test_the_other_side_has_the_other_two() -> None:
    assert (other_side("NS"), other_side("EW")) == ("EW", "NS")


@pytest.mark.parametrize("seat", SEATS)
def test_round_the_table_goes_either_way(seat: Seat) -> None:
    assert seat_from(seat, "ccw", 0) == seat_from(seat, "cw", 4) == seat
    assert seat_from(seat, "ccw", 1) == seat_from(seat, "cw", 7) == next_seat(seat)
    assert seat_from(seat, "cw", 1) == previous_seat(seat)
