"""The clock, the moving positions, the motors and the card jams of the simulated machine.

The machine's time is the loop's time multiplied by the speed. `MechanicalClock` is the clock,
`Travel` a moving position, `Motor` a motor, `CardJam` a jam.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class PendingEvent:
    """A callback that is scheduled for one moment of the simulated machine's time."""

    clock: "MechanicalClock"
    due_ms: float
    callback: Callable[[], None]
    handle: asyncio.TimerHandle | None = None

    def cancel(self) -> None:
        """Cancel the callback. A second call, or a call after the event, does nothing."""
        self.clock.discard(self)


class MechanicalClock:
    """The clock of the simulated machine, which runs `speed` times as fast as real time.

    A change of speed moves every pending event, so that a card in flight continues from its
    position.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, speed: float) -> None:
        self._loop, self.speed = loop, speed
        self._origin_ms = 0.0
        self._origin_s = loop.time()
        self._pending: set[PendingEvent] = set()

    def now_ms(self) -> float:
        """Return the milliseconds of the machine's time since the clock was created."""
        return self._origin_ms + (self._loop.time() - self._origin_s) * 1000 * self.speed

    def now_s(self) -> float:
        """Return the time of the event loop in seconds. The machine's speed does not change it."""
        return self._loop.time()

    def after(self, delay_ms: float, callback: Callable[[], None]) -> PendingEvent:
        """Call `callback` after `delay_ms` ms of the machine's time. Return the pending event."""
        pending = PendingEvent(self, self.now_ms() + delay_ms, callback)
        self._pending.add(pending)
        self._arm(pending, delay_ms)
        return pending

    def set_speed(self, speed: float) -> None:
        """Change the speed of the machine, and reschedule all pending events.

        Raises ValueError unless the speed is above 0.
        """
        if not 0 < speed < math.inf:
            raise ValueError(f"speed is above 0, not {speed}")
        now = self.now_ms()
        self._origin_ms, self._origin_s, self.speed = now, self._loop.time(), speed
        for pending in sorted(self._pending, key=lambda one: one.due_ms):
            if pending.handle is not None:
                pending.handle.cancel()
            self._arm(pending, max(0.0, pending.due_ms - now))

    async def wait_ms(self, delay_ms: float) -> None:
        """Wait until `delay_ms` milliseconds of the simulated machine's time have passed."""
        done = asyncio.Event()
        pending = self.after(delay_ms, done.set)
        try:
            await done.wait()
        finally:
            pending.cancel()

    def discard(self, pending: PendingEvent) -> None:
        """Remove a pending event and cancel its timer."""
        self._pending.discard(pending)
        if pending.handle is not None:
            pending.handle.cancel()
            pending.handle = None

    def close(self) -> None:
        """Remove all pending events and cancel their timers."""
        for pending in list(self._pending):
            self.discard(pending)

    def _arm(self, pending: PendingEvent, delay_ms: float) -> None:
        at_s = self._loop.time() + delay_ms / 1000 / self.speed
        pending.handle = self._loop.call_at(at_s, self._fire, pending)

    def _fire(self, pending: PendingEvent) -> None:
        self._pending.discard(pending)
        pending.handle = None
        pending.callback()


class Travel:
    """The position of a part or card. In a motion it changes by 1 per ms of the machine's time.

    The position is kept at a stop. A motor without power leaves a card where it is, and the next
    start continues from there.
    """

    def __init__(self, clock: MechanicalClock, position: float = 0.0) -> None:
        self._clock, self._position = clock, position
        self._started_ms = 0.0
        self._goal = position
        self._arrival: PendingEvent | None = None

    @property
    def position(self) -> float:
        """The present position: its travel time from position 0, in ms of the machine's time."""
        if self._arrival is None:
            return self._position
        gone = self._clock.now_ms() - self._started_ms
        way = self._goal - self._position
        return self._goal if gone >= abs(way) else self._position + (gone if way > 0 else -gone)

    @property
    def is_moving(self) -> bool:
        """True if the position is moving."""
        return self._arrival is not None

    def set_position(self, position: float) -> None:
        """Stop, and set the position to `position` at once."""
        self.stop()
        self._position = position

    def move_to(self, goal: float, on_arrival: Callable[[], None]) -> None:
        """Move to `goal` and call `on_arrival` there. This replaces an earlier goal."""
        self.stop()
        self._goal = goal
        self._started_ms = self._clock.now_ms()
        way = abs(goal - self._position)
        self._arrival = self._clock.after(way, lambda: self._arrive(on_arrival))

    def stop(self) -> None:
        """Stop the motion and keep the present position."""
        if self._arrival is not None:
            self._position = self.position
            self._arrival.cancel()
            self._arrival = None

    def _arrive(self, reached: Callable[[], None]) -> None:
        self._arrival = None
        self._position = self._goal
        reached()


# The action of a motor for a board's value. None means that the board drives nothing.
Drive = Callable[[int | None], None]


class Motor:
    """A motor of the machine, which follows the board's output value while the motor has power.

    Lid and emergency stop cut the power here, in hardware, whatever the board requests. A stalled
    motor (`stalled`) resists `clears_after` starts. With None it is stalled until a person frees
    it.
    """

    def __init__(self, drive: Drive, *, rest_value: int | None) -> None:
        """Create a motor. `drive` receives the board's value, or None while the motor cannot move.

        `rest_value` is the value that means stopped. Any other value is a start. With None, every
        value is a start.
        """
        self._drive, self._rest_value = drive, rest_value
        self._drive_value: int | None = None
        self._has_power = True
        self.stalled = False
        self._starts_left: int | None = None

    def set_drive(self, value: int | None) -> None:
        """Set the value that the board requests.

        None means that the board drives nothing, after a loss of power.
        """
        if value == self._drive_value:
            return
        self._drive_value = value
        is_start = value is not None and value != self._rest_value
        if self.stalled and is_start and self._starts_left is not None:
            self._starts_left -= 1
            self.stalled = self._starts_left >= 0
        self._apply()

    def set_power(self, on: bool) -> None:
        """Switch the motor's power on or off.

        The board's value takes effect again with the power.
        """
        if on != self._has_power:
            self._has_power = on
            self._apply()

    def stall(self, clears_after: int | None) -> None:
        """Stall the motor. Its next `clears_after` starts have no effect (None: all starts).

        `free()` ends the stall in both cases.
        """
        self.stalled = True
        self._starts_left = clears_after
        self._apply()

    def free(self) -> None:
        """End a stall, as a person does who frees the motor."""
        if self.stalled:
            self.stalled = False
            self._apply()

    def _apply(self) -> None:
        self._drive(self._drive_value if self._has_power and not self.stalled else None)


class CardJam:
    """A jam of a card. Try number `tries` frees the card. With None only a person can free it."""

    def __init__(self, tries: int | None) -> None:
        self._tries = tries

    def try_to_free(self) -> bool:
        """Count one try to free the card. Return True if this try or an earlier one freed it."""
        if self._tries is None:
            return False
        self._tries -= 1
        return self._tries <= 0
