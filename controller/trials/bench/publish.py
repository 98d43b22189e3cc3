"""What it costs to tell the world that something changed."""

import asyncio

from controller.machine.machine import Machine
from controller.trials.bench.registry import Unit, Value, time_in_turns_us, values
from controller.trials.hall import memory_folder
from controller.trials.publishing import deal_until_held, publishing

_TIMES = 100
_ROUNDS = 9


@values("publishing")
def publish() -> list[Value]:
    """From the machine's state to bytes of the feed, against encoding and sending the same ones."""
    with memory_folder() as folder, deal_until_held(folder) as machine:
        return asyncio.run(_time_publishing(machine))


async def _time_publishing(machine: Machine) -> list[Value]:
    async with publishing(machine) as ways:
        value, floor = time_in_turns_us(
            lambda: [ways.whole() for _ in range(_TIMES)],
            lambda: [ways.bare() for _ in range(_TIMES)],
            _TIMES,
            _ROUNDS,
        )
    return [Value(value=value, floor=floor, unit=Unit.US, documented=5.0)]
