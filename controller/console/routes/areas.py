"""The areas' clocks, and the chief's hand on them: one command to every table of an area.

Start, pause and end of pause are the chief's (REFEREE 3.1, 3.2: one clock an area). Time that is
added (补时) is a referee's at his tables, above five minutes the chief's: each table says so.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from controller.console.routing import EVERYBODY, REFEREES, Asked, Roles, admit, route
from controller.console.standing import Standing
from controller.console.store.acts import LoggedAreaAction
from controller.console.view.areas import areas, is_due, is_over
from controller.console.wrong import Wrong
from controller.messages import Role, State

RequestId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_.-]{8,36}$", description="8 to 36 letters, digits, _ . -")
]
_PLAIN_TABLE_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,23}")


class AreaActionRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an area's tables shall do; the same `id` again asks for the fate of the same orders.

    `tables`: those alone, where not all of the area are meant.
    """

    id: RequestId
    reason: str | None = None
    seconds: int | None = None
    tables: tuple[str, ...] | None = None


class Act(msgspec.Struct, frozen=True):
    """A command for many tables: which, what it says, and the tables that it is for by itself."""

    cmd: str
    args: Callable[[AreaActionRequest], dict[str, Any]]
    meant: Callable[[State], bool]
    roles: Roles = frozenset({Role.CHIEF})


def _has_match(state: State) -> bool:
    return state.match.match is not None and not is_over(state)


def _pause_args(wish: AreaActionRequest) -> dict[str, Any]:
    if not (wish.reason or "").strip():
        raise Wrong(400, "a reason is missing", "请说明原因")
    return {"reason": wish.reason, "area": True}


def _added_time_args(wish: AreaActionRequest) -> dict[str, Any]:
    if wish.seconds is None:
        raise Wrong(400, "seconds are missing", "请说明补时秒数")
    return {"seconds": wish.seconds}


ACTS: Final[Mapping[str, Act]] = {
    "start": Act("start_match", lambda wish: {}, is_due),
    "hold": Act("hold", _pause_args, _has_match),
    "resume": Act("resume", lambda wish: {"area": True}, _has_match),
    "time": Act("add_time", _added_time_args, _has_match, REFEREES),
}
"""What can be ordered of an area, and by whom; what a referee may add is the tables' to say."""


async def see(asked: Asked) -> object:
    """List the areas as their tables say they are."""
    tables = asked.console.tables
    return areas([tables.seen(table) for table in tables.ids], asked.console.now_ms())


async def act(asked: Asked) -> dict[str, Any]:
    """Let the tables of an area do one thing, all at once; return what each has answered.

    null: it is not known whether it acted; asked again with the same id it acts once.
    """
    area, doing = asked.path["area"], ACTS.get(asked.path["act"])
    if doing is None:
        raise Wrong(404, "there is no such act", "没有此操作")
    wish = await asked.body(AreaActionRequest)
    admit(asked.person, doing.roles)
    args = doing.args(wish)
    tables, unheard = _tables_meant(asked, area, doing, wish)
    if not (tables or unheard) and await asked.console.acts.known(wish.id) is None:
        return {"tables": {}}
    meant = LoggedAreaAction(
        id=wish.id,
        area=area,
        act=asked.path["act"],
        cmd=doing.cmd,
        args=args,
        person=asked.person.name,
        at_ms=asked.console.now_ms(),
        orders={table: order_id(wish.id, table) for table in tables},
        unheard=unheard,
    )
    return {"tables": await asked.console.acts.order(asked.person, meant)}


async def again(asked: Asked) -> dict[str, Any]:
    """Ask what became of an act where that is not known, and send what was never sent."""
    known = asked.console.acts.open(asked.path["id"])
    admit(asked.person, ACTS[known.act].roles)
    return {"tables": await asked.console.acts.again(asked.person, known)}


def _tables_meant(
    asked: Asked, area: str, doing: Act, wish: AreaActionRequest
) -> tuple[list[str], tuple[str, ...]]:
    """Return the tables that are meant, and those of the area of which nobody knows that.

    By itself an act is for the tables where it is due by their last word; of one that is not
    live, that may be an hour old. Raises Wrong for one that is not of the area.
    """
    tables = asked.console.tables
    there = {table: tables.seen(table) for table in tables.ids}
    there = {table: seen for table, seen in there.items() if seen.area == area}
    if not there:
        raise Wrong(404, f"there is no area {area}", f"没有{area}区")
    if wish.tables is not None:
        for table in wish.tables:
            if table not in there:
                raise Wrong(400, f"{table} is not in area {area}", f"{table}不在{area}区")
        return list(dict.fromkeys(wish.tables)), ()
    meant = [table for table, seen in there.items() if seen.state and doing.meant(seen.state)]
    now_ms = asked.console.now_ms()
    dark = (table for table, seen in there.items() if seen.standing(now_ms)[0] is not Standing.LIVE)
    return meant, tuple(table for table in dark if table not in meant)


def order_id(request: str, table: str) -> str:
    """Return the id of a table's order: of one request it is always the same."""
    named = _PLAIN_TABLE_ID.fullmatch(table)
    return f"{request}-{table if named else hashlib.sha256(table.encode()).hexdigest()[:16]}"


ROUTES: Final = (
    route("/api/areas", see, roles=EVERYBODY),
    route("/api/areas/{area}/{act}", act, ("POST",), roles=REFEREES),
    route("/api/acts/{id}/again", again, ("POST",), roles=REFEREES),
)
