import hashlib
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from controller.cli import main
from controller.rules.key_text import all_keys, has_no_effect
from controller.rules.profile import rules_by_key
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.regulations_page import page_hash, profile_hash, regulations_text
from controller.rules.text_columns import cell_width
from tests.rules.rulebook_texts import event_file

NAME = "international-000"


def rules(*words: object) -> Result:
    return CliRunner().invoke(main, ["rules", *map(str, words)])


def test_the_list_names_every_rulebook_with_its_hash_and_what_is_provisional() -> None:
    told = rules()
    assert told.exit_code == 0
    for name in profile_names():
        profile = load_profile(name)
        assert name in told.stdout
        assert profile.title_zh in told.stdout
        assert profile_hash(profile).hex()[:16] in told.stdout
        assert f"{len(profile.provisional)} / {len(rules_by_key(profile))}" in told.stdout


def test_the_list_for_programs_has_whole_hashes() -> None:
    rows = json.loads(rules("--json").stdout)
    assert [row["name"] for row in rows] == profile_names()
    assert all(bytes.fromhex(row["hash"]) and len(row["hash"]) == 64 for row in rows)


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_is_shown_whole(name: str) -> None:
    told, profile = rules(name), load_profile(name)
    assert told.exit_code == 0
    for key in rules_by_key(profile):
        assert key in told.stdout
        assert all_keys()[key].label.zh in told.stdout
    assert told.stdout.count("暂定 provisional") + len(profile.departs) == len(profile.provisional)
    assert told.stdout.count("偏离条文 departs from") == len(profile.departs)
    assert profile_hash(profile).hex() in told.stdout


def test_nothing_is_cut_off_where_no_terminal_is() -> None:
    for told in (rules("bcta-004"), rules("--diff", "bcta-004", "huainan-2013-003")):
        assert "…" not in told.stdout


def test_what_the_text_leaves_open_is_marked() -> None:
    assert "由补充规定确定 left" in rules(NAME).stdout
    assert "不适用 no effect here" in rules("huainan-2013-003").stdout


