import json
from pathlib import Path
from typing import Any

import pytest

from controller.rules.profile import rules_of
from controller.rules.rulebooks import (
    FIXED,
    ProfileError,
    load_guandan,
    load_profile,
    profile_names,
)
from tests.rules.rulebook_texts import NAME, changed, event_file

WRONG = [
    ("hand = 27", "hnd = 27", 'hnd: unknown key, did you mean "hand"?'),
    ("hand = 27", "hand = 26", "hand = 26: expected 27"),
    ("cards = 108", "cards = 107", "deck.cards = 107: expected 108"),
    ("packs = 2", "packs = 9", "deck.packs = 9: expected a whole number from 1 to 4"),
    ("cut_margin = 5 ", "cut_margin = 54 ", "cut_margin = 54: expected"),
    ("shuffles_first = [3, 5]", "shuffles_first = [5, 3]", "shuffles_first = [5, 3]: expected"),
    ('["SJ", "BJ"]', '["SJ", "XX"]', 'turnup.redo_on: no card is called "XX"'),
    ('["SJ", "BJ"]', '["SJ", 4]', "turnup.redo_on[1] = 4: expected text"),
    ('name = "international-000"', 'name = "other"', 'name = "other": expected the name of'),
    ('game = "guandan"', 'game = "bridge"', 'game = "bridge": expected one of guandan, bigtwo'),
    ('text = "000"', 'text = "009"', 'text = "009": expected one of "000"'),
    ("[deck]", "[deck", "Expected ']'"),
    ('must_play = ["A"]', 'must_play = ["2"]', "levels.must_play: expected A among them"),
    ('method = "play_to_A"', 'method = "deals"', "ending.deals = 0: method"),
    ("match_points = [2, 1, 0]", "match_points = [2, 0]", "score.match_points: expected 3"),
    ('cutter_later = "A5.1.3"\n', "", "cutter_later: give its article under [sources]"),
    ('cutter_later = "A5.1.3"', 'cuter = "A5.1.3"', "cutter_later: give its article"),
    ('"clocks.late_s" = "A20"', '"clocks.lat" = "A20"', "clocks.lat: there is no such rule"),
    (
        "[direction]",
        "[direction]\nsideways = 1",
        "direction.sideways: unknown key, expected one of play, draw",
    ),
]


@pytest.mark.parametrize(("old", "new", "line"), WRONG)
def test_a_wrong_profile_is_told_in_one_line(old: str, new: str, line: str) -> None:
    with pytest.raises(ProfileError) as told:
        changed(old, new)
    assert str(told.value).startswith(f"{NAME}.toml: {line}")
    assert "\n" not in str(told.value)


def test_the_widest_cut_margin_still_leaves_a_cut() -> None:
    assert list(changed("cut_margin = 5 ", "cut_margin = 50 ").cuts()) == list(range(51, 58))


def test_an_unknown_profile_is_told_which_there_are() -> None:
    with pytest.raises(ProfileError, match=NAME):
        load_profile("no-such-rulebook")


def test_a_profile_cannot_be_like_one_that_is_not_there() -> None:
    with pytest.raises(ProfileError, match='like = "nobody": expected the name of another'):
        changed('like = "international-000"', 'like = "nobody"', "bcta-004")


def test_a_rulebook_of_big_two_is_refused_where_guandan_is_played() -> None:
    with pytest.raises(ProfileError, match="expected a rulebook of Guandan"):
        load_guandan("bigtwo-2017-002")


# -- an event's file ---------------------------------------------------------


def written(value: Any) -> str:
    """A value as TOML: lists, text and numbers look as in JSON there."""
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
        tables = (", ".join(f"{k} = {v}" for k, v in band.items()) for band in value)
        return f"[{', '.join(f'{{ {table} }}' for table in tables)}]"
    return json.dumps(value, ensure_ascii=False)


def every_rule() -> list[tuple[str, str]]:
    return [
        (name, key)
        for name in ("international-000", "bigtwo-2017-002")
        for key in rules_of(load_profile(name))
        if key.partition(".")[0] not in FIXED
    ]


@pytest.mark.parametrize(("name", "key"), every_rule())
def test_an_event_may_settle_any_single_rule(name: str, key: str, tmp_path: Path) -> None:
    before = load_profile(name)
    value = rules_of(before)[key]
    file = event_file(tmp_path, f"{key} = {written(value)}\n", name)
    after = load_profile(name, file)
    assert rules_of(after) == rules_of(before)
    assert after.event is not None
    assert after.event.settled == (key,)
    assert after.article(key) == "Cup"
    assert set(after.provisional) == set(before.provisional) - {key}
    assert after.event.instead_of.get(key) == before.sources.get(key)


def test_an_event_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    file = event_file(tmp_path, "[clocks]\nplay_s = 25\n[conduct]\nreport_at = 8\n")
    before, after = rules_of(load_profile(NAME)), rules_of(load_profile(NAME, file))
    differing = {key: after[key] for key in after if after[key] != before[key]}
    assert differing == {"clocks.play_s": 25, "conduct.report_at": 8}


WRONG_EVENTS = [
    ("hand = 20\n", "hand: no event can change it"),
    ("[deck]\npacks = 3\n", "deck: no event can change it"),
    ('text = "004"\n', "text: no event can change it"),
    ("left_to_event = {}\n", "left_to_event: no event can change it"),
    ("[clocks]\nplay_s = -1\n", "clocks.play_s = -1: expected a whole number from 0 to 86400"),
    ("[clocks]\nplay_z = 1\n", 'clocks.play_z: unknown key, did you mean "play_s"?'),
    ('[ending]\nmethod = "timed"\ntime_s = 0\n', "ending.time_s = 0: method"),
    ("[ending]\nmethod = 3\n", 'ending.method = 3: expected one of "deals", "play_to_A"'),
    ("[ending\n", "Expected ']'"),
]


@pytest.mark.parametrize(("rules", "line"), WRONG_EVENTS)
def test_a_wrong_event_names_its_file_and_key_in_one_line(
    rules: str, line: str, tmp_path: Path
) -> None:
    file = event_file(tmp_path, rules)
    with pytest.raises(ProfileError) as told:
        load_profile(NAME, file)
    assert str(told.value).startswith(f"{file}: {line}")
    assert "\n" not in str(told.value)


def test_an_event_of_another_profile_is_refused(tmp_path: Path) -> None:
    file = event_file(tmp_path, "", "bcta-004")
    with pytest.raises(ProfileError, match='profile = "bcta-004": expected "international-000"'):
        load_profile(NAME, file)


def test_an_event_without_its_title_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "event.toml"
    file.write_text(f'profile = "{NAME}"\n', encoding="utf-8")
    with pytest.raises(ProfileError, match="title_en: missing, expected text"):
        load_profile(NAME, file)


def test_an_event_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="there is no such file"):
        load_profile(NAME, tmp_path / "none.toml")


def test_the_example_event_is_one(pytestconfig: pytest.Config) -> None:
    event = load_profile(NAME, pytestconfig.rootpath / "deploy" / "event.toml").event
    assert event is not None
    assert "ending.method" in event.settled


def test_all_five_rulebooks_are_there() -> None:
    assert profile_names() == [
        "bcta-004",
        "bigtwo-2017-002",
        "huaian-2017-001",
        "huainan-2013-003",
        "international-000",
    ]
