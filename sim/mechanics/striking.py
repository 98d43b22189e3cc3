"""How faults come into a world, what carries them out, and which are so now."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sim.mechanics import parts
from sim.mechanics.faults import (
    LACKS,
    FaultCombination,
    FaultError,
    FaultStrike,
    FaultTarget,
    SimulatedFault,
    check_fault,
    fault_menu,
)
from sim.mechanics.force import ActiveFaults

if TYPE_CHECKING:
    from sim.mechanics.world import World

OutsideHandler = Callable[[SimulatedFault], None]

# Jams of a part rather than of a card: its motor sticks.
_STALLED_MOTORS = {"shuffler": "shuffle", "lift": "lift"}
# How often faults that come together meet one and the same card.
_SAME_CARD_CHANCE = 0.5
# What is missing where nobody carries out what strikes these.
_MISSING_PARTS = {
    "line": f"{LACKS} cable to unplug",
    "board": f"{LACKS} board to reset",
    "host": f"{LACKS} daemon to kill",
}


class FaultInjector:
    """The faults of one world on their way from an order to a part, a card, or outside."""

    def __init__(
        self,
        world: "World",
        outside: Mapping[FaultTarget, OutsideHandler],
        combinations: tuple[FaultCombination, ...],
    ) -> None:
        self.outside_handlers: dict[FaultTarget, OutsideHandler] = dict(outside)
        self.strike_listeners: list[Callable[[FaultStrike], None]] = []
        self.active = ActiveFaults(world)
        self._world = world
        self._combinations = combinations
        self._drawn_faults: list[SimulatedFault] = []
        world.faults.on_strike = self._on_strike

    def add(self, fault: SimulatedFault) -> None:
        """Let `fault` strike; see World.add_fault."""
        if fault.name == "jam" and fault.place in _STALLED_MOTORS:
            motor = _STALLED_MOTORS[fault.place]
            fault = replace(
                check_fault(fault), name="stall", motor=motor, place=SimulatedFault("").place
            )
        strikes = fault_menu()[check_fault(fault).name].strikes
        if not (fault.rate or self._can_carry_out(fault)):
            raise FaultError(f"{fault.name}: {_MISSING_PARTS[strikes]}")
        world = self._world
        world.faults.add(fault)
        if fault.at is None and not fault.rate and fault.name in parts.PART_FAULTS:
            parts.strike_due_parts(world, 0)
        elif strikes == "set" and world.hopper and not world.tally.arrived:
            world.people.reload_hopper()

    def draw_combinations(self, cards: int) -> None:
        """Decide which faults come together in this filling of the hopper, of so many cards.

        Those that strike cards meet one and the same card, or each its own. What of the last
        filling has not struck comes no more.
        """
        for fault in self._drawn_faults:
            self._world.faults.drop(fault)
        self._drawn_faults = []
        for pair in self._combinations:
            if self._world.rng.random() < pair.rate:
                self._draw(pair.faults, cards)

    def carry_out(self, fault: SimulatedFault) -> None:
        """Have a fault of a line, a board or the host carried out, in the loop's next turn."""
        asyncio.get_running_loop().call_soon(
            self.outside_handlers[fault_menu()[fault.name].strikes], fault
        )

    def _draw(self, faults: tuple[SimulatedFault, ...], cards: int) -> None:
        rng = self._world.rng
        meet, at_one = rng.randint(1, cards), rng.random() < _SAME_CARD_CHANCE
        for fault in faults:
            if not self._can_carry_out(fault):
                continue
            if fault.at is None and fault_menu()[fault.name].strikes != "set":
                fault = replace(fault, at=meet if at_one else rng.randint(1, cards))
            self._drawn_faults.append(fault)
            self._world.faults.add(fault)

    def _can_carry_out(self, fault: SimulatedFault) -> bool:
        """Whether somebody here can carry a fault out."""
        return (
            not parts.is_outside(fault) or fault_menu()[fault.name].strikes in self.outside_handlers
        )

    def _on_strike(self, struck: FaultStrike) -> None:
        self.active.add(struck)
        for told in list(self.strike_listeners):
            told(struck)
