from pathlib import Path

import msgspec
import pytest

from controller.cards import parse_face
from controller.messages import Seat, Side
from controller.rules.deal_duties import (
    DealDuties,
    DutyError,
    NoPipsError,
    cut_problem,
    drawer_of_card,
    duties_before_deal,
    first_drawer_by_count,
    is_turnup_valid,
    leader_of_deal,
)
from controller.rules.deal_result import DealResult, ForfeitedDeal, parse_finish
from controller.rules.profile import GuandanProfile
from controller.rules.profile_files import load_profile
from controller.rules.tribute import plan_tribute, plan_without_tribute
from controller.words import Words
from tests.guandan import load_guandan
from tests.rows import each_row

STD = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")
GUANDAN = [STD, load_guandan("huaian-2017-001"), N, B]

PIPS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]


def by_hand(profile: GuandanProfile, order: str) -> DealDuties:
    """The duties after a deal that ended in this order."""
    return duties_before_deal(profile, 2, parse_finish(order), by_hand=True)


def event(tmp_path: Path, profile: str, rules: str) -> GuandanProfile:
    """A rulebook under an event's regulations."""
    about = f'profile = "{profile}"\ntitle_en = "T"\ntitle_zh = "赛"\norganizer = "O"\n'
    path = tmp_path / "event.toml"
    path.write_text(about + rules, "utf-8")
    return load_guandan(profile, path)


# Who draws first, by the turned-up card (RULES examples 01–05)


def test_a_six_counted_from_south_comes_to_east() -> None:
    assert first_drawer_by_count(B, "S", parse_face("♠6")) == "E"


@pytest.mark.parametrize("suit", "♠♥♣♦")
def test_every_rank_is_counted_from_the_cutter_as_one(suit: str) -> None:
    assert (
        "".join(first_drawer_by_count(B, "S", parse_face(suit + rank)) for rank in PIPS)
        == "SENWSENWSENWS"
    )


@pytest.mark.parametrize(("rank", "first"), [("5", "N"), ("7", "S"), ("8", "E")])
def test_the_count_starts_where_the_cutter_sits(rank: str, first: Seat) -> None:
    assert first_drawer_by_count(STD, "N", parse_face("♦" + rank)) == first


@pytest.mark.parametrize("joker", ["SJ", "BJ"])
def test_nothing_can_be_counted_by_a_joker(joker: str) -> None:
    with pytest.raises(NoPipsError, match="no pips to count"):
        first_drawer_by_count(STD, "N", parse_face(joker))


def test_an_event_may_start_the_count_at_the_cutters_next(tmp_path: Path) -> None:
    profile = event(tmp_path, "international-000", '[ceremony]\ncount_from = "next"\n')
    assert first_drawer_by_count(profile, "N", parse_face("♠A")) == "W"


@pytest.mark.parametrize(
    ("profile", "again"),
    [(STD, ["SJ", "BJ"]), (B, ["SJ", "BJ", "♥2"]), (N, [])],
    ids=["000", "004", "003"],
)
def test_only_the_cards_of_the_rulebook_are_turned_up_again(
    profile: GuandanProfile, again: list[str]
) -> None:
    refused = [face for face in range(54) if not is_turnup_valid(profile, face)]
    assert refused == sorted(map(parse_face, again))


# Drawing by hand (RULES examples 06, 07)


def test_cards_are_drawn_one_at_a_time_counter_clockwise() -> None:
    assert [drawer_of_card(STD, "E", position) for position in (1, 2, 3, 4, 55, 108)] == list(
        "ENWSWS"
    )


@pytest.mark.parametrize("first", "NWSE")
def test_four_who_draw_in_turn_have_27_cards_each(first: Seat) -> None:
    drawers = [drawer_of_card(STD, first, position) for position in range(1, 109)]
    assert {seat: drawers.count(seat) for seat in drawers} == dict.fromkeys("NWSE", 27)
    assert drawers[0] == first


def test_an_event_may_draw_clockwise(tmp_path: Path) -> None:
    profile = event(tmp_path, "international-000", '[direction]\ndraw = "cw"\n')
    assert [drawer_of_card(profile, "E", position) for position in (1, 2, 3, 4)] == list("ESWN")
    assert first_drawer_by_count(profile, "N", parse_face("♠2")) == "E"


