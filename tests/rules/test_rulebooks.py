import json
from pathlib import Path
from typing import Any

import pytest

from controller.rules.profile import rules_by_key
from controller.rules.profile_files import FIXED_KEYS, ProfileError, load_profile, profile_names
from tests.guandan import load_guandan
from tests.rows import each_row
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
    ('"ending.at_time" = "A14', '"clocks.play_s" = "A14', "clocks.play_s: departs from the text,"),
    ('"ending.at_time" = "A14', '"ending.when" = "A14', "ending.when: there is no such rule"),
    ('source = "权威', 'source = "\\n权威', 'source = "\\n权威发布'),
    (
        "[direction]",
        "[direction]\nsideways = 1",
        "direction.sideways: unknown key, expected one of play, draw",
    ),
]


@each_row(("old", "new", "line"), WRONG)
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
        for key in rules_by_key(load_profile(name))
        if key.partition(".")[0] not in FIXED_KEYS
    ]


@each_row(("name", "key"), every_rule())
def test_an_event_may_settle_any_single_rule(name: str, key: str, tmp_path: Path) -> None:
    before = load_profile(name)
    value = rules_by_key(before)[key]
    file = event_file(tmp_path, f"{key} = {written(value)}\n", name)
    after = load_profile(name, file)
    assert rules_by_key(after) == rules_by_key(before)
    assert after.event is not None
    assert after.event.settled == (key,)
    assert after.article(key) == "Cup"
    assert set(after.provisional) == set(before.provisional) - {key}
    assert after.event.instead_of.get(key) == before.sources.get(key)
    assert after.event.before == {key: value}


def test_an_event_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    file = event_file(tmp_path, "[clocks]\nplay_s = 25\n[conduct]\nreport_at = 8\n")
    before, after = rules_by_key(load_profile(NAME)), rules_by_key(load_profile(NAME, file))
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
    ("[ending]\n" + "at = " * 2 + "1\n", "Invalid value"),
    ("deals = 8\n", "deals: unknown key, expected one of profile, title_en, title_zh, organizer"),
    ("turn = 8\n", 'turn: unknown key, did you mean "turnup"?'),
    ('"a\\nb" = 1\n', "a\\nb: unknown key"),
    ("shuffles_first = [3]\n", "shuffles_first = [3]: expected two whole numbers from 1 to 255"),
    (
        '[levels]\nmust_play = ["Z"]\n',
        'levels.must_play[0] = "Z": expected one of "2", "3", "4", "5", "6", "7", "8", "9", "10", '
        '"J", "Q", "K", "A"',
    ),
    ('[turnup]\nredo_on = ["S\\nJ"]\n', 'turnup.redo_on[0] = "S\\nJ": expected one line of'),
]

CONTRADICTIONS = [
    ('[ending]\nmethod = "timed"\nlast_start_margin_s = 3600', "ending.last_start_margin_s = 3600"),
    ('[ending]\nmethod = "timed"\nlast_start_margin_s = 9999', "ending.last_start_margin_s = 9999"),
    ('[ending]\nmethods = ["deals", "play_to_A", "deals"]', 'ending.methods[2] = "deals"'),
    ('[penalties]\nlevel_bounds = ["A", "2"]', 'penalties.level_bounds = ["A", "2"]'),
    ("[score]\nmatch_points = [0, 1, 2]", "score.match_points = [0, 1, 2]"),
    ("[score]\nmatch_points = [2, 0, 1]", "score.match_points = [2, 0, 1]"),
    ("[score]\nmatch_points = [1, 1, 1]", "score.match_points = [1, 1, 1]"),
    ("[score]\nforfeit_match_points = [0, 2]", "score.forfeit_match_points = [0, 2]"),
    ('[levels]\nmust_play = ["A", "2", "A"]', 'levels.must_play[2] = "A": expected each of them'),
    ('[levels]\na_pass = ["R12", "R12"]', 'levels.a_pass[1] = "R12": expected each of them once'),
    ("[levels]\na_fail_limit = 3", "levels.a_fail_limit = 3: give a_fail_then, too"),
    ('[levels]\na_fail_then = "back_to_2"', 'levels.a_fail_then = "back_to_2": give a_fail_limit'),
    ('[turnup]\nredo_on = ["SJ", "H2", "SJ"]', 'turnup.redo_on[2] = "SJ": expected each of them'),
    ('[turnup]\nredo_on = ["H2", "♥2"]', 'turnup.redo_on[1] = "♥2": expected each of them once'),
    ("[roles]\nsigners = []", "roles.signers: empty, expected at least one"),
    ('[roles]\nsigners = ["N", "N"]', 'roles.signers[1] = "N": expected each of them once'),
    ('[clocks]\nlate_then = "default"', "clocks.late_s = 0: late_then"),
]


