"""Something on its way: a position that moves with time and can be stopped anywhere."""

from collections.abc import Callable

from sim.mechanics.clock import MechanicalClock, PendingEvent


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
