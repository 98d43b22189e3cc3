"""The routes for areas: the clocks, and commands to all tables of an area.

Only the chief may start, pause or resume an area, because each area has one clock. A referee may
add time (补时) at a table. Above five minutes, only the chief may add it. Each table checks that.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from controller.console.commands.area_actions import LoggedAreaAction
from controller.console.freshness import Freshness
from controller.console.request_error import RequestError
from controller.console.routing import EVERYBODY, REFEREES, ConsoleRequest, Roles, admit, route
from controller.console.view.area_clocks import build_areas, is_over, is_waiting_to_start
from controller.messages import PublicState, Role

RequestId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_.-]{8,36}$", description="8 to 36 letters, digits, _ . -")
]
_PLAIN_TABLE_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,23}")


class AreaActionRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person's request to send one kind of command to the tables of an area.

    A second request with the same `id` returns the results of the same commands. `tables` are the
    tables of the area that are meant, or None for the whole area.
    """

    id: RequestId
    reason: str | None = None
    seconds: int | None = None
    tables: tuple[str, ...] | None = None


class AreaActionKind(msgspec.Struct, frozen=True):
    """A kind of command for an area. `is_meant_for` returns whether a table needs it now."""

    cmd: str
    args: Callable[[AreaActionRequest], dict[str, Any]]
    is_meant_for: Callable[[PublicState], bool]
    roles: Roles = frozenset({Role.CHIEF})


def _has_match(state: PublicState) -> bool:
    return state.match.match is not None and not is_over(state)


def _pause_args(area_request: AreaActionRequest) -> dict[str, Any]:
    if not (area_request.reason or "").strip():
        raise RequestError(400, "a reason is missing", "请说明原因")
    return {"reason": area_request.reason, "area": True}


def _added_time_args(area_request: AreaActionRequest) -> dict[str, Any]:
    if area_request.seconds is None:
        raise RequestError(400, "seconds are missing", "请说明补时秒数")
    return {"seconds": area_request.seconds}


AREA_ACTION_KINDS: Final[Mapping[str, AreaActionKind]] = {
    "start": AreaActionKind("start_match", lambda wish: {}, is_waiting_to_start),
    "hold": AreaActionKind("hold", _pause_args, _has_match),
    "resume": AreaActionKind("resume", lambda wish: {"area": True}, _has_match),
    "time": AreaActionKind("add_time", _added_time_args, _has_match, REFEREES),
}
"""The possible actions for an area, with their roles. Each table checks the time that a referee
adds."""


async def list_areas(request: ConsoleRequest) -> object:
    """Return the view of every area, built from the states of its tables."""
    tables = request.console.tables
    return build_areas([tables.snapshot(table) for table in tables.ids], request.console.now_ms())


async def send_area_action(request: ConsoleRequest) -> dict[str, Any]:
    """Send a command to the tables that the request names, or by default to all that need it.

    Return each table's answer, or null if it is unknown whether the table executed the command. A
    table executes the commands of one request id only once.
    """
    area, doing = request.path_params["area"], AREA_ACTION_KINDS.get(request.path_params["act"])
    if doing is None:
        raise RequestError(404, "there is no such action", "没有此操作")
    wish = await request.read_json(AreaActionRequest)
    admit(request.person, doing.roles)
    args = doing.args(wish)
    tables, unheard = _tables_meant(request, area, doing, wish)
    if not (tables or unheard) and await request.console.area_actions.find(wish.id) is None:
        return {"tables": {}}
    meant = LoggedAreaAction(
        id=wish.id,
        area=area,
        act=request.path_params["act"],
        cmd=doing.cmd,
        args=args,
        person=request.person.name,
        at_ms=request.console.now_ms(),
        orders={table: command_id(wish.id, table) for table in tables},
        unheard=unheard,
    )
    return {"tables": await request.console.area_actions.send(request.person, meant)}


async def ask_area_action_again(request: ConsoleRequest) -> dict[str, Any]:
    """Send an area's command again to those of its tables that have no known result."""
    known = request.console.area_actions.find_shown(request.path_params["id"])
    admit(request.person, AREA_ACTION_KINDS[known.act].roles)
    return {"tables": await request.console.area_actions.ask_again(request.person, known)}


def _tables_meant(
    request: ConsoleRequest, area: str, kind: AreaActionKind, area_request: AreaActionRequest
) -> tuple[list[str], tuple[str, ...]]:
    """Return the tables that get a command, and tables that are not live but may need it.

    By default, a command is meant for the tables that need it in their last state. The last state
    of a table that is not live may be an hour old. So such a table is in the second list if its
    last state does not need the command. Raises RequestError for a table of another area.
    """
    tables = request.console.tables
    there = {one: seen for one in tables.ids if (seen := tables.snapshot(one)).area == area}
    if not there:
        raise RequestError(404, f"there is no area {area}", f"没有{area}区")
    if area_request.tables is not None:
        for table in area_request.tables:
            if table not in there:
                raise RequestError(400, f"{table} is not in area {area}", f"{table}不在{area}区")
        return list(dict.fromkeys(area_request.tables)), ()
    meant = [table for table, seen in there.items() if seen.state and kind.is_meant_for(seen.state)]
    now_ms = request.console.now_ms()
    return meant, tuple(
        table
        for table, seen in there.items()
        if seen.freshness(now_ms)[0] is not Freshness.LIVE and table not in meant
    )


def command_id(request_id: str, table: str) -> str:
    """Return the id of the command to `table` for the area request with the id `request_id`."""
    named = _PLAIN_TABLE_ID.fullmatch(table)
    return f"{request_id}-{table if named else hashlib.sha256(table.encode()).hexdigest()[:16]}"


ROUTES: Final = (
    route("/api/areas", list_areas, roles=EVERYBODY),
    route("/api/areas/{area}/{act}", send_area_action, ("POST",), roles=REFEREES),
    route("/api/acts/{id}/again", ask_area_action_again, ("POST",), roles=REFEREES),
)
