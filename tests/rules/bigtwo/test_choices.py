import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.match.big_two_choices import (
    ChoicesBeforePlay,
    answer_choice,
    answer_for_silent,
    begin_choices,
)
from controller.messages import Seat
from controller.rules.big_two import BigTwoRules, ChoiceRules
from controller.seats import SEATS

OPEN = ChoiceRules(order="at_once", limit_s=10, factor=3, default=False)
DOUBLE = ChoiceRules(order="in_turn", limit_s=10, factor=2, default=False)
T0 = 1_000


def opening(first: Seat = "S") -> ChoicesBeforePlay:
    return begin_choices(OPEN, DOUBLE, first, T0)


def doubling(first: Seat = "S") -> ChoicesBeforePlay:
    """Everybody has kept his hand closed at T0."""
    now = opening(first)
    for seat in now.current_round().seats_asked():
        now = answer_choice(now, seat, False, T0)
    return now


def test_the_profile_asks_as_these_tests_do(rules: BigTwoRules) -> None:
    assert (rules.open_hand, rules.doubling) == (OPEN, DOUBLE)


def test_all_four_choose_at_once_on_an_open_hand_in_any_order() -> None:
    now = opening()
    assert now.current_round().seats_asked() == ("S", "E", "N", "W")
    now = answer_choice(answer_choice(now, "N", True, T0 + 1), "S", False, T0 + 2)
    assert now.current_round().seats_asked() == ("E", "W")
    assert now.current_round().seats_agreed() == ("N",)
    assert now.current_round().deadline_ms() == T0 + 10_000


def test_doubling_goes_round_from_the_first_hand() -> None:
    now = doubling("E")
    order = []
    while not now.is_over():
        (seat,) = now.current_round().seats_asked()
        order.append(seat)
        now = answer_choice(now, seat, seat == "N", T0)
    assert order == ["E", "N", "W", "S"]
    assert now.current_round().seats_agreed() == ("N",)


def test_nobody_doubles_out_of_turn_or_twice() -> None:
    now = answer_choice(doubling("S"), "S", True, T0 + 1)
    for seat in ("N", "W", "S"):
        with pytest.raises(ValueError, match=f"{seat} is not asked: E"):
            answer_choice(now, seat, True, T0 + 2)


def test_nobody_chooses_twice_on_his_hand() -> None:
    now = answer_choice(opening(), "N", False, T0)
    with pytest.raises(ValueError, match="N is not asked: S E W"):
        answer_choice(now, "N", True, T0)


def test_silence_is_a_no_when_the_limit_is_reached_and_not_before() -> None:
    now = answer_choice(opening(), "W", True, T0 + 5_000)
    assert answer_for_silent(now, T0 + 9_999) == now
    now = answer_for_silent(now, T0 + 10_000)
    assert [(a.seat, a.yes, a.timed_out) for a in now.open_hand.answers] == [
        ("W", True, False),
        ("S", False, True),
        ("E", False, True),
        ("N", False, True),
    ]
    assert now.current_round().seats_asked() == ("S",)
    assert now.current_round().deadline_ms() == T0 + 20_000


def test_each_seat_has_its_own_ten_seconds_to_double() -> None:
    now = answer_choice(doubling("S"), "S", False, T0 + 7_000)
    assert now.current_round().deadline_ms() == T0 + 17_000
    now = answer_choice(now, "E", True, T0 + 16_999)
    assert now.current_round().deadline_ms() == T0 + 26_999


def test_an_answer_at_the_limit_is_too_late() -> None:
    with pytest.raises(ValueError, match="S is not asked: E"):
        answer_choice(doubling("S"), "S", True, T0 + 10_000)


def test_asked_nobody_all_is_over_after_fifty_seconds_with_no_one_open_or_doubled() -> None:
    now = answer_for_silent(opening(), T0 + 49_999)
    assert not now.is_over()
    now = answer_for_silent(now, T0 + 50_000)
    assert now.is_over()
    assert now.current_round().deadline_ms() is None
    assert (now.open_hand.seats_agreed(), now.current_round().seats_agreed()) == ((), ())
    with pytest.raises(ValueError, match="all have chosen"):
        answer_choice(now, "N", True, T0 + 50_000)


def test_another_default_is_what_silence_says() -> None:
    yes = ChoiceRules(order="at_once", limit_s=1, factor=3, default=True)
    now = answer_for_silent(begin_choices(yes, DOUBLE, "N", 0), 1_000)
    assert now.open_hand.seats_agreed() == SEATS


@given(
    st.sampled_from(SEATS),
    st.lists(st.tuples(st.sampled_from(SEATS), st.booleans(), st.integers(0, 9_000)), max_size=30),
)
def test_it_does_not_matter_how_often_one_looks(
    first: Seat, moves: list[tuple[Seat, bool, int]]
) -> None:
    seldom = often = opening(first)
    at_ms = T0
    for seat, yes, wait_ms in moves:
        for step in range(4):
            often = answer_for_silent(often, at_ms + step * wait_ms // 4)
        at_ms += wait_ms
        try:
            seldom = answer_choice(seldom, seat, yes, at_ms)
        except ValueError:
            with pytest.raises(ValueError, match="is not asked"):
                answer_choice(often, seat, yes, at_ms)
        else:
            often = answer_choice(often, seat, yes, at_ms)
    end = at_ms + 60_000
    assert answer_for_silent(seldom, end) == answer_for_silent(often, end)
    over = answer_for_silent(seldom, end)
    assert over.is_over()
    assert over.doubling is not None
    for asking in (over.open_hand, over.doubling):
        assert sorted(answer.seat for answer in asking.answers) == sorted(SEATS)
        times = [answer.at_ms for answer in asking.answers]
        assert times == sorted(times)
