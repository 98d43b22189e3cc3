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


class Travel:
    """A position on a line, in milliseconds of way, moving one per mechanical millisecond.

    It remembers where it stopped, so that a motor without power leaves a card where
    it is and the next start goes on from there.
    """

    def __init__(self, clock: MechanicalClock, position: float = 0.0) -> None:
        self._clock = clock
        self._position = position
        self._started_ms = 0.0
        self._goal = position
        self._arrival: PendingEvent | None = None

    @property
    def position(self) -> float:
        """Where it is now."""
        if self._arrival is None:
            return self._position
        gone = self._clock.now_ms() - self._started_ms
        way = self._goal - self._position
        return self._goal if gone >= abs(way) else self._position + (gone if way > 0 else -gone)

    @property
    def is_moving(self) -> bool:
        """Whether it is on its way."""
        return self._arrival is not None

    def set_position(self, position: float) -> None:
        """Stand at `position` at once."""
        self.stop()
        self._position = position

    def move_to(self, goal: float, on_arrival: Callable[[], None]) -> None:
        """Move to `goal` and call `reached` there; replaces any earlier goal."""
        self.stop()
        self._goal = goal
        self._started_ms = self._clock.now_ms()
        self._arrival = self._clock.after(
            abs(goal - self._position), lambda: self._arrive(on_arrival)
        )

    def stop(self) -> None:
        """Stop where it is."""
        if self._arrival is not None:
            self._position = self.position
            self._arrival.cancel()
            self._arrival = None

    def _arrive(self, reached: Callable[[], None]) -> None:
        self._arrival = None
        self._position = self._goal
        reached()


# What a motor does for a board's value; None: nothing moves it.
Drive = Callable[[int | None], None]


class Motor:
    """Hands the board's value on to the mechanics while there is power.

    Lid and e-stop cut power here, in hardware, whatever the board asks. A stalled
    motor (`stalled`) resists `clears_after` starts (None: until a person's hand frees it).
    """

    def __init__(self, drive: Drive, *, rest_value: int | None = 0) -> None:
        """Drive through `drive`; `rest` is the value that is no start (None: each is one)."""
        self._drive = drive
        self._rest_value = rest_value
        self._drive_value: int | None = None
        self._has_power = True
        self.stalled = False
        self._starts_left: int | None = None

    def set_drive(self, value: int | None) -> None:
        """Take the board's value; None: the board drives nothing (it has lost its power)."""
        if value == self._drive_value:
            return
        self._drive_value = value
        if self.stalled and value is not None and value != self._rest_value:
            self._try_to_start()
        self._apply()

    def set_power(self, on: bool) -> None:
        """Cut the power or give it back; the board's value acts again when it is back."""
        if on != self._has_power:
            self._has_power = on
            self._apply()

    def stall(self, clears_after: int | None) -> None:
        """Stick, for this many starts or until `free()`."""
        self.stalled = True
        self._starts_left = clears_after
        self._apply()

    def free(self) -> None:
        """Turn again."""
        if self.stalled:
            self.stalled = False
            self._apply()

    def _try_to_start(self) -> None:
        if self._starts_left is not None:
            self._starts_left -= 1
            self.stalled = self._starts_left >= 0

    def _apply(self) -> None:
        self._drive(self._drive_value if self._has_power and not self.stalled else None)


class CardJam:
    """Holds a card where it is; `tries` tries free it, None: only a person's hand."""

    def __init__(self, tries: int | None) -> None:
        self._tries = tries

    def try_to_free(self) -> bool:
        """Try once; return whether the card is free now."""
        if self._tries is None:
            return False
        self._tries -= 1
        return self._tries <= 0
