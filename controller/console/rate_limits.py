"""Limits on the rate of actions, on open streams, and on the sounds of alerts."""

import asyncio
import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

COMMAND_BURST: Final = 20
COMMANDS_PER_SECOND: Final = 5.0
"""Limits of one person's commands, from all their browsers together: their number at once, and
their number per second after that (provisional). Every request that changes something counts. A
person presses buttons more slowly, and a script could send a hundred times as many."""
_MAX_REMEMBERED: Final = 4_096
"""The maximum of keys in memory. Above it, the key with the longest pause is forgotten."""


class TokenBuckets:
    """Limits on the rate of actions, one for each `key`: a person's name or an address.

    `burst` actions are allowed at once, and `per_second` actions each second after that. `now_s` is
    a steady clock, not a time of day. A refused action costs nothing, so an early retry does not
    lengthen the wait.
    """

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._tokens: dict[str, tuple[float, float]] = {}

    def allow(self, key: str, now_s: float) -> bool:
        """Return whether the person or address `key` may act now. If so, count the action."""
        left, at_s = self._tokens.pop(key, (self._burst, now_s))
        left = min(self._burst, left + (now_s - at_s) * self._per_second)
        there_was = left >= 1
        self._tokens[key] = left - there_was, now_s
        if len(self._tokens) > _MAX_REMEMBERED:
            del self._tokens[next(iter(self._tokens))]  # The key with the longest pause.
        return there_was

    @property
    def wait_s(self) -> int:
        """Return the longest wait, in whole seconds, until a refused action is allowed."""
        return math.ceil(1 / self._per_second)


MAX_STREAMS_PER_PERSON: Final = 32
"""Streams of one person, who may use a few browsers and some screens (provisional)."""
MAX_VISIBLE_STREAMS: Final = 4
"""Streams of one browser for visible pages."""
MAX_HIDDEN_STREAMS: Final = 1
"""Streams of one browser for hidden pages that still sound. A browser opens six connections, so one
connection is left for its other requests."""
RECONNECT_DELAY_MS: Final = 2_000
"""The wait of a page between the end of its stream and the next stream. A page can wait twice
before it shows that it has no connection."""


class StreamLimits:
    """Limits on the open streams of each person and of each browser.

    A stream is a connection on which an open page receives news. A stream above a limit ends the
    oldest stream, so that a forgotten page on a sleeping tablet blocks no other page.
    """

    def __init__(
        self, per_person: int = MAX_STREAMS_PER_PERSON, visible: int = MAX_VISIBLE_STREAMS
    ) -> None:
        self._per_person, self._per_browser = per_person, {False: visible, True: MAX_HIDDEN_STREAMS}
        self._streams: dict[tuple[str, str], list[asyncio.Event]] = {}

    @property
    def stream_count(self) -> int:
        """Return the number of all open streams."""
        return sum(len(lines) for (kind, _), lines in self._streams.items() if kind == "person")

    @contextmanager
    def open_stream(
        self, person: str, browser: str = "", *, hidden: bool = False
    ) -> Iterator[asyncio.Event]:
        """Count an open stream, and yield an asyncio.Event that is set if the stream must end.

        The stream counts until the end of the block. `browser` identifies the browser, or is "" if
        unknown. `hidden` is True for a hidden page. Hidden pages have a limit of their own.
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
"""Seconds for which a sound is remembered. Later the same name is new again, for example when a
table waits for the second time."""
MAX_SOUNDS_PER_BROWSER: Final = 1_024
"""The maximum of remembered sounds of one browser."""
MAX_BROWSERS: Final = 4_096
"""The maximum of browsers in memory. Above it, the oldest is forgotten."""


class AlertSounds:
    """A record of the alerts for which each browser made a sound in the last minute."""

    def __init__(self) -> None:
        self._sounded: dict[str, dict[str, float]] = {}

    def claim(self, browser: str, news: Iterable[str], now_s: float) -> bool:
        """Return whether a browser must make a sound, because an alert in `news` is new to it.

        All alerts in `news` then count as known for a minute. `now_s` is a steady clock, not a time
        of day.
        """
        rung = self._sounded.pop(browser, {})
        known = {one: at_s for one, at_s in rung.items() if now_s - at_s < REMEMBERED_S}
        fresh = dict.fromkeys(set(news) - known.keys(), now_s)
        latest = list((known | fresh).items())[-MAX_SOUNDS_PER_BROWSER:]
        self._sounded[browser] = dict(latest)  # The newest sound is last.
        if len(self._sounded) > MAX_BROWSERS:
            del self._sounded[next(iter(self._sounded))]
        return bool(fresh)
