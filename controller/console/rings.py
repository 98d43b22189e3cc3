"""Which of a browser's pages sounds for something: the first that asks, and no other.

Pages of one browser learn of the same call one after the other, and none knows of the others: what
a browser offers for that is not there without TLS. Each asks here before it sounds.
"""

from collections.abc import Iterable
from typing import Final

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
