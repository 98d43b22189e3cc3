"""How long an attempt takes by the mechanics alone: in virtual time, with no delay of line or host.

The floor under a deal's wall time: the same sequence of pockets over the same
machine, answered the instant it asks.
"""

import asyncio
import random

from controller.rules.profile import Profile
from controller.trials.bare_table import BareTable
from sim.inproc import InprocTable
from sim.mechanics.settings import Settings
from sim.virtual import VirtualLoop


def mechanical_s(settings: Settings, profile: Profile, sequence: str, *, seed: int = 0) -> float:
    """Return the seconds from the first feed to the last landing of one attempt.

    `sequence` is the attempt's pocket letter per place; `seed` the mechanics'.
    """
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_attempt(settings, profile, sequence, seed))


async def _attempt(settings: Settings, profile: Profile, sequence: str, seed: int) -> float:
    sim = InprocTable(settings, random.Random(seed), boots=iter(range(1, 9)).__next__)
    table = BareTable(sim.port("dealer"), sim.port("reader"), profile, settings.sets[0].back)
    try:
        await table.open()
        await table.attempt(1, sequence)
        took_s = sim.world.truth().mechanical_s
        return 0.0 if took_s is None else took_s
    finally:
        table.close()
        sim.close()
