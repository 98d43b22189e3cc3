"""What happened at a table, in plain words: pages behind the newest ones, which the stream has."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final

from controller.console.routing import EVERYBODY, Asked, page, route
from controller.console.view.told import tell
from controller.messages import Event

_LINES_PER_PAGE: Final = 100
"""Lines of one page."""
_ENTRIES_PER_PAGE: Final = 400
"""Entries before a page's end that are looked at: some are private, some tell of those behind."""


async def told(asked: Asked) -> dict[str, Any]:
    """List entries before number `before` in words, oldest first; `before`: where they begin."""
    table, before = asked.table, asked.number("before", _NO_END)
    archive = asked.console.archive

    def read() -> tuple[int, Sequence[Event]]:
        end = min(before, archive.last(table) + 1)
        since = max(0, end - 1 - _ENTRIES_PER_PAGE)
        return since, list(takewhile(lambda one: one.n < end, archive.events(table, since)))

    since, events = await asked.console.past(read)
    lines = tell(events)
    page = lines[-_LINES_PER_PAGE:]
    first = page[0].n if len(lines) > _LINES_PER_PAGE else since + 1
    return {"told": page, "before": first, "more": first > 1}


_NO_END: Final = 10**14


ROUTES: Final = (
    page("/table/{id}", "table.html", roles=EVERYBODY),
    route("/api/tables/{id}/told", told, roles=EVERYBODY),
)
