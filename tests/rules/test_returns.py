import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import parse_face
from controller.messages import Seat
from controller.rules.deal_result import parse_finish
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import is_joker, natural_rank
from controller.rules.tribute_returns import (
    ReturnError,
    ReturnRule,
    judge_return,
    return_rule,
    return_visibility,
    undisputed_returns,
)
from tests.guandan import load_guandan

STD = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")
GUANDAN = [STD, load_guandan("huaian-2017-001"), N, B]

SINGLE = parse_finish("NWS")  # E pays N
TO_PARTNER = parse_finish("NWE")  # S pays N
DOUBLE = parse_finish("NS")


def cards(text: str) -> list[int]:
    """Faces written with spaces between them."""
    return [parse_face(word) for word in text.split()]


def state(
    profile: GuandanProfile, to: Seat, card: str, hand: str | None = None, level: int = 2
) -> str:
    """What is said of a card that N gives back to `to`."""
    ended = {"E": SINGLE, "S": TO_PARTNER, "W": DOUBLE}[to]
    held = None if hand is None else cards(hand)
    return judge_return(profile, ended, "N", to, parse_face(card), level, held).state


@pytest.mark.parametrize(
    ("profile", "opponent", "mate", "double"),
    [(STD, "any", "ten", "any"), (N, "ten", "ten", "ten_advised"), (B, "ten", "ten", "ten")],
    ids=["000", "003", "004"],
)
def test_what_may_go_back_depends_on_whom_it_goes_to(
    profile: GuandanProfile, opponent: ReturnRule, mate: ReturnRule, double: ReturnRule
) -> None:
    assert return_rule(profile, SINGLE, "N", "E") == opponent
    assert return_rule(profile, TO_PARTNER, "N", "S") == mate
    assert return_rule(profile, DOUBLE, "N", "W") == double
    assert return_rule(profile, DOUBLE, "S", "E") == double


def test_each_return_has_the_key_it_rests_on() -> None:
    three = parse_face("♠3")
    assert judge_return(STD, SINGLE, "N", "E", three, 2).key == "tribute.return_opponent"
    assert judge_return(STD, TO_PARTNER, "N", "S", three, 2).key == "tribute.return_partner"
    assert judge_return(STD, DOUBLE, "N", "W", three, 2).key == "tribute.return_double"


def test_returns_are_secret_in_seed_004_and_shown_together_after_a_double_down_in_000() -> None:
    assert (return_visibility(STD, SINGLE), return_visibility(STD, DOUBLE)) == ("open", "together")
    assert (return_visibility(B, SINGLE), return_visibility(B, DOUBLE)) == ("secret", "secret")


# RULES examples 34 and 35


def test_a_jack_may_go_to_an_opponent_and_not_to_the_partner_in_seed_000() -> None:
    assert state(STD, "E", "♠J") == "right"
    assert state(STD, "W", "BJ") == "right"
    assert state(STD, "S", "♠J") == "wrong"
    assert state(STD, "S", "♠10") == "right"
    assert state(STD, "S", "SJ") == "wrong"


@pytest.mark.parametrize("to", ["E", "S", "W"])
def test_ten_is_the_highest_return_in_seed_004(to: Seat) -> None:
    assert state(B, to, "♦10") == "right"
    assert state(B, to, "♦J") == "wrong"
    assert state(B, to, "♦A") == "wrong"


def test_a_wrong_return_names_its_article() -> None:
    told = judge_return(B, SINGLE, "N", "E", parse_face("♠J"), 2)
    assert (told.key, told.article) == ("tribute.return_opponent", "CN5")
    assert told.why_en == "♠J is above 10: 10 or less has to be returned"
    assert "♠J" in told.why_zh
    assert judge_return(STD, TO_PARTNER, "N", "S", parse_face("♠J"), 2).article == "A10.1"


def test_after_a_double_down_seed_003_only_says_something_about_a_card_above_ten() -> None:
    told = judge_return(N, DOUBLE, "N", "W", parse_face("♠J"), 2)
    assert (told.state, told.key, told.article) == ("warn", "tribute.return_double", None)
    assert state(N, "W", "♠10") == "right"
    assert state(N, "E", "♠J") == "wrong"


# Level cards (REFEREE E33)


