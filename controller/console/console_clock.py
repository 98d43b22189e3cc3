"""The console's clock: it runs as steadily as a stopwatch, and says the time of day.

How long somebody waits must not jump where the clock of the wall is set. But a computer that was
switched on in a hall has no right time before somebody, or the network, has set it: then all that
is written down, or shown as a time of day, would be wrong for as long as the console runs. So it
is looked again and again how far both are apart, and a step is taken by all who keep moments.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from controller.host.loggers import structlog

MIN_STEP_MS: Final = 1_000
"""Clocks that drift this far apart were set; what is less is left alone (provisional)."""
POLL_INTERVAL_S: Final = 1.0

_log = structlog.get_logger("console")
OnClockStep = Callable[[int], None]
"""Takes by how many milliseconds the console's clock was set: moments kept by it move along."""


class ConsoleClock:
    """Milliseconds since 1970. `steady_s` runs on whatever is set, `wall_ms` is the wall's."""

    def __init__(self, steady_s: Callable[[], float], wall_ms: Callable[[], int]) -> None:
        self._steady_s, self._wall_ms = steady_s, wall_ms
        self._offset_ms = self._offset()

    def __call__(self) -> int:
        """Return the moment."""
        return int(self._steady_s() * 1000 + self._offset_ms)

    def follow_wall_clock(self) -> int:
        """Follow the wall where it was set; return by how many milliseconds, 0 for not at all."""
        step_ms = round(self._offset() - self._offset_ms)
        if abs(step_ms) < MIN_STEP_MS:
            return 0
        self._offset_ms += step_ms
        return step_ms

    async def watch_wall_clock(self, *listeners: OnClockStep) -> None:
        """Look on, and tell of every step."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            step_ms = self.follow_wall_clock()
            if step_ms:
                _log.warning("the clock of this computer was set", by_s=round(step_ms / 1000, 1))
                for tell in listeners:
                    tell(step_ms)

    def _offset(self) -> float:
        return self._wall_ms() - self._steady_s() * 1000
