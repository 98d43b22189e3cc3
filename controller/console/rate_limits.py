"""How fast somebody may do something: so many at once, and so many a second on and on."""

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
    """So many at once of everybody, and so many a second after that.

    `now_s` runs on steadily: it is no time of day. What is refused costs nothing: whoever tries
    again too soon does not wait longer by it.
    """

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._tokens: dict[str, tuple[float, float]] = {}

    def allow(self, key: str, now_s: float) -> bool:
        """Count one more of somebody; tell whether there was room for it."""
        left, at_s = self._tokens.pop(key, (self._burst, now_s))
        left = min(self._burst, left + (now_s - at_s) * self._per_second)
        there_was = left >= 1
        self._tokens[key] = left - there_was, now_s
        if len(self._tokens) > _MAX_REMEMBERED:
            del self._tokens[next(iter(self._tokens))]  # who has been quiet the longest
        return there_was

    @property
    def wait_s(self) -> int:
        """In how many whole seconds there is room for one more at the latest."""
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


REMEMBERED_S: Final = 60.0
"""Whoever asks later about the same is another news: a table that is given up once more, say."""
MAX_SOUNDS_PER_BROWSER: Final = 1_024
"""Of one browser, and"""
MAX_BROWSERS: Final = 4_096
"""browsers of which something is remembered; then the oldest is forgotten."""


class AlertSounds:
    """What was sounded for of late, by browser."""

    def __init__(self) -> None:
        self._sounded: dict[str, dict[str, float]] = {}

    def claim(self, browser: str, news: Iterable[str], now_s: float) -> bool:
        """Take down what a page would sound for; tell whether something of it is new.

        `now_s` runs on steadily: it is no time of day.
        """
        rung = self._sounded.pop(browser, {})
        known = {one: at_s for one, at_s in rung.items() if now_s - at_s < REMEMBERED_S}
        fresh = dict.fromkeys(set(news) - known.keys(), now_s)
        latest = list((known | fresh).items())[-MAX_SOUNDS_PER_BROWSER:]
        self._sounded[browser] = dict(latest)  # the newest stands last
        if len(self._sounded) > MAX_BROWSERS:
            del self._sounded[next(iter(self._sounded))]
        return bool(fresh)
