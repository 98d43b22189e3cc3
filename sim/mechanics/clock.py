"""Mechanical time: the running loop's, divided by the machine's speed."""

import asyncio
import math
from collections.abc import Callable


class PendingEvent:
    """Something that will happen; `cancel()` says that it will not."""

    __slots__ = ("_clock", "callback", "due_ms", "handle")

    def __init__(
        self, clock: "MechanicalClock", due_ms: float, callback: Callable[[], None]
    ) -> None:
        self._clock = clock
        self.due_ms = due_ms
        self.callback = callback
        self.handle: asyncio.TimerHandle | None = None

    def cancel(self) -> None:
        """Forget it; a second time, or after it happened, does nothing."""
        self._clock.discard(self)


class MechanicalClock:
    """Counts milliseconds as the machine lives them: `speed` of them a real one.

    A change of speed moves everything that is pending, so that a card in flight
    goes on from where it is.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, speed: float) -> None:
        self._loop = loop
        self._speed = speed
        self._origin_ms = 0.0
        self._origin_s = loop.time()
        self._pending: set[PendingEvent] = set()

    @property
    def speed(self) -> float:
        """How many times faster than the reference pace."""
        return self._speed

    def now_ms(self) -> float:
        """Return mechanical time in milliseconds, 0 when the clock was made."""
        return self._origin_ms + (self._loop.time() - self._origin_s) * 1000 * self._speed

    def now_s(self) -> float:
        """Return the loop's own time in seconds: what a stop-watch beside the machine says."""
        return self._loop.time()

    def after(self, delay_ms: float, callback: Callable[[], None]) -> PendingEvent:
        """Call `callback` when `delay_ms` mechanical milliseconds have passed."""
        pending = PendingEvent(self, self.now_ms() + delay_ms, callback)
        self._pending.add(pending)
        self._arm(pending, delay_ms)
        return pending

    def set_speed(self, speed: float) -> None:
        """Go on at another speed; raises ValueError where it is not above 0."""
        if not 0 < speed < math.inf:
            raise ValueError(f"speed is above 0, not {speed}")
        now = self.now_ms()
        self._origin_ms, self._origin_s, self._speed = now, self._loop.time(), speed
        for pending in sorted(self._pending, key=lambda one: one.due_ms):
            if pending.handle is not None:
                pending.handle.cancel()
            self._arm(pending, max(0.0, pending.due_ms - now))

    async def wait_ms(self, delay_ms: float) -> None:
        """Wait until `delay_ms` mechanical milliseconds have passed."""
        done = asyncio.Event()
        pending = self.after(delay_ms, done.set)
        try:
            await done.wait()
        finally:
            pending.cancel()

    def discard(self, pending: PendingEvent) -> None:
        """Take `pending` back."""
        self._pending.discard(pending)
        if pending.handle is not None:
            pending.handle.cancel()
            pending.handle = None

    def close(self) -> None:
        """Forget everything that is pending, so that the world leaves no timer behind."""
        for pending in list(self._pending):
            self.discard(pending)

    def _arm(self, pending: PendingEvent, delay_ms: float) -> None:
        at_s = self._loop.time() + delay_ms / 1000 / self._speed
        pending.handle = self._loop.call_at(at_s, self._fire, pending)

    def _fire(self, pending: PendingEvent) -> None:
        self._pending.discard(pending)
        pending.handle = None
        pending.callback()
