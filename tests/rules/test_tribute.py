from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import parse_face
from controller.messages import Seat
from controller.rules.deal_result import FinishOrder, ForfeitedDeal, parse_finish
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import is_wild, value_at_level
from controller.rules.tribute import (
    TributeError,
    TributePlan,
    chooser_of_tribute,
    finish_owing_tribute,
    has_anti_tribute,
    is_right_tribute,
    leader_by_returns,
    must_claim_anti_tribute,
    plan_tribute,
    plan_without_tribute,
    tribute_choices,
    tribute_payers,
    tribute_value,
)
from controller.seats import SEATS, side_of
from tests.guandan import load_guandan
from tests.rows import each_row

STD = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")
GUANDAN = [STD, load_guandan("huaian-2017-001"), N, B]
every_rulebook = pytest.mark.parametrize("profile", GUANDAN, ids=lambda profile: profile.name)

Values = Mapping[Seat, int]


def cards(text: str) -> list[int]:
    """Faces written with spaces between them."""
    return [parse_face(word) for word in text.split()]


def arrows(pairs: tuple[tuple[Seat, Seat], ...]) -> str:
    """Who gives to whom, as the worked examples write it."""
    return " ".join(f"{giver}→{to}" for giver, to in pairs)


def event(tmp_path: Path, rules: str) -> GuandanProfile:
    """Seed 000 under an event's regulations."""
    about = 'profile = "international-000"\ntitle_en = "T"\ntitle_zh = "赛"\norganizer = "O"\n'
    path = tmp_path / "event.toml"
    path.write_text(about + rules, "utf-8")
    return load_guandan("international-000", path)


# Who owes


@every_rulebook
def test_last_pays_and_after_a_double_down_both_losers(profile: GuandanProfile) -> None:
    assert tribute_payers(profile, parse_finish("NWS")) == ("E",)
    assert tribute_payers(profile, parse_finish("NWE")) == ("S",)
    assert tribute_payers(profile, parse_finish("NS")) == ("W", "E")


@every_rulebook
def test_nobody_owes_in_the_first_deal_and_after_a_forfeited_one(profile: GuandanProfile) -> None:
    assert tribute_payers(profile, None) == ()
    assert tribute_payers(profile, ForfeitedDeal("EW", "N")) == ()
    assert finish_owing_tribute(profile, ForfeitedDeal("EW", "N")) is None


def test_an_event_may_ask_for_tribute_after_a_forfeited_deal(tmp_path: Path) -> None:
    profile = event(tmp_path, "[tribute]\nafter_forfeit = true\n")
    assert tribute_payers(profile, ForfeitedDeal("EW")) == ()
    assert tribute_payers(profile, ForfeitedDeal("EW", "N")) == ("W", "E")
    assert finish_owing_tribute(profile, ForfeitedDeal("EW", "N")) == parse_finish("NS")


# What is owed (RULES examples 21–24)


@each_row(
    ("hand", "level", "owed"),
    [
        ("♥2 ♠2 ♣A ♦K", 2, "♠2"),
        ("♥2 ♥2 ♣A ♦K", 2, "♣A"),
        ("♥5 ♠K ♦K ♣Q", 5, "♠K ♦K"),
        ("BJ SJ SJ ♠A", 2, "BJ"),
        ("SJ SJ ♠2 ♥2", 2, "SJ"),
        ("♥5 ♠5 ♦5 ♠A", 5, "♠5 ♦5"),
        ("♥2 ♥2 ♠3 ♣3", 5, "♠3 ♣3"),
        ("♥A ♥A ♠K", 14, "♠K"),
        ("♥3 ♠2", 5, "♥3"),
    ],
)
@every_rulebook
def test_the_largest_card_is_owed_but_never_the_wild_one(
    profile: GuandanProfile, hand: str, level: int, owed: str
) -> None:
    right = set(cards(owed))
    assert tribute_choices(profile, cards(hand), level) == right
    assert tribute_value(profile, cards(hand), level) == value_at_level(min(right), level)
    for card in cards(hand):
        assert is_right_tribute(profile, cards(hand), level, card) == (card in right)


def test_an_event_may_let_the_wild_card_count(tmp_path: Path) -> None:
    profile = event(tmp_path, "[tribute]\nexclude_wild = false\n")
    assert tribute_choices(profile, cards("♥2 ♠2 ♣A"), 2) == set(cards("♥2 ♠2"))


def test_wild_cards_alone_are_no_tribute() -> None:
    with pytest.raises(TributeError, match="no tribute to pay"):
        tribute_choices(STD, cards("♥2 ♥2"), 2)


