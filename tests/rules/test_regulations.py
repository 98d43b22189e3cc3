import hashlib
from pathlib import Path

import pytest

from controller.framing import canonical, lp
from controller.rules.keys import all_keys, idle
from controller.rules.profile import Profile, rules_of
from controller.rules.regulations import Point, regulations
from controller.rules.regulations_page import page, page_hash, profile_hash
from controller.rules.rulebooks import load_profile, profile_names
from tests.rules.rulebook_texts import NAME, changed, event_file

GUANDAN = [name for name in profile_names() if name != "bigtwo-2017-002"]


@pytest.fixture(params=profile_names())
def profile(request: pytest.FixtureRequest) -> Profile:
    return load_profile(request.param)


def keys_of(points: tuple[Point, ...]) -> set[str]:
    return {point.key for point in points}


def settled_by(folder: Path, rules: str) -> Profile:
    return load_profile(NAME, event_file(folder, rules))


def test_every_provisional_value_and_nothing_else_is_listed_as_one(profile: Profile) -> None:
    found = regulations(profile)
    live = {key for key in profile.provisional if not idle(profile, key)}
    assert keys_of(found.provisional) == live - set(profile.left_to_event)
    assert keys_of(found.left) == set(profile.left_to_event)
    assert not found.changed


@pytest.mark.parametrize(
    ("key", "article"),
    [
        ("conduct.report_at", "A12.4"),
        ("score.level_points", "A13.3"),
        ("ending.method", "A14.2"),
        ("ending.deals", "A14.2.2"),
        ("ending.time_s", "A14.2.3"),
        ("ending.matches", "A14.3"),
        ("clocks.late_s", "A20"),
        ("ending.equal", "A27.3"),
    ],
)
def test_what_the_text_leaves_to_the_event_is_asked_with_its_article(
    key: str, article: str
) -> None:
    points = {point.key: point for point in regulations(load_profile(NAME)).left}
    assert points[key].left_by == article
    assert not points[key].settled


@pytest.mark.parametrize("article", ["A28.4", "A29.2", "A30, A31", "A32.2"])
def test_matters_of_the_event_that_no_key_holds_are_listed(article: str) -> None:
    assert article in {matter.article for matter in regulations(load_profile(NAME)).matters}


@pytest.mark.parametrize(
    ("name", "title"),
    [
        (name, title)
        for name in GUANDAN
        for title in (
            *("Shuffling", "Cut", "Turned-up card", "Drawing", "Anti-tribute", "Sorting"),
            *("When a deal begins", "Added time"),
        )
    ],
)
def test_every_human_act_that_the_machine_replaces_is_listed(name: str, title: str) -> None:
    assert title in {act.title.en for act in regulations(load_profile(name)).acts}


def test_a_text_that_knows_machines_frees_shuffling_and_dealing_and_no_more() -> None:
    acts = regulations(load_profile(NAME)).acts
    freed = {act.title.en: act.allowed_by for act in acts if act.allowed_by}
    assert freed == {"Shuffling": "A5.3", "Drawing": "A5.3"}


@pytest.mark.parametrize("name", ["huainan-2013-003", "bcta-004"])
def test_a_text_without_machines_frees_nothing(name: str) -> None:
    assert not any(act.allowed_by for act in regulations(load_profile(name)).acts)


def test_a_machine_is_allowed_by_the_text_exactly_where_the_profile_says_so() -> None:
    for name in GUANDAN:
        profile = load_profile(name)
        allowed = any(act.allowed_by for act in regulations(profile).acts)
        assert rules_of(profile)["ceremony.machine_program"] is allowed


def test_rows_name_keys_that_their_profile_has(profile: Profile) -> None:
    found = regulations(profile)
    named = [act.keys for act in found.acts]
    named += [matter.keys for matter in (*found.matters, *found.gaps)]
    assert {key for keys in named for key in keys} <= set(rules_of(profile))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("international-000", "22–24"),
        ("international-000", "bye"),
        ("international-000", "odd number"),
        ("international-000", "Withdrawal"),
        ("international-000", "Equal sums"),
        ("international-000", "at once when time is up"),
        ("huainan-2013-003", "default"),
        ("bcta-004", "default"),
        ("bigtwo-2017-002", "Appendix 3"),
        ("bigtwo-2017-002", "duplicated deals"),
    ],
)
def test_what_a_text_lacks_is_told(name: str, word: str) -> None:
    assert any(word in gap.what.en for gap in regulations(load_profile(name)).gaps)


