"""The matches of the event: a list, and what the archive has of one."""

from typing import Final

from starlette.responses import Response

from controller.console.routing import EVERYBODY, ConsoleRequest, page, route
from controller.console.store.proofs import AttemptRecords
from controller.console.store.sheets import ScoreSheetStore
from controller.console.view.history import (
    AttemptLine,
    MatchListRow,
    build_attempt_lines,
    build_match_list,
)
from controller.console.wrong import RequestError


async def list_matches(request: ConsoleRequest) -> dict[str, list[MatchListRow]]:
    """List the matches: those of one `event`, where it is named."""
    console, event = request.console, request.query("event") or None
    sheets = ScoreSheetStore(console.engine, console.now_ms)
    kept = await console.read(lambda: sheets.newest(event))
    seen = [console.tables.snapshot(table).state for table in console.tables.ids]
    present = [one for one in seen if one and event in (None, one.match.event)]
    return {"matches": build_match_list(kept, present)}


async def list_attempts(request: ConsoleRequest) -> dict[str, list[AttemptLine]]:
    """List the attempts of a match at a table, and which of them can be checked."""
    proofs, table, match = (
        AttemptRecords(request.console.engine),
        request.path_params["id"],
        request.path_params["match"],
    )
    found = await request.console.read_after_flush(lambda: proofs.attempts(table, match))
    return {"attempts": build_attempt_lines(found)}


async def get_match_record(request: ConsoleRequest) -> Response:
    """Return every public event of a match at a table as lines for `dealtable verify`."""
    proofs, table, match = (
        AttemptRecords(request.console.engine),
        request.path_params["id"],
        request.path_params["match"],
    )
    rows = await request.console.read_after_flush(lambda: proofs.rows_of_match(table, match))
    if not rows:
        raise RequestError(404, "the archive has nothing of this match", "没有这局的事件存档")
    safe = "".join(
        sign if sign.isascii() and sign.isalnum() else "_" for sign in f"{table}_{match}"
    )
    return Response(
        b"".join(row + b"\n" for row in rows),
        media_type="application/jsonl",
        headers={
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="events-{safe}.jsonl"',
        },
    )


ROUTES: Final = (
    page("/history", "history.html", roles=EVERYBODY),
    route("/api/history", list_matches, roles=EVERYBODY),
    route("/api/tables/{id}/attempts/{match:path}", list_attempts, roles=EVERYBODY),
    route("/api/tables/{id}/record/{match:path}", get_match_record, roles=EVERYBODY),
)
