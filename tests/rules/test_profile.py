from importlib import resources

import msgspec
import pytest

from controller.cards import parse_face
from controller.rules.profile import (
    Profile,
    ProfileError,
    load_profile,
    profile_hash,
    profile_names,
    read_profile,
)

NAME = "international-000"
TEXT = (resources.files("controller.rules") / "profiles" / f"{NAME}.toml").read_text("utf-8")


@pytest.fixture(params=profile_names())
def profile(request: pytest.FixtureRequest) -> Profile:
    return load_profile(request.param)


def test_every_key_is_sourced_or_provisional(profile: Profile) -> None:
    about = {"name", "title_en", "title_zh", "source", "provisional", "sources"}
    keys = set(msgspec.structs.asdict(profile)) - about
    told = [*profile.sources, *profile.provisional]
    assert keys == {key.partition(".")[0] for key in told}
    assert len(told) == len(set(told))


def test_four_hands_are_the_whole_set(profile: Profile) -> None:
    assert 4 * profile.hand == profile.deck.cards == sum(profile.deck.composition())


def test_a_cut_of_108_takes_6_to_102_cards() -> None:
    cuts = load_profile(NAME).cuts()
    assert (cuts[0], cuts[-1]) == (6, 102)


def test_without_a_margin_any_real_cut_is_legal() -> None:
    cuts = changed("cut_margin = 5", "cut_margin = 0").cuts()
    assert (cuts[0], cuts[-1]) == (1, 107)


def test_the_first_deal_is_shuffled_more() -> None:
    profile = load_profile(NAME)
    assert [profile.shuffles(deal) for deal in (1, 2, 9)] == [3, 2, 2]


def test_a_turned_up_joker_is_turned_again() -> None:
    assert load_profile(NAME).turnup.faces() == {parse_face("SJ"), parse_face("BJ")}


def test_the_hash_changes_with_any_rule() -> None:
    assert profile_hash(load_profile(NAME)) == profile_hash(changed("# 000", "# 000"))
    assert profile_hash(load_profile(NAME)) != profile_hash(changed("margin = 5", "margin = 4"))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("hand = 27", "hnd = 27", 'hnd: unknown key, did you mean "hand"?'),
        ("hand = 27", "hand = 26", "hand = 26: expected 27"),
        ("cards = 108", "cards = 107", "deck.cards = 107: expected 108"),
        ("packs = 2", "packs = 9", "deck.packs = 9: expected a whole number from 1 to 4"),
        ("cut_margin = 5", "cut_margin = 54", "cut_margin = 54: expected"),
        ('"BJ"', '"XX"', 'turnup.redo_on: no card is called "XX"'),
        ('"BJ"', "4", "turnup.redo_on[1] = 4: expected text"),
        ('name = "international-000"', 'name = "other"', 'name = "other": expected the name of'),
        ("[deck]", "[deck", "Expected ']'"),
    ],
)
def test_a_wrong_profile_is_told_in_one_line(old: str, new: str, line: str) -> None:
    with pytest.raises(ProfileError) as told:
        changed(old, new)
    assert str(told.value).startswith(f"{NAME}.toml: {line}")
    assert "\n" not in str(told.value)


def test_an_unknown_profile_is_told_which_there_are() -> None:
    with pytest.raises(ProfileError, match=NAME):
        load_profile("no-such-rulebook")


def changed(old: str, new: str) -> Profile:
    return read_profile(TEXT.replace(old, new), f"{NAME}.toml")
