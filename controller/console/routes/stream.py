"""The streams of the pages: one a page, all of it first and then what changes.

`?behind`: nobody sees the page, but wants to hear it. Pages of a browser with more of them than it
has lines take turns (lookers.py), and ask which of them sounds (rings.py).
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.responses import Response, StreamingResponse

from controller.console.hall import me
from controller.console.lookers import RECONNECT_DELAY_MS
from controller.console.rings import MAX_SOUNDS_PER_BROWSER
from controller.console.routing import STAFF, Asked, route
from controller.console.shown import Shown, stream
from controller.console.view.display import display
from controller.console.wrong import Wrong
from controller.loggers import structlog
from controller.messages import Role

_RETRY_LINE: Final = b"retry: %d\n\n" % RECONNECT_DELAY_MS
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


async def hall(asked: Asked) -> Response:
    """Stream the hall, as this person's role sees it."""
    shown = asked.console.hall.shown(asked.person.role)
    return _stream_response(_told(asked, shown))


async def table(asked: Asked) -> Response:
    """Stream one table."""
    name = asked.table

    async def told() -> AsyncIterator[bytes]:
        async with asked.console.pages.looking(name, asked.person.role) as (shown, failed):
            async for said in _told(asked, shown, failed):
                yield said

    return _stream_response(told())


async def stream_display(asked: Asked) -> Response:
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

    return _stream_response(told())


class _SoundRequest(msgspec.Struct, forbid_unknown_fields=True):
    """`of`: all news that a page would sound for, each by a name that other pages have, too."""

    of: Annotated[
        tuple[Annotated[str, Meta(max_length=200)], ...],
        Meta(min_length=1, max_length=MAX_SOUNDS_PER_BROWSER),
    ]


async def ring(asked: Asked) -> dict[str, bool]:
    """Tell whether a page is to sound, and not another one of its browser in its stead."""
    news = (await asked.body(_SoundRequest)).of
    now_s = asyncio.get_running_loop().time()
    return {"ring": asked.console.rings.first(asked.token, news, now_s)}


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

    headers, behind = asked.request.headers, "behind" in asked.request.query_params
    known = headers.get("last-event-id", "")
    own = {"me": me(person)}
    events = stream(shown, console.now_ms, own, may, run=console.run, known=known)
    with console.lookers.looking(person.name, token, behind=behind) as too_many:
        why = (console.ending, failed, too_many)
        ends = [asyncio.ensure_future(end.wait()) for end in why if end]
        due: asyncio.Future[bytes | None] | None = None
        try:
            yield _RETRY_LINE + await anext(events)  # whoever has a turn gets something of it
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


def _stream_response(events: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


_log = structlog.get_logger("console")
ROUTES: Final = (
    route("/stream/hall", hall),
    route("/stream/table/{id}", table),
    route("/stream/display/{id}", stream_display, roles=STAFF | {Role.TABLE}),
    route("/api/ring", ring, ("POST",), paced=False),
)
