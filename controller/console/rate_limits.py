"""Rate limits: how many actions at once, and how many a second after that."""

import asyncio
import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

COMMAND_BURST: Final = 20
COMMANDS_PER_SECOND: Final = 5.0
"""Of one person, of all that changes something, whatever it is and wherever he is logged in: more
than hands press, a hundredth of what a script could send (provisional)."""
_MAX_REMEMBERED: Final = 4_096
"""Of whom something is remembered."""


class TokenBuckets:
    """A limit for each key: a number of actions at once, and a rate after that.

    `now_s` is a steady clock, not a time of day. A refused action costs nothing, so an early retry
    does not lengthen the wait.
    """

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._tokens: dict[str, tuple[float, float]] = {}

    def allow(self, key: str, now_s: float) -> bool:
        """Count one more action of a key. Return whether it is allowed."""
        left, at_s = self._tokens.pop(key, (self._burst, now_s))
        left = min(self._burst, left + (now_s - at_s) * self._per_second)
        there_was = left >= 1
        self._tokens[key] = left - there_was, now_s
        if len(self._tokens) > _MAX_REMEMBERED:
            del self._tokens[next(iter(self._tokens))]  # The one with the longest pause.
        return there_was

    @property
    def wait_s(self) -> int:
        """Return after how many whole seconds one more action is allowed at the latest."""
        return math.ceil(1 / self._per_second)


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
    """The open streams of all browsers.

    One stream too many ends the oldest, so that a forgotten page on a sleeping tablet blocks no
    other page.
    """

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
        """Return the number of all open streams."""
        return sum(len(lines) for (kind, _), lines in self._streams.items() if kind == "person")

    @contextmanager
    def open_stream(
        self, person: str, browser: str = "", *, hidden: bool = False
    ) -> Iterator[asyncio.Event]:
        """Count one more stream for the block.

        Yield an event that is set when the stream must end.

        `browser` identifies the browser, or is "" if unknown. `behind`: the page is hidden.
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


REMEMBERED_S: Final = 60.0
"""Whoever asks later about the same is another news: a table that is given up once more, say."""
MAX_SOUNDS_PER_BROWSER: Final = 1_024
"""Of one browser, and"""
MAX_BROWSERS: Final = 4_096
"""browsers of which something is remembered; then the oldest is forgotten."""


class AlertSounds:
    """The news for which each browser sounded recently."""

    def __init__(self) -> None:
        self._sounded: dict[str, dict[str, float]] = {}

    def claim(self, browser: str, news: Iterable[str], now_s: float) -> bool:
        """Note the news for which a page would sound.

        Return whether any of it is new.

        `now_s` is a steady clock, not a time of day.
        """
        rung = self._sounded.pop(browser, {})
        known = {one: at_s for one, at_s in rung.items() if now_s - at_s < REMEMBERED_S}
        fresh = dict.fromkeys(set(news) - known.keys(), now_s)
        latest = list((known | fresh).items())[-MAX_SOUNDS_PER_BROWSER:]
        self._sounded[browser] = dict(latest)  # The newest is last.
        if len(self._sounded) > MAX_BROWSERS:
            del self._sounded[next(iter(self._sounded))]
        return bool(fresh)
