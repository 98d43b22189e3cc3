"""The lift that brings the four pockets up to the players."""

from drivers.firmware.hal import LIFT_DOWN, LIFT_UP
from sim.mechanics.clock import MechanicalClock
from sim.mechanics.sensors import Sensors
from sim.mechanics.travel import Travel


class Lift:
    """Goes up or down as its output says; without power, or told to stay, it stands.

    A sensor at each end sees it there and nowhere else: between the ends neither does.
    """

    def __init__(self, clock: MechanicalClock, sensors: Sensors, lift_ms: float) -> None:
        self._sensors = sensors
        self._travel = Travel(clock)
        self._ends = {LIFT_DOWN: 0.0, LIFT_UP: lift_ms}
        self._sense()

    @property
    def is_down(self) -> bool:
        """Whether it stands at the bottom, the pockets below their chutes."""
        return self._is_at(LIFT_DOWN)

    @property
    def is_up(self) -> bool:
        """Whether it stands at the top, the pockets open to the players."""
        return self._is_at(LIFT_UP)

    def drive(self, value: int | None) -> None:
        """Go up (LIFT_UP) or down (LIFT_DOWN); anything else, or None: stay."""
        self._travel.stop()
        if value in self._ends and not self._is_at(value):
            self._travel.move_to(self._ends[value], self._sense)
        self._sense()

    def _is_at(self, end: int) -> bool:
        return not self._travel.is_moving and self._travel.position == self._ends[end]

    def _sense(self) -> None:
        self._sensors.set_physical("lift", int(self.is_up))
        self._sensors.set_physical("lift_down", int(self.is_down))
