"""A loop whose timers end when they should, however many descriptors it watches."""

import asyncio
import select
import selectors


class ExactSelector(selectors.EpollSelector):
    """epoll that waits to the microsecond.

    epoll itself waits in whole milliseconds, so that every motion would end half of one
    late; select is exact, but knows no descriptor above 1023. Here select waits for
    epoll's own descriptor, and epoll says what there is.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; wait `timeout` seconds at most, None for ever."""
        if timeout is not None and timeout > 0:
            select.select((self.fileno(),), (), (), timeout)
            timeout = 0
        return super().select(timeout)


def exact_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop with exact timers."""
    return asyncio.SelectorEventLoop(ExactSelector())
