"""Which faults are so now: what struck and has not been put right yet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sim.mechanics import parts
from sim.mechanics.faults import Fault, Struck, menu

if TYPE_CHECKING:
    from sim.mechanics.world import World

Still = Callable[[], bool]


def _stalled(world: "World", fault: Fault) -> bool:
    return world.motors[fault.motor].stalled


def _stuck(world: "World", fault: Fault) -> bool:
    return fault.sensor in world.dealer.stuck


def _hopper_stuck(world: "World", fault: Fault) -> bool:
    return "hopper" in world.dealer.stuck


def _lid_open(world: "World", fault: Fault) -> bool:
    return world.lid_open


def _estop_pressed(world: "World", fault: Fault) -> bool:
    return world.estop


# Faults of a part: they are so until the part is right again.
_PARTS: dict[str, Callable[["World", Fault], bool]] = {
    "stall": _stalled,
    "sensor_stuck": _stuck,
    "hopper_early": _hopper_stuck,
    "lid": _lid_open,
    "estop": _estop_pressed,
}


class InForce:
    """The faults that struck and still are so.

    A part that is wrong until it is mended; cards that are wrong or left behind until they
    are right again or out of the way; what befell a card until the hopper is filled next;
    what befell a line, a board or the host until it is said to be over.
    """

    def __init__(self, world: "World") -> None:
        self._world = world
        self._held: list[tuple[Struck, Still, Still]] = []
        self._outside: list[Struck] = []

    def take(self, struck: Struck) -> None:
        """Take notice of what struck just now."""
        name = struck.fault.name
        strikes = menu()[name].strikes
        if name in _PARTS:
            self.hold(struck, lambda: _PARTS[name](self._world, struck.fault))
        elif strikes in ("card", "now"):
            filling = self._world.tally.filling
            self.hold(struck, lambda: self._world.tally.filling == filling)
        elif parts.is_outside(struck.fault):
            self._outside.append(struck)

    def hold(self, struck: Struck, still: Still, may_be: Still | None = None) -> None:
        """Have `struck` be in force for as long as `still()` says so.

        `may_be`: whether it may be so again when it is not so now; None: it may not.
        """
        self._held.append((struck, still, may_be or still))

    def over(self, fault: Fault) -> None:
        """Say that a fault of a line, a board or the host is over: the oldest of its like."""
        for struck in self._outside:
            if struck.fault == fault:
                self._outside.remove(struck)
                return

    def now(self) -> tuple[Struck, ...]:
        """Return what is in force now, oldest first."""
        self._held = [each for each in self._held if each[1]() or each[2]()]
        held = (struck for struck, still, _ in self._held if still())
        everything = (*held, *self._outside)
        return tuple(sorted(everything, key=lambda struck: struck.at_s))
