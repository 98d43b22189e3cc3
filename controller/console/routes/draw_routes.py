"""Routes that check a whole draw (对阵表) and set up its matches, table by table."""

import asyncio
from typing import Any, Final

import msgspec
from starlette.responses import Response

from controller.commands.match_arguments import SetMatchArgs
from controller.console.commands.command_dispatcher import STORE_UNAVAILABLE
from controller.console.commands.command_log import CommandLog, ConsoleCommandRequest, LoggedCommand
from controller.console.request_error import RequestError
from controller.console.routing import REFEREES, ConsoleRequest, file_response, page, route
from controller.console.store.database import StoreError
from controller.console.store.match_records import EarlierRulings
from controller.console.view.draw_file import COLUMNS, example_draw
from controller.console.view.draw_validation import (
    Draw,
    DrawnMatch,
    preview,
    read_draw,
    shortest_table_name,
    with_records,
)
from controller.console.view.penalty_counters import earlier_penalties
from controller.faults import Language
from controller.rules.penalties.penalty_record import PenaltyRecord

_ALL_AREAS: Final = "*"
"""The name in a path that means every area."""
_MATCH_GONE_MS: Final = 60_000
"""Time after which a match that its table no longer has may be set up again."""
_MAX_TRIES: Final = 50


async def list_columns(_: ConsoleRequest) -> dict[str, list[dict[str, Any]]]:
    """List the columns that a file of pairings (a draw) may have, with their descriptions."""
    return {"columns": [one._asdict() for one in COLUMNS.values()]}


async def get_example_draw(request: ConsoleRequest) -> Response:
    """Return an example file of a draw, with a match at the console's first table."""
    language: Language = "en" if request.query("language", "zh") == "en" else "zh"
    tables = request.console.tables.ids
    table = shortest_table_name(tables[0], tables) if tables else COLUMNS["table"].example
    body = example_draw(language, table)
    return file_response(body, "text/csv; charset=utf-8", f"draw-{language}.csv")


async def check_or_lay_out(request: ConsoleRequest) -> dict[str, Any]:
    """Preview a draw, or set up its matches if the request has the preview's hash (`digest`).

    `digest` is the hash from the preview. A match that is already set up is not set up again.
    Raises RequestError if the file or the earlier penalties differ from the preview, or if the draw
    has an error.
    """
    area, known = request.path_params["area"], request.console.tables
    tables = [one for one in known.ids if area in (_ALL_AREAS, known.snapshot(one).area)]
    if not tables:
        raise RequestError(404, f"no area is called {area[:24]}", f"没有名为{area[:24]}的区")
    file = read_draw(await request.read_bytes(), tables, request.query("event").strip()[:64])
    read = await request.console.read_after_flush(
        lambda: _add_penalties(EarlierRulings(request.console.engine), file)
    )
    wanted = request.query("digest")
    if not wanted:
        return _preview_with_states(request, read)
    if wanted.partition("-")[0] != file.digest:
        raise RequestError(
            409,
            "the file differs from the preview: preview it again",
            "文件与预览的不同，请重新预览",
        )
    if wanted != read.digest:
        raise RequestError(
            409,
            "the pairs' earlier penalties differ from the preview: preview the draw again",
            "各队带入的判罚与预览的不同，请重新预览",
        )
    if read.faults or not read.matches:
        raise RequestError(409, "this draw has errors: nothing was sent", "对阵表有误，未发送")
    told = await asyncio.gather(*(_lay_out(request, laid) for laid in read.matches))
    return {"tables": dict(zip((laid.table for laid in read.matches), told, strict=True))}


def _add_penalties(rulings: EarlierRulings, file: Draw) -> Draw:
    """Return a draw, with the earlier penalties of its pairs added from the archive."""
    events = {laid.args.event for laid in file.matches}
    pairs = {pair.id for laid in file.matches for pair in (laid.args.pairs.NS, laid.args.pairs.EW)}
    before = {event: rulings.matches_of_pairs(event, pairs) for event in events}

    def record_of(said: SetMatchArgs) -> PenaltyRecord:
        return earlier_penalties(before[said.event], {said.pairs.NS.id, said.pairs.EW.id})

    return with_records(file, record_of)


