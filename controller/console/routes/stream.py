"""The streams of the pages: one a page, all of it first and then what changes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.responses import Response, StreamingResponse

from controller.console.hall import me
from controller.console.routing import STAFF, Asked, route
from controller.console.shown import Shown, stream
from controller.console.view.display import display
from controller.console.wrong import Wrong
from controller.loggers import structlog
from controller.messages import Role

_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def hall(asked: Asked) -> Response:
    """Stream the hall, as this person's role sees it."""
    shown = asked.console.hall.shown(asked.person.role)
    return _streamed(_told(asked, shown))


async def table(asked: Asked) -> Response:
    """Stream one table."""
    name = asked.table

    async def told() -> AsyncIterator[bytes]:
        async with asked.console.pages.looking(name, asked.person.role) as (shown, failed):
            async for said in _told(asked, shown, failed):
                yield said

    return _streamed(told())


async def of_display(asked: Asked) -> Response:
    """Stream what a table's own display shows: nothing of a hand."""
    name = asked.path["id"]
    if asked.person.role is Role.TABLE and asked.person.table != name:
        raise Wrong(403, "this display is of another table", "本台显属于另一张台")
    name = asked.table
    shown, console, failed = Shown(), asked.console, asyncio.Event()

    def show(changed: str) -> None:
        if changed != name:
            return
        try:
            seen = console.tables.seen(name)
        except KeyError:
            shown.drop("display")
            return
        how, since_ms = seen.standing(console.now_ms())
        try:
            shown.put("display", display(seen.state, how, since_ms))
        except Exception:
            _log.exception("display not shown", table=name)
            failed.set()

    async def told() -> AsyncIterator[bytes]:
        show(name)
        undo = console.tables.on_change(show)
        try:
            async for said in _told(asked, shown, failed):
                yield said
                show(name)
        finally:
            undo()

    return _streamed(told())


async def _told(
    asked: Asked, shown: Shown, failed: asyncio.Event | None = None
) -> AsyncIterator[bytes]:
    """Yield a page's events until whoever looks may no longer, the console ends, or it failed.

    Also until he has opened too many others.
    """
    person, console, token = asked.person, asked.console, asked.token

    async def may() -> bool:
        now = await console.sessions.whose(token)
        return now is not None and (now.role, now.table) == (person.role, person.table)

    events = stream(shown, console.now_ms, {"me": me(person)}, may)
    with console.lookers.looking(person.name) as too_many:
        why = (console.ending, failed, too_many)
        ends = [asyncio.ensure_future(end.wait()) for end in why if end]
        due: asyncio.Future[bytes | None] | None = None
        try:
            while True:
                due = asyncio.ensure_future(anext(events, None))
                await asyncio.wait({due, *ends}, return_when=asyncio.FIRST_COMPLETED)
                said = due.result() if due.done() else None
                if said is None or any(end.done() for end in ends):
                    return
                yield said
        finally:
            for end in ends:
                end.cancel()
            if due is not None and not due.done():
                due.cancel()  # which ends `events`, too
                await asyncio.wait({due})
            await events.aclose()


def _streamed(events: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


_log = structlog.get_logger("console")
ROUTES: Final = (
    route("/stream/hall", hall),
    route("/stream/table/{id}", table),
    route("/stream/display/{id}", of_display, roles=STAFF | {Role.TABLE}),
)
