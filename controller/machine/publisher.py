"""When the public state goes out: on change, at most ten times a second; else once a second."""

import asyncio
from collections.abc import Callable

FASTEST_S = 0.1
SLOWEST_S = 1.0


class Publisher:
    """Calls `publish` as often as the feed promises; one timer, none once closed.

    `on_late` is told by how many seconds the loop missed the timer: how busy it is.
    """

    def __init__(
        self,
        publish: Callable[[], None],
        on_late: Callable[[float], None] = lambda late_s: None,
    ) -> None:
        self._publish = publish
        self._on_late = on_late
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time() - SLOWEST_S
        self._dirty = False
        self._closed = False
        self._timer = self._loop.call_later(SLOWEST_S, self._on_time)

    def changed(self) -> None:
        """Say that the state is another one; it goes out at once, or 0.1 s after the last."""
        if self._dirty or self._closed:
            return
        self._dirty = True
        self._arm(self._last + FASTEST_S)

    def close(self) -> None:
        """Publish nothing any more."""
        self._closed = True
        self._timer.cancel()

    def _arm(self, at: float) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(max(at, self._loop.time()), self._on_time)

    def _on_time(self) -> None:
        self._dirty = False
        self._last = self._loop.time()
        self._on_late(max(0.0, self._last - self._timer.when()))
        self._arm(self._last + SLOWEST_S)
        self._publish()