def test_a_profile_for_programs_is_the_line_that_is_hashed() -> None:
    told = rules(NAME, "--json")
    whole = json.loads(told.stdout)
    assert whole["penalties"]["fouls_to_forfeit"] == 3
    assert whole["provisional"] == list(load_profile(NAME).provisional)
    assert told.stdout == json.dumps(
        whole, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def test_the_page_comes_out_byte_for_byte_and_its_hashes_beside_it() -> None:
    told = rules(NAME, "--regulations")
    assert told.exit_code == 0
    assert told.stdout_bytes == regulations_text(load_profile(NAME)).encode()
    assert hashlib.sha256(told.stdout_bytes).hexdigest() in told.stderr
    assert profile_hash(load_profile(NAME)).hex() in told.stderr


def test_the_page_shows_what_an_event_settled(pytestconfig: pytest.Config) -> None:
    told = rules(NAME, "--regulations", "--event", pytestconfig.rootpath / "deploy" / "event.toml")
    assert "2027年春季杯" in told.stdout
    assert "■ 已定 settled by the event" in told.stdout
    assert "原为 instead of: 60分钟  60 min  [A14.2.3]" in told.stdout


def test_the_page_for_programs_tells_what_is_settled(tmp_path: Path) -> None:
    event = event_file(tmp_path, "[clocks]\nlate_s = 300\n")
    told = json.loads(rules(NAME, "--regulations", "--event", event, "--json").stdout)
    settled = [point["key"] for point in told["regulations"]["left"] if point["settled"]]
    assert settled == ["clocks.late_s"]
    assert told["hash"] == profile_hash(load_profile(NAME, event)).hex()
    assert told["page_hash"] == page_hash(load_profile(NAME, event)).hex()


def test_the_page_for_programs_has_what_is_provisional_in_words() -> None:
    found = json.loads(rules(NAME, "--regulations", "--json").stdout)["regulations"]
    points = [point for part in ("left", "provisional", "departs") for point in found[part]]
    assert [p["label"] for p in points if p["key"] == "clocks.sort_s"] == [
        ["Sorting time", "理牌时间"]
    ]
    live = {p["key"] for p in points if p["provisional"]}
    profile = load_profile(NAME)
    assert live == {key for key in profile.provisional if not has_no_effect(profile, key)}
    assert [p["departs"] for p in found["departs"]] == ["A5.2", "A14.2.3–4"]


def test_an_event_is_shown_with_the_profile(tmp_path: Path) -> None:
    event = event_file(tmp_path, "[clocks]\nplay_s = 25\n")
    told = rules(NAME, "--event", event)
    assert "Cup" in told.stdout
    assert "25秒  25 s" in told.stdout
    assert "20秒  20 s" in told.stdout
    assert "由补充规定确定 left to the event, A20" in without_breaks(rules(NAME).stdout)


def without_breaks(text: str) -> str:
    """The third column of a wide listing in one line."""
    return " ".join(line[86:].strip() for line in text.splitlines())


def test_a_settled_key_is_no_more_left_to_the_event(tmp_path: Path) -> None:
    event = event_file(tmp_path, "[clocks]\nlate_s = 300\n")
    before, after = (
        told.stdout.count("确定 left") for told in (rules(NAME), rules(NAME, "--event", event))
    )
    assert after == before - 1


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize(
    "words", [[], [NAME], ["bigtwo-2017-002"], ["--diff", "bcta-004", "huainan-2013-003"]]
)
def test_listings_are_as_wide_as_columns_says(
    words: list[str], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    told = rules(*words)
    lines = told.stdout.splitlines()
    assert told.exit_code == 0
    assert max(map(cell_width, lines)) <= columns
    assert all(line == line.rstrip() for line in lines)
    assert "…" not in told.stdout.replace("……", "").replace("seconds …", "")
    keys = rules_by_key(load_profile(words[0])) if len(words) == 1 else ["penalties.hidden_to_loss"]
    for key in keys if words else ():
        assert re.search(rf"(?m)^{key}(?= |$)", told.stdout)


def test_the_list_shows_titles_and_hashes_whole_where_it_is_narrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for columns in ("40", "80"):
        monkeypatch.setenv("COLUMNS", columns)
        told = rules().stdout
        for name in profile_names():
            profile = load_profile(name)
            assert profile_hash(profile).hex()[:16] in told
            for word in profile.title_en.split():
                assert word in told


@pytest.mark.parametrize("columns", ["", "0", "wide", "-5"])
def test_columns_that_say_nothing_are_passed_over(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert max(map(cell_width, rules(NAME).stdout.splitlines())) > 80


def test_two_profiles_with_the_same_text_differ_in_nothing() -> None:
    assert json.loads(rules("--diff", NAME, "huaian-2017-001", "--json").stdout) == {}
    assert rules("--diff", NAME, "huaian-2017-001").stdout == "相同 no difference\n"


def test_a_difference_shows_both_values_and_where_they_are_from() -> None:
    told = rules("--diff", "bcta-004", "huainan-2013-003")
    assert told.exit_code == 0
    assert "tribute.double_tie" in told.stdout
    assert "左贡右还" in told.stdout
    assert "由受贡方选择" in told.stdout
    assert "tribute.exclude_wild" not in told.stdout


def test_differences_for_programs_are_exactly_the_keys_that_differ() -> None:
    told = json.loads(rules("--diff", "bcta-004", "huainan-2013-003", "--json").stdout)
    one, other = (rules_by_key(load_profile(name)) for name in ("bcta-004", "huainan-2013-003"))
    assert set(told) == {key for key in one if one[key] != other[key]}
    assert told["clocks.late_s"] == {
        "label_en": "Late arrival",
        "label_zh": "迟到时限",
        "bcta-004": {"value": 600, "article": "C", "provisional": False},
        "huainan-2013-003": {"value": 300, "article": "R6.1", "provisional": False},
    }
    assert told["cut_margin"]["huainan-2013-003"]["provisional"] is True


def test_rulebooks_of_two_games_differ_in_the_keys_that_only_one_has() -> None:
    told = json.loads(rules("--diff", NAME, "bigtwo-2017-002", "--json").stdout)
    assert list(told["levels.start"])[2:] == [NAME]
    assert list(told["bigtwo.lead.holder"])[2:] == ["bigtwo-2017-002"]
    assert rules("--diff", NAME, "bigtwo-2017-002").exit_code == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["no-such"], 'profile "no-such": expected one of bcta-004'),
        (["--diff", NAME, "no-such"], 'profile "no-such": expected one of'),
        (["--regulations"], "name a PROFILE: one of bcta-004"),
        (["--event", "e.toml"], "name a PROFILE"),
        (["--diff", NAME, NAME, "--regulations"], "--diff A B cannot be combined"),
        (["", "--diff", NAME, NAME], "--diff A B cannot be combined"),
        (["a\nb"], 'profile "a\\nb": expected one of bcta-004'),
        ([NAME, "--event", "none.toml"], "none.toml: there is no such file"),
        ([NAME, "--event", "no\nne.toml"], "no\\nne.toml: there is no such file"),
        ([NAME, "--event", ""], "--event: no file given"),
        (["--event", ""], "--event: no file given"),
        ([NAME, "--event", "."], ".: cannot be read"),
    ],
)
def test_nonsense_is_told_in_one_line_and_exits_2(words: list[str], line: str) -> None:
    told = rules(*words)
    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert told.stderr.startswith(f"Error: {line}")


def test_a_wrong_event_names_its_file_and_its_key(tmp_path: Path) -> None:
    event = event_file(tmp_path, "[clocks]\nplay_z = 25\n")
    told = rules(NAME, "--event", event)
    assert told.exit_code == 2
    assert told.stderr == f'Error: {event}: clocks.play_z: unknown key, did you mean "play_s"?\n'
