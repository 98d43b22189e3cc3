"""An asyncio loop in virtual time: nothing is waited for, the clock jumps to the next timer.

Time is counted in whole nanoseconds, so that sums of delays stay exact and equal
instants are equal. Whatever would need the outside world (descriptors, threads, a
wait that no timer can end) raises at once, instead of hanging or of letting real
time in.

Use it as `asyncio.Runner(loop_factory=VirtualLoop)`, or through pytest-asyncio's
hook `pytest_asyncio_loop_factories`.
"""

import asyncio
import heapq
import selectors
from _thread import get_ident  # asks which thread calls; starts none
from collections.abc import Callable, Mapping
from contextvars import Context
from typing import Any, NoReturn, TypeVarTuple

NS_PER_S = 1_000_000_000
_NUMBER_BITS = 48
"""For a timer's running number, below its instant: both in one number are quick to compare."""

_Args = TypeVarTuple("_Args")


class VirtualTimeError(RuntimeError):
    """Something that cannot happen in virtual time was asked of the loop."""


class _Timer(asyncio.TimerHandle):
    """A timer that knows when it was set.

    asyncio keeps timers in a heap ordered by time alone, and a heap returns equal
    ones in no particular order: two writes with the same delay would swap their
    bytes. The running number makes the order of one instant the order of setting.
    """

    __slots__ = ("_key",)
    _scheduled: bool

    def __init__(
        self,
        key: int,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
        context: Context | None,
    ) -> None:
        super().__init__(when, callback, args, loop, context)
        self._key = key

    def __lt__(self, other: Any) -> bool:
        return self._key < other._key  # type: ignore[no-any-return]  # all in the heap are timers


class _Jump(selectors.BaseSelector):
    """The selector that never polls: to wait is to move the clock."""

    def __init__(self) -> None:
        self.now_ns, self.now_s = 0, 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise VirtualTimeError(
                "every task waits and no timer is set: nothing could ever wake this loop"
            )
        if timeout > 0:
            self.now_ns += round(timeout * NS_PER_S)
            self.now_s = self.now_ns / NS_PER_S
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> NoReturn:
        _refuse("a descriptor")

    def unregister(self, fileobj: Any) -> NoReturn:
        _refuse("a descriptor")

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}


def _refuse(what: str) -> NoReturn:
    raise VirtualTimeError(f"{what} lives in real time: not on the virtual loop")


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock starts at 0 and jumps from timer to timer.

    Timers of one instant run in the order in which they were set. Raises
    VirtualTimeError for add_reader, add_writer, sockets, pipes, signal handlers,
    processes, run_in_executor (and so to_thread and name look-ups), call_soon_threadsafe
    from another thread, and for a wait that no timer can end.
    """

    _scheduled: list[_Timer]
    _clock_resolution: float

    def __init__(self) -> None:
        self._jump = _Jump()
        self._set = 0
        self._thread = get_ident()
        super().__init__(self._jump)
        # Timers stand on whole nanoseconds: half of one tells "now" from "next".
        self._clock_resolution = 0.5 / NS_PER_S

    @property
    def now_ns(self) -> int:
        """The clock, in whole nanoseconds since the loop was made."""
        return self._jump.now_ns

    def time(self) -> float:
        """Return the clock in seconds."""
        return self._jump.now_s

    def call_at(
        self,
        when: float,
        callback: Callable[[*_Args], object],
        *args: *_Args,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Run `callback(*args)` at `when` (seconds, taken to the nearest nanosecond)."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        self._set += 1
        at_ns = round(when * NS_PER_S)
        key = (at_ns << _NUMBER_BITS) + self._set
        timer = _Timer(key, at_ns / NS_PER_S, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True
        return timer

    def call_soon_threadsafe(
        self,
        callback: Callable[[*_Args], object],
        *args: *_Args,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Run `callback(*args)` soon; for the loop's own thread alone.

        Drivers hand edges over with this call, and mock pins fire in the loop's thread.
        """
        if get_ident() != self._thread:
            _refuse("another thread")
        return super().call_soon_threadsafe(callback, *args, context=context)

    def run_in_executor(
        self, executor: Any, func: Callable[[*_Args], Any], *args: *_Args
    ) -> NoReturn:
        """Refused: a thread's time is real."""
        _refuse("a thread")

    async def subprocess_exec(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: a process's time is real."""
        _refuse("a process")

    async def subprocess_shell(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: a process's time is real."""
        _refuse("a process")

    def add_signal_handler(
        self, sig: int, callback: Callable[[*_Args], object], *args: *_Args
    ) -> NoReturn:
        """Refused: signals come in real time."""
        _refuse("a signal")

    def _add_reader(self, fd: Any, callback: Any, *args: Any) -> NoReturn:
        _refuse("a descriptor")

    def _add_writer(self, fd: Any, callback: Any, *args: Any) -> NoReturn:
        _refuse("a descriptor")

    # asyncio wakes a polling loop through a socket pair of its own. This one never
    # polls: what the same thread hands over is found by the next turn anyway.

    def _make_self_pipe(self) -> None:
        pass

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        pass