def _preview_with_states(request: ConsoleRequest, read: Draw) -> dict[str, Any]:
    """Return the preview of a draw, with the present state of each table."""
    rows = []
    for row in preview(read):
        state = request.console.tables.snapshot(row["table"]).state
        now: dict[str, Any] = {"now_en": "", "now_zh": "", "now": None}
        here = busy = False
        if state is not None:
            match = state.match
            now = {"now_en": match.phase_en, "now_zh": match.phase_zh, "now": match.match}
            here = match.match == row["match_id"]
            busy = match.match is not None and match.started and match.verdict is None and not here
        rows.append(row | now | {"here": here, "busy": busy})
    return msgspec.structs.asdict(read) | {"matches": rows}


async def _lay_out(request: ConsoleRequest, drawn: DrawnMatch) -> dict[str, Any]:
    """Set up one match of a draw at its table, and return the result.

    If another person sent the command, the result names that person. An error is returned, not
    raised.
    """
    # The arguments have the form in which they are stored.
    args: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(drawn.args))
    desk, person, table = request.console.dispatcher, request.person, drawn.table
    try:
        order, given = await _last_try(request, drawn)
        if given is not None and given.person != person.name:
            # This is the same match at the same table, so the other person's command continues.
            sender = {"person": given.person, "at_ms": given.at_ms}
            return (await desk.ask_again(person, table, order)).as_json() | sender
        if given is not None:  # The draw's earlier penalties may differ by now.
            args = given.command.args
        wish = ConsoleCommandRequest(id=order, cmd="set_match", args=args)
        return (await desk.send(person, table, wish)).as_json()
    except RequestError as wrong:
        return {"error": {"en": wrong.en, "zh": wrong.zh}}
    except StoreError:  # The matches of the other tables may be set up by now.
        return {"error": {"en": STORE_UNAVAILABLE.message, "zh": STORE_UNAVAILABLE.message_zh}}


async def _last_try(request: ConsoleRequest, drawn: DrawnMatch) -> tuple[str, LoggedCommand | None]:
    """Return the id of the command that sets up a match, and the command if it was already sent.

    If a new try is allowed (see `_may_try_again`), the id is new and the command is None.
    """
    orders, base = CommandLog(request.console.engine), drawn.command_id

    def tries() -> list[LoggedCommand]:
        found: list[LoggedCommand] = []
        while len(found) < _MAX_TRIES and (given := orders.find(f"{base}-{len(found) + 1}")):
            found.append(given)
        return found

    given = await request.console.read(tries)
    if not given or _may_try_again(request, drawn, given[-1]):
        return f"{base}-{len(given) + 1}", None
    return given[-1].command.id, given[-1]


def _may_try_again(request: ConsoleRequest, drawn: DrawnMatch, logged: LoggedCommand) -> bool:
    """Return whether a new command may replace `logged`, the last try to set up a match.

    It may if the table refused `logged`. It also may if the table executed `logged`, more than a
    minute has passed, and the table no longer has the match.
    """
    if logged.reply is None:
        return False
    if not logged.reply.ok:
        return True
    state = request.console.tables.snapshot(drawn.table).state
    gone = state is not None and state.match.match != drawn.args.match_id
    return gone and request.console.now_ms() - logged.at_ms > _MATCH_GONE_MS


ROUTES: Final = (
    page("/draw", "draw.html", roles=REFEREES),
    route("/api/draw/columns", list_columns, roles=REFEREES),
    route("/api/draw/example.csv", get_example_draw, roles=REFEREES),
    route("/api/draw/{area}", check_or_lay_out, ("POST",), roles=REFEREES),
)
