"""How fast the parts of the machine are, and what is wrong with it from the start."""

from dataclasses import dataclass

from drivers.firmware.protocol import BACK_A, BACK_B
from sim.mechanics.cards import JOKERS, PACK_CARDS
from sim.mechanics.fault_menu import FaultCombination, SimulatedFault

BACKS = {"A": BACK_A, "B": BACK_B}
"""The backs that the reader tells apart, as a configuration names them."""


@dataclass(frozen=True)
class PhysicalSet:
    """A set of this table, as people know it: by its name and by its back (0 A, 1 B)."""

    name: str = "S1"
    back: int = BACK_A


@dataclass(frozen=True)
class MechanicsSettings:
    """The machine's figures; times in milliseconds at speed 1.

    One card takes about 100: feed 62, read 15, gate at most 15, pass 15; its flight
    of 40 goes on while the next card is fed. `speed` divides all of them, and
    nothing else: no board's limit, heartbeat or clock.

    Each of `sets` has `packs` packs, with jokers or without, or the first `cards` of
    that, round and round. The first set lies in the hopper, the others beside the machine.
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
        """How many different faces a set has: 52, or 54 with jokers."""
        return PACK_CARDS + (JOKERS if self.jokers else 0)

    @property
    def cards_per_set(self) -> int:
        """How many cards a set has."""
        return self.packs * self.faces if self.cards is None else self.cards
