"""An asyncio loop in virtual time: the clock jumps to the next timer without waiting.

Time is counted in whole nanoseconds, so that sums of delays stay exact and equal times compare
equal. An operation that needs the outside world (descriptors, threads, a wait that no timer can
end) raises VirtualTimeError at once. The loop never hangs and never depends on real time.

Use it as `asyncio.Runner(loop_factory=VirtualLoop)`, or through pytest-asyncio's hook
`pytest_asyncio_loop_factories`.
"""

import asyncio
import selectors
from _thread import get_ident  # returns the id of the calling thread; starts no thread
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from heapq import heappop, heappush
from typing import Any, NoReturn, TypeVarTuple

NS_PER_S = 1_000_000_000
_NUMBER_BITS = 48
"""The number of bits of a timer's running number.

Time and running number form one integer, which is fast to compare.
"""

_Args = TypeVarTuple("_Args")


class VirtualTimeError(RuntimeError):
    """An error for an operation that is not possible in virtual time."""


class _NoSelector(selectors.BaseSelector):
    """A selector without descriptors: select, register and unregister raise VirtualTimeError."""

    def select(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse("a descriptor")

    register = unregister = select

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}


def _refuse(what: str) -> NoReturn:
    raise VirtualTimeError(f"{what} lives in real time: not on the virtual loop")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock starts at 0 and jumps from timer to timer.

    Timers of the same time run in the order in which they were set. Raises VirtualTimeError for
    add_reader, add_writer, sockets, pipes, signal handlers, processes, run_in_executor (and so
    to_thread and name look-ups), call_soon_threadsafe from another thread, and for a wait that no
    timer can end.
    """

    _ready: deque[asyncio.Handle]
    _stopping: bool

    def __init__(self) -> None:
        self._now_ns, self._now_s = 0, 0.0
        # A heap. The running number orders timers of the same time by the order in which they were
        # set. asyncio orders timers by time alone, so two writes with the same delay could swap
        # their bytes.
        self._timers: list[tuple[int, asyncio.TimerHandle]] = []
        # Timers that were set for the current time. They run after all timers of the heap.
        self._due_now: list[asyncio.TimerHandle] = []
        self._timers_set = 0
        self._thread = get_ident()
        super().__init__(_NoSelector())

    @property
    def timers(self) -> list[asyncio.TimerHandle]:
        """The pending timers, in no particular order."""
        timers = [timer for _, timer in self._timers] + self._due_now
        return [timer for timer in timers if not timer.cancelled()]

    def time(self) -> float:
        """Return the virtual time in seconds since the loop was created."""
        return self._now_s

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Args], object],
        *args: *_Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Schedule `callback(*args)` for the time `when` in seconds, rounded to nanoseconds."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        at_ns = round(when * NS_PER_S)
        timer = asyncio.TimerHandle(at_ns / NS_PER_S, callback, args, self, context)
        if at_ns == self._now_ns:
            self._due_now.append(timer)
        else:
            self._timers_set += 1
            heappush(self._timers, ((at_ns << _NUMBER_BITS) + self._timers_set, timer))
        return timer

    def close(self) -> None:
        """Close the loop and drop its timers."""
        self._timers.clear()
        self._due_now.clear()
        super().close()

    def call_soon(
        self, callback: Callable[[*_Args], object], *args: *_Args, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule `callback(*args)` for the next turn of the loop."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*_Args], object], *args: *_Args, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule `callback(*args)` for the next turn, if called from the loop's own thread.

        Raises VirtualTimeError in any other thread. Drivers pass edges on with this call, and mock
        pins fire in the loop's thread.
        """
        if get_ident() != self._thread:
            _refuse("another thread")
        return super().call_soon_threadsafe(callback, *args, context=context)

    def run_in_executor(
        self, executor: Any, func: Callable[[*_Args], Any], *args: *_Args
    ) -> NoReturn:
        """Raise VirtualTimeError, because a thread runs in real time."""
        _refuse("a thread")

    async def subprocess_exec(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise VirtualTimeError, because a process runs in real time."""
        _refuse("a process")

    subprocess_shell = subprocess_exec

    def add_signal_handler(
        self, sig: int, callback: Callable[[*_Args], object], *args: *_Args
    ) -> NoReturn:
        """Raise VirtualTimeError, because signals arrive in real time."""
        _refuse("a signal")

    def _add_reader(self, fd: Any, callback: Any, *args: Any) -> NoReturn:
        _refuse("a descriptor")

    _add_writer = _add_reader

    def _run_once(self) -> None:
        """Run all turns of the loop until it is stopped, not only one turn.

        asyncio's own method runs one turn, and its caller checks for the stop. A turn has asyncio's
        order: ready callbacks first, then the timers that are due. The clock jumps first only if
        nothing is ready.
        """
        timers, now_due, ready = self._timers, self._due_now, self._ready
        stopped = False
        while not stopped:
            while timers and timers[0][1]._cancelled:
                heappop(timers)
            if not (ready or now_due or self._stopping):
                self._jump_to_next_timer()
            beyond = (self._now_ns + 1) << _NUMBER_BITS
            while timers and timers[0][0] < beyond:
                ready.append(heappop(timers)[1])
            if now_due:
                ready.extend(now_due)
                now_due.clear()
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:
                    handle._run()
            stopped = self._stopping

    def _jump_to_next_timer(self) -> None:
        """Move the clock forward to the next timer. Raises VirtualTimeError if no timer is set."""
        if not self._timers:
            raise VirtualTimeError(
                "every task waits and no timer is set: nothing could ever wake this loop"
            )
        self._now_ns = max(self._now_ns, self._timers[0][0] >> _NUMBER_BITS)
        self._now_s = self._now_ns / NS_PER_S

    # asyncio wakes a polling loop through a socket pair. This loop never polls, and the next turn
    # finds the callbacks that the same thread adds.

    def _make_self_pipe(self) -> None:
        pass

    _close_self_pipe = _write_to_self = _make_self_pipe
