"""What it costs to tell the world that something changed."""

import asyncio

from controller.machine.machine import TableMachine
from controller.trials.bench.registry import (
    FigureUnit,
    FigureValue,
    time_in_turns_us,
    valued_figure,
)
from controller.trials.publishing import deal_until_held, open_publishing
from sim.folders import memory_folder

_TIMES = 100
_ROUNDS = 9


@valued_figure("publishing")
def measure_publishing() -> list[FigureValue]:
    """From the machine's state to bytes of the feed, against encoding and sending the same ones."""
    with memory_folder() as folder, deal_until_held(folder) as machine:
        return asyncio.run(_time_publishing(machine))


async def _time_publishing(machine: TableMachine) -> list[FigureValue]:
    async with open_publishing(machine) as ways:
        value, floor = time_in_turns_us(
            lambda: [ways.publish_whole() for _ in range(_TIMES)],
            lambda: [ways.publish_bare() for _ in range(_TIMES)],
            _TIMES,
            _ROUNDS,
        )
    return [FigureValue(value=value, floor=floor, unit=FigureUnit.US, documented=5.0)]
