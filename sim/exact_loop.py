"""A loop whose timers end when they should, however many descriptors it watches.

What follows from a timer follows at the timer's own time: a motion that begins when another
ends begins then, not when the processor has woken and has got there. So the mechanics take what
they take, and what comes on top is the host's.
"""

import asyncio
import select
import selectors
import time
from typing import Final

Ready = list[tuple[selectors.SelectorKey, int]]

BUSY_WAIT_S: Final = 0.0003
"""The end of a long wait is not slept through: a processor that sleeps takes so long to wake."""
_LONG_WAIT_S: Final = 0.002
"""Waits in a hall of many tables are shorter, and its processors have other work."""


class ExactSelector(selectors.EpollSelector):
    """epoll that waits to the microsecond, and knows the time of what it waited for.

    epoll itself waits in whole milliseconds, so that every motion would end half of one
    late; select is exact, but knows no descriptor above 1023. Here select waits for
    epoll's own descriptor, and epoll says what there is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now_s = time.monotonic()
        """The time of what is ready: by the clock for a descriptor, else when it was due."""

    def select(self, timeout: float | None = None) -> Ready:
        """Return what is ready; wait until `timeout` seconds after `now_s`, None for ever."""
        if timeout is None:
            return self._stamp(super().select(None))
        due_s = self.now_s + max(0.0, timeout)
        wait_s = due_s - time.monotonic()
        ready = super().select(0) if wait_s <= 0 else self._wait(wait_s, due_s)
        if ready:
            return self._stamp(ready)
        self.now_s = due_s
        return ready

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
        """Return the time of what happens now: it stands still until all of it has happened."""
        return self._exact_selector.now_s


def exact_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop with exact timers."""
    return _ExactLoop(ExactSelector())
