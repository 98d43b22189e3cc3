"""What happened at a table, in plain words: pages behind the newest ones, which the stream has."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from controller.console.routing import EVERYBODY, ConsoleRequest, page, route
from controller.console.view.told import describe_events
from controller.messages import PublicEvent

_LINES_PER_PAGE: Final = 100
"""Lines of one page."""
_ENTRIES_PER_PAGE: Final = 400
"""Entries before a page's end that are looked at: some are private, some tell of those behind."""


async def list_event_lines(request: ConsoleRequest) -> dict[str, Any]:
    """List entries before number `before` in words, oldest first; `before`: where they begin."""
    table, before = request.table, request.number("before", _NO_END)
    archive = request.console.archive

    def read() -> tuple[int, Sequence[PublicEvent]]:
        end = min(before, archive.last_number(table) + 1)
        since = max(0, end - 1 - _ENTRIES_PER_PAGE)
        return since, list(takewhile(lambda one: one.n < end, archive.events(table, since)))

    since, events = await request.console.read_after_flush(read)
    lines = describe_events(events)
    page = lines[-_LINES_PER_PAGE:]
    first = page[0].n if len(lines) > _LINES_PER_PAGE else since + 1
    return {"told": page, "before": first, "more": first > 1}


_NO_END: Final = 10**14


ROUTES: Final = (
    page("/table/{id}", "table.html", roles=EVERYBODY),
    route("/api/tables/{id}/told", list_event_lines, roles=EVERYBODY),
)
