"""The check of a draw (对阵表), a list of matches, before any match is sent to a table.

A row is a match: its table, round, number and stage, and the two pairs with their players. A fault
is reported by line and column, in both languages. A draw with a fault is refused whole.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from controller.commands.match_arguments import SetMatchArgs
from controller.console.view import fill_struct
from controller.console.view.draw_file import (
    COLUMNS,
    MAX_CELL_LENGTH,
    DrawFault,
    UnreadableDraw,
    decode_draw,
    parse_heading,
    parse_rows,
)
from controller.host.printable_text import is_printable
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.words import Words

MAX_FAULTS: Final = 50
"""Only this many faults are shown. A file with more is probably another file."""
_STAGES: Final = {
    name: stage
    for stage, names in (
        ("swiss", ("swiss", "积分编排", "积分编排制", "瑞士", "瑞士制")),
        ("round_robin", ("round_robin", "round robin", "循环", "循环赛", "单循环")),
        ("knockout", ("knockout", "knock-out", "淘汰", "淘汰赛")),
    )
    for name in names
}

AddFault = Callable[[str | None, str, str], None]
"""A function that adds a fault of one row: the key of the column, and the text."""


class DrawnMatch(msgspec.Struct, frozen=True, kw_only=True):
    """One match of a draw, with the arguments of the command that sets up this match."""

    line: int
    table: str
    args: SetMatchArgs

    @property
    def command_id(self) -> str:
        """Return the id of the command that sets up this match.

        The same match at the same table has the same id for every sender. The earlier penalties of
        its pairs do not change the id.
        """
        alone = msgspec.structs.replace(self.args, record=())
        said = msgspec.json.encode([self.table, alone], order="sorted")
        return f"draw-{hashlib.sha256(said).hexdigest()[:24]}"


class Draw(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the check of a draw: all its matches, or the mistakes in the file.

    `digest`: a hash of the file and the default event. `with_records` adds the earlier penalties to
    the digest.
    """

    digest: str
    encoding: str
    matches: list[DrawnMatch] = []
    faults: list[DrawFault] = []


def read_draw(body: bytes, tables: Sequence[str], event: str) -> Draw:
    """Check the file of a draw, and return its matches or its mistakes.

    `tables`: the ids of all tables. `event`: the tournament of rows that name none.
    """
    digest = hashlib.sha256(body + event.encode()).hexdigest()[:16]
    try:
        text, encoding = decode_draw(body)
        lines = parse_rows(text)
        named = parse_heading(lines)
    except UnreadableDraw as wrong:
        return Draw(digest=digest, encoding="", faults=[wrong.fault])
    reading = _DrawChecker(tables, event)
    for line, cells in lines[1:]:
        reading.check_row(line, dict(zip(named, cells, strict=False)), len(cells) - len(named))
    if not reading.matches and not reading.faults:
        reading.add_fault(lines[0][0] + 1, None, "there is no match in this file", "文件中没有对阵")
    reading.check_duplicates()
    faults = sorted(reading.faults, key=lambda fault: fault.line)
    return Draw(
        digest=digest,
        encoding=encoding,
        matches=[] if faults else reading.matches,
        faults=faults[:MAX_FAULTS],
    )


class _DrawChecker:
    """A checker that reads one draw row by row, and collects its matches and mistakes."""

    def __init__(self, tables: Sequence[str], event: str) -> None:
        self._tables, self._event = _tables_by_name(tables), event
        self.matches: list[DrawnMatch] = []
        self.faults: list[DrawFault] = []

    def add_fault(self, line: int, column: str | None, en: str, zh: str) -> None:
        """Add a mistake to `faults`. `column` is a key of COLUMNS, or None for the whole row."""
        at = COLUMNS.get(column or "")
        known = {} if at is None else {"column": Words(at.en, at.zh)}
        self.faults.append(fill_struct(DrawFault, line=line, en=en, zh=zh, **known))

    def check_row(self, line: int, cells: Mapping[str, str], beyond: int) -> None:
        """Check the row in line `line`, and add its match to `matches` or its mistakes to `faults`.

        `beyond`: how many more cells the row has than the heading. A negative number means fewer.
        """
        before, fault = len(self.faults), partial(self.add_fault, line)
        if beyond > 0:
            fault(None, "there are more cells than columns", "单元格多于列数")
        for key, column in COLUMNS.items():
            cell = cells.get(key, "")
            if column.needed and not cell:
                fault(key, "this cell is empty", "未填写")
            elif len(cell) > MAX_CELL_LENGTH:
                fault(key, f"more than {MAX_CELL_LENGTH} characters", f"超过{MAX_CELL_LENGTH}个字")
            elif not all(map(is_printable, cell)):
                fault(key, "a character that cannot be printed", "含有无法显示的字符")
        table_no = cells.get("table", "")
        table = self._tables.get(_normalize_name(table_no))
        if table_no and table is None:
            fault("table", f"there is no table {table_no} here", f"此处没有{table_no}号台")
        args = self._args(cells, fault)
        if len(self.faults) > before or table is None:
            return
        try:
            laid = msgspec.convert(args, SetMatchArgs)
        except msgspec.ValidationError as error:
            # Any other reason for which a table would refuse the row.
            fault(None, f"a table refuses this row: {error}", "机器不接受此行内容")
            return
        self.matches.append(DrawnMatch(line=line, table=table, args=laid))

    def check_duplicates(self) -> None:
        """Add a mistake for each table, pair, player or match id that occurs more than once."""
        seen: dict[tuple[str, str], int] = {}
        for laid in self.matches:
            for kind, column, value in _unique_values(laid):
                first = seen.get((kind, value))
                if kind == "id" and first is not None and seen["table", laid.table] == first:
                    continue  # The fault of the table covers this one.
                if first is None:
                    seen[kind, value] = laid.line
                    continue
                twice = _DUPLICATE_WORDS[kind]
                en, zh = twice.en.format(line=first), twice.zh.format(line=first)
                self.add_fault(laid.line, column, f"{value}: {en}", f"{value}：{zh}")

    def _args(self, cells: Mapping[str, str], fault: AddFault) -> dict[str, Any]:
        number, match = _int(cells, "round", 999, fault), _int(cells, "match", 9999, fault)
        stage = _STAGES.get(cells.get("stage", "").lower())
        if cells.get("stage") and stage is None:
            fault(
                "stage", "expected swiss, round_robin or knockout", "应为积分编排、循环赛或淘汰赛"
            )
        event = cells.get("event") or self._event
        if not event:
            fault("event", "the event is missing", "未注明是哪项比赛")
        table_no = cells.get("table", "")
        made = f"R{number}-T{table_no}-M{match}-{hashlib.sha256(event.encode()).hexdigest()[:6]}"
        return {
            "match_id": cells.get("match_id") or made,
            "event": event,
            "round": number,
            "match_no": match,
            "table_no": table_no,
            "stage": stage,
            "pairs": {"NS": _pair(cells, "ns", "NS"), "EW": _pair(cells, "ew", "WE")},
        }


