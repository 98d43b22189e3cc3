"""The lift that brings the four pockets up to the players."""

from sim.mechanics.clock import Clock
from sim.mechanics.sensors import Sensors
from sim.mechanics.travel import Travel


class Lift:
    """Goes up while its output is 1 and down while it is 0; without power it stays."""

    def __init__(self, clock: Clock, sensors: Sensors, lift_ms: float) -> None:
        self._sensors = sensors
        self._travel = Travel(clock)
        self._top = lift_ms

    @property
    def down(self) -> bool:
        """Whether it stands at the bottom, the pockets below their chutes."""
        return self._travel.position == 0.0

    @property
    def up(self) -> bool:
        """Whether it stands at the top, the pockets open to the players."""
        return self._travel.position == self._top

    def drive(self, value: int | None) -> None:
        """Go up (1), down (0), or stay (None)."""
        self._travel.halt()
        if value is None:
            return
        goal = self._top if value else 0.0
        if self._travel.position == goal:
            return
        if not value:
            self._sensors.put("lift", 0)
        self._travel.go(goal, lambda: self._sensors.put("lift", value))
