"""The file of a draw (对阵表, a list of matches): its columns, and functions that parse it.

A draw lists the matches of a round with their tables and pairs. Any spreadsheet program can save
such a file.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from controller.faults import Language
from controller.words import Words

MAX_ROWS: Final = 500
"""The most matches in one draw. The number is an estimate."""
MAX_BYTES: Final = 256 * 1024
MAX_CELL_LENGTH: Final = 64
"""The most characters in one cell. The number is an estimate."""


class DrawColumn(NamedTuple):
    """A column in the file of a draw, with its two names, its description and an example.

    `needed`: every row must fill it.
    """

    zh: str
    en: str
    needed: bool
    about: Words
    example: str


COLUMNS: Final[Mapping[str, DrawColumn]] = {
    column.en: column
    for column in (
        DrawColumn("台号", "table", True, Words("the table's number or id", "台号或机器编号"), "1"),
        DrawColumn("轮次", "round", True, Words("a number, 1 to 999", "1至999的数"), "1"),
        DrawColumn("局", "match", True, Words("a number, 1 to 9999", "1至9999的数"), "1"),
        DrawColumn(
            "阶段",
            "stage",
            True,
            Words("swiss, round_robin or knockout", "积分编排、循环赛或淘汰赛"),
            "积分编排",
        ),
        DrawColumn("南北队号", "ns_id", True, Words("the pair's number", "队号"), "101"),
        DrawColumn("南北队名", "ns_name", True, Words("the pair's name", "队名"), "梅队"),
        DrawColumn("北", "north", False, Words("the player's name", "姓名"), "李娜"),
        DrawColumn("南", "south", False, Words("the player's name", "姓名"), "吴军"),
        DrawColumn("东西队号", "ew_id", True, Words("the pair's number", "队号"), "102"),
        DrawColumn("东西队名", "ew_name", True, Words("the pair's name", "队名"), "竹队"),
        DrawColumn("东", "east", False, Words("the player's name", "姓名"), "徐敏"),
        DrawColumn("西", "west", False, Words("the player's name", "姓名"), "何宇"),
        DrawColumn(
            "比赛",
            "event",
            False,
            Words("the event; if empty, the one named above", "比赛名称；不填则同上"),
            "示例杯",
        ),
        DrawColumn(
            "编号",
            "match_id",
            False,
            Words("the match's id; if empty, one is made", "本局编号；不填则自动生成"),
            "",
        ),
    )
}
"""The columns of a draw, in the order of the example. A file may have them in any order."""


class DrawFault(msgspec.Struct, frozen=True, kw_only=True):
    """A mistake in the file of a draw. `line` counts from 1. An unknown column is None."""

    line: int
    column_en: str | None = None
    column_zh: str | None = None
    en: str
    zh: str


def example_draw(language: Language, table: str) -> bytes:
    """Return an example file for Excel, with a heading and one match at `table`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    columns = list(COLUMNS.values())
    writer.writerow(column.zh if language == "zh" else column.en for column in columns)
    shown = [table, *(column.example for column in columns[1:])]
    if language != "zh":
        shown = [table, "1", "1", "swiss", "101", "Plum", "Li Na", "Wu Jun", "102", "Bamboo"]
        shown += ["Xu Min", "He Yu", "Example Cup", ""]
    writer.writerow(shown)
    return out.getvalue().encode("utf-8-sig")


class UnreadableDraw(Exception):
    """An error for a file that is not a draw. `fault` has the line and the reason."""

    def __init__(self, line: int, en: str, zh: str, column: str | None = None) -> None:
        super().__init__(en)
        self.fault = DrawFault(line=line, column_en=column, column_zh=column, en=en, zh=zh)


def decode_draw(body: bytes) -> tuple[str, str]:
    """Return a draw file's text and the name of its encoding, which is UTF-8, UTF-16 or GB18030.

    Raises UnreadableDraw if the file is too long or is not text.
    """
    if len(body) > MAX_BYTES:
        most = MAX_BYTES // 1024
        raise UnreadableDraw(
            1, f"more than {most} KB: this is not a draw", f"文件超过{most}KB，不是对阵表"
        )
    marked = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "gb18030"):
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text, encoding.removesuffix("-sig")
    raise UnreadableDraw(
        1, "this is not text: save the spreadsheet as CSV", "文件不是文本，请将表格另存为CSV"
    )


def parse_rows(text: str) -> list[tuple[int, list[str]]]:
    """Return all rows with text, each as (number of the line where it begins, cells).

    Raises UnreadableDraw if the text is not CSV, has no row, or has too many rows.
    """
    first = text.partition("\n")[0]
    separator = max(",;\t，", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows, begins = [], 1
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                rows.append((begins, cells))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableDraw(begins, f"not CSV: {error}", f"CSV格式有误：{error}") from None
    if not rows:
        raise UnreadableDraw(1, "the file is empty", "文件是空的")
    if len(rows) > MAX_ROWS + 1:
        raise UnreadableDraw(
            rows[MAX_ROWS + 1][0], f"more than {MAX_ROWS} matches", f"对阵超过{MAX_ROWS}场"
        )
    return rows


def parse_heading(lines: Sequence[tuple[int, list[str]]]) -> list[str]:
    """Return the column name in COLUMNS for each cell of the first row, "" for an empty cell.

    Raises UnreadableDraw if a column is unknown, is there twice, or is missing.
    """
    line, heading = lines[0]
    known = {called: key for key, column in COLUMNS.items() for called in (column.zh, key)}
    known[""] = ""
    named: list[str] = []
    for cell in heading:
        key = known.get(cell.lower())
        if key is None:
            raise UnreadableDraw(
                line,
                f'no column is called "{cell[:MAX_CELL_LENGTH]}"',
                f"无法识别的列：{cell[:MAX_CELL_LENGTH]}",
            )
        if key and key in named:
            raise UnreadableDraw(line, "this column is there twice", "此列重复", cell)
        named.append(key)
    lacking = [column for key, column in COLUMNS.items() if column.needed and key not in named]
    if lacking:
        en, zh = ", ".join(one.en for one in lacking), "、".join(one.zh for one in lacking)
        raise UnreadableDraw(line, f"columns are missing: {en}", f"缺少列：{zh}")
    return named
