import re

import pytest

from controller.cards import RANKS
from controller.rules.key_text import (
    all_keys,
    has_no_effect,
    is_unset,
    remark_on_key,
    table_title,
    value_words,
)
from controller.rules.profile import rules_by_key
from controller.rules.profile_files import load_profile, profile_names
from controller.words import Words
from tests.rows import each_row
from tests.rules.rulebook_texts import changed
from tests.rules.shapes import all_choices

CHINESE = re.compile(r"[一-鿿]")


def test_every_key_of_every_profile_has_words_and_no_other_key_has() -> None:
    keys = {key for name in profile_names() for key in rules_by_key(load_profile(name))}
    assert set(all_keys()) == keys


@each_row("key", all_keys())
def test_a_key_is_explained_in_both_languages(key: str) -> None:
    words = all_keys()[key]
    for text in (words.label, words.about, table_title(key)):
        assert CHINESE.search(text.zh)
        assert re.search("[a-z]", text.en)
        assert not CHINESE.search(text.en)


def every_choice() -> list[tuple[str, str]]:
    return [(key, word) for key, words in all_choices().items() for word in sorted(words)]


@each_row(("key", "word"), every_choice())
def test_a_choice_has_words_in_both_languages(key: str, word: str) -> None:
    told = value_words(key, word)
    if word in RANKS:
        assert told == Words(word, word)
        return
    assert CHINESE.search(told.zh)
    assert re.search("[A-Za-z]", told.en)


@each_row("key", all_keys())
def test_no_words_are_given_for_a_choice_that_is_none(key: str) -> None:
    open_ones = {"true", "false", "0", "0:0", "[]"}
    assert set(all_keys()[key].choices) <= all_choices().get(key, frozenset()) | open_ones


@pytest.mark.parametrize("name", profile_names())
def test_no_value_is_shown_as_the_program_writes_it(name: str) -> None:
    for key, value in rules_by_key(load_profile(name)).items():
        for text in value_words(key, value).en, value_words(key, value).zh:
            assert text
            assert not re.search(r"_|True|False|None|\{|\[", text)


@each_row(
    ("key", "value", "en", "zh"),
    [
        ("ending.at_time", "stop_now", "the match ends at once, the deal does not count", None),
        ("ending.time_s", 3600, "60 min", "60分钟"),
        ("ending.time_s", 3601, "3601 s", "3601秒"),
        ("clocks.sort_s", 60, "60 s", "60秒"),
        ("clocks.late_s", 0, "not set", "未定"),
        ("levels.upgrade.R14", 1, "1 level", "1级"),
        ("shuffles_first", (3, 5), "3–5 times", "3–5次"),
        ("levels.a_fail_points", [20, 50], "20, 50 points", "20、50分"),
        ("score.match_points", [], "none", "无"),
        ("score.level_points", [(13, 13), (14, 12)], "13:13  14:12", "13:13  14:12"),
        ("turnup.redo_on", ["SJ", "H2"], "small joker, ♥2", "小王、♥2"),
        ("deck.jokers", False, "without jokers", "不含大小王"),
        ("levels.a_own_level_only", True, "yes", "是"),
        ("bigtwo.open_hand.factor", 3, "3", "3"),
        ("score.match_points", [2, 1, 0], "2 : 1 : 0", None),
        ("score.forfeit_match_points", [2, 0], "2 : 0", None),
        ("penalties.hidden_levels", (1, 1), "1 / −1 levels", "1 / −1级"),
        ("penalties.hidden_levels", (0, 0), "none", "无"),
        ("penalties.hidden_levels", (1, 0), "1 / 0 levels", "1 / 0级"),
    ],
)
def test_a_value_is_written_for_people(key: str, value: object, en: str, zh: str | None) -> None:
    told = value_words(key, value)
    assert told.en == en
    assert zh is None or told.zh == zh


def test_a_word_that_nobody_gave_is_no_key() -> None:
    with pytest.raises(KeyError):
        value_words("no.such.key", 1)


def test_a_key_is_idle_where_the_text_fixed_what_it_depends_on() -> None:
    assert has_no_effect(load_profile("huainan-2013-003"), "ending.deals")
    assert has_no_effect(load_profile("international-000"), "penalties.foul_levels")
    assert not has_no_effect(load_profile("huainan-2013-003"), "penalties.foul_levels")
    assert not has_no_effect(load_profile("international-000"), "clocks.tribute_s")


def test_what_follows_the_last_failure_is_idle_where_failures_have_no_limit() -> None:
    assert has_no_effect(load_profile("international-000"), "levels.a_fail_then")
    assert not has_no_effect(load_profile("bcta-004"), "levels.a_fail_then")


def test_a_value_is_unset_where_it_settles_nothing() -> None:
    assert is_unset("clocks.late_s", 0)
    assert is_unset("clocks.late_then", "regulations")
    assert is_unset("roles.substitution", "regulations")
    assert not is_unset("clocks.late_s", 300)
    assert not is_unset("clocks.opening_s", 0)
    assert not is_unset("bigtwo.last_card.may_pass", False)


def test_what_makes_a_value_unset_is_one_of_the_key() -> None:
    for key, words in all_keys().items():
        for value in words.unset:
            assert str(value) in words.choices, key


def test_a_remark_is_made_under_the_texts_that_it_is_about() -> None:
    for key, texts in (
        ("counting.found_card", ("000", "001")),
        ("penalties.out_of_turn_skips", ("000", "001")),
        ("penalties.delay_skips", ("000", "001")),
        ("tribute.return_level_card", ("000", "001")),
        ("ending.winner", ("003",)),
    ):
        for name in profile_names():
            profile = load_profile(name)
            if key in rules_by_key(profile):
                assert (remark_on_key(profile, key) is not None) == (profile.text in texts)


@each_row("key", all_keys())
def test_a_remark_is_a_whole_sentence_in_both_languages_and_no_about_cites_a_text(key: str) -> None:
    words = all_keys()[key]
    for text in words.remarks.values():
        assert text.en.endswith(".")
        assert text.zh.endswith("。")
    assert not re.search("by the letter|the text", words.about.en, re.IGNORECASE)
    assert not re.search("字面|原文(?!系数)", words.about.zh)


def test_big_two_is_told_without_the_words_of_guandan() -> None:
    profile = load_profile("bigtwo-2017-002")
    for key, value in rules_by_key(profile).items():
        words = value_words(key, value)
        told = f"{words.en} {words.zh} {all_keys()[key].about.en} {all_keys()[key].label.en}"
        assert not re.search("UP|LAST|上游|下游|Whether he", told), key


def test_a_key_is_not_idle_while_the_event_may_still_choose() -> None:
    assert not has_no_effect(load_profile("international-000"), "ending.deals")
    assert not has_no_effect(load_profile("international-000"), "ending.time_s")


def test_a_key_is_idle_only_if_all_that_it_depends_on_leave_it_out() -> None:
    key = "penalties.level_bounds"
    assert has_no_effect(load_profile("international-000"), key)
    assert not has_no_effect(changed('hidden = "foul"', 'hidden = "levels"'), key)


def test_what_makes_a_key_idle_is_a_key_and_one_of_its_values() -> None:
    for words in all_keys().values():
        for other, values in words.idle.items():
            assert other in all_keys()
            known = all_choices().get(other)
            assert known is None or set(map(str, values)) <= known


def test_what_is_counted_has_a_unit_that_is_there() -> None:
    for key, words in all_keys().items():
        if words.unit:
            assert value_words(key, 4321).en != "4321"
