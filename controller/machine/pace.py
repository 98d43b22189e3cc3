"""How fast cards are fed, and so when hands will be ready: an estimate for people."""

import statistics
from collections import deque

MAX_REMEMBERED_INTERVALS = 12
"""So many intervals between cards are looked at; a pause among them does not weigh."""
MIN_REMEMBERED_INTERVALS = 3
"""With fewer intervals nobody knows."""


class FeedPace:
    """The pace of the attempt under way, out of what is seen of its cards."""

    def __init__(self) -> None:
        self._attempt: int | None = None
        self._fed = 0
        self._last_s = 0.0
        self._intervals_s: deque[float] = deque(maxlen=MAX_REMEMBERED_INTERVALS)

    def observe(self, attempt: int | None, fed: int, now_s: float) -> None:
        """Take how many cards of an attempt are fed by now; another attempt begins anew."""
        if attempt != self._attempt:
            self._attempt, self._fed = attempt, 0
            self._intervals_s.clear()
        if fed <= self._fed:
            return
        if self._fed:
            self._intervals_s.append((now_s - self._last_s) / (fed - self._fed))
        self._fed, self._last_s = fed, now_s

    def ready_in_s(self, cards: int) -> float | None:
        """Return how many seconds the rest of `cards` will take; None where it is unknown."""
        if len(self._intervals_s) < MIN_REMEMBERED_INTERVALS:
            return None
        return round((cards - self._fed) * statistics.median(self._intervals_s), 1)
