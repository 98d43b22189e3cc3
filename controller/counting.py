"""What machine and gateway count, as numbers for technicians and lines of a log. Pure."""

from bisect import bisect_left
from typing import Final

import msgspec


class MetricSample(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One number: what it counts, for which label values (names of faults, boards, sets)."""

    name: str
    labels: tuple[str, ...]
    value: float


class MetricDistribution(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How many of something took how long.

    `counts[i]` of them took at most `bounds_s[i]` and more than the bound before; the last
    count, one more than there are bounds, is of the rest. `sum_s` is all of them together.
    """

    name: str
    labels: tuple[str, ...]
    bounds_s: tuple[float, ...]
    counts: tuple[int, ...]
    sum_s: float


class Histogram:
    """How often something took how long, in seconds; `add` is all that it costs to measure."""

    def __init__(self, bounds_s: tuple[float, ...]) -> None:
        self._bounds_s = bounds_s
        self._counts = [0] * (len(bounds_s) + 1)
        self._sum_s = 0.0

    def add(self, duration_s: float) -> None:
        """Count one more."""
        self._counts[bisect_left(self._bounds_s, duration_s)] += 1
        self._sum_s += duration_s

    def distribution(self, name: str, *labels: str) -> MetricDistribution:
        """Return what it counted, under a name of gateway/families.py."""
        return MetricDistribution(name, labels, self._bounds_s, tuple(self._counts), self._sum_s)


REFUSAL_LOG_INTERVAL_S: Final = 60.0
MAX_REFUSED_KEYS: Final = 20


class RefusalLogLimiter:
    """When a refused key is worth a line in the log: once a minute, however often it comes.

    Remembers no more than `REFUSED_KEYS` keys: a stranger may come with a new one every time,
    so that keys are bounded too.
    """

    def __init__(self) -> None:
        self._window_start_s = 0.0
        self._keys: set[str] = set()
        self._suppressed = 0

    def allow_line(self, key: str, now_s: float) -> int | None:
        """Return None to keep silent, or how many refusals were kept silent before this one."""
        if not self._keys or now_s - self._window_start_s >= REFUSAL_LOG_INTERVAL_S:
            self._window_start_s = now_s
            self._keys.clear()
        if key in self._keys or len(self._keys) >= MAX_REFUSED_KEYS:
            self._suppressed += 1
            return None
        self._keys.add(key)
        unsaid, self._suppressed = self._suppressed, 0
        return unsaid
