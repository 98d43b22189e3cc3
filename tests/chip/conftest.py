"""Tables on simulated chips."""

from collections.abc import AsyncIterator, Callable

import pytest

from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.chip.rig import ChipTable


@pytest.fixture
async def on_chips() -> AsyncIterator[Callable[..., ChipTable]]:
    """Make a table whose boards run on simulated chips: `on_chips(Fault(...), cards=8)`.

    The chip's stepper takes the gate's time; the mechanics only follow.
    """
    made: list[ChipTable] = []

    def make(*faults: SimulatedFault, cards: int = 8, seed: int = 1) -> ChipTable:
        made.append(ChipTable(MechanicsSettings(cards=cards, faults=faults, gate_ms=2.0), seed))
        return made[-1]

    yield make
    for table in made:
        table.close()