def _int(cells: Mapping[str, str], key: str, most: int, fault: AddFault) -> int:
    cell = cells.get(key, "")
    if not cell:
        return 0
    if not (cell.isascii() and cell.isdigit() and 1 <= int(cell[:6]) <= most):
        fault(key, f"expected a number from 1 to {most}", f"应为1至{most}的数")
        return 0
    return int(cell)


_COLUMN_OF_SEAT: Final = {"N": "north", "S": "south", "E": "east", "W": "west"}
_DUPLICATE_WORDS: Final = {
    "table": Words("has a match in line {line} already", "该台在第{line}行已有对阵"),
    "id": Words("is the id of line {line} already", "该编号已用于第{line}行"),
    "pair": Words("this pair plays in line {line} already", "该队已在第{line}行"),
    "player": Words("this player plays in line {line} already", "该选手已在第{line}行"),
}


def _unique_values(drawn: DrawnMatch) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, column, value) for each value of a match that no other match may contain."""
    yield "table", "table", drawn.table
    yield "id", "match_id", drawn.args.match_id
    for pair, column in ((drawn.args.pairs.NS, "ns_id"), (drawn.args.pairs.EW, "ew_id")):
        yield "pair", column, pair.id
        for seat, player in pair.players.items():
            yield "player", _COLUMN_OF_SEAT[seat], player


def _pair(cells: Mapping[str, str], side: str, seats: str) -> dict[str, Any]:
    named = {seat: cells.get(_COLUMN_OF_SEAT[seat]) for seat in seats}
    return {
        "id": cells.get(f"{side}_id", ""),
        "name": cells.get(f"{side}_name", ""),
        "players": {seat: player for seat, player in named.items() if player},
    }


def shortest_table_name(table: str, tables: Sequence[str]) -> str:
    """Return the shortest name that a draw may use for `table`. `tables` has all tables' ids."""
    return min((name for name, one in _tables_by_name(tables).items() if one == table), key=len)


def _tables_by_name(tables: Sequence[str]) -> dict[str, str]:
    """Return table ids by the names that a draw may use: ids, and digits that only one id has."""
    by_number: dict[str, list[str]] = {}
    for table in tables:
        digits = "".join(sign for sign in table if sign.isdigit())
        if digits:
            by_number.setdefault(_normalize_name(digits), []).append(table)
    alone = {number: found[0] for number, found in by_number.items() if len(found) == 1}
    return alone | {_normalize_name(table): table for table in tables}


def _normalize_name(cell: str) -> str:
    """Return a number without leading zeros, or any other text in lower case."""
    return str(int(cell)) if cell.isascii() and cell.isdigit() else cell.lower()


def with_records(draw: Draw, record_of: Callable[[SetMatchArgs], PenaltyRecord]) -> Draw:
    """Return the draw with the earlier penalties that `record_of` returns for each match.

    The digest covers the file and these penalties, so that a person sends exactly what was shown.
    """
    records = [record_of(laid.args) for laid in draw.matches]
    plain = [tuple(msgspec.to_builtins(record)) for record in records]
    matches = [
        msgspec.structs.replace(laid, args=msgspec.structs.replace(laid.args, record=record))
        for laid, record in zip(draw.matches, plain, strict=True)
    ]
    brought = hashlib.sha256(msgspec.json.encode(plain)).hexdigest()[:16]
    return msgspec.structs.replace(draw, matches=matches, digest=f"{draw.digest}-{brought}")


def preview(draw: Draw) -> Iterator[dict[str, Any]]:
    """Yield the data of each match in a draw, for a page that shows the draw before it is sent.

    `brought`: how many earlier penalties each pair has.
    """
    for laid in draw.matches:
        pairs = {"NS": laid.args.pairs.NS, "EW": laid.args.pairs.EW}
        owners = [entry.get("pair") for entry in laid.args.record]
        yield {
            "brought": {side: owners.count(pair.id) for side, pair in pairs.items()},
            "line": laid.line,
            "table": laid.table,
            "order": laid.command_id,
            **msgspec.to_builtins(laid.args),
        }
