"""Both READMEs say the same: the same commands, the same places, as many headings."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_IN_LINE = re.compile(r"`([^`\n]+)`")
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)
_PICTURE = re.compile(r"!\[[^]]*]\(([^)]+)\)")
_FILE = re.compile(r"[a-z_/0-9.]+\.(py|toml|md|mjs)|[A-Z-]+\.md")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def commands(text: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(text) if kind == "sh"]


def places(text: str) -> list[str]:
    return sorted(_IN_LINE.findall(_FENCE.sub("", text)))


def test_both_have_the_same_commands() -> None:
    assert commands(ENGLISH) == commands(CHINESE)
    assert commands(ENGLISH)


def test_both_name_the_same_files_and_commands_in_their_lines() -> None:
    assert places(ENGLISH) == places(CHINESE)


def test_both_have_the_same_headings_in_number_and_depth() -> None:
    assert _HEADING.findall(ENGLISH) == _HEADING.findall(CHINESE)


def test_both_show_the_same_pictures_and_as_many_drawings() -> None:
    assert _PICTURE.findall(ENGLISH) == _PICTURE.findall(CHINESE)
    assert len(_FENCE.findall(ENGLISH)) == len(_FENCE.findall(CHINESE))


@pytest.mark.parametrize("word", ["裁判", "放行", "重新发牌", "发牌封存码", "记分表"])
def test_the_chinese_one_speaks_as_referees_do(word: str) -> None:
    assert word in CHINESE


def test_the_chinese_one_is_chinese_and_the_english_one_is_not() -> None:
    assert len(_HAN.findall(CHINESE)) > 500
    assert len(_HAN.findall(ENGLISH)) < 10


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_what_they_name_is_there(text: str) -> None:
    named = [place for place in places(text) if "/" in place or place.endswith((".md", ".toml"))]
    missing = [one for one in named if " " not in one and not (ROOT / one).exists()]
    assert missing == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_pages_for_developers_name_files_that_are_there(page: str) -> None:
    """A file may be named by the end of its path; a name with a capital word is a placeholder."""
    text = _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    named = {place for place in _IN_LINE.findall(text) if _FILE.fullmatch(place)}
    assert len(named) > 20
    missing = [one for one in named if not any(f"/{path}".endswith(f"/{one}") for path in tracked)]
    assert missing == []
