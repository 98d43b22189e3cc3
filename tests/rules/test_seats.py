import pytest

from controller.messages import Seat
from controller.rules.seats import (
    ALL,
    after,
    before,
    opponents,
    opposite,
    other_side,
    players,
    seat_from,
    side,
)


def test_the_next_player_sits_on_the_right_counter_clockwise() -> None:
    assert [after(seat) for seat in ALL] == ["W", "S", "E", "N"]


def test_the_one_before_sits_on_the_left() -> None:
    assert [before(seat) for seat in ALL] == ["E", "N", "W", "S"]


@pytest.mark.parametrize("seat", ALL)
def test_opponents_are_the_two_neighbours(seat: Seat) -> None:
    assert opponents(seat) == (after(seat), before(seat))
    assert {seat, opposite(seat), *opponents(seat)} == set(ALL)


def test_a_side_has_two_partners() -> None:
    assert players("NS") == ("N", "S")
    assert players("EW") == ("E", "W")
    assert [side(seat) for seat in ALL] == ["NS", "EW", "NS", "EW"]


def test_the_other_side_has_the_other_two() -> None:
    assert (other_side("NS"), other_side("EW")) == ("EW", "NS")


@pytest.mark.parametrize("seat", ALL)
def test_round_the_table_goes_either_way(seat: Seat) -> None:
    assert seat_from(seat, "ccw", 0) == seat_from(seat, "cw", 4) == seat
    assert seat_from(seat, "ccw", 1) == seat_from(seat, "cw", 7) == after(seat)
    assert seat_from(seat, "cw", 1) == before(seat)
