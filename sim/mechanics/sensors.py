"""The sensors of one board: levels by name, and who is told when one changes."""

from collections.abc import Callable, Iterable

Told = Callable[[str, int], None]

OUTLETS = 5
MOVING = 255

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
)
READER_INPUTS = ("pulse",)


class Sensors:
    """A bank of sensors.

    `put` says what is physically so. Boards are told what the sensor says, which a
    stuck one keeps saying; `watch` is for those with eyes, who see what is so.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._so = dict.fromkeys(names, 0)
        self.levels = dict(self._so)
        self._stuck: set[str] = set()
        self._boards: list[Told] = []
        self._eyes: list[Told] = []

    def put(self, name: str, value: int) -> None:
        """Say that `name` now physically is `value`."""
        if self._so[name] == value:
            return
        self._so[name] = value
        for told in self._eyes:
            told(name, value)
        if name not in self._stuck:
            self._say(name, value)

    def attach(self, told: Told) -> Callable[[], None]:
        """Tell a board every change; returns what ends that."""
        self._boards.append(told)
        return lambda: _drop(self._boards, told)

    def watch(self, told: Told) -> Callable[[], None]:
        """Tell `told` what really happens; returns what ends that."""
        self._eyes.append(told)
        return lambda: _drop(self._eyes, told)

    def stick(self, name: str, value: int) -> None:
        """Let `name` say `value` from now on, whatever is so; raises KeyError for no sensor."""
        self._so[name]
        self._stuck.add(name)
        self._say(name, value)

    def mend(self) -> None:
        """Let every sensor say again what is so."""
        for name in sorted(self._stuck):
            self._stuck.discard(name)
            self._say(name, self._so[name])

    def _say(self, name: str, value: int) -> None:
        if self.levels[name] == value:
            return
        self.levels[name] = value
        for told in list(self._boards):
            told(name, value)


def _drop(listeners: list[Told], told: Told) -> None:
    if told in listeners:
        listeners.remove(told)
