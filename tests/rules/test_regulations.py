import hashlib
import re
from pathlib import Path

import pytest

from controller.rules.key_text import all_keys, has_no_effect
from controller.rules.profile import Profile, rules_by_key
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.regulations import RegulationPoint, Regulations, regulations_to_settle
from controller.rules.regulations_page import WIDTH, page_hash, profile_hash, regulations_text
from controller.rules.text_columns import cell_width
from controller.signing import canonical_json, length_prefixed
from tests.rows import each_row
from tests.rules.rulebook_texts import NAME, changed, event_file

GUANDAN = [name for name in profile_names() if name != "bigtwo-2017-002"]


@pytest.fixture(params=profile_names())
def profile(request: pytest.FixtureRequest) -> Profile:
    return load_profile(request.param)


def keys_of(points: tuple[RegulationPoint, ...]) -> set[str]:
    return {point.key for point in points}


def every_point(found: Regulations) -> tuple[RegulationPoint, ...]:
    return (*found.left, *found.provisional, *found.departs, *found.changed)


def settled_by(folder: Path, rules: str) -> Profile:
    return load_profile(NAME, event_file(folder, rules))


def test_every_provisional_value_and_nothing_else_is_listed_as_one(profile: Profile) -> None:
    found = regulations_to_settle(profile)
    live = {key for key in profile.provisional if not has_no_effect(profile, key)}
    assert keys_of(found.provisional) == live - set(profile.left_to_event) - set(profile.departs)
    assert keys_of(found.departs) == set(profile.departs)
    assert {p.key for p in every_point(found) if p.provisional} == live
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
    points = {point.key: point for point in regulations_to_settle(load_profile(NAME)).left}
    assert points[key].left_by == article
    assert not points[key].settled


@pytest.mark.parametrize("article", ["A28.4", "A29.2", "A30, A31", "A32.2"])
def test_matters_of_the_event_that_no_key_holds_are_listed(article: str) -> None:
    assert article in {
        matter.article for matter in regulations_to_settle(load_profile(NAME)).matters
    }


@each_row(
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
    assert title in {act.title.en for act in regulations_to_settle(load_profile(name)).acts}


def test_a_text_that_knows_machines_frees_shuffling_and_dealing_and_no_more() -> None:
    acts = regulations_to_settle(load_profile(NAME)).acts
    freed = {act.title.en: act.allowed_by for act in acts if act.allowed_by}
    assert freed == {"Shuffling": "A5.3", "Drawing": "A5.3"}


@pytest.mark.parametrize("name", ["huainan-2013-003", "bcta-004"])
def test_a_text_without_machines_frees_nothing(name: str) -> None:
    assert not any(act.allowed_by for act in regulations_to_settle(load_profile(name)).acts)


def test_a_machine_is_allowed_by_the_text_exactly_where_the_profile_says_so() -> None:
    for name in GUANDAN:
        profile = load_profile(name)
        allowed = any(act.allowed_by for act in regulations_to_settle(profile).acts)
        assert rules_by_key(profile)["ceremony.machine_program"] is allowed


def test_rows_name_keys_that_their_profile_has(profile: Profile) -> None:
    found = regulations_to_settle(profile)
    named = [act.keys for act in found.acts]
    named += [matter.keys for matter in (*found.matters, *found.gaps)]
    assert {key for keys in named for key in keys} <= set(rules_by_key(profile))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("international-000", "22–24"),
        ("international-000", "bye"),
        ("international-000", "odd number"),
        ("international-000", "Withdrawal"),
        ("international-000", "Equal sums"),
        ("huainan-2013-003", "default"),
        ("bcta-004", "default"),
        ("bigtwo-2017-002", "factor of the places"),
        ("bigtwo-2017-002", "duplicated deals"),
    ],
)
def test_what_a_text_lacks_is_told(name: str, word: str) -> None:
    assert any(word in gap.what.en for gap in regulations_to_settle(load_profile(name)).gaps)


def test_what_the_event_settles_is_shown_as_settled(tmp_path: Path) -> None:
    profile = settled_by(
        tmp_path, '[clocks]\nlate_s = 300\n[tribute]\nreturns_single = "together"\n'
    )
    found = regulations_to_settle(profile)
    assert {point.key for point in found.left if point.settled} == {"clocks.late_s"}
    assert {p.key for p in found.provisional if p.settled} == {"tribute.returns_single"}
    assert not found.changed


def test_what_the_event_changes_against_an_article_is_listed_with_it(tmp_path: Path) -> None:
    found = regulations_to_settle(settled_by(tmp_path, "[clocks]\nplay_s = 25\n"))
    (point,) = found.changed
    assert point.key not in keys_of(found.provisional)
    assert (point.key, point.article, point.value.en) == ("clocks.play_s", "A21.1", "25 s")


