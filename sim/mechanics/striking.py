"""How faults come into a world, what carries them out, and which are so now."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sim.mechanics import parts
from sim.mechanics.faults import (
    LACKS,
    Fault,
    FaultCombination,
    FaultError,
    FaultStrike,
    FaultTarget,
    check,
    menu,
)
from sim.mechanics.force import ActiveFaults

if TYPE_CHECKING:
    from sim.mechanics.world import World

OutsideHandler = Callable[[Fault], None]

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
        together: tuple[FaultCombination, ...],
    ) -> None:
        self.outside: dict[FaultTarget, OutsideHandler] = dict(outside)
        self.on_struck: list[Callable[[FaultStrike], None]] = []
        self.force = ActiveFaults(world)
        self._world = world
        self._combinations = together
        self._drawn_faults: list[Fault] = []
        world.faults.told = self._on_strike

    def add(self, fault: Fault) -> None:
        """Let `fault` strike; see World.add_fault."""
        if fault.name == "jam" and fault.place in _STALLED_MOTORS:
            motor = _STALLED_MOTORS[fault.place]
            fault = replace(check(fault), name="stall", motor=motor, place=Fault("").place)
        strikes = menu()[check(fault).name].strikes
        if not (fault.rate or self._can_carry_out(fault)):
            raise FaultError(f"{fault.name}: {_MISSING_PARTS[strikes]}")
        world = self._world
        world.faults.add(fault)
        if fault.at is None and not fault.rate and fault.name in parts.ORDER:
            parts.strike(world, 0)
        elif strikes == "set" and world.hopper and not world.tally.arrived:
            world.people.reload_hopper()

    def draw_together(self, cards: int) -> None:
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

    def carry_out(self, fault: Fault) -> None:
        """Have a fault of a line, a board or the host carried out, in the loop's next turn."""
        asyncio.get_running_loop().call_soon(self.outside[menu()[fault.name].strikes], fault)

    def _draw(self, faults: tuple[Fault, ...], cards: int) -> None:
        rng = self._world.rng
        meet, at_one = rng.randint(1, cards), rng.random() < _SAME_CARD_CHANCE
        for fault in faults:
            if not self._can_carry_out(fault):
                continue
            if fault.at is None and menu()[fault.name].strikes != "set":
                fault = replace(fault, at=meet if at_one else rng.randint(1, cards))
            self._drawn_faults.append(fault)
            self._world.faults.add(fault)

    def _can_carry_out(self, fault: Fault) -> bool:
        """Whether somebody here can carry a fault out."""
        return not parts.is_outside(fault) or menu()[fault.name].strikes in self.outside

    def _on_strike(self, struck: FaultStrike) -> None:
        self.force.take(struck)
        for told in list(self.on_struck):
            told(struck)
