"""How many pages listen at once: each is a stream that the console works for, without end, and a
connection of its browser, which has six to one address.

A browser whose pages filled all six could not even ask for the next one, and would seem to hang.
So its pages have fewer lines together; where there are more pages, they take turns: the line that
was taken first ends, and its page takes another one a little later (`TURN_MS`).
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

MAX_STREAMS_PER_PERSON: Final = 32
"""Lines of one person: of a few browsers, and some screens under one name (provisional)."""
MAX_VISIBLE_STREAMS: Final = 4
"""Lines of one browser, of pages that lie before somebody."""
MAX_HIDDEN_STREAMS: Final = 1
"""Lines of one browser, of pages that nobody sees and somebody wants to hear. One is left for all
else that a browser asks."""
RECONNECT_DELAY_MS: Final = 2_000
"""After how long a page whose line has ended takes another: two of them are less than a page is
silent for before it says so."""


class StreamLimits:
    """The lines of everybody. One too many ends the oldest: a page that was left behind, on a
    tablet that sleeps, keeps nobody out."""

    def __init__(
        self,
        per_person: int = MAX_STREAMS_PER_PERSON,
        visible: int = MAX_VISIBLE_STREAMS,
        hidden: int = MAX_HIDDEN_STREAMS,
    ) -> None:
        self._per_person, self._per_browser = per_person, {False: visible, True: hidden}
        self._streams: dict[tuple[str, str], list[asyncio.Event]] = {}

    @property
    def stream_count(self) -> int:
        """How many lines everybody has."""
        return sum(len(lines) for (kind, _), lines in self._streams.items() if kind == "person")

    @contextmanager
    def open_stream(
        self, person: str, browser: str = "", *, hidden: bool = False
    ) -> Iterator[asyncio.Event]:
        """Count one more line for the block; what is given is set once it has to end.

        `browser`: what tells it from others; "" where that is not known. `behind`: nobody sees
        the page.
        """
        own = asyncio.Event()
        with ExitStack() as counted:
            counted.enter_context(self._count_stream(("person", person), own, self._per_person))
            if browser:
                kind = "behind" if hidden else "before"
                most = self._per_browser[hidden]
                counted.enter_context(self._count_stream((kind, browser), own, most))
            yield own

    @contextmanager
    def _count_stream(
        self, key: tuple[str, str], must_end: asyncio.Event, limit: int
    ) -> Iterator[None]:
        lines = self._streams.setdefault(key, [])
        lines.append(must_end)
        for older in lines[:-limit]:
            older.set()
        try:
            yield
        finally:
            lines.remove(must_end)
            if not lines:
                del self._streams[key]
