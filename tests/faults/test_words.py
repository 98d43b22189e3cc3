"""One Chinese word for one thing, wherever people read it."""

from pathlib import Path

import pytest

# A part has the first word; the others were once used beside it.
ONE_WORD = {
    "hopper": ("进牌仓", "发牌仓"),
    "lid": ("机盖", "盖子"),
    "cable": ("连接线", "电缆", "串口线", "线缆"),
    "dealer board": ("发牌控制板", "发牌板"),
    "reader board": ("识牌控制板", "识牌板"),
    "set": ("套牌", "整副牌", "另一副牌"),
}
PLACES = ("controller", "deploy", "drivers", "hil_tests", "sim")
KINDS = (".py", ".toml", ".md", ".html", ".js", ".mjs", ".css", ".txt")


@pytest.fixture(scope="module")
def texts(pytestconfig: pytest.Config) -> dict[Path, str]:
    return {
        path: path.read_text("utf-8")
        for place in PLACES
        for path in sorted((pytestconfig.rootpath / place).rglob("*"))
        if path.suffix in KINDS and path.is_file()
    }


@pytest.mark.parametrize("part", ONE_WORD)
def test_a_part_of_the_machine_has_one_word(part: str, texts: dict[Path, str]) -> None:
    word, *others = ONE_WORD[part]

    assert any(word in text for text in texts.values())
    for other in others:
        assert [path for path, text in texts.items() if other in text] == [], other
