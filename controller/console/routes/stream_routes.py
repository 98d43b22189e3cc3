"""The routes that stream pages to browsers. A stream first sends the whole page, then its changes.

The parameter `behind` marks a hidden page that still sounds. If a browser has more such pages than
connections, the pages connect in turn, and one of them sounds.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.responses import Response, StreamingResponse

from controller.console.live_pages.hall_page import own_account_json
from controller.console.live_pages.page_parts import PageParts, event_stream
from controller.console.rate_limits import MAX_SOUNDS_PER_BROWSER, RECONNECT_DELAY_MS
from controller.console.request_error import RequestError
from controller.console.routing import CHIEF, EVERYBODY, STAFF, ConsoleRequest, page, route
from controller.console.view.table_display import build_display
from controller.host.loggers import structlog
from controller.messages import Role

_RETRY_LINE: Final = b"retry: %d\n\n" % RECONNECT_DELAY_MS
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_log = structlog.get_logger("console")


async def stream_hall(request: ConsoleRequest) -> Response:
    """Stream the hall's page, with the parts that the role of this person may see."""
    shown = request.console.hall.parts_for(request.person.role)
    return _stream_response(_viewer_events(request, shown))


async def stream_table(request: ConsoleRequest) -> Response:
    """Stream the page of one table."""
    name = request.table

    async def told() -> AsyncIterator[bytes]:
        opened = request.console.table_pages.open_page(name, request.person.role)
        async with opened as (shown, failed):
            async for said in _viewer_events(request, shown, failed):
                yield said

    return _stream_response(told())


async def stream_display(request: ConsoleRequest) -> Response:
    """Stream the content of a table's display. It never contains a card of a hand."""
    name = request.path_params["id"]
    if request.person.role is Role.TABLE and request.person.table != name:
        raise RequestError(403, "this display is of another table", "本台显属于另一张台")
    name = request.table
    shown, console, failed = PageParts(), request.console, asyncio.Event()

    def show(changed: str) -> None:
        if changed != name:
            return
        try:
            seen = console.tables.snapshot(name)
        except KeyError:
            shown.drop("display")
            return
        how, since_ms = seen.freshness(console.now_ms())
        try:
            shown.put("display", build_display(seen.state, how, since_ms))
        except Exception:
            _log.exception("display not shown", table=name)
            failed.set()

    async def told() -> AsyncIterator[bytes]:
        show(name)
        undo = console.tables.on_change(show)
        try:
            async for said in _viewer_events(request, shown, failed):
                yield said
                show(name)
        finally:
            undo()

    return _stream_response(told())


class _SoundRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A page's request to sound alerts. `of` has their names, equal on all pages of a browser."""

    of: Annotated[
        tuple[Annotated[str, Meta(max_length=200)], ...],
        Meta(min_length=1, max_length=MAX_SOUNDS_PER_BROWSER),
    ]


async def claim_sound(request: ConsoleRequest) -> dict[str, bool]:
    """Return whether this page must sound an alert. Only one page of a browser sounds it."""
    news = (await request.read_json(_SoundRequest)).of
    now_s = asyncio.get_running_loop().time()
    return {"ring": request.console.alert_sounds.claim(request.token, news, now_s)}


async def _viewer_events(
    request: ConsoleRequest, page_parts: PageParts, failed: asyncio.Event | None = None
) -> AsyncIterator[bytes]:
    """Yield a page's stream until the page fails, the console ends, or the viewer loses access.

    The stream also ends when the viewer has opened too many other streams.
    """
    person, console, token = request.person, request.console, request.token

    async def may() -> bool:
        now = await console.sessions.session_owner(token)
        return now is not None and (now.role, now.table) == (person.role, person.table)

    headers, behind = request.http_request.headers, "behind" in request.http_request.query_params
    known = headers.get("last-event-id", "")
    own = {"me": own_account_json(person)}
    events = event_stream(
        page_parts, console.now_ms, own, may, run_id=console.run_id, last_event_id=known
    )
    with console.stream_limits.open_stream(person.name, token, hidden=behind) as too_many:
        why = (console.stopping, failed, too_many)
        ends = [asyncio.ensure_future(end.wait()) for end in why if end]
        due: asyncio.Future[bytes | None] | None = None
        try:
            yield _RETRY_LINE + await anext(events)  # Each stream sends at least one event.
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
                due.cancel()  # This ends `events` too.
                await asyncio.wait({due})
            await events.aclose()


def _stream_response(events: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


ROUTES: Final = (
    route("/stream/hall", stream_hall),
    route("/stream/table/{id}", stream_table),
    route("/stream/display/{id}", stream_display, roles=STAFF | {Role.TABLE}),
    route("/api/ring", claim_sound, ("POST",), rate_limited=False),
    page("/", "hall.html", roles=EVERYBODY),
    page("/wall", "wall.html", roles=EVERYBODY),
    page("/chief", "chief.html", roles=CHIEF),
)