@pytest.mark.parametrize("position", [0, 109])
def test_there_is_no_card_outside_the_set(position: int) -> None:
    with pytest.raises(DutyError, match=f"card {position}: the set has cards 1…108"):
        drawer_of_card(STD, "E", position)


# The cut


@pytest.mark.parametrize("profile", [STD, N], ids=["000", "003"])
def test_a_cut_leaves_more_than_five_cards_on_either_side(profile: GuandanProfile) -> None:
    assert [n for n in range(-1, 110) if cut_problem(profile, n) is None] == list(range(6, 103))
    assert cut_problem(profile, 5) == Words(
        "a cut of 5 cards: take off 6…102 of 108", "切了5张，108张应切6至102张"
    )


def test_any_number_may_be_cut_but_none_and_all_of_them() -> None:
    assert [n for n in range(-1, 110) if cut_problem(B, n) is None] == list(range(1, 108))
    assert cut_problem(B, 108) == Words(
        "a cut of 108 cards: take off 1…107 of 108", "切了108张，108张应切1至107张"
    )


def test_a_set_of_52_has_its_own_cuts() -> None:
    profile = load_profile("bigtwo-2017-002")
    assert cut_problem(profile, 46) is None
    assert cut_problem(profile, 47) == Words(
        "a cut of 47 cards: take off 6…46 of 52", "切了47张，52张应切6至46张"
    )


# The first deal


@pytest.mark.parametrize("profile", GUANDAN, ids=lambda profile: profile.name)
def test_with_a_machine_south_cuts_the_first_deal_and_nobody_shuffles(
    profile: GuandanProfile,
) -> None:
    first = duties_before_deal(profile, 1, None, by_hand=False)
    assert (first.shuffler, first.shufflers, first.cutter) == (None, (), "S")
    assert first.turnup
    assert first.first_drawer is None
    assert first.keys == ("ceremony.machine_program", "cutter_first")


def test_by_hand_any_player_shuffles_and_an_opponent_of_his_cuts() -> None:
    first = duties_before_deal(STD, 1, None, by_hand=True)
    assert (first.shuffler, first.cutter) == (None, None)
    assert set(first.shufflers) == set(first.cutters) == set("NWSE")
    assert first.shuffles == (3, 5)
    assert first.cuts == (6, 102)
    assert first.first_drawer is None
    assert set(duties_before_deal(STD, 1, None, by_hand=True, shuffler="E").cutters) == {"N", "S"}
    assert set(duties_before_deal(STD, 1, None, by_hand=True, shuffler="N").cutters) == {"W", "E"}


def test_by_hand_east_shuffles_and_south_cuts_in_seed_004() -> None:
    first = duties_before_deal(B, 1, None, by_hand=True)
    assert (first.shuffler, first.cutter) == ("E", "S")
    assert first.keys == (
        "ceremony.shuffler_first",
        "ceremony.cutter_by_hand",
        "ceremony.count_from",
    )


def test_nobody_shuffles_whom_the_rulebook_does_not_name() -> None:
    with pytest.raises(DutyError, match="N may not shuffle: E"):
        duties_before_deal(B, 1, None, by_hand=True, shuffler="N")
    with pytest.raises(DutyError, match="N may not shuffle: no seat"):
        duties_before_deal(STD, 1, None, by_hand=False, shuffler="N")


def test_a_match_whose_first_deal_was_voided_turns_a_card_up_again() -> None:
    second = duties_before_deal(STD, 2, None, by_hand=False)
    assert second.turnup
    assert (second.cutter, second.shuffles) == ("S", (2, 3))


# Later deals (RULES examples 08–12)


def test_last_draws_first_and_ups_next_after_a_double_down() -> None:
    assert by_hand(STD, "NWS").first_drawer == "E"
    assert by_hand(STD, "NS").first_drawer == "W"
    assert by_hand(STD, "NWE").first_drawer == "S"


@pytest.mark.parametrize(
    ("profile", "order", "shuffler"),
    [(STD, "NWS", "E"), (B, "NWS", "E"), (STD, "NES", "W"), (B, "NES", "E"), (B, "WE", "N")],
)
def test_last_shuffles_in_seed_000_and_ups_left_hand_neighbour_in_004(
    profile: GuandanProfile, order: str, shuffler: Seat
) -> None:
    told = by_hand(profile, order)
    assert told.shuffler == shuffler
    assert told.cutter == order[0]


