from importlib import resources

import pytest

from controller.cards import parse_face
from controller.rules.big_two import HAND_CARDS, BigTwoRules
from controller.rules.profile import BigTwoProfile
from controller.rules.profile_files import ProfileError, read_profile
from controller.rules.regulations import regulations_to_settle
from tests.rows import each_row

FILE = "bigtwo-2017-002.toml"
TEXT = (resources.files("controller.rules") / "profiles" / FILE).read_text("utf-8")


def test_the_three_of_diamonds_leads(rules: BigTwoRules) -> None:
    assert rules.lead.face() == parse_face("♦3")


def test_card_points_reach_as_far_as_a_hand(profile: BigTwoProfile) -> None:
    assert profile.bigtwo.scoring.card_points[-1].most == HAND_CARDS == profile.hand


@each_row(
    ("old", "new", "line"),
    [
        ('"D3"', '"D1"', 'lead.holder: no card is called "D1"'),
        ('"D3"', '"BJ"', 'lead.holder = "BJ": expected a card that is no joker'),
        ("two_in_straights = true", "two_in_straights = false", "combos.a_low = true: expected"),
        ("most = 9", "most = 8", "scoring.card_points[2]: from 10 to 12 cards, expected a band"),
        ("most = 9", "most = 10", "scoring.card_points[2]: from 10 to 12 cards, expected a band"),
        ("most = 13", "most = 14", "scoring.card_points[3].most = 14: expected a whole number"),
        ("{ least = 13, most = 13, times = 4 },", "", "scoring.card_points: end with 12 cards"),
        ("limit_s = 10", "limit_s = 0", "open_hand.limit_s = 0: expected a whole number from 1"),
        ("equal = 1", "equal = 3", "matchpoints.equal = 3: expected at most 2"),
        ("7000", "11000", "ranking_points.listed: rises"),
        ("7000, 5000, 3500", "", "ranking_points.listed: 1 places, expected 2 or more"),
        ('"total_time"', '"round_places"', 'final.tie_breaks[2] = "round_places": expected each'),
        ('"total_time"', '"a_coin"', 'final.tie_breaks[2] = "a_coin": expected one of'),
    ],
)
def test_a_wrong_table_is_told_in_one_line(old: str, new: str, line: str) -> None:
    assert old in TEXT
    with pytest.raises(ProfileError) as told:
        read_profile(TEXT.replace(old, new, 1), FILE)
    assert str(told.value).startswith(f"{FILE}: bigtwo.{line}")
    assert "\n" not in str(told.value)


def test_every_proposed_value_has_its_gap(profile: BigTwoProfile) -> None:
    proposed = {key for key in profile.provisional if key.startswith("bigtwo.")}
    gaps = regulations_to_settle(profile).gaps
    assert proposed <= {key for gap in gaps for key in gap.keys}


def test_the_missing_movement_is_a_matter_that_nothing_fills(profile: BigTwoProfile) -> None:
    found = [
        matter
        for matter in regulations_to_settle(profile).matters
        if "Swiss movement" in matter.what.en
    ]
    assert [(matter.article, matter.keys) for matter in found] == [("A13, App3", ())]
