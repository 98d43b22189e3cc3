"""Files of a draw, as a spreadsheet writes them."""

import csv
import io

from controller.console.view.draw_file import COLUMNS

HEADS = [column.zh for column in COLUMNS.values()]
FIRST = ["1", "1", "1", "积分编排", "101", "梅队", "李娜", "吴军", "102", "竹队", "徐敏", "何宇"]
SECOND = ["2", "1", "2", "积分编排", "103", "松队", "孙山", "赵燕", "104", "兰队", "钱进", "周平"]


def a_file(*rows: list[str], heads: list[str] | None = None, encoding: str = "utf-8-sig") -> bytes:
    """Return a CSV file with these rows below its headings."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows([heads or HEADS[:12], *rows])
    return out.getvalue().encode(encoding)


def changed(row: list[str], **cells: str) -> list[str]:
    """Return a row in which some cells are changed; a cell is named by its column."""
    keys = list(COLUMNS)
    return [cells.get(key, cell) for key, cell in zip(keys, row, strict=False)]
