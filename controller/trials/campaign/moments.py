"""Faults at a moment that has a name: behind a public event, or behind a move without a card."""

import asyncio

from controller.trials.campaign.values import MomentFault
from sim.mechanics.faults import SimulatedFault
from sim.mechanics.world import World

NAMED_MOVES = {
    ("shuffler", 1): "drawn in",
    ("lift_down", 0): "lift leaves",
    ("lift", 1): "lift up",
    ("lift", 0): "lift comes",
    ("lift_down", 1): "lift down",
}
"""Moves that a moment may be named after, by the sensor that tells of them."""


class MomentTrigger:
    """Strikes each fault of a plan once, the first time that its moment comes."""

    def __init__(self, world: World, moments: tuple[MomentFault, ...]) -> None:
        self._world, self._pending = world, list(moments)
        self._loop = asyncio.get_running_loop()
        if moments:
            world.dealer.observe(self._on_sensor)

    def notify(self, name: str) -> None:
        """Take that something happened: a public event by its kind, or one of MOVES."""
        for moment in [one for one in self._pending if one.after_event == name]:
            self._pending.remove(moment)
            self._loop.call_later(moment.after_ms / 1000, self._strike, moment.fault)

    def _on_sensor(self, sensor: str, value: int) -> None:
        move = NAMED_MOVES.get((sensor, value))
        if move is not None:
            self.notify(move)

    def _strike(self, fault: SimulatedFault) -> None:
        self._world.add_fault(fault)
