"""What a console's lines cost without its pages: draining many feeds, and joining them late."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from controller.trials.bare_drain import open_lines
from controller.trials.beside import run_feeds, run_helper
from controller.trials.costs import measure_costs
from controller.trials.feeds import FeedAddress, FeedTotals
from controller.trials.lone_lines import ConsoleFeedReader, open_feed_reader
from sim.folders import memory_folder

STATES_PER_S: Final = 10.0
"""States that a feed says in a second."""
PAST_EVENTS: Final = 50
"""Events that a feed had before anybody joins."""
_SETTLE_S: Final = 1.0
_START_TIMEOUT_S: Final = 60.0
_LATE_EVENT_TIMEOUT_S: Final = 10.0
"""Events that did not come in this time after others are lost."""


class DrainCost(msgspec.Struct, frozen=True, kw_only=True):
    """What it cost to drain `feeds`: shares of one core; `floor_cores` is a bare drain's.

    `states` came in `seconds`. `missing`: states whose numbers were left out; `lost`: events that
    the feeds had and the archive has not.
    """

    feeds: int
    seconds: float
    cores: float
    floor_cores: float
    states: int
    missing: int
    lost: int

    def violations(self) -> list[str]:
        """Return what may not be, however little it costs."""
        found = [f"{self.missing} states never came"] if self.missing else []
        return [*found, f"{self.lost} events are not in the archive"] if self.lost else found


class JoinCost(msgspec.Struct, frozen=True):
    """How long joining took, until all was coherent, and how much processor time."""

    seconds: float
    cpu_s: float


async def measure_drain(feeds: int, seconds: float, per_s: float = STATES_PER_S) -> DrainCost:
    """Drain so many feeds for so long, beside a bare process that does. Raises HallError."""
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        async with (
            run_feeds(feeds, per_s) as served,
            run_helper("bare_drain") as bare,
            open_feed_reader(folder) as lines,
            asyncio.timeout(_START_TIMEOUT_S + seconds),
        ):
            bare.send(msgspec.json.encode(served.addresses))
            await bare.read(dict[str, str])  # it hears them all
            lines.open(served.addresses)
            await lines.wait_until_complete()
            await asyncio.sleep(_SETTLE_S)
            lines.reset_counts()
            watched = _CoreShares(bare.process.pid)
            await asyncio.sleep(seconds)
            passed_s, cores, floor_cores = watched.elapsed()
            spans = lines.state_ranges()
            return DrainCost(
                feeds=feeds,
                seconds=round(passed_s, 2),
                cores=cores,
                floor_cores=floor_cores,
                states=sum(span.count for span in spans),
                missing=sum(span.missing for span in spans),
                lost=await _count_lost_events(lines, await served.stop_events()),
            )


async def measure_joins(
    feeds: int, rounds: int, past: int = PAST_EVENTS
) -> tuple[list[JoinCost], list[JoinCost]]:
    """Join so many running feeds late, in turns with bare lines; return both, round by round.

    A first round of each is not counted. Raises HallError.
    """
    async with run_feeds(feeds, STATES_PER_S, past=past) as served:
        turns = [
            (await _join_bare(served.addresses), await _join_with_archive(served.addresses))
            for _ in range(rounds + 1)
        ]
    bare, whole = zip(*turns[1:], strict=True)
    return list(whole), list(bare)


async def _join_with_archive(at: Sequence[FeedAddress]) -> JoinCost:
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        async with open_feed_reader(folder) as lines, asyncio.timeout(_START_TIMEOUT_S):
            watch = _Stopwatch()
            lines.open(at)
            await lines.wait_until_complete()
            return watch.elapsed()


async def _join_bare(at: Sequence[FeedAddress]) -> JoinCost:
    watch = _Stopwatch()
    with open_lines(at):
        return watch.elapsed()


class _Stopwatch:
    """Time, and this process's processor time, from now on."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._began_s, self._cpu_s = self._loop.time(), time.process_time()

    def elapsed(self) -> JoinCost:
        """Return what went by."""
        return JoinCost(self._loop.time() - self._began_s, time.process_time() - self._cpu_s)


class _CoreShares:
    """Which share of a core this process takes from now on, and another one."""

    def __init__(self, pid: int) -> None:
        self._pid, self._watch, self._cpu_s = pid, _Stopwatch(), _cpu_s(pid)

    def elapsed(self) -> tuple[float, float, float]:
        """Return for how long it was watched, and both shares."""
        own, other_s = self._watch.elapsed(), _cpu_s(self._pid) - self._cpu_s
        return own.seconds, own.cpu_s / own.seconds, other_s / own.seconds


async def _count_lost_events(lines: ConsoleFeedReader, said: FeedTotals) -> int:
    """Return how many events are not in the archive, once all are or no more of them come."""
    events, kept = sum(said.events.values()), -1
    await lines.wait_until_complete()
    while (now := lines.count_events()) not in (kept, events):
        kept = now
        await asyncio.sleep(_LATE_EVENT_TIMEOUT_S)
        await lines.wait_until_complete()
    return events - now


def _cpu_s(pid: int) -> float:
    return sum(cost.cpu_s for cost in measure_costs(pid).values())
