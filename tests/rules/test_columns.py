import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.text_columns import cell_width, pack, wrap

TEXT = st.text(st.sampled_from("ab,.(。“”（）牌级上游 "), max_size=60)


def test_a_chinese_character_takes_two_cells() -> None:
    assert [cell_width(text) for text in ("A5.2", "掼蛋", "A不过", "，", "♠–“", "")] == [
        4,
        4,
        5,
        2,
        3,
        0,
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("一二三四五六", ["一二三四", "五六"]),
        ("一二三四，五六", ["一二三", "四，五六"]),
        ("一二三（四五）六", ["一二三", "（四五）", "六"]),
        ("conduct.report_at", ["conduct.", "report_a", "t"]),
        ("级1234567 on", ["级", "1234567", "on"]),
        ("", [""]),
    ],
)
def test_lines_break_between_words_or_chinese_characters(text: str, lines: list[str]) -> None:
    assert wrap(text, 8) == lines


@given(TEXT, st.integers(6, 40))
def test_no_line_is_too_long_and_nothing_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(line == line.strip() for line in lines)


def test_parts_stand_side_by_side_where_they_fit() -> None:
    assert pack(["方向", "Direction", "(direction.play)"], 20) == [
        "方向  Direction",
        "(direction.play)",
    ]
    assert pack(["方向", "x"], 40) == ["方向  x"]
