"""An asyncio event loop with exact timers and any number of file descriptors (`exact_loop`).

A callback of a timer runs at the timer's own time on the loop's clock. A motion that begins when
another motion ends begins at that time, not when the processor has woken. So the mechanics take
exactly their configured times, and any extra time is the host's.

If the process was stopped for some time, the loop's clock continues from where it was. So a limit
of the firmware never passes before the motion that it limits.
"""

import asyncio
import select
import selectors
import time
from typing import Final

Ready = list[tuple[selectors.SelectorKey, int]]

BUSY_WAIT_S: Final = 0.0003
"""The last part of a long wait, in seconds, is a busy wait.

A sleeping processor needs about this long to wake.
"""
_LONG_WAIT_S: Final = 0.002
"""A wait above this time, in seconds, is long.

Waits in a process with many tables are shorter, and its processors have other work.
"""
MAX_READ_DELAY_S: Final = 0.02
"""The longest time in seconds for which timers that are late keep the loop from reading.

After a longer stop it is not known when a descriptor became ready, and a heartbeat may wait there.
"""


class ExactSelector(selectors.EpollSelector):
    """An epoll selector that waits with microsecond precision.

    `now_s` is the time of the last return.

    epoll waits in whole milliseconds, so every motion would end half a millisecond late. select is
    exact, but supports no descriptor above 1023. Here select waits for epoll's own descriptor, and
    epoll then returns the descriptors that are ready.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now_s = time.monotonic()
        """The time of what is ready: by the clock for a descriptor, else when it was due.

        It never passes a timer that has not run.
        """

    def select(self, timeout: float | None = None) -> Ready:
        """Wait for ready descriptors, at most `timeout` seconds. Return those that are ready.

        The wait ends `timeout` seconds after `now_s`; None waits forever. If that time is over, the
        timers run first, unless they are later than MAX_READ_DELAY_S.
        """
        if timeout is None:
            return self._stamp(super().select(None))
        due_s = self.now_s + max(0.0, timeout)
        wait_s = due_s - time.monotonic()
        ready = super().select(0) if wait_s <= 0 else self._wait(wait_s, due_s)
        late_s = time.monotonic() - due_s
        if ready and late_s <= 0:
            return self._stamp(ready)
        self.now_s = due_s
        return ready if late_s > MAX_READ_DELAY_S else []

    def _wait(self, wait_s: float, due_s: float) -> Ready:
        long = wait_s > _LONG_WAIT_S
        select.select((self.fileno(),), (), (), wait_s - BUSY_WAIT_S if long else wait_s)
        ready = super().select(0)
        while long and not ready and time.monotonic() < due_s:
            ready = super().select(0)
        return ready

    def _stamp(self, ready: Ready) -> Ready:
        self.now_s = max(self.now_s, time.monotonic())  # a wait may end a little early
        return ready


class _ExactLoop(asyncio.SelectorEventLoop):
    def __init__(self, selector: ExactSelector) -> None:
        self._exact_selector = selector
        super().__init__(selector)

    def time(self) -> float:
        """Return the loop's time in seconds, which is constant during one turn of the loop."""
        return self._exact_selector.now_s


def exact_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop with exact timers."""
    return _ExactLoop(ExactSelector())
