"""The routes for score sheets, and for the history of matches with their attempts and events."""

import re
from typing import Final, cast

import msgspec
from starlette.responses import Response

from controller.console.request_error import RequestError
from controller.console.routing import EVERYBODY, ConsoleRequest, file_response, page, route
from controller.console.store.match_records import AttemptRecords, ScoreSheetStore, StoredSheet
from controller.console.view import fill_struct
from controller.console.view.match_list import (
    AttemptLine,
    MatchListRow,
    build_attempt_lines,
    build_match_list,
)
from controller.console.view.sheet_page import (
    SheetPageView,
    StoredVersion,
    build_sheet_view,
    sheet_csv,
    sheet_file_name,
    with_wall_times,
)
from controller.faults import Language
from controller.sheet.form import ScoreSheet


async def get_table_sheet(request: ConsoleRequest) -> SheetPageView:
    """Return a table's score sheet, or the last stored one if the table does not answer."""
    table = request.table
    try:
        reply = await request.console.dispatcher.query(table, "sheet")
    except RequestError:
        sheets = ScoreSheetStore(request.console.engine, request.console.now_ms)
        last = [one for one in await request.console.read(sheets.newest) if one.table == table]
        if not last:
            raise
        return build_sheet_view(last[0].sheet, (), last[0].kept_ms)
    if reply.result is None:
        error = reply.error
        raise RequestError(
            404,
            "there is no match here" if error is None else f"{error.message}: {error.action}",
            "本台没有比赛" if error is None else f"{error.message_zh}：{error.action_zh}",
        )
    try:
        sheet = msgspec.convert(reply.result, ScoreSheet)
    except msgspec.ValidationError as wrong:
        raise RequestError(
            502, f"the table's sheet has another format: {wrong}", "记分表格式不符"
        ) from None
    if sheet.table != table:
        raise RequestError(
            502,
            f"another table answers in the name of table {table}",
            f"以{table}之名应答的是另一张台",
        )
    timed = with_wall_times(sheet, request.console.tables.snapshot(table).state)
    return build_sheet_view(timed, _versions(await _stored_sheets(request, sheet.match, table)))


async def get_table_sheet_csv(request: ConsoleRequest) -> Response:
    """Return the score sheet of a table's match as a file for a spreadsheet."""
    return _csv_response((await get_table_sheet(request)).sheet, request)


async def get_stored_sheet(request: ConsoleRequest) -> SheetPageView | Response:
    """Return a stored sheet of a match, for the page or as a file (`format=csv`).

    It is the newest sheet with the `version` and `signed` that the request names, if any.
    """
    match, table = request.path_params["match"], request.query("table") or None
    kept = await _stored_sheets(request, match, table)
    if not kept:
        raise RequestError(404, "no sheet of this match is stored", "没有这局的记分表存档")
    version, signed = request.number("version"), request.query("signed")
    fits = [
        one
        for one in kept
        if (not version or one.sheet.version == version)
        and (not signed or str(one.signed) == signed)
    ]
    if not fits:
        raise RequestError(404, "this version is not stored", "没有此版本的存档")
    chosen = fits[-1]
    if request.query("format") == "csv":
        return _csv_response(chosen.sheet, request)
    return build_sheet_view(chosen.sheet, _versions(kept), chosen.kept_ms)


async def _stored_sheets(
    request: ConsoleRequest, match: str, table: str | None
) -> list[StoredSheet]:
    sheets = ScoreSheetStore(request.console.engine, request.console.now_ms)
    return await request.console.read(lambda: sheets.versions_of(match, table))


def _versions(kept: list[StoredSheet]) -> list[StoredVersion]:
    return [fill_struct(StoredVersion, one.sheet, one) for one in kept]


def _csv_response(sheet: ScoreSheet, request: ConsoleRequest) -> Response:
    language = request.query("language") or request.person.language
    if language not in ("zh", "en"):
        raise RequestError(400, "language: expected zh or en", "language须为zh或en")
    body = sheet_csv(sheet, cast(Language, language)).encode()
    return file_response(body, "text/csv; charset=utf-8", sheet_file_name(sheet, ".csv"))


async def list_matches(request: ConsoleRequest) -> dict[str, list[MatchListRow]]:
    """List all known matches, or only the matches of the tournament that the request names."""
    console, event = request.console, request.query("event") or None
    sheets = ScoreSheetStore(console.engine, console.now_ms)
    kept = await console.read(lambda: sheets.newest(event))
    seen = [console.tables.snapshot(table).state for table in console.tables.ids]
    present = [one for one in seen if one and event in (None, one.match.event)]
    return {"matches": build_match_list(kept, present)}


async def list_attempts(request: ConsoleRequest) -> dict[str, list[AttemptLine]]:
    """List the attempts of a match at a table, and whether each attempt can be checked."""
    proofs = AttemptRecords(request.console.engine)
    table, match = request.path_params["id"], request.path_params["match"]
    found = await request.console.read_after_flush(lambda: proofs.attempts(table, match))
    return {"attempts": build_attempt_lines(found)}


async def get_match_record(request: ConsoleRequest) -> Response:
    """Return all public events of a match at a table, as a file for `dealtable verify`."""
    proofs = AttemptRecords(request.console.engine)
    table, match = request.path_params["id"], request.path_params["match"]
    rows = await request.console.read_after_flush(lambda: proofs.rows_of_match(table, match))
    if not rows:
        raise RequestError(404, "the archive has no events of this match", "没有这局的事件存档")
    safe = re.sub("[^A-Za-z0-9]", "_", f"{table}_{match}")
    body = b"".join(row + b"\n" for row in rows)
    return file_response(body, "application/jsonl", f"events-{safe}.jsonl")


ROUTES: Final = (
    page("/table/{id}/sheet", "sheet.html", roles=EVERYBODY),
    page("/sheets/{match:path}", "sheet.html", roles=EVERYBODY),
    route("/api/tables/{id}/sheet", get_table_sheet, roles=EVERYBODY),
    route("/api/tables/{id}/sheet.csv", get_table_sheet_csv, roles=EVERYBODY),
    route("/api/sheets/{match:path}", get_stored_sheet, roles=EVERYBODY),
    page("/history", "history.html", roles=EVERYBODY),
    route("/api/history", list_matches, roles=EVERYBODY),
    route("/api/tables/{id}/attempts/{match:path}", list_attempts, roles=EVERYBODY),
    route("/api/tables/{id}/record/{match:path}", get_match_record, roles=EVERYBODY),
)