def test_a_key_without_effect_is_left_out_until_an_event_names_it(tmp_path: Path) -> None:
    key = "levels.a_fail_counts"
    assert key not in keys_of(regulations_to_settle(load_profile(NAME)).provisional)
    named = settled_by(tmp_path, '[levels]\na_fail_counts = "consecutive"\n')
    assert key in keys_of(regulations_to_settle(named).provisional)


# -- the page ----------------------------------------------------------------


def without_breaks(text: str) -> str:
    """Text however it is wrapped."""
    return "".join(text.split())


def test_the_page_shows_everything_in_both_languages(profile: Profile) -> None:
    text, found = without_breaks(regulations_text(profile)), regulations_to_settle(profile)
    told: list[str] = []
    for point in every_point(found):
        told += [point.key, point.label.zh, point.label.en, point.about.zh, point.about.en]
        told += [] if point.unset else [point.value.zh, point.value.en]
        told += [point.remark.zh, point.remark.en] if point.remark else []
    for act in found.acts:
        told += [act.by.zh, act.by.en, act.machine.zh, act.machine.en, *act.keys]
    for matter in (*found.matters, *found.gaps):
        told += [matter.what.zh, matter.what.en, matter.article, *matter.keys]
    for part in told:
        assert without_breaks(part) in text


def test_no_line_of_the_page_is_wider_than_a_terminal(profile: Profile, tmp_path: Path) -> None:
    file = event_file(tmp_path, "", profile.name)
    file.write_text(file.read_text("utf-8").replace('"Cup"', f'"{"杯 Cup " * 40}"'), "utf-8")
    for text in regulations_text(profile), regulations_text(load_profile(profile.name, file)):
        assert max(map(cell_width, text.splitlines())) <= WIDTH == 78


def test_a_key_is_not_broken_on_the_page(profile: Profile) -> None:
    text = regulations_text(profile)
    for point in every_point(regulations_to_settle(profile)):
        assert f"({point.key})" in text


def test_a_long_title_begins_no_line_at_the_margin(tmp_path: Path) -> None:
    file = event_file(tmp_path, "")
    title = "一、无 " * 40
    file.write_text(file.read_text("utf-8").replace('"Cup"', f'"{title}"'), "utf-8")
    lines = regulations_text(load_profile(NAME, file)).splitlines()
    assert [line for line in lines if line.startswith("一")] == [
        "一、规则留给本比赛规定的事项  Left to the event by the text"
    ]


def test_the_page_has_its_lines_for_organizer_and_chief(profile: Profile) -> None:
    *_, organizer, chief = regulations_text(profile).splitlines()
    assert organizer.startswith("主办方 Organizer  ____")
    assert chief.startswith("裁判长 Chief referee  ____")


def test_the_page_names_the_event_that_it_is_for(tmp_path: Path) -> None:
    text = regulations_text(settled_by(tmp_path, "[clocks]\nlate_s = 300\n"))
    assert "赛事 Event: 杯  Cup" in text
    assert "主办方 Organizer: Club" in text
    assert text.count("■ 已定") == 1


def test_an_open_point_can_be_agreed_or_changed_with_a_pen() -> None:
    found = regulations_to_settle(load_profile(NAME))
    blank = regulations_text(load_profile(NAME)).count(
        "□ 照此 as it stands   □ 改为 changed to: ____"
    )
    points = every_point(found)
    assert blank == len([point for point in points if not point.unset])


def test_what_settles_nothing_is_to_be_filled_in_and_not_agreed() -> None:
    found = regulations_to_settle(load_profile(NAME))
    unset = {point.key for point in every_point(found) if point.unset}
    assert unset == {"ending.deals", "clocks.late_s", "clocks.late_then", "roles.substitution"}
    text = regulations_text(load_profile(NAME))
    assert text.count("→ 须填写 to be filled in: ____") == len(unset)
    assert "未定" not in text
    assert "as the regulations say" not in text


def test_what_an_event_leaves_unset_is_still_to_be_filled_in(tmp_path: Path) -> None:
    text = regulations_text(settled_by(tmp_path, "[clocks]\nlate_s = 0\n"))
    assert text.count("→ 须填写 to be filled in: ____") == 4
    assert "■ 已定" not in text


def item(text: str, key: str) -> str:
    """The lines of one item of the page."""
    found = re.search(rf"(?m)^ *\d+\. [^\n]*(?:\n     [^\n]*)?\({key}\)(?:\n     .*)*", text)
    assert found is not None
    return found[0]


def test_a_departure_from_an_article_has_its_own_mark() -> None:
    text = regulations_text(load_profile(NAME))
    section = text[text.index("\n三、") : text.index("\n四、")]
    for key, article in (("counting.found_card", "A5.2"), ("ending.at_time", "A14.2.3–4")):
        told = item(section, key)
        assert f"【偏离条文 departs from {article}】" in told
        assert "按字面" in told
        assert "暂定" not in told
        assert "□ 照此" in told


