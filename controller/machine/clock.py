"""The table's clock: whole milliseconds that only go forward, also over a restart.

Clocks of matches count by it. While the daemon runs it is the loop's; between two runs it
went on by the wall's stamps, as far as those can be believed.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime

from controller.journal.entries import JournalEntry

MAX_AWAY_MS = 24 * 3600 * 1000
"""The longest that a daemon counts as away: a longer gap is a wrong wall clock."""


class TableClock:
    """Milliseconds since the table's journal began, from the running loop."""

    def __init__(self, begins_ms: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._started_s = self._loop.time()
        self._offset_ms = begins_ms

    def __call__(self) -> int:
        """Return the milliseconds as of now."""
        return self._offset_ms + round((self._loop.time() - self._started_s) * 1000)

    def advance(self, by_ms: int) -> None:
        """Show `by_ms` more from now on, where a match of an older table comes."""
        self._offset_ms += by_ms

    def loop_time(self, at_ms: int) -> float:
        """Return the loop's time at which this clock shows `at_ms`."""
        return self._started_s + (at_ms - self._offset_ms) / 1000


def resumed_ms(entries: Iterable[JournalEntry], now: str) -> int:
    """Return what the clock of an earlier run would show at `now`, the wall's stamp.

    It shows the last moment of which the journal tells, and the time since then where the
    stamps make sense. What came from another table tells of moments before that.
    """
    last: JournalEntry | None = None
    for entry in entries:
        at_ms = entry.data.get("at_ms")
        if isinstance(at_ms, int) and (last is None or at_ms >= last.data["at_ms"]):
            last = entry
    if last is None:
        return 0
    return int(last.data["at_ms"]) + elapsed_ms(last.time, now)


def elapsed_ms(earlier: str, later: str) -> int:
    """Return the milliseconds from one wall stamp to a later one, 0 where they make no sense."""
    try:
        gap = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    except (ValueError, TypeError):  # the latter: one of them says no zone
        return 0
    return max(0, min(MAX_AWAY_MS, round(gap.total_seconds() * 1000)))
