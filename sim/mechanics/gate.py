"""The gate: a flap before five chutes, and the sensor that says where it stands."""

from collections.abc import Callable

from sim.mechanics.clock import MechanicalClock
from sim.mechanics.sensors import MOVING, OUTLETS, Sensors
from sim.mechanics.travel import Travel

# Part of the way that every move takes, however short: to start and to settle.
SETTLE_SHARE = 0.2


class Gate:
    """Stands at an outlet, or moves; the whole sweep takes `gate_ms`."""

    def __init__(self, clock: MechanicalClock, sensors: Sensors, gate_ms: float) -> None:
        self._sensors = sensors
        self._settle_ms = gate_ms * SETTLE_SHARE
        self._step_ms = gate_ms * (1 - SETTLE_SHARE) / (OUTLETS - 1)
        self._clock = clock
        self._travel = Travel(clock)
        self._position: int | None = 0
        self.on_move: Callable[[], None] = lambda: None

    @property
    def position(self) -> int | None:
        """The outlet it stands at; None between two."""
        return self._position

    def drive(self, target: int | None) -> None:
        """Move to an outlet; None stops it wherever it is."""
        self._travel.stop()
        if target is None or not 0 <= target < OUTLETS:
            return
        if self._position == target:
            return
        if self._position is not None:
            self._start_move(self._position, target)
        self._travel.move_to(target * self._step_ms, lambda: self._arrive(target))

    def _start_move(self, stood: int, target: int) -> None:
        way = stood * self._step_ms
        self._travel.set_position(
            way - self._settle_ms if target > stood else way + self._settle_ms
        )
        self._position = None
        self._sensors.set_physical("gate_at", MOVING)
        self.on_move()

    def _arrive(self, target: int) -> None:
        self._position = target
        self._sensors.set_physical("gate_at", target)
