"""Score sheets: a table's now, and those that are kept."""

from typing import Final, cast

import msgspec
from starlette.responses import Response

from controller.console.routing import EVERYBODY, ConsoleRequest, page, route
from controller.console.store.sheets import ScoreSheetStore, StoredSheet
from controller.console.view.sheet import (
    SheetPageView,
    StoredVersion,
    build_sheet_view,
    parse_sheet,
    sheet_csv,
    sheet_file_name,
    with_wall_times,
)
from controller.console.wrong import RequestError
from controller.faults import Language
from controller.sheet.form import ScoreSheet

_CSV: Final = "text/csv; charset=utf-8"


async def get_table_sheet(request: ConsoleRequest) -> SheetPageView:
    """Return the sheet of a table's match as the table has it; the last kept one if it is away."""
    return await _table_sheet(request)


async def get_table_sheet_csv(request: ConsoleRequest) -> Response:
    """Return it as a file for a spreadsheet."""
    return _csv_response((await _table_sheet(request)).sheet, request)


async def get_stored_sheet(request: ConsoleRequest) -> SheetPageView | Response:
    """Return a kept sheet: the newest of a match, or the one of `version` (and `signed`)."""
    kept = await _stored_sheets(
        request, request.path_params["match"], request.query("table") or None
    )
    if not kept:
        raise RequestError(404, "no sheet of this match is kept", "没有这局的记分表存档")
    version, signed = request.number("version"), request.query("signed")
    fits = [
        one
        for one in kept
        if (not version or one.sheet.version == version)
        and (not signed or str(one.signed) == signed)
    ]
    if not fits:
        raise RequestError(404, "this version is not kept", "没有此版本的存档")
    chosen = fits[-1]
    if request.query("format") == "csv":
        return _csv_response(chosen.sheet, request)
    return build_sheet_view(chosen.sheet, _versions(kept), chosen.kept_ms)


async def _table_sheet(request: ConsoleRequest) -> SheetPageView:
    table = request.table
    try:
        reply = await request.console.dispatcher.query(table, "sheet")
    except RequestError:
        last = [one for one in await _newest_sheets(request) if one.table == table]
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
        sheet = parse_sheet(reply.result)
    except msgspec.ValidationError as wrong:
        raise RequestError(
            502, f"the table's sheet is of another form: {wrong}", "记分表格式不符"
        ) from None
    if sheet.table != table:
        raise RequestError(
            502,
            f"what answers for table {table} is another table",
            f"以{table}之名应答的是另一张台",
        )
    seen = request.console.tables.snapshot(table)
    return build_sheet_view(
        with_wall_times(sheet, seen.state),
        _versions(await _stored_sheets(request, sheet.match, table)),
    )


async def _stored_sheets(
    request: ConsoleRequest, match: str, table: str | None
) -> list[StoredSheet]:
    sheets = ScoreSheetStore(request.console.engine, request.console.now_ms)
    return await request.console.read(lambda: sheets.versions_of(match, table))


async def _newest_sheets(request: ConsoleRequest) -> list[StoredSheet]:
    sheets = ScoreSheetStore(request.console.engine, request.console.now_ms)
    return await request.console.read(sheets.newest)


def _versions(kept: list[StoredSheet]) -> list[StoredVersion]:
    return [
        StoredVersion(
            table=one.table, version=one.sheet.version, signed=one.signed, kept_ms=one.kept_ms
        )
        for one in kept
    ]


def _csv_response(sheet: ScoreSheet, request: ConsoleRequest) -> Response:
    language = request.query("language") or request.person.language
    if language not in ("zh", "en"):
        raise RequestError(400, "language: expected zh or en", "language须为zh或en")
    name = sheet_file_name(sheet, ".csv")
    return Response(
        sheet_csv(sheet, cast(Language, language)).encode(),
        media_type=_CSV,
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{name}"',
        },
    )


ROUTES: Final = (
    page("/table/{id}/sheet", "sheet.html", roles=EVERYBODY),
    page("/sheets/{match:path}", "sheet.html", roles=EVERYBODY),
    route("/api/tables/{id}/sheet", get_table_sheet, roles=EVERYBODY),
    route("/api/tables/{id}/sheet.csv", get_table_sheet_csv, roles=EVERYBODY),
    route("/api/sheets/{match:path}", get_stored_sheet, roles=EVERYBODY),
)
