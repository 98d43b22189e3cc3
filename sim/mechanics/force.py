"""Which faults are so now: what struck and has not been put right yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sim.mechanics import parts
from sim.mechanics.faults import FaultStrike, SimulatedFault, fault_menu

if TYPE_CHECKING:
    from sim.mechanics.world import World

Condition = Callable[[], bool]


def _is_stalled(world: "World", fault: SimulatedFault) -> bool:
    return world.motors[fault.motor].stalled


def _is_sensor_stuck(world: "World", fault: SimulatedFault) -> bool:
    return fault.sensor in world.dealer.stuck


def _is_hopper_stuck(world: "World", fault: SimulatedFault) -> bool:
    return "hopper" in world.dealer.stuck


def _is_lid_open(world: "World", fault: SimulatedFault) -> bool:
    return world.lid_open


def _is_estop_pressed(world: "World", fault: SimulatedFault) -> bool:
    return world.estop


# Faults of a part: they are so until the part is right again.
_PART_CONDITIONS: dict[str, Callable[["World", SimulatedFault], bool]] = {
    "stall": _is_stalled,
    "sensor_stuck": _is_sensor_stuck,
    "hopper_early": _is_hopper_stuck,
    "lid": _is_lid_open,
    "estop": _is_estop_pressed,
}


class ActiveFaults:
    """The faults that struck and still are so.

    A part that is wrong until it is mended; cards that are wrong or left behind until they
    are right again or out of the way; what befell a card until the hopper is filled next;
    what befell a line, a board or the host until it is said to be over.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self._conditional: list[tuple[FaultStrike, Condition, Condition]] = []
        self._outside: list[FaultStrike] = []

    def add(self, struck: FaultStrike) -> None:
        """Take notice of what struck just now."""
        name = struck.fault.name
        strikes = fault_menu()[name].strikes
        if name in _PART_CONDITIONS:
            self.keep_while(struck, lambda: _PART_CONDITIONS[name](self._world, struck.fault))
        elif strikes in ("card", "now"):
            filling = self._world.tally.filling
            self.keep_while(struck, lambda: self._world.tally.filling == filling)
        elif parts.is_outside(struck.fault):
            self._outside.append(struck)

    def keep_while(
        self, struck: FaultStrike, is_active: Condition, may_return: Condition | None = None
    ) -> None:
        """Have `struck` be in force for as long as `still()` says so.

        `may_be`: whether it may be so again when it is not so now; None: it may not.
        """
        self._conditional.append((struck, is_active, may_return or is_active))

    def end(self, fault: SimulatedFault) -> None:
        """Say that a fault of a line, a board or the host is over: the oldest of its like."""
        for struck in self._outside:
            if struck.fault == fault:
                self._outside.remove(struck)
                return

    def current(self) -> tuple[FaultStrike, ...]:
        """Return what is in force now, oldest first."""
        self._conditional = [each for each in self._conditional if each[1]() or each[2]()]
        held = (struck for struck, still, _ in self._conditional if still())
        everything = (*held, *self._outside)
        return tuple(sorted(everything, key=lambda struck: struck.at_s))
