import random
from collections.abc import Callable

import msgspec
import pytest

from controller.cards import Face, parse_face
from controller.messages import Seat
from controller.rules.big_two import BigTwoRules
from controller.rules.big_two_play import (
    OBJECTIONS,
    BigTwoTrickState,
    after_pass,
    after_play,
    begin_play,
    must_play_largest_single,
    pass_objections,
    play_objections,
    seats_to_report,
)
from controller.rules.combos.big_two_combos import readings

SEATED: tuple[Seat, ...] = ("N", "W", "S", "E")


def cards(text: str) -> list[Face]:
    return [parse_face(word) for word in text.split()]


def played(playing: BigTwoTrickState, text: str) -> BigTwoTrickState:
    return after_play(playing, readings(cards(text))[0])


@pytest.mark.parametrize(
    ("text", "why"),
    [("♦3", ()), ("♦3 ♠3", ()), ("♠3", ("without_lead_card",)), ("♦3 ♠4", ("no_combination",))],
)
def test_the_first_play_contains_the_three_of_diamonds(
    rules: BigTwoRules, text: str, why: tuple[str, ...]
) -> None:
    assert play_objections(begin_play("W"), cards(text), rules) == why


def test_only_the_first_play_of_a_deal_must_contain_it(rules: BigTwoRules) -> None:
    playing = played(begin_play("W"), "♦3")
    assert play_objections(playing, cards("♠3"), rules) == ()


def test_an_event_may_free_the_first_play(rules: BigTwoRules) -> None:
    lead = msgspec.structs.replace(rules.lead, must_include=False)
    free = msgspec.structs.replace(rules, lead=lead)
    assert play_objections(begin_play("W"), cards("♠3"), free) == ()


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
    assert play_objections(played(begin_play("N"), on), cards(text), rules) == why


def test_cards_that_he_does_not_hold_are_told(rules: BigTwoRules) -> None:
    playing = played(begin_play("N"), "♦3")
    assert play_objections(playing, cards("♠4"), rules, cards("♥4 ♠5")) == ("not_held",)


def test_play_goes_to_the_right_and_cards_are_counted() -> None:
    playing = played(begin_play("W"), "♦3 ♠3")
    assert (playing.turn, playing.left) == ("S", (13, 11, 13, 13))
    assert (playing.owner, playing.passes, playing.opened) == ("W", 0, True)


def test_three_passes_end_the_trick_and_its_owner_leads() -> None:
    playing = after_pass(after_pass(played(begin_play("N"), "♦3")))
    assert (playing.turn, playing.owner) == ("E", "N")
    playing = after_pass(playing)
    assert (playing.turn, playing.owner, playing.top, playing.passes) == ("N", None, None, 0)


def test_passes_count_anew_after_a_play_and_who_passed_may_play_again(rules: BigTwoRules) -> None:
    playing = played(after_pass(played(begin_play("N"), "♦3")), "♦4")
    playing = after_pass(after_pass(playing))
    assert (playing.turn, playing.passes) == ("W", 2)
    assert play_objections(playing, cards("♠4"), rules) == ()


def test_who_leads_may_not_pass(rules: BigTwoRules) -> None:
    assert pass_objections(begin_play("N"), rules) == ("leader_passes",)
    with pytest.raises(ValueError, match="N leads"):
        after_pass(begin_play("N"))
    assert pass_objections(played(begin_play("N"), "♦3"), rules) == ()


def test_the_deal_ends_when_one_is_out(rules: BigTwoRules) -> None:
    playing = played(BigTwoTrickState("S", (5, 4, 2, 3), opened=True), "♠9 ♥9")
    assert (playing.seat_out(), playing.left) == ("S", (5, 4, 0, 3))
    assert play_objections(playing, cards("♠10 ♥10"), rules) == ("deal_over",)
    assert pass_objections(playing, rules) == ("deal_over",)
    for move in (after_pass, lambda now: played(now, "♠K")):
        with pytest.raises(ValueError, match="the deal is over: S is out"):
            move(playing)


def test_nobody_plays_more_cards_than_he_has() -> None:
    with pytest.raises(ValueError, match="N has 1 cards left, cannot play 2"):
        played(BigTwoTrickState("N", (1, 4, 2, 3), opened=True), "♠9 ♥9")


def test_a_last_card_is_reported(rules: BigTwoRules) -> None:
    assert seats_to_report(BigTwoTrickState("N", (2, 1, 13, 1)), rules.last_card) == ("W", "E")
    assert seats_to_report(BigTwoTrickState("N", (0, 2, 13, 9)), rules.last_card) == ()


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


@pytest.mark.parametrize(("on", "why"), [("♠K", ("passes_last_card",)), ("♠2", ()), ("♠3 ♥3", ())])
def test_a_single_that_the_largest_beats_may_not_be_passed_before_a_last_card(
    rules: BigTwoRules, on: str, why: tuple[str, ...]
) -> None:
    playing = played(BigTwoTrickState("E", (5, 1, 4, 4), opened=True), on)
    assert playing.turn == "N"
    assert pass_objections(playing, rules, cards(HAND)) == why
    assert all(OBJECTIONS[key].provisional for key in why)


def test_an_event_may_allow_that_pass_or_drop_the_duty(rules: BigTwoRules) -> None:
    playing = played(BigTwoTrickState("E", (5, 1, 4, 4), opened=True), "♠K")
    for change in ({"may_pass": True}, {"largest_single": False}):
        last_card = msgspec.structs.replace(rules.last_card, **change)
        free = msgspec.structs.replace(rules, last_card=last_card)
        assert pass_objections(playing, free, cards(HAND)) == ()


def test_random_deals_always_end_with_one_out(
    rules: BigTwoRules, scale: Callable[[int], int]
) -> None:
    draw = random.Random(7)
    for _ in range(scale(2_000)):
        pack = draw.sample(range(52), 52)
        hands = {seat: set(pack[n::4]) for n, seat in enumerate(SEATED)}
        first = next(seat for seat, hand in hands.items() if rules.lead.face() in hand)
        playing = begin_play(first)
        moves = 0
        while playing.seat_out() is None:
            playing = random_move(playing, hands[playing.turn], rules, draw)
            assert [len(hands[seat]) for seat in SEATED] == list(playing.left)
            moves += 1
        assert 13 <= moves <= 4 * 52


def random_move(
    playing: BigTwoTrickState, hand: set[Face], rules: BigTwoRules, draw: random.Random
) -> BigTwoTrickState:
    """Play a legal single or pair of the hand, or pass where that is legal and he will or must."""
    tries: list[tuple[Face, ...]] = [(a,) for a in hand] + [
        (a, b) for a in hand for b in hand if a < b and a % 13 == b % 13
    ]
    legal = [play for play in tries if not play_objections(playing, play, rules, hand)]
    may_pass = not pass_objections(playing, rules, hand)
    assert legal or may_pass
    if may_pass and (not legal or draw.random() < 0.3):
        return after_pass(playing)
    play = draw.choice(legal)
    hand -= set(play)
    return after_play(playing, readings(play)[0])
