"""How long an attempt takes by the mechanics alone: in virtual time, with no delay of line or host.

The floor under a deal's wall time: the same sequence of pockets over the same
machine, answered the instant it asks.
"""

import asyncio
import random
from dataclasses import replace

from controller.rules.profile import Profile
from controller.trials.bare_table import BareTable
from sim.inproc import HardwareInProcess
from sim.mechanics.settings import MechanicsSettings
from sim.virtual import VirtualLoop


def mechanical_s(
    settings: MechanicsSettings, profile: Profile, sequence: str, *, feeding_ms: float | None = None
) -> float:
    """Return the seconds from the first feed to the last landing of one attempt.

    `sequence` is the attempt's pocket letter per place. No card takes longer than another:
    in the mean as long as `settings` say, or as in an attempt whose feeder took `feeding_ms`
    for all of them (sim.mechanics.truth), lest that one's luck count.
    """
    feed_ms = settings.feed_ms if feeding_ms is None else feeding_ms / len(sequence)
    even = replace(settings, feed_ms=feed_ms, feed_spread_ms=0.0, flight_spread_ms=0.0)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_run_attempt(even, profile, sequence))


async def _run_attempt(settings: MechanicsSettings, profile: Profile, sequence: str) -> float:
    sim = HardwareInProcess(settings, random.Random(0), boots=iter(range(1, 9)).__next__)
    table = BareTable(sim.port("dealer"), sim.port("reader"), profile, settings.sets[0].back)
    try:
        await table.open()
        await table.run_attempt(1, sequence)
        took_s = sim.world.truth().mechanical_s
        return 0.0 if took_s is None else took_s
    finally:
        table.close()
        sim.close()
