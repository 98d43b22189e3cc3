import msgspec
import pytest

from controller.cards import Face, parse_face
from controller.messages import Seat
from controller.rules.big_two import HAND_CARDS, BigTwoRules
from controller.rules.big_two_play import (
    BigTwoTrickState,
    must_play_largest_single,
    play_objections,
)
from controller.rules.combos.big_two_combos import readings


def cards(text: str) -> list[Face]:
    return [parse_face(word) for word in text.split()]


def first_play(seat: Seat) -> BigTwoTrickState:
    return BigTwoTrickState(seat, (HAND_CARDS,) * 4)


def after_play(text: str) -> BigTwoTrickState:
    return BigTwoTrickState("W", (HAND_CARDS - 1,) * 4, opened=True, top=readings(cards(text))[0])


@pytest.mark.parametrize(
    ("text", "why"),
    [("♦3", ()), ("♦3 ♠3", ()), ("♠3", ("without_lead_card",)), ("♦3 ♠4", ("no_combination",))],
)
def test_the_first_play_contains_the_three_of_diamonds(
    rules: BigTwoRules, text: str, why: tuple[str, ...]
) -> None:
    assert play_objections(first_play("W"), cards(text), rules) == why


def test_only_the_first_play_of_a_deal_must_contain_it(rules: BigTwoRules) -> None:
    playing = after_play("♦3")
    assert play_objections(playing, cards("♠3"), rules) == ()


def test_an_event_may_free_the_first_play(rules: BigTwoRules) -> None:
    lead = msgspec.structs.replace(rules.lead, must_include=False)
    free = msgspec.structs.replace(rules, lead=lead)
    assert play_objections(first_play("W"), cards("♠3"), free) == ()


@pytest.mark.parametrize(
    ("on", "text", "why"),
    [
        ("♦3", "♦4", ()),
        ("♦3", "♦4 ♠4", ("other_type",)),
        ("♦3 ♣3", "♠4", ("other_type",)),
        ("♦3 ♠3", "♣3 ♥3", ("not_higher",)),
        ("♦3 ♦4 ♦5 ♦6 ♦8", "♠3 ♥4 ♣5 ♠6 ♠7", ("not_higher",)),
        ("♦3 ♥4 ♣5 ♠6 ♠7", "♠2 ♠4 ♠5 ♠9 ♠8", ()),
    ],
)
def test_a_play_follows_with_the_same_type_and_a_higher_one(
    rules: BigTwoRules, on: str, text: str, why: tuple[str, ...]
) -> None:
    assert play_objections(after_play(on), cards(text), rules) == why


def test_cards_that_he_does_not_hold_are_told(rules: BigTwoRules) -> None:
    playing = after_play("♦3")
    assert play_objections(playing, cards("♠4"), rules, cards("♥4 ♠5")) == ("not_held",)


# West plays after North: North is the 上家 of West.
BEFORE_LAST = BigTwoTrickState("N", (5, 1, 4, 4), opened=True)
HAND = "♦2 ♠A ♥9 ♠9 ♦4"


@pytest.mark.parametrize(
    ("text", "why"),
    [("♦2", ()), ("♠A", ("not_largest",)), ("♦4", ("not_largest",)), ("♥9 ♠9", ())],
)
def test_before_a_last_card_one_leads_the_largest_single_or_more_than_one_card(
    rules: BigTwoRules, text: str, why: tuple[str, ...]
) -> None:
    assert play_objections(BEFORE_LAST, cards(text), rules, cards(HAND)) == why


@pytest.mark.parametrize("left", [(5, 2, 4, 4), (5, 4, 1, 4), (5, 4, 4, 1), (1, 4, 4, 4)])
def test_only_the_seat_just_before_a_last_card_is_bound(
    rules: BigTwoRules, left: tuple[int, ...]
) -> None:
    playing = BigTwoTrickState("N", left, opened=True)
    assert not must_play_largest_single(playing, rules.last_card)
    assert play_objections(playing, cards("♦4"), rules, cards(HAND)) == ()


def test_without_a_hand_the_duty_is_told_but_nothing_is_held_against_anybody(
    rules: BigTwoRules,
) -> None:
    assert must_play_largest_single(BEFORE_LAST, rules.last_card)
    assert play_objections(BEFORE_LAST, cards("♦4"), rules) == ()


def test_an_event_may_drop_the_duty(rules: BigTwoRules) -> None:
    last_card = msgspec.structs.replace(rules.last_card, largest_single=False)
    free = msgspec.structs.replace(rules, last_card=last_card)
    assert play_objections(BEFORE_LAST, cards("♦4"), free, cards(HAND)) == ()


def test_nobody_plays_when_one_is_out(rules: BigTwoRules) -> None:
    playing = BigTwoTrickState("E", (5, 4, 0, 3), opened=True)
    assert play_objections(playing, cards("♠10 ♥10"), rules) == ("deal_over",)
