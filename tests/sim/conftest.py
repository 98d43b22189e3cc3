"""Machines to try things on."""

import random
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from tests.sim.bench import Bench, Machine


@pytest.fixture
async def machine() -> AsyncIterator[Machine]:
    """Make machines: `machine(Fault(...), cards=12)`; any field of Settings by its name."""
    worlds: list[World] = []

    def make(*faults: SimulatedFault, seed: int = 1, **settings: int | float) -> Bench:
        chosen = replace(MechanicsSettings(faults=faults), **settings)  # type: ignore[arg-type]
        worlds.append(World(chosen, random.Random(seed)))
        return Bench(worlds[-1])

    yield make
    for world in worlds:
        world.close()
