"""A draw in a file: read as a spreadsheet writes it, or told what is wrong, line by line."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.console.view.draw_file import COLUMNS, MAX_BYTES, MAX_ROWS, example_draw
from controller.console.view.draw_validation import (
    MAX_FAULTS,
    Draw,
    preview,
    read_draw,
    shortest_table_name,
)
from controller.faults import Language
from tests.console.draw_files import FIRST, HEADS, SECOND, a_file, changed

TABLES = ("T01", "T02", "T03", "T10", "左台")


def read(*rows: list[str], **more: Any) -> Draw:
    return read_draw(a_file(*rows, **more), TABLES, "Cup")


def faults(draw: Draw) -> list[tuple[int, str | None, str]]:
    assert draw.matches == []
    assert all(any(sign > "\u2fff" for sign in fault.zh) for fault in draw.faults)
    return [(fault.line, fault.column_zh, fault.en) for fault in draw.faults]


def test_a_draw_is_read_whole() -> None:
    draw = read(FIRST, SECOND)
    assert (draw.faults, [laid.table for laid in draw.matches]) == ([], ["T01", "T02"])
    args = draw.matches[0].args
    assert (args.event, args.round, args.match_no, args.table_no) == ("Cup", 1, 1, "1")
    assert args.stage == "swiss"
    assert args.pairs.NS.players == {"N": "李娜", "S": "吴军"}
    assert args.pairs.EW.players == {"W": "何宇", "E": "徐敏"}
    assert (args.pairs.EW.id, args.pairs.EW.name) == ("102", "竹队")


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("tables", [TABLES, ("B11", "B12"), ("A01", "B01"), ("左台",)])
def test_the_example_is_a_right_draw_for_the_first_table(
    language: Language, tables: tuple[str, ...]
) -> None:
    file = example_draw(language, shortest_table_name(tables[0], tables))
    draw = read_draw(file, tables, "")
    assert (draw.faults, [laid.table for laid in draw.matches]) == ([], [tables[0]])
    assert file.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("gb18030", "gb18030"), ("utf-16", "utf-16")],
)
def test_a_file_is_read_however_a_spreadsheet_wrote_it(encoding: str, named: str) -> None:
    draw = read(FIRST, encoding=encoding)
    assert (draw.faults, draw.encoding) == ([], named)
    assert draw.matches[0].args.pairs.NS.name == "梅队"


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_seen(separator: str) -> None:
    text = "\n".join(separator.join(row) for row in (HEADS[:12], FIRST))
    assert read_draw(text.encode(), TABLES, "Cup").faults == []


def test_columns_may_stand_in_any_order_and_be_called_in_english() -> None:
    heads = [column.en for column in COLUMNS.values()][:12]
    draw = read(FIRST[::-1], heads=heads[::-1])
    assert draw.faults == []
    assert draw.matches[0].args.pairs.NS.id == "101"


def test_blank_lines_are_none_and_lines_are_counted_as_in_the_file() -> None:
    bad = changed(SECOND, round="0")
    draw = read([""] * 12, FIRST, [], bad)
    assert faults(draw) == [(5, "轮次", "expected a number from 1 to 999")]


def test_a_line_behind_a_cell_of_several_lines_is_still_the_right_one() -> None:
    draw = read(changed(FIRST, ns_name="梅\n队"), changed(SECOND, stage="?"))
    assert (4, "阶段") in [(line, column) for line, column, _ in faults(draw)]


@pytest.mark.parametrize(
    ("cells", "column", "said"),
    [
        ({"table": "99"}, "台号", "there is no table 99 here"),
        ({"table": ""}, "台号", "this cell is empty"),
        ({"round": "0"}, "轮次", "expected a number from 1 to 999"),
        ({"round": "１"}, "轮次", "expected a number from 1 to 999"),
        ({"match": "10000"}, "局", "expected a number from 1 to 9999"),
        ({"match": "9" * 40}, "局", "expected a number from 1 to 9999"),
        ({"stage": "甲级"}, "阶段", "expected swiss, round_robin or knockout"),
        ({"ns_id": ""}, "南北队号", "this cell is empty"),
        ({"east": "x" * 65}, "东", "more than 64 characters"),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(
    cells: dict[str, str], column: str, said: str
) -> None:
    assert faults(read(SECOND, changed(FIRST, **cells))) == [(3, column, said)]


def test_nothing_is_read_beside_a_fault() -> None:
    assert read(FIRST, changed(SECOND, round="x")).matches == []


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"table": "T01"}, "台号"),
        ({"ns_id": "102"}, "南北队号"),
        ({"ew_id": "103"}, "东西队号"),
        ({"west": "李娜"}, "西"),
    ],
)
def test_nobody_and_no_table_plays_twice(cells: dict[str, str], column: str) -> None:
    assert [(line, at) for line, at, _ in faults(read(FIRST, changed(SECOND, **cells)))] == [
        (3, column)
    ]


def test_two_matches_of_one_id_are_refused() -> None:
    heads = [*HEADS[:12], "编号"]
    draw = read([*FIRST, "M1"], [*SECOND, "M1"], heads=heads)
    assert faults(draw) == [(3, "编号", "M1: is the id of line 2 already")]


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        (HEADS[1:12], "columns are missing: table"),
        ([*HEADS[:11], "牌手"], 'no column is called "牌手"'),
        ([*HEADS[:11], "北"], "this column is there twice"),
    ],
)
def test_a_wrong_heading_is_told_before_any_row(heads: list[str], said: str) -> None:
    assert [(line, en) for line, _, en in faults(read(FIRST, heads=heads))] == [(1, said)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the file is empty"),
        (b"\n\n  \n", "the file is empty"),
        (b"PK\x03\x04\x00\x00\xff", "this is not text: save the spreadsheet as CSV"),
        (b"x" * (MAX_BYTES + 1), "more than 256 KB: this is not a draw"),
        (a_file()[:-2] + b"\r\n", "there is no match in this file"),
        (b'"' + a_file(), "not CSV: "),
    ],
)
def test_what_is_no_draw_is_told_in_one_line(body: bytes, said: str) -> None:
    ((_, _, en),) = faults(read_draw(body, TABLES, "Cup"))
    assert en.startswith(said)


def test_a_row_with_more_cells_than_columns_is_a_fault() -> None:
    assert faults(read([*FIRST, "?"])) == [(2, None, "there are more cells than columns")]


def test_more_faults_than_anybody_reads_are_not_told() -> None:
    assert len(read(*[changed(FIRST, round="x")] * 200).faults) == MAX_FAULTS
    ((line, _, _),) = faults(read(*[FIRST] * (MAX_ROWS + 1)))
    assert line == MAX_ROWS + 2


def test_what_a_table_would_not_take_is_told_here() -> None:
    ((line, column, _),) = faults(read(changed(FIRST, ns_name="a\x07b")))
    assert (line, column) == (2, "南北队名")


@pytest.mark.parametrize(
    ("cell", "table"),
    [("1", "T01"), ("01", "T01"), ("T01", "T01"), ("t01", "T01"), ("左台", "左台")],
)
def test_a_table_is_found_as_people_write_it(cell: str, table: str) -> None:
    assert read(changed(FIRST, table=cell)).matches[0].table == table


def test_a_number_that_two_tables_have_is_neither() -> None:
    draw = read_draw(a_file(FIRST), ("A1", "B1"), "Cup")
    assert draw.faults[0].en == "there is no table 1 here"


def test_an_event_must_be_named_somewhere() -> None:
    assert read_draw(a_file(FIRST), TABLES, "").faults[0].column_zh == "比赛"
    heads = [*HEADS[:12], "比赛"]
    named = read_draw(a_file([*FIRST, "秋季赛"], heads=heads), TABLES, "")
    assert named.matches[0].args.event == "秋季赛"


def test_the_same_match_has_the_same_order_and_any_other_another() -> None:
    again = [read(FIRST).matches[0].command_id for _ in range(2)]
    others = [
        read(changed(FIRST, **{key: value})).matches[0].command_id
        for key, value in (("table", "2"), ("round", "2"), ("north", "x"), ("ew_name", "y"))
    ]
    assert len({*again, *others}) == 5


def test_matches_of_two_events_have_two_names() -> None:
    names = {read_draw(a_file(FIRST), TABLES, event).matches[0].args.match_id for event in "ab"}
    assert len(names) == 2


def test_a_preview_shows_what_will_be_sent() -> None:
    draw = read(FIRST)
    (row,) = preview(draw)
    assert (row["table"], row["line"], row["order"]) == ("T01", 2, draw.matches[0].command_id)
    assert row["pairs"]["NS"]["players"] == {"N": "李娜", "S": "吴军"}
    assert msgspec.json.encode(row)


@given(st.binary(max_size=400))
def test_no_file_is_more_than_refused(body: bytes) -> None:
    draw = read_draw(body, TABLES, "Cup")
    assert bool(draw.faults) != bool(draw.matches)


@given(st.lists(st.lists(st.text(max_size=5), min_size=12, max_size=12), max_size=3))
def test_no_cells_are_more_than_refused(rows: list[list[str]]) -> None:
    draw = read(*rows)
    assert bool(draw.faults) != bool(draw.matches)
