"""What it costs to tell the world that something changed."""

import asyncio

from controller.machine.machine import Machine
from controller.trials.bench.registry import Unit, Value, paired_us, values
from controller.trials.hall import memory_folder
from controller.trials.publishing import held_hands, publishing

_TIMES = 100
_ROUNDS = 9


@values("publishing")
def publish() -> list[Value]:
    """From the machine's state to bytes of the feed, against encoding and sending the same ones."""
    with memory_folder() as folder, held_hands(folder) as machine:
        return asyncio.run(_published(machine))


async def _published(machine: Machine) -> list[Value]:
    async with publishing(machine) as ways:
        value, floor = paired_us(
            lambda: [ways.whole() for _ in range(_TIMES)],
            lambda: [ways.bare() for _ in range(_TIMES)],
            _TIMES,
            _ROUNDS,
        )
    return [Value(value=value, floor=floor, unit=Unit.US, documented=5.0)]
