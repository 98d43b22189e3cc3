"""The matches of the event: a list, and what the archive has of one."""

from typing import Final

from starlette.responses import Response

from controller.console.routing import EVERYBODY, Asked, page, route
from controller.console.store.proofs import AttemptRecords
from controller.console.store.sheets import ScoreSheetStore
from controller.console.view.history import AttemptLine, MatchListRow, matches, tried
from controller.console.wrong import Wrong


async def listed(asked: Asked) -> dict[str, list[MatchListRow]]:
    """List the matches: those of one `event`, where it is named."""
    console, event = asked.console, asked.query("event") or None
    sheets = ScoreSheetStore(console.engine, console.now_ms)
    kept = await console.read(lambda: sheets.newest(event))
    seen = [console.tables.seen(table).state for table in console.tables.ids]
    present = [one for one in seen if one and event in (None, one.match.event)]
    return {"matches": matches(kept, present)}


async def attempts(asked: Asked) -> dict[str, list[AttemptLine]]:
    """List the attempts of a match at a table, and which of them can be checked."""
    proofs, table, match = (
        AttemptRecords(asked.console.engine),
        asked.path["id"],
        asked.path["match"],
    )
    found = await asked.console.past(lambda: proofs.attempts(table, match))
    return {"attempts": tried(found)}


async def record(asked: Asked) -> Response:
    """Return every public event of a match at a table as lines for `dealtable verify`."""
    proofs, table, match = (
        AttemptRecords(asked.console.engine),
        asked.path["id"],
        asked.path["match"],
    )
    rows = await asked.console.past(lambda: proofs.of_match(table, match))
    if not rows:
        raise Wrong(404, "the archive has nothing of this match", "没有这局的事件存档")
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
    route("/api/history", listed, roles=EVERYBODY),
    route("/api/tables/{id}/attempts/{match:path}", attempts, roles=EVERYBODY),
    route("/api/tables/{id}/record/{match:path}", record, roles=EVERYBODY),
)
