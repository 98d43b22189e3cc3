"""The number on the display while a cut is waited for: slow enough to be read and chosen.

A press takes the number that stands there; when it was pressed is never an input.
"""

import asyncio
from collections.abc import Callable

STEP_INTERVAL_S = 0.1
"""Ten numbers a second."""


class CutCounter:
    """Counts through the legal cuts, again and again, while it runs."""

    def __init__(self, cuts: range, on_step: Callable[[], None]) -> None:
        self.number: int | None = None
        self._cuts, self._on_step = cuts, on_step
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def set_running(self, running: bool) -> None:
        """Begin where it is wanted and stands, end where it runs and is not."""
        if running and self._timer is None:
            self._step()
        elif not running and self._timer is not None:
            self._timer.cancel()
            self._timer = self.number = None

    def _step(self) -> None:
        last = self.number
        at_end = last is None or last + 1 not in self._cuts
        self.number = self._cuts[0] if at_end or last is None else last + 1
        self._timer = self._loop.call_later(STEP_INTERVAL_S, self._step)
        self._on_step()
