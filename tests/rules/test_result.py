from itertools import permutations
from typing import cast

import pytest

from controller.messages import Seat, Side
from controller.rules.deal_result import (
    FinishError,
    FinishOrder,
    ForfeitedDeal,
    ResultClass,
    finish_with_dead_hands,
    parse_finish,
)
from controller.seats import SEATS, next_seat, partner, side_of
from tests.rows import each_row


@pytest.mark.parametrize(
    ("order", "expected", "payers"),
    [
        ("NS", "R12", ("W", "E")),
        ("NWS", "R13", ("E",)),
        ("NES", "R13", ("W",)),
        ("NWE", "R14", ("S",)),
        ("NEW", "R14", ("S",)),
        ("WE", "R12", ("S", "N")),
        ("ESW", "R13", ("N",)),
        ("SWE", "R14", ("N",)),
    ],
)
def test_the_place_of_ups_partner_is_the_class_of_the_win(
    order: str, expected: ResultClass, payers: tuple[Seat, ...]
) -> None:
    ended = parse_finish(order)
    assert ended.result_class == expected
    assert ended.payers == payers
    assert ended.winners == side_of(cast(Seat, order[0]))


@each_row("order", list(permutations(SEATS)))
def test_any_order_of_four_is_a_finish_or_was_over_after_two(order: tuple[Seat, ...]) -> None:
    if order[1] == partner(order[0]):
        ended = parse_finish(order[:2])
        assert ended.places == order[:2]
        assert ended.payers == (next_seat(order[0]), partner(next_seat(order[0])))
    else:
        ended = parse_finish(order[:3])
        assert ended == parse_finish(order) == FinishOrder(*order)
        assert ended.places == order
        assert ended.payers == (order[3],)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("", "a deal ends with two seats"),
        ("N", "a deal ends with two seats"),
        ("NW", "North and West are no partners: enter the third place"),
        ("NSW", "North and South are partners: the deal ended with these two"),
        ("NSWE", "North and South are partners: the deal ended with these two"),
        ("NWW", "N W W: write each seat once"),
        ("NXS", "N X S: write each seat once"),
        ("NWSEN", "write each seat once"),
    ],
)
def test_what_is_no_finish_order_is_told_in_one_line(order: str, said: str) -> None:
    with pytest.raises(FinishError, match=said) as told:
        parse_finish(order)
    assert "\n" not in str(told.value)
    assert told.value.words.en == str(told.value)
    assert any(char > "\u2fff" for char in told.value.words.zh)


@pytest.mark.parametrize(
    ("order", "offender", "expected"),
    [
        ("WNSE", "W", "NS"),  # everybody moves up, then it is a double-down
        ("WNES", "W", "NES"),
        ("NWSE", "W", "NS"),
        ("NWES", "W", "NES"),
        ("NESW", "W", "NES"),
        ("NS", "W", "NS"),  # nobody was out when the hand was declared dead
        ("NES", "W", "NES"),
        ("ENS", "W", "ENS"),
        ("WNSE", "N", "WSE"),
    ],
)
def test_a_dead_hand_is_last_and_all_behind_it_move_up(
    order: str, offender: Seat, expected: str
) -> None:
    ended = finish_with_dead_hands(order, offender)
    assert ended == parse_finish(expected)
    assert offender in ended.payers


@each_row("order", list(permutations(SEATS)))
@each_row("offender", SEATS)
def test_a_dead_hand_never_wins_and_keeps_the_others_in_turn(
    order: tuple[Seat, ...], offender: Seat
) -> None:
    ended = finish_with_dead_hands(order, offender)
    others = [seat for seat in order if seat != offender]
    assert offender in ended.payers
    assert [seat for seat in ended.places if seat != offender] == others[: len(ended.places)]


@pytest.mark.parametrize(("order", "expected"), [("NE", "NESW"), ("WNE", "NESW"), ("ES", "ESNW")])
def test_beside_a_dead_hand_the_third_need_not_go_out(order: str, expected: str) -> None:
    assert finish_with_dead_hands(order, "W") == parse_finish(expected)


def test_a_dead_hand_needs_the_order_of_the_others() -> None:
    with pytest.raises(FinishError, match="two seats"):
        finish_with_dead_hands("WN", "W")


@pytest.mark.parametrize(("loser", "winners"), [("NS", "EW"), ("EW", "NS")])
def test_a_forfeited_deal_is_a_double_down_for_the_other_side(loser: Side, winners: Side) -> None:
    lost = ForfeitedDeal(loser)
    assert (lost.winners, lost.result_class, lost.leader) == (winners, "R12", None)
