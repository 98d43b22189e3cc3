import pytest

from controller.cards import parse_face
from controller.rules.profile import (
    BigTwoProfile,
    GuandanProfile,
    Profile,
    flatten_tables,
    rules_by_key,
)
from controller.rules.profile_files import load_profile, profile_names
from tests.guandan import load_guandan
from tests.rows import each_row
from tests.rules.rulebook_texts import NAME, changed


@pytest.fixture(params=profile_names())
def profile(request: pytest.FixtureRequest) -> Profile:
    return load_profile(request.param)


def test_every_rule_is_sourced_or_provisional_and_never_both(profile: Profile) -> None:
    told = [*profile.sources, *profile.provisional]
    assert sorted(told) == sorted(rules_by_key(profile))


def test_an_article_is_told_for_what_has_one_and_none_for_a_proposal(profile: Profile) -> None:
    for key in profile.sources:
        assert profile.article(key)
    for key in profile.provisional:
        assert profile.article(key) is None


def test_four_hands_are_the_whole_set(profile: Profile) -> None:
    assert 4 * profile.hand == profile.deck.cards == sum(profile.deck.composition())


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("international-000", 6, 102),
        ("huaian-2017-001", 6, 102),
        ("huainan-2013-003", 6, 102),
        ("bcta-004", 1, 107),
    ],
)
def test_a_cut_of_108_leaves_the_margin_on_either_side(name: str, least: int, most: int) -> None:
    cuts = load_profile(name).cuts()
    assert (cuts[0], cuts[-1]) == (least, most)


def test_the_first_deal_is_shuffled_more() -> None:
    profile = load_profile(NAME)
    assert [profile.shuffles(deal) for deal in (1, 2, 9)] == [3, 2, 2]


def test_cards_that_are_turned_again_are_faces() -> None:
    assert load_profile(NAME).turnup.faces() == {parse_face("SJ"), parse_face("BJ")}
    assert parse_face("H2") in load_profile("bcta-004").turnup.faces()
    assert not load_profile("huainan-2013-003").turnup.faces()


def test_nested_rules_are_told_by_dotted_keys_and_lists_as_one() -> None:
    nested = {"a": {"b": 1, "c": {"d": [2, 3]}}, "e": True}
    assert dict(flatten_tables(nested)) == {"a.b": 1, "a.c.d": [2, 3], "e": True}


def test_what_a_profile_says_about_itself_is_no_rule() -> None:
    profile = changed('game = "guandan"', 'game = "guandan" # the same')
    assert not {"name", "text", "sources", "left_to_event"} & set(rules_by_key(profile))


SOURCED = {
    ("huainan-2013-003", "levels.a_fail_then"): ("back_to_2", "R5.5"),
    ("bcta-004", "levels.a_fail_then"): ("opponents_win", "CN5"),
    ("bcta-004", "levels.a_fail_points"): ([20, 50], "CN5"),
    ("bcta-004", "cut_margin"): (0, "CN5"),
    ("bcta-004", "ceremony.shuffler_later"): ("prev_UP", "CN5"),
    ("bcta-004", "tribute.double_tie"): ("from_left", "CN5"),
    ("international-000", "tribute.double_tie"): ("clockwise", "A10.2"),
    ("huaian-2017-001", "tribute.double_tie"): ("clockwise", "A10.2"),
    ("huainan-2013-003", "tribute.double_tie"): ("choice", "R4.5"),
    ("huainan-2013-003", "conduct.report_at"): (8, "R3"),
    ("international-000", "conduct.card_down_stays"): (False, "A16.2"),
    ("huainan-2013-003", "ending.equal"): ("first_to_reach", "N4.3"),
    ("huainan-2013-003", "ending.at_time"): ("finish_started", "N4.4"),
    ("bcta-004", "score.match_points"): ([200, 100, 0], "CN5"),
    ("huainan-2013-003", "clocks.late_s"): (300, "R6.1"),
    ("bcta-004", "clocks.late_s"): (600, "C"),
    ("bigtwo-2017-002", "bigtwo.lead.holder"): ("D3", "A7"),
}


@each_row(("where", "told"), SOURCED.items(), ids=lambda told: str(told))
def test_what_a_text_says_stands_with_its_article(
    where: tuple[str, str], told: tuple[object, str]
) -> None:
    name, key = where
    profile = load_profile(name)
    assert (rules_by_key(profile)[key], profile.article(key)) == told


@each_row(
    ("name", "key"),
    [
        ("international-000", "cutter_first"),
        ("international-000", "ending.at_time"),
        ("international-000", "score.level_points"),
        ("international-000", "tribute.return_level_card"),
        ("international-000", "penalties.out_of_turn_skips"),
        ("international-000", "penalties.delay_skips"),
        ("huaian-2017-001", "levels.level_played"),
        ("huainan-2013-003", "tribute.return_double"),
        ("huainan-2013-003", "tribute.anti"),
        ("huainan-2013-003", "ending.winner"),
        ("huainan-2013-003", "clocks.tribute_s"),
        ("huainan-2013-003", "penalties.violations_to_foul"),
        ("bcta-004", "levels.a_pass"),
        ("bcta-004", "conduct.report_at"),
        ("bcta-004", "roles.signers"),
        ("bigtwo-2017-002", "bigtwo.ranking_points.rest"),
    ],
)
def test_what_no_text_says_is_provisional(name: str, key: str) -> None:
    assert key in load_profile(name).provisional


def test_huaian_has_the_words_of_the_international_standard() -> None:
    one, other = load_profile(NAME), load_profile("huaian-2017-001")
    assert rules_by_key(one) == rules_by_key(other)
    assert (one.sources, one.left_to_event) == (other.sources, other.left_to_event)


def test_a_silent_text_takes_a_proposal_from_another_without_its_article() -> None:
    key = "clocks.tribute_s"
    assert rules_by_key(load_profile("bcta-004"))[key] == rules_by_key(load_profile(NAME))[key]
    assert load_profile("bcta-004").article(key) is None


def test_only_the_texts_that_leave_something_to_the_event_say_so(profile: Profile) -> None:
    leaving = profile.text in ("000", "001", "002")
    assert bool(profile.left_to_event) == leaving
    assert set(profile.left_to_event) <= set(rules_by_key(profile))


def test_how_many_deals_make_a_match_is_the_events_in_big_two() -> None:
    assert load_profile("bigtwo-2017-002").left_to_event == {"deals": "A4.10"}


def test_what_departs_from_an_article_is_provisional_and_says_from_which(profile: Profile) -> None:
    assert set(profile.departs) <= set(profile.provisional)
    expected = {"counting.found_card": "A5.2", "ending.at_time": "A14.2.3–4"}
    assert profile.departs == (expected if profile.text in ("000", "001") else {})


def test_big_two_is_another_kind_of_profile() -> None:
    assert isinstance(load_profile("bigtwo-2017-002"), BigTwoProfile)
    assert isinstance(load_guandan(NAME), GuandanProfile)