@given(
    hand=st.lists(st.integers(0, 53), min_size=3, max_size=28),
    level=st.integers(2, 14),
    of=st.data(),
)
def test_no_card_that_may_be_paid_beats_a_required_one(
    hand: list[int], level: int, of: st.DataObject
) -> None:
    hand.append(parse_face("♠3" if level != 3 else "♠4"))
    owed = tribute_choices(STD, hand, level)
    card = of.draw(st.sampled_from(hand))
    assert owed <= set(hand)
    assert not any(is_wild(face, level) for face in owed)
    if not is_wild(card, level):
        assert value_at_level(card, level) <= tribute_value(STD, hand, level)
        assert (card in owed) == (value_at_level(card, level) == tribute_value(STD, hand, level))


def test_of_a_double_tribute_the_payer_chooses_but_in_seed_003_the_receiver() -> None:
    assert chooser_of_tribute(STD, "E", "N", 14, double=True) == "E"
    assert chooser_of_tribute(B, "E", "N", 14, double=True) == "E"
    assert chooser_of_tribute(N, "E", "N", 14, double=True) == "N"
    assert chooser_of_tribute(N, "E", "N", 15, double=True) == "N"


@every_rulebook
def test_of_a_single_tribute_the_payer_chooses(profile: GuandanProfile) -> None:
    assert chooser_of_tribute(profile, "E", "N", 14) == "E"
    assert chooser_of_tribute(profile, "E", "N", 15) == "E"


def test_nobody_chooses_among_jokers() -> None:
    assert chooser_of_tribute(N, "E", "N", value_at_level(parse_face("SJ"), 2), double=True) == "E"
    assert chooser_of_tribute(N, "E", "N", value_at_level(parse_face("BJ"), 2), double=True) == "E"


# 抗贡 (RULES examples 25–28)


@each_row(
    ("order", "big_jokers", "stands"),
    [
        ("NWS", "EE", True),
        ("NWS", "EW", False),  # W is 2ND and owes nothing
        ("NWS", "WW", False),
        ("NWS", "EN", False),
        ("NWE", "SS", True),
        ("NWE", "SN", False),
        ("NS", "WE", True),
        ("NS", "EE", True),
        ("NS", "WW", True),
        ("NS", "WN", False),
        ("NS", "NS", False),
    ],
)
@every_rulebook
def test_tribute_is_resisted_with_both_big_jokers_among_those_who_owe(
    profile: GuandanProfile, order: str, big_jokers: str, stands: bool
) -> None:
    hands: dict[Seat, list[int]] = {
        seat: cards("SJ ♠A ♥K " + "BJ " * big_jokers.count(seat)) for seat in ("N", "W", "S", "E")
    }
    owed = tribute_payers(profile, parse_finish(order))
    assert has_anti_tribute(profile, owed, hands) is stands


@every_rulebook
def test_where_tribute_is_resisted_nobody_pays_and_up_leads(profile: GuandanProfile) -> None:
    for order in ("NWS", "NWE", "NS"):
        told = plan_without_tribute(profile, parse_finish(order))
        assert (told.payments, told.returns, told.leader) == ((), (), "N")
        assert told.article == ("CN5" if profile is B else "R4.3–4" if profile is N else "A10.3")
        number = "double" if order == "NS" else "single"
        assert told.keys == (f"tribute.anti_{number}", "tribute.anti")


def test_nobody_resists_who_owes_nothing() -> None:
    hands: dict[Seat, list[int]] = {"N": cards("BJ BJ")}
    assert not has_anti_tribute(STD, (), hands)


def test_a_lone_joker_is_paid_where_the_partner_who_holds_the_other_owes_nothing() -> None:
    assert tribute_choices(STD, cards("BJ ♠A"), 2) == set(cards("BJ"))


@pytest.mark.parametrize(("key", "order"), [("anti_single", "NWS"), ("anti_double", "NS")])
def test_an_event_may_do_without_resisting(tmp_path: Path, key: str, order: str) -> None:
    profile = event(tmp_path, f"[tribute]\n{key} = false\n")
    hands: dict[Seat, list[int]] = {"W": [], "E": cards("BJ BJ")}
    assert not has_anti_tribute(profile, tribute_payers(profile, parse_finish(order)), hands)
    assert has_anti_tribute(STD, tribute_payers(STD, parse_finish(order)), hands)


