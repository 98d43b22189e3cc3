"""When the public state goes out: on change, at most ten times a second; else once a second."""

import asyncio
from collections.abc import Callable

MIN_STATE_INTERVAL_S = 0.1
MAX_STATE_INTERVAL_S = 1.0


class StatePublisher:
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
        self._last_s = self._loop.time() - MAX_STATE_INTERVAL_S
        self._is_changed = False
        self._closed = False
        self._timer = self._loop.call_later(MAX_STATE_INTERVAL_S, self._on_timer)

    def mark_changed(self) -> None:
        """Say that the state is another one; it goes out at once, or 0.1 s after the last."""
        if self._is_changed or self._closed:
            return
        self._is_changed = True
        self._set_timer(self._last_s + MIN_STATE_INTERVAL_S)

    def close(self) -> None:
        """Publish nothing any more."""
        self._closed = True
        self._timer.cancel()

    def _set_timer(self, at: float) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(max(at, self._loop.time()), self._on_timer)

    def _on_timer(self) -> None:
        self._is_changed = False
        self._last_s = self._loop.time()
        self._on_late(max(0.0, self._last_s - self._timer.when()))
        self._set_timer(self._last_s + MAX_STATE_INTERVAL_S)
        self._publish()