def test_no_departure_is_left_where_the_event_has_a_rule_without_effect(tmp_path: Path) -> None:
    found = regulations_to_settle(settled_by(tmp_path, '[ending]\nmethod = "play_to_A"\n'))
    assert keys_of(found.departs) == {"counting.found_card"}


def test_the_value_that_the_event_replaces_is_told(tmp_path: Path) -> None:
    text = regulations_text(
        settled_by(
            tmp_path,
            '[clocks]\nplay_s = 25\n[ending]\ntime_s = 3600\nat_time = "stop_now"\n'
            '[counting]\nfound_card = "play_on"\n',
        )
    )
    assert "原为 instead of: 20秒  20 s  [A21.1]" in item(text, "clocks.play_s")
    assert "与原值相同 as it was  [A14.2.3]" in item(text, "ending.time_s")
    back = item(text, "ending.at_time")
    assert "→ 即行结束，本副不计" in back
    assert "原为 instead of: 打完已开始的一副" in back
    assert back.index("偏离条文") > back.index("原为")
    assert "与原值相同 as it was  【偏离条文" in item(text, "counting.found_card")


def test_what_the_event_settled_is_no_more_left_to_it(tmp_path: Path) -> None:
    key = "clocks.late_s"
    assert "left to the event by A20" in item(regulations_text(load_profile(NAME)), key)
    assert "left to the event" not in item(
        regulations_text(settled_by(tmp_path, f"{key} = 300\n")), key
    )


def test_what_big_two_leaves_to_the_regulations_stands_first() -> None:
    found = regulations_to_settle(load_profile("bigtwo-2017-002"))
    assert keys_of(found.left) == {"deals"}
    articles = {matter.article for matter in found.matters}
    assert articles == {"A13, App3", "A4.11, A13", "A15, A17", "A19.3"}
    assert not articles & {gap.article for gap in found.gaps}
    assert not any("is for the regulations" in gap.what.en for gap in found.gaps)


def test_matters_and_gaps_are_whole_sentences(profile: Profile) -> None:
    found = regulations_to_settle(profile)
    for matter in (*found.matters, *found.gaps):
        assert matter.what.en.endswith(".")
        assert matter.what.zh.endswith("。")


def test_the_page_has_one_word_for_the_regulations(profile: Profile) -> None:
    assert "规程" not in regulations_text(profile)


@pytest.mark.parametrize("name", ["huainan-2013-003", "bcta-004"])
def test_no_text_is_said_to_say_what_another_says(name: str) -> None:
    text = without_breaks(regulations_text(load_profile(name)))
    for words in ("By the letter", "26-point", "gives it back in the same trick", "A5.2", "A14.2"):
        assert without_breaks(words) not in text


def test_no_line_of_the_page_ends_in_blanks(profile: Profile) -> None:
    text = regulations_text(profile)
    assert text.endswith("\n")
    assert all(line == line.rstrip() for line in text.splitlines())


# -- the hash ----------------------------------------------------------------


def test_the_hash_is_made_as_the_proof_says(profile: Profile) -> None:
    rules = hashlib.sha256(canonical_json(profile)).digest()
    signed = hashlib.sha256(regulations_text(profile).encode("utf-8")).digest()
    assert page_hash(profile) == signed
    whole = (
        length_prefixed("dealtable/profile/1") + length_prefixed(rules) + length_prefixed(signed)
    )
    assert profile_hash(profile) == hashlib.sha256(whole).digest()


def test_the_hash_changes_with_any_rule_and_with_nothing_else() -> None:
    hashed = profile_hash(load_profile(NAME))
    assert hashed == profile_hash(changed("# 掼蛋国际竞赛标准 (seed 000)", "# (seed 000)"))
    assert hashed != profile_hash(changed("cut_margin = 5 ", "cut_margin = 4 "))
    assert hashed != profile_hash(changed('cutter_later = "A5.1.3"', 'cutter_later = "A5.1"'))
    assert hashed != profile_hash(changed('found_card" = "A5.2"', 'found_card" = "A5"'))


def test_no_two_profiles_have_one_hash() -> None:
    assert len({profile_hash(load_profile(name)) for name in profile_names()}) == 5


def test_an_event_has_a_hash_of_its_own_even_if_it_changes_no_rule(tmp_path: Path) -> None:
    assert profile_hash(settled_by(tmp_path, "")) != profile_hash(load_profile(NAME))


def test_the_words_of_the_page_are_in_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    before = profile_hash(load_profile(NAME))
    monkeypatch.setattr("controller.rules.regulations_page._SILENT", "[silent]")
    monkeypatch.setattr("controller.rules.regulations_page._KNOWN", {})
    assert profile_hash(load_profile(NAME)) != before


def test_every_key_can_be_explained_on_a_page() -> None:
    assert all(words.about.zh and words.about.en for words in all_keys().values())