def test_an_event_may_ask_for_a_claim(tmp_path: Path) -> None:
    assert not must_claim_anti_tribute(STD)
    assert must_claim_anti_tribute(event(tmp_path, '[tribute]\nanti = "declared"\n'))


# Where tributes and returns go (RULES examples 10, 29–32)


@each_row(("order", "payer"), [("NWS", "E"), ("NWE", "S"), ("ENS", "W")])
@every_rulebook
def test_one_payer_pays_up_gets_something_back_and_leads(
    profile: GuandanProfile, order: str, payer: Seat
) -> None:
    told = plan_tribute(profile, parse_finish(order), {payer: 14})
    assert told.payments == ((payer, order[0]),)
    assert told.returns == ((order[0], payer),)
    assert told.leader == payer
    assert not told.equal
    assert told.article == ("CN5" if profile is B else "R4.4" if profile is N else "A10.1")


@each_row(
    ("values", "payments", "returns", "leader"),
    [
        ({"E": 16, "W": 13}, "E→N W→S", "N→E S→W", "E"),
        ({"E": 17, "W": 14}, "E→N W→S", "N→E S→W", "E"),
        ({"E": 14, "W": 15}, "W→N E→S", "N→W S→E", "W"),
    ],
)
@every_rulebook
def test_up_takes_the_larger_tribute_and_its_payer_leads(
    profile: GuandanProfile, values: Values, payments: str, returns: str, leader: Seat
) -> None:
    told = plan_tribute(profile, parse_finish("NS"), values)
    assert (arrows(told.payments), arrows(told.returns)) == (payments, returns)
    assert (told.leader, told.equal, told.choice_open) == (leader, False, False)
    article = "CN5" if profile is B else "R4.3, R4.5" if profile is N else "A10.2"
    assert (told.article, told.keys) == (article, ())


TIES = [
    # UP, seeds 000/001: tribute, return; seed 004: tribute, return; leader
    ("N", "W→N E→S", "N→W S→E", "E→N W→S", "N→W S→E", "W"),
    ("W", "S→W N→E", "W→S E→N", "N→W S→E", "W→S E→N", "S"),
    ("S", "E→S W→N", "S→E N→W", "W→S E→N", "S→E N→W", "E"),
    ("E", "N→E S→W", "E→N W→S", "S→E N→W", "E→N W→S", "N"),
]


@pytest.mark.parametrize(("up", "paid", "back", "paid_004", "back_004", "leader"), TIES)
def test_equal_tributes_go_round_the_table_as_the_rulebook_says(
    up: str, paid: str, back: str, paid_004: str, back_004: str, leader: Seat
) -> None:
    ended = double_down(up)
    values: dict[Seat, int] = dict.fromkeys(ended.payers, 14)
    for profile in (STD, GUANDAN[1]):
        told = plan_tribute(profile, ended, values)
        assert (arrows(told.payments), arrows(told.returns)) == (paid, back)
        assert (told.leader, told.equal, told.choice_open) == (leader, True, False)
    told = plan_tribute(B, ended, values)
    assert (arrows(told.payments), arrows(told.returns)) == (paid_004, back_004)
    assert (told.leader, told.equal, told.choice_open) == (leader, True, False)


def double_down(up: str) -> FinishOrder:
    return parse_finish(up + SEATS[(SEATS.index(up) + 2) % 4])


# The choices of seed 003 R4.5


def test_in_seed_003_up_may_choose_and_until_then_it_goes_clockwise() -> None:
    told = plan_tribute(N, parse_finish("NS"), {"W": 14, "E": 14})
    assert (arrows(told.payments), arrows(told.returns)) == ("W→N E→S", "N→W S→E")
    assert (told.equal, told.choice_open, told.leader) == (True, True, None)


@pytest.mark.parametrize(
    ("chosen", "payments", "returns"), [("W", "W→N E→S", "N→W S→E"), ("E", "E→N W→S", "N→E S→W")]
)
def test_the_return_goes_to_him_whose_tribute_up_chose(
    chosen: Seat, payments: str, returns: str
) -> None:
    told = plan_tribute(N, parse_finish("NS"), {"W": 14, "E": 14}, payer_chosen_by_up=chosen)
    assert (arrows(told.payments), arrows(told.returns)) == (payments, returns)
    assert (told.choice_open, told.leader) == (False, None)