@each_row(("rules", "line"), CONTRADICTIONS)
def test_rules_that_contradict_each_other_are_refused(
    rules: str, line: str, tmp_path: Path
) -> None:
    file = event_file(tmp_path, rules + "\n")
    with pytest.raises(ProfileError) as told:
        load_profile(NAME, file)
    assert str(told.value).startswith(f"{file}: {line}")


def levels_with(old: str, new: str, tmp_path: Path) -> Path:
    points = written(rules_by_key(load_profile(NAME))["score.level_points"])
    assert points.count(old) == 1
    return event_file(tmp_path, f"[score]\nlevel_points = {points.replace(old, new)}\n")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[13, 13]", "[12, 14]", "level_points[0] = [12, 14]: expected no less for the winner"),
        ("[18, 8]", "[16, 8]", "level_points[5] = [16, 8]: expected no less for the winner and no"),
        ("[18, 8]", "[18, 10]", "level_points[5] = [18, 10]: expected no less for the winner and"),
    ],
)
def test_a_greater_win_is_worth_no_less(old: str, new: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(ProfileError) as told:
        load_profile(NAME, levels_with(old, new, tmp_path))
    assert f"score.{line}" in str(told.value)


def test_two_differences_may_be_worth_the_same(tmp_path: Path) -> None:
    profile = load_profile(NAME, levels_with("[14, 12]", "[13, 13]", tmp_path))
    assert rules_by_key(profile)["score.level_points"][:2] == [(13, 13), (13, 13)]


def test_card_points_without_a_band_are_told_as_empty(tmp_path: Path) -> None:
    file = event_file(tmp_path, "bigtwo.scoring.card_points = []\n", "bigtwo-2017-002")
    with pytest.raises(ProfileError, match=r"bigtwo\.scoring\.card_points: empty, expected bands"):
        load_profile("bigtwo-2017-002", file)


@each_row("key", ["profile", "title_en", "title_zh", "organizer"])
@each_row(
    ("text", "line"),
    [
        ("", "empty, expected text"),
        (" \u3000 ", "empty, expected text"),
        ("Cup\\n三、无", "expected one line of printable text"),
        ("Cup\\u001b[2K", "expected one line of printable text"),
        ("Cup\\u202e", "expected one line of printable text"),
    ],
)
def test_a_title_is_one_wasthat_can_be_printed(
    key: str, text: str, line: str, tmp_path: Path
) -> None:
    file = event_file(tmp_path, "")
    said = file.read_text("utf-8").splitlines()
    lines = [f'{key} = "{text}"' if was.startswith(key) else was for was in said]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ProfileError) as told:
        load_profile(NAME, file)
    assert str(told.value).startswith(f"{file}: {key}")
    assert str(told.value).endswith(line)
    assert str(told.value).isprintable() or "\u3000" in text


def test_a_title_keeps_single_blanks_only(tmp_path: Path) -> None:
    file = event_file(tmp_path, "")
    file.write_text(file.read_text("utf-8").replace('"杯"', '" 2027年　春季杯   A "'), "utf-8")
    event = load_profile(NAME, file).event
    assert event is not None
    assert event.title_zh == "2027年　春季杯 A"


def test_an_event_that_was_saved_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = event_file(tmp_path, "[clocks]\nplay_s = 25\n")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert (
        load_profile(NAME, file).event
        == load_profile(NAME, event_file(tmp_path, "[clocks]\nplay_s = 25\n")).event
    )


def test_the_name_of_a_profile_is_echoed_on_one_line() -> None:
    with pytest.raises(ProfileError) as told:
        load_profile("a\nb\x1b" + "c" * 999)
    assert str(told.value).startswith('profile "a\\nb\\x1bccc')
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 250


@each_row(("rules", "line"), WRONG_EVENTS)
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
