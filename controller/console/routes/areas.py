"""The areas' clocks, and the chief's hand on them: one command to every table of an area."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from controller.console.routing import EVERYBODY, REFEREES, Asked, route
from controller.console.store.orders import Orders
from controller.console.view.areas import areas, is_due, is_over, is_playing
from controller.console.wish import Wish
from controller.console.wrong import Wrong
from controller.messages import State

RequestId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9_.-]{8,36}$", description="8 to 36 letters, digits, _ . -")
]
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]{1,23}")


class AreaWish(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an area's tables shall do; the same `id` again asks for the fate of the same orders.

    `tables`: those alone, where not all of the area are meant.
    """

    id: RequestId
    reason: str | None = None
    seconds: int | None = None
    tables: tuple[str, ...] | None = None


class Act(msgspec.Struct, frozen=True):
    """A command for many tables: which, what it says, and the tables that it is for by itself.

    `was`: a table where it has acted already.
    """

    cmd: str
    args: Callable[[AreaWish], dict[str, Any]]
    meant: Callable[[State], bool]
    was: Callable[[State], bool]


def _has_match(state: State) -> bool:
    return state.match.match is not None and not is_over(state)


def _reason(wish: AreaWish) -> dict[str, Any]:
    if not (wish.reason or "").strip():
        raise Wrong(400, "a reason is missing", "请说明原因")
    return {"reason": wish.reason, "area": True}


def _seconds(wish: AreaWish) -> dict[str, Any]:
    if wish.seconds is None:
        raise Wrong(400, "seconds are missing", "请说明补时秒数")
    return {"seconds": wish.seconds}


def _never(state: State) -> bool:
    return False


ACTS: Final[Mapping[str, Act]] = {
    "start": Act("start_match", lambda wish: {}, is_due, is_playing),
    "hold": Act("hold", _reason, _has_match, _never),
    "resume": Act("resume", lambda wish: {"area": True}, _has_match, _never),
    "time": Act("add_time", _seconds, _has_match, _never),
}
"""What can be ordered of an area. Who may is the tables' to say, command by command."""


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
    wish = await asked.body(AreaWish)
    args = doing.args(wish)
    tables = await _meant(asked, area, doing, wish)
    replies = await asyncio.gather(*(_ordered(asked, table, doing, wish, args) for table in tables))
    return {"tables": dict(zip(tables, replies, strict=True))}


async def _meant(asked: Asked, area: str, doing: Act, wish: AreaWish) -> list[str]:
    """Return the tables that are meant. Raises Wrong for one that is not of the area.

    By itself an act is for the tables where it is due, and those which this very request has
    reached before.
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
        return list(dict.fromkeys(wish.tables))
    states = {table: seen.state for table, seen in there.items() if seen.state is not None}
    done = [table for table, state in states.items() if doing.was(state)]
    before = await asked.console.read(lambda: _reached(Orders(asked.console.engine), wish, done))
    return [table for table, state in states.items() if doing.meant(state) or table in before]


def _reached(orders: Orders, wish: AreaWish, tables: list[str]) -> frozenset[str]:
    return frozenset(table for table in tables if orders.find(order_id(wish.id, table)))


async def _ordered(
    asked: Asked, table: str, doing: Act, wish: AreaWish, args: dict[str, Any]
) -> object:
    """Return a table's reply as JSON has it; one that the console itself refuses looks alike."""
    order = Wish(id=order_id(wish.id, table), cmd=doing.cmd, args=args)
    try:
        return (await asked.console.desk.do(asked.person, table, order)).reply
    except Wrong as wrong:
        words = {"message": wrong.en, "message_zh": wrong.zh, "action": "", "action_zh": ""}
        return {"id": order.id, "ok": False, "error": {"code": "", **words}}


def order_id(request: str, table: str) -> str:
    """Return the id of a table's order: of one request it is always the same."""
    named = _PLAIN.fullmatch(table)
    return f"{request}-{table if named else hashlib.sha256(table.encode()).hexdigest()[:16]}"


ROUTES: Final = (
    route("/api/areas", see, roles=EVERYBODY),
    route("/api/areas/{area}/{act}", act, ("POST",), roles=REFEREES),
)
