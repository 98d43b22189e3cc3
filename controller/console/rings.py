"""Which of a browser's pages sounds for something: the first that asks, and no other.

Pages of one browser learn of the same call one after the other, and none knows of the others: what
a browser offers for that is not there without TLS. Each asks here before it sounds.
"""

from collections.abc import Iterable
from typing import Final

KEPT_S: Final = 60.0
"""Whoever asks later about the same is another news: a table that is given up once more, say."""
MOST_NEWS: Final = 1_024
"""Of one browser, and"""
MOST_BROWSERS: Final = 4_096
"""browsers of which something is remembered; then the oldest is forgotten."""


class Rings:
    """What was sounded for of late, by browser."""

    def __init__(self) -> None:
        self._rung: dict[str, dict[str, float]] = {}

    def first(self, browser: str, news: Iterable[str], now_s: float) -> bool:
        """Take down what a page would sound for; tell whether something of it is new.

        `now_s` runs on steadily: it is no time of day.
        """
        rung = self._rung.pop(browser, {})
        known = {one: at_s for one, at_s in rung.items() if now_s - at_s < KEPT_S}
        fresh = dict.fromkeys(set(news) - known.keys(), now_s)
        latest = list((known | fresh).items())[-MOST_NEWS:]
        self._rung[browser] = dict(latest)  # the newest stands last
        if len(self._rung) > MOST_BROWSERS:
            del self._rung[next(iter(self._rung))]
        return bool(fresh)
