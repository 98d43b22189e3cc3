"""The settings of a simulated machine, and `MachinePart`, the base class of its parts."""

import random
from dataclasses import dataclass

from drivers.firmware.protocol import BACK_A, BACK_B
from sim.mechanics.cards import JOKERS, PACK_CARDS, FillingTally
from sim.mechanics.fault_menu import FaultCombination, SimulatedFault
from sim.mechanics.fault_schedule import FaultSchedule
from sim.mechanics.motion import MechanicalClock, Travel
from sim.mechanics.sensors import Sensors

BACKS = {"A": BACK_A, "B": BACK_B}
"""The backs that the reader can distinguish, by their names in a configuration."""


@dataclass(frozen=True)
class PhysicalSet:
    """One set of cards of the table: its name, and the back of its cards (a value of BACKS)."""

    name: str = "S1"
    back: int = BACK_A


@dataclass(frozen=True)
class MechanicsSettings:
    """The settings of one simulated machine.

    Times are in milliseconds at speed 1. A card takes about 100 ms: feed 62, read 15, gate at most
    15, pass 15. Its fall of 40 ms overlaps with the feed of the next card. `speed` divides all of
    these times. It does not change a board's limits, heartbeat or clock. Each of `sets` has `packs`
    packs, with or without jokers. With `cards`, a set has this number of cards, taken from the
    packs in a cycle. The first set is in the hopper, the others are beside the machine.
    """

    packs: int = 2
    jokers: bool = True
    cards: int | None = None
    sets: tuple[PhysicalSet, ...] = (PhysicalSet(),)
    speed: float = 1.0
    feed_ms: float = 62.0
    feed_spread_ms: float = 5.0
    read_ms: float = 15.0
    gate_ms: float = 15.0
    pass_ms: float = 15.0
    flight_ms: float = 40.0
    flight_spread_ms: float = 4.0
    shuffle_ms: float = 1000.0
    lift_ms: float = 1500.0
    faults: tuple[SimulatedFault, ...] = ()
    together: tuple[FaultCombination, ...] = ()

    @property
    def faces(self) -> int:
        """The number of different faces of a set: 52, or 54 with jokers."""
        return PACK_CARDS + (JOKERS if self.jokers else 0)

    @property
    def cards_per_set(self) -> int:
        """The number of cards of a set."""
        return self.packs * self.faces if self.cards is None else self.cards


@dataclass(frozen=True)
class SharedParts:
    """The objects that all parts of one machine share. `sensors` are those of the dealer board."""

    clock: MechanicalClock
    sensors: Sensors
    settings: MechanicsSettings
    rng: random.Random
    schedule: FaultSchedule
    tally: FillingTally


class MachinePart:
    """A part of the simulated machine, with the objects that all parts share.

    `_travel` is the position of the part, or of the card in it.
    """

    def __init__(self, shared: SharedParts) -> None:
        self._clock = shared.clock
        self._sensors = shared.sensors
        self._settings = shared.settings
        self._rng = shared.rng
        self._schedule = shared.schedule
        self._tally = shared.tally
        self._travel = Travel(shared.clock)
