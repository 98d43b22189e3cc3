"""How long people wait for the machine, with and without deal-ahead, in virtual time.

The first deal of a match is left out: nothing is played before it, so nothing is dealt ahead.
"""

import asyncio
import random
import statistics
import tempfile
from pathlib import Path

import msgspec

from controller.config import CardSetSection
from controller.trials.foursome import PlayerDurations, SimulatedPlayers
from controller.trials.inproc import run_table_in_process
from sim.mechanics.settings import MechanicsSettings
from sim.virtual import VirtualLoop

_TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
_IN_MEMORY = Path("/dev/shm")


class TimeSpread(msgspec.Struct, frozen=True):
    """Seconds: the least, the median and the most of some deals."""

    least_s: float
    median_s: float
    most_s: float


class SimulatedWaiting(msgspec.Struct, frozen=True, kw_only=True):
    """What people waited for, over `deals` deals that others were played before.

    `machine`: from the moment when a deal is due until its hands are ready (due_to_ready_ms of
    `released`); `hands`: until somebody orders them out, so that it holds what people take to
    clear the table, load, start, cut and press, too.
    """

    ahead: bool
    deals: int
    machine: TimeSpread
    hands: TimeSpread


def simulate_waiting(deals: int, *, ahead: bool, seed: int = 1) -> SimulatedWaiting:
    """Play so many deals, with deal-ahead or without, and return what people waited."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_play_match_deals(deals, ahead, seed))


async def _play_match_deals(deals: int, ahead: bool, seed: int) -> SimulatedWaiting:
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        async with run_table_in_process(
            MechanicsSettings(), Path(folder), seed=seed, card_sets=_TWO_SETS, deal_ahead=ahead
        ) as table:
            people = SimulatedPlayers(
                table, random.Random(seed), deal_ahead=ahead, durations=PlayerDurations()
            )
            left = deals
            while left > 0:
                await people.begin_match(f"M{left}")
                left -= await people.play(left + 1) - 1
                await people.sign()
            released = [event for event in table.events if event.kind == "released"]
    later = [event.data for event in released if event.deal != 1]
    machine = [one["due_to_ready_ms"] / 1000 for one in later]
    hands = [
        at + data["ready_to_button_ms"] / 1000 for at, data in zip(machine, later, strict=True)
    ]
    return SimulatedWaiting(
        ahead=ahead,
        deals=len(later),
        machine=_summarize_times(machine),
        hands=_summarize_times(hands),
    )


def _summarize_times(times_s: list[float]) -> TimeSpread:
    return TimeSpread(min(times_s), statistics.median(times_s), max(times_s))


def waiting_table(both: tuple[SimulatedWaiting, ...]) -> str:
    """Return figures side by side, for people."""
    spans = (f"{what}: least median most" for what in ("machine", "hands"))
    lines = [f"{'':<18}{'deals':>6}  " + "  ".join(f"{span:>30}" for span in spans)]
    for one in both:
        name = "deal-ahead" if one.ahead else "without"
        spans = (
            f"{span.least_s:>12.1f}{span.median_s:>9.1f}{span.most_s:>9.1f}"
            for span in (one.machine, one.hands)
        )
        lines.append(f"{name:<18}{one.deals:>6}  " + "  ".join(spans))
    return "\n".join([*lines, "seconds a deal, from its being due; 6 to 10 minutes of play"])
