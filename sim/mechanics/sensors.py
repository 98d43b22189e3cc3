"""The class `Sensors`: the levels of one board's sensors, and listeners for level changes."""

from collections.abc import Callable, Iterable
from functools import partial

LevelObserver = Callable[[str, int], None]

OUTLETS = 5
MOVING = 255
# The time between the edges of a bouncing contact, in milliseconds at speed 1.
BOUNCE_MS = 1.0

DEALER_INPUTS = (
    "hopper",
    "tray_feed",
    "window",
    "double",
    "exit",
    "gate_at",
    *(f"land_{outlet}" for outlet in range(OUTLETS)),
    *(f"pocket_{outlet}" for outlet in range(OUTLETS)),
    "lid",
    "estop",
    "lift",
    "lift_down",
    "shuffler",
    "shuffled",
    "supply",
)
READER_INPUTS = ("pulse",)


class Sensors:
    """The sensors of one board, with their physical and their reported levels.

    `set_physical` sets the physical level. Boards receive the reported level, which a stuck sensor
    (`stuck`) does not change. `observe` gives the physical changes, as a person sees them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._physical = dict.fromkeys(names, 0)
        self.levels = dict(self._physical)
        self.stuck: set[str] = set()
        self._board_listeners: list[LevelObserver] = []
        self._observers: dict[str, list[LevelObserver]] = {name: [] for name in self._physical}
        self._disturbances: dict[str, Callable[[str, int, int], None]] = {}
        self._delayed_changes: dict[str, int] = {}

    def set_physical(self, name: str, value: int) -> None:
        """Set the physical level of sensor `name`. Report it, unless a fault delays or stops it."""
        was = self._physical[name]
        if was == value:
            return
        self._physical[name] = value
        for told in self._observers[name]:
            told(name, value)
        if name in self._disturbances:
            self._disturbances[name](name, value, was)
        elif name not in self.stuck:
            self._report(name, value)

    def attach(self, listener: LevelObserver) -> Callable[[], None]:
        """Call `listener` at each change of a reported level. Return a function to end this."""
        self._board_listeners.append(listener)
        return lambda: _remove_listener(self._board_listeners, listener)

    def observe(
        self, observer: LevelObserver, names: Iterable[str] | None = None
    ) -> Callable[[], None]:
        """Call `observer` at each change of a physical level of the sensors `names` (None: all).

        Return a function that detaches the observer.
        """
        watched = [self._observers[name] for name in (self._observers if names is None else names)]
        for eyes in watched:
            eyes.append(observer)

        def end() -> None:
            for eyes in watched:
                _remove_listener(eyes, observer)

        return end

    def stick(self, name: str, value: int) -> None:
        """Make the sensor `name` report `value` from now on, whatever its physical level.

        Raises KeyError for an unknown sensor.
        """
        self._physical[name]
        self.stuck.add(name)
        self._report(name, value)

    def delay(self, name: str, after: Callable[[Callable[[], None]], object]) -> None:
        """Make sensor `name` report its next change only when `after` calls a callback.

        `after` receives a callback that reports the change, and calls it later. Changes that occur
        meanwhile are late too, so that no pulse is lost. Raises KeyError for an unknown sensor.
        """
        self._physical[name]
        self._delayed_changes[name] = 0

        def report_late(value: int) -> None:
            self._delayed_changes[name] -= 1
            if not self._delayed_changes[name]:
                self._disturbances.pop(name, None)
            self._report_unless_stuck(name, value)

        def said(name: str, value: int, was: int) -> None:
            self._delayed_changes[name] += 1
            after(partial(report_late, value))

        self._disturbances[name] = said

    def bounce(self, name: str, after: Callable[[float, Callable[[], None]], object]) -> None:
        """Make sensor `name` report its next change as a bad contact would: three times (bounce).

        The sensor reports the new level, the old level and the new level again, BOUNCE_MS apart.
        Raises KeyError for an unknown sensor.
        """
        self._physical[name]

        def said(name: str, value: int, was: int) -> None:
            del self._disturbances[name]
            self._report_unless_stuck(name, value)
            after(BOUNCE_MS, lambda: self._report_unless_stuck(name, was))
            after(2 * BOUNCE_MS, lambda: self._report_unless_stuck(name, self._physical[name]))

        self._disturbances[name] = said

    def clear_disturbances(self) -> None:
        """Cancel each bounce or delay that still waits for a change of its sensor."""
        self._disturbances = {
            name: said
            for name, said in self._disturbances.items()
            if self._delayed_changes.get(name)
        }

    def unstick_all(self) -> None:
        """Make every stuck sensor report its physical level again."""
        for name in sorted(self.stuck):
            self.stuck.discard(name)
            self._report(name, self._physical[name])

    def _report_unless_stuck(self, name: str, value: int) -> None:
        if name not in self.stuck:
            self._report(name, value)

    def _report(self, name: str, value: int) -> None:
        if self.levels[name] == value:
            return
        self.levels[name] = value
        for told in list(self._board_listeners):
            told(name, value)


def _remove_listener(listeners: list[LevelObserver], listener: LevelObserver) -> None:
    if listener in listeners:
        listeners.remove(listener)