def test_after_a_double_down_either_loser_shuffles() -> None:
    told = by_hand(STD, "NS")
    assert (told.shuffler, told.shufflers) == (None, ("W", "E"))
    assert (
        duties_before_deal(STD, 2, parse_finish("NS"), by_hand=True, shuffler="E").shuffler == "E"
    )
    assert duties_before_deal(STD, 2, parse_finish("NS"), by_hand=True, shuffler="E").cutter == "N"


@pytest.mark.parametrize("hand", [True, False])
def test_later_deals_have_no_turn_up_and_two_to_three_shuffles(hand: bool) -> None:
    told = duties_before_deal(STD, 2, parse_finish("NS"), by_hand=hand)
    assert not told.turnup
    assert told.shuffles == (2, 3)


@pytest.mark.parametrize("order", ["NS", "NWS", "NWE"])
def test_with_a_machine_up_cuts_and_nobody_shuffles_or_draws(order: str) -> None:
    told = duties_before_deal(STD, 2, parse_finish(order), by_hand=False)
    assert (told.shufflers, told.cutter, told.first_drawer) == ((), "N", None)
    assert told.keys == ("ceremony.machine_program", "cutter_later")


# After a forfeited deal


@pytest.mark.parametrize(("loser", "named"), [("EW", "N"), ("NS", "E")])
def test_after_a_forfeited_deal_the_named_leader_cuts_and_leads(loser: Side, named: Seat) -> None:
    previous = ForfeitedDeal(loser, named)
    told = duties_before_deal(STD, 2, previous, by_hand=False)
    assert (told.cutter, told.keys[-1]) == (named, "ceremony.cutter_forfeited")
    assert leader_of_deal(STD, previous) == named


@pytest.mark.parametrize("profile", GUANDAN, ids=lambda profile: profile.name)
def test_by_hand_the_offenders_shuffle_and_the_leaders_next_draws(profile: GuandanProfile) -> None:
    told = duties_before_deal(profile, 2, ForfeitedDeal("EW", "S"), by_hand=True)
    assert set(told.shufflers) == {"W", "E"}
    assert (told.cutter, told.first_drawer) == ("S", "E")
    assert all(profile.article(key) is None for key in told.keys)


def test_until_the_leader_is_named_either_of_the_innocent_side_may_be_he() -> None:
    told = duties_before_deal(STD, 2, ForfeitedDeal("NS"), by_hand=True)
    assert (told.cutter, set(told.cutters), told.first_drawer) == (None, {"E", "W"}, None)
    assert leader_of_deal(STD, ForfeitedDeal("NS")) is None


# Who leads


def test_who_got_the_turned_up_card_leads_the_first_deal() -> None:
    assert leader_of_deal(STD, None, turned_to="W") == "W"
    assert leader_of_deal(STD, None) is None


def test_a_tribute_decides_who_leads_and_until_it_is_paid_nobody_does() -> None:
    ended = parse_finish("NWS")
    assert leader_of_deal(STD, ended) is None
    assert leader_of_deal(STD, ended, turned_to="W") is None
    assert leader_of_deal(STD, ended, tribute=plan_tribute(STD, ended, {"E": 14})) == "E"
    assert leader_of_deal(STD, ended, tribute=plan_without_tribute(STD, ended)) == "N"


def test_where_the_returns_decide_the_lead_is_open() -> None:
    ended = parse_finish("NS")
    paid: dict[Seat, int] = {"W": 14, "E": 14}
    assert leader_of_deal(N, ended, tribute=plan_tribute(N, ended, paid)) is None
    assert leader_of_deal(B, ended, tribute=plan_tribute(B, ended, paid)) == "W"


# Traceable


@each_row("profile", GUANDAN, ids=lambda profile: profile.name)
@each_row("hand", [True, False])
@each_row(
    "previous",
    [None, parse_finish("NS"), parse_finish("NWS"), ForfeitedDeal("NS"), ForfeitedDeal("NS", "E")],
)
def test_every_duty_rests_on_a_rule_with_an_article_or_provisional(
    profile: GuandanProfile, hand: bool, previous: DealResult | None
) -> None:
    told = duties_before_deal(profile, 2, previous, by_hand=hand)
    assert told.keys
    assert set(told.keys) <= {*profile.sources, *profile.provisional}


def test_duties_cross_a_socket_and_come_back() -> None:
    told = by_hand(STD, "NS")
    assert msgspec.json.decode(msgspec.json.encode(told), type=DealDuties) == told