def test_what_the_event_settles_is_shown_as_settled(tmp_path: Path) -> None:
    profile = settled_by(
        tmp_path, '[clocks]\nlate_s = 300\n[tribute]\nreturns_single = "together"\n'
    )
    found = regulations(profile)
    assert {point.key for point in found.left if point.settled} == {"clocks.late_s"}
    assert {p.key for p in found.provisional if p.settled} == {"tribute.returns_single"}
    assert not found.changed


def test_what_the_event_changes_against_an_article_is_listed_with_it(tmp_path: Path) -> None:
    (point,) = regulations(settled_by(tmp_path, "[clocks]\nplay_s = 25\n")).changed
    assert (point.key, point.article, point.value.en) == ("clocks.play_s", "A21.1", "25 s")


def test_a_key_without_effect_is_left_out_until_an_event_names_it(tmp_path: Path) -> None:
    key = "levels.a_fail_counts"
    assert key not in keys_of(regulations(load_profile(NAME)).provisional)
    named = settled_by(tmp_path, '[levels]\na_fail_counts = "consecutive"\n')
    assert key in keys_of(regulations(named).provisional)


# -- the page ----------------------------------------------------------------


def test_the_page_shows_everything_in_both_languages(profile: Profile) -> None:
    text, found = page(profile), regulations(profile)
    for point in (*found.left, *found.provisional):
        for part in (point.key, point.label.zh, point.label.en, point.value.zh, point.value.en):
            assert part in text
    for act in found.acts:
        assert act.machine.zh in text
        assert act.machine.en in text
    for matter in (*found.matters, *found.gaps):
        assert matter.what.zh in text
        assert matter.what.en in text
        assert matter.article in text


def test_the_page_has_its_lines_for_organizer_and_chief(profile: Profile) -> None:
    *_, organizer, chief = page(profile).splitlines()
    assert organizer.startswith("主办方 Organizer  ____")
    assert chief.startswith("裁判长 Chief referee  ____")


def test_the_page_names_the_event_that_it_is_for(tmp_path: Path) -> None:
    text = page(settled_by(tmp_path, "[clocks]\nlate_s = 300\n"))
    assert "赛事 Event: 杯  Cup" in text
    assert "主办方 Organizer: Club" in text
    assert text.count("■ 已定") == 1


def test_an_open_point_can_be_agreed_or_changed_with_a_pen() -> None:
    found = regulations(load_profile(NAME))
    blank = page(load_profile(NAME)).count("□ 照此 as it stands   □ 改为 changed to: ____")
    assert blank == len(found.left) + len(found.provisional)


def test_no_line_of_the_page_ends_in_blanks(profile: Profile) -> None:
    text = page(profile)
    assert text.endswith("\n")
    assert all(line == line.rstrip() for line in text.splitlines())


# -- the hash ----------------------------------------------------------------


def test_the_hash_is_made_as_the_proof_says(profile: Profile) -> None:
    rules = hashlib.sha256(canonical(profile)).digest()
    signed = hashlib.sha256(page(profile).encode("utf-8")).digest()
    assert page_hash(profile) == signed
    whole = lp("dealtable/profile/1") + lp(rules) + lp(signed)
    assert profile_hash(profile) == hashlib.sha256(whole).digest()


def test_the_hash_changes_with_any_rule_and_with_nothing_else() -> None:
    hashed = profile_hash(load_profile(NAME))
    assert hashed == profile_hash(changed("# 掼蛋国际竞赛标准 (seed 000)", "# (seed 000)"))
    assert hashed != profile_hash(changed("cut_margin = 5 ", "cut_margin = 4 "))
    assert hashed != profile_hash(changed('cutter_later = "A5.1.3"', 'cutter_later = "A5.1"'))


def test_no_two_profiles_have_one_hash() -> None:
    assert len({profile_hash(load_profile(name)) for name in profile_names()}) == 5


def test_an_event_has_a_hash_of_its_own_even_if_it_changes_no_rule(tmp_path: Path) -> None:
    assert profile_hash(settled_by(tmp_path, "")) != profile_hash(load_profile(NAME))


def test_the_words_of_the_page_are_in_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    before = profile_hash(load_profile(NAME))
    monkeypatch.setattr("controller.rules.regulations_page._SILENT", "[silent]")
    assert profile_hash(load_profile(NAME)) != before


def test_every_key_can_be_explained_on_a_page() -> None:
    assert all(words.about.zh and words.about.en for words in all_keys().values())
