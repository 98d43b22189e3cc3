"""The console's clock: a steady clock that shows the time of day.

A waiting time must not jump when the computer's clock is set. But a computer in a hall may have a
wrong time until a person or the network sets it. Then all stored and shown times would be wrong for
as long as the console runs. So the console compares both clocks repeatedly. When the computer's
clock was set, every part shifts its stored times by the same step.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from controller.host.loggers import structlog

MIN_STEP_MS: Final = 1_000
"""The smallest difference that counts as a set clock. A smaller one is ignored (provisional)."""
POLL_INTERVAL_S: Final = 1.0

_log = structlog.get_logger("console")
OnClockStep = Callable[[int], None]
"""Receives the milliseconds by which the console's clock was set, and shifts stored times."""


class ConsoleClock:
    """A clock in milliseconds since 1970.

    `steady_s` is a clock that is never set. `wall_ms` is the computer's clock.
    """

    def __init__(self, steady_s: Callable[[], float], wall_ms: Callable[[], int]) -> None:
        self._steady_s, self._wall_ms = steady_s, wall_ms
        self._offset_ms = self._offset()

    def __call__(self) -> int:
        """Return the present time."""
        return int(self._steady_s() * 1000 + self._offset_ms)

    def follow_wall_clock(self) -> int:
        """Follow the computer's clock if it was set. Return the step in milliseconds, or 0."""
        step_ms = round(self._offset() - self._offset_ms)
        if abs(step_ms) < MIN_STEP_MS:
            return 0
        self._offset_ms += step_ms
        return step_ms

    async def watch_wall_clock(self, *listeners: OnClockStep) -> None:
        """Compare the clocks repeatedly, and call the listeners with every step."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            step_ms = self.follow_wall_clock()
            if step_ms:
                _log.warning("the clock of this computer was set", by_s=round(step_ms / 1000, 1))
                for tell in listeners:
                    tell(step_ms)

    def _offset(self) -> float:
        return self._wall_ms() - self._steady_s() * 1000