@pytest.mark.parametrize(
    ("returned", "leader"),
    [({"W": 3, "E": 7}, "W"), ({"W": 7, "E": 3}, "E"), ({"W": 5, "E": 5}, "W")],
)
@pytest.mark.parametrize("up_takes", [None, "W", "E"])
def test_in_seed_003_the_smaller_return_leads_after_equal_tributes(
    returned: Values, leader: Seat, up_takes: Seat | None
) -> None:
    told = plan_tribute(N, parse_finish("NS"), {"W": 14, "E": 14}, up_takes)
    assert leader_by_returns(N, parse_finish("NS"), told, returned) == leader


def test_returns_change_nothing_where_the_plan_names_the_leader() -> None:
    returned: Values = {"W": 7, "E": 3}
    unequal = plan_tribute(N, parse_finish("NS"), {"W": 15, "E": 14})
    assert leader_by_returns(N, parse_finish("NS"), unequal, returned) == "W"
    equal = plan_tribute(STD, parse_finish("NS"), {"W": 14, "E": 14})
    assert leader_by_returns(STD, parse_finish("NS"), equal, returned) == "W"


def test_the_leader_is_not_told_before_both_returns_are_there() -> None:
    told = plan_tribute(N, parse_finish("NS"), {"W": 14, "E": 14})
    with pytest.raises(TributeError, match="returns to W: expected both payers"):
        leader_by_returns(N, parse_finish("NS"), told, {"W": 3})


def test_there_is_no_choice_between_jokers() -> None:
    small = value_at_level(parse_face("SJ"), 2)
    told = plan_tribute(N, parse_finish("NS"), {"W": small, "E": small})
    assert (told.equal, told.choice_open, told.leader) == (True, False, None)
    with pytest.raises(TributeError, match="UP cannot choose"):
        plan_tribute(N, parse_finish("NS"), {"W": small, "E": small}, payer_chosen_by_up="E")


@pytest.mark.parametrize(
    ("profile", "values", "up_takes", "said"),
    [
        (STD, {"W": 14, "E": 14}, "E", "UP cannot choose the tribute of E"),
        (B, {"W": 14, "E": 14}, "E", "UP cannot choose the tribute of E"),
        (N, {"W": 14, "E": 14}, "S", "UP cannot choose the tribute of S"),
        (N, {"W": 14, "E": 13}, "E", "only where two of one value are paid"),
        (STD, {"W": 14}, None, "tributes of W: expected W, E"),
        (STD, {"W": 14, "E": 13, "S": 2}, None, "expected W, E"),
    ],
)
def test_what_no_rule_allows_is_told_in_one_line(
    profile: GuandanProfile, values: Values, up_takes: Seat | None, said: str
) -> None:
    with pytest.raises(TributeError, match=said) as told:
        plan_tribute(profile, parse_finish("NS"), values, up_takes)
    assert "\n" not in str(told.value)


# What holds for every plan


@st.composite
def planned(draw: st.DrawFn) -> tuple[GuandanProfile, FinishOrder, Values, TributePlan]:
    profile = draw(st.sampled_from(GUANDAN))
    order = draw(st.permutations(SEATS))
    partners = side_of(order[0]) == side_of(order[1])
    ended = parse_finish(order[:2] if partners else order)
    values = {seat: draw(st.integers(13, 17)) for seat in ended.payers}
    return profile, ended, values, plan_tribute(profile, ended, values)


@given(planned())
def test_every_loser_who_owes_gives_one_card_and_gets_one(
    case: tuple[GuandanProfile, FinishOrder, Values, TributePlan],
) -> None:
    _, ended, _, told = case
    receivers = (ended.up, ended.second)[: len(ended.payers)]
    assert sorted(payer for payer, _ in told.payments) == sorted(ended.payers)
    assert sorted(to for _, to in told.returns) == sorted(ended.payers)
    assert [to for _, to in told.payments] == [giver for giver, _ in told.returns]
    assert tuple(to for _, to in told.payments) == receivers


@given(planned())
def test_up_never_takes_the_smaller_tribute(
    case: tuple[GuandanProfile, FinishOrder, Values, TributePlan],
) -> None:
    _, ended, values, told = case
    assert told.payments[0][1] == ended.up
    assert values[told.payments[0][0]] == max(values.values())
    assert told.equal == (len(values) == 2 and len(set(values.values())) == 1)


@given(planned())
def test_whoever_leads_has_paid_and_every_key_is_a_rule(
    case: tuple[GuandanProfile, FinishOrder, Values, TributePlan],
) -> None:
    profile, ended, _, told = case
    assert told.leader in ended.payers or told.leader is None
    assert set(told.keys) <= {*profile.sources, *profile.provisional}
    assert msgspec.json.decode(msgspec.json.encode(told), type=TributePlan) == told