@pytest.mark.parametrize(("profile", "to"), [(STD, "S"), (B, "E"), (B, "W"), (N, "W")])
@pytest.mark.parametrize("card", ["♠5", "♥5"])
def test_a_level_card_of_ten_or_less_is_doubtful_and_never_wrong(
    profile: GuandanProfile, to: Seat, card: str
) -> None:
    assert state(profile, to, card, level=5) == "warn"
    assert state(profile, to, card, hand=f"{card} ♠3 ♠K", level=5) == "warn"
    assert state(profile, to, card, level=6) == "right"


def test_a_level_card_is_right_where_it_is_the_only_one_of_ten_or_less() -> None:
    assert state(B, "E", "♠5", hand="♠5 ♠Q ♠K", level=5) == "right"
    assert state(B, "E", "♠Q", hand="♠5 ♠Q ♠K", level=5) == "wrong"


def test_a_level_card_may_go_where_any_card_may() -> None:
    assert state(STD, "E", "♠5", level=5) == "right"


def test_a_level_card_above_ten_is_wrong_as_any_other() -> None:
    assert state(B, "E", "♠Q", level=12) == "wrong"


# A hand without a card of ten or less


@pytest.mark.parametrize(
    ("card", "said"), [("♠J", "right"), ("♠Q", "wrong"), ("SJ", "wrong"), ("♣J", "right")]
)
def test_without_ten_or_less_the_smallest_card_goes_back(card: str, said: str) -> None:
    assert state(B, "E", card, hand="♠J ♣J ♠Q SJ") == said


def test_that_the_smallest_goes_back_is_provisional() -> None:
    told = judge_return(B, SINGLE, "N", "E", parse_face("♠J"), 2, cards("♠J ♠Q"))
    assert (told.key, told.article) == ("tribute.return_if_none", None)


def test_in_level_order_the_level_card_is_not_the_smallest() -> None:
    assert undisputed_returns(B, cards("♠J ♠Q ♠A"), 11, "ten") == set(cards("♠Q"))


# The received card


def test_the_received_card_is_no_choice_but_its_twin_is() -> None:
    hand = cards("♠K ♠3 ♠9")
    assert undisputed_returns(STD, hand, 2, "any", parse_face("♠K")) == set(cards("♠3 ♠9"))
    twins = undisputed_returns(STD, [*hand, parse_face("♠K")], 2, "any", parse_face("♠K"))
    assert twins == set(hand)


def test_giving_the_very_card_back_is_doubtful() -> None:
    hand, king = cards("♠K ♠3"), parse_face("♠K")
    told = judge_return(STD, SINGLE, "N", "E", king, 2, hand, received=king)
    assert (told.state, told.key, told.article) == ("warn", "tribute.return_received", None)
    assert judge_return(STD, SINGLE, "N", "E", king, 2, [*hand, king], king).state == "right"
    assert judge_return(STD, TO_PARTNER, "N", "S", king, 2, hand, received=king).state == "wrong"


@pytest.mark.parametrize(("card", "received"), [("♠4", None), ("♠3", "♠K")])
def test_nobody_returns_or_received_a_card_that_is_not_in_the_hand(
    card: str, received: str | None
) -> None:
    got = None if received is None else parse_face(received)
    with pytest.raises(ReturnError, match="is not in the hand"):
        judge_return(STD, SINGLE, "N", "E", parse_face(card), 2, cards("♠3 ♠9"), got)


# What holds for every hand


@st.composite
def given_back(draw: st.DrawFn) -> tuple[GuandanProfile, Seat, list[int], int]:
    profile = draw(st.sampled_from(GUANDAN))
    to: Seat = draw(st.sampled_from(("E", "S", "W")))
    hand = draw(st.lists(st.integers(0, 53), min_size=2, max_size=28))
    return profile, to, hand, draw(st.integers(2, 14))


@given(given_back(), st.data())
def test_a_choice_is_right_and_there_always_is_one(
    case: tuple[GuandanProfile, Seat, list[int], int], data: st.DataObject
) -> None:
    profile, to, hand, level = case
    ended = {"E": SINGLE, "S": TO_PARTNER, "W": DOUBLE}[to]
    received = data.draw(st.sampled_from(hand))
    rule = return_rule(profile, ended, "N", to)
    choices = undisputed_returns(profile, hand, level, rule, received)
    assert choices
    for card in set(hand):
        told = judge_return(profile, ended, "N", to, card, level, hand, received)
        if card in choices:
            assert told.state == "right" or rule == "ten_advised"
        else:
            assert told.state != "right"
        if told.state == "wrong":
            assert rule == "ten"
            assert is_joker(card) or natural_rank(card) > 10
