"""What a console's lines cost without its pages: draining many feeds, and joining them late."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from controller.trials.bare_drain import joined
from controller.trials.beside import beside, feeds_beside
from controller.trials.costs import costs
from controller.trials.feeds import FeedAt, Said
from controller.trials.hall import memory_folder
from controller.trials.lone_lines import LoneLines, lone_lines

PER_S: Final = 10.0
"""States that a feed says in a second."""
PAST: Final = 50
"""Events that a feed had before anybody joins."""
_SETTLE_S: Final = 1.0
_PATIENCE_S: Final = 60.0
_LAST_S: Final = 10.0
"""Events that did not come in this time after others are lost."""


class Drained(msgspec.Struct, frozen=True, kw_only=True):
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

    def wrong(self) -> list[str]:
        """Return what may not be, however little it costs."""
        found = [f"{self.missing} states never came"] if self.missing else []
        return [*found, f"{self.lost} events are not in the archive"] if self.lost else found


class Join(msgspec.Struct, frozen=True):
    """How long joining took, until all was coherent, and how much processor time."""

    seconds: float
    cpu_s: float


async def drained(feeds: int, seconds: float, per_s: float = PER_S) -> Drained:
    """Drain so many feeds for so long, beside a bare process that does. Raises HallError."""
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        async with (
            feeds_beside(feeds, per_s) as served,
            beside("bare_drain") as bare,
            lone_lines(folder) as lines,
            asyncio.timeout(_PATIENCE_S + seconds),
        ):
            bare.ask(msgspec.json.encode(served.at))
            await bare.told(dict[str, str])  # it hears them all
            lines.open(served.at)
            await lines.coherent()
            await asyncio.sleep(_SETTLE_S)
            lines.count_anew()
            watched = _Shares(bare.process.pid)
            await asyncio.sleep(seconds)
            passed_s, cores, floor_cores = watched.taken()
            spans = lines.spans()
            return Drained(
                feeds=feeds,
                seconds=round(passed_s, 2),
                cores=cores,
                floor_cores=floor_cores,
                states=sum(span.count for span in spans),
                missing=sum(span.missing for span in spans),
                lost=await _lost(lines, await served.quiet()),
            )


async def joins(feeds: int, rounds: int, past: int = PAST) -> tuple[list[Join], list[Join]]:
    """Join so many running feeds late, in turns with bare lines; return both, round by round.

    A first round of each is not counted. Raises HallError.
    """
    async with feeds_beside(feeds, PER_S, past=past) as served:
        turns = [(await _bare_join(served.at), await _join(served.at)) for _ in range(rounds + 1)]
    bare, whole = zip(*turns[1:], strict=True)
    return list(whole), list(bare)


async def _join(at: Sequence[FeedAt]) -> Join:
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        async with lone_lines(folder) as lines, asyncio.timeout(_PATIENCE_S):
            watch = _Stopwatch()
            lines.open(at)
            await lines.coherent()
            return watch.taken()


async def _bare_join(at: Sequence[FeedAt]) -> Join:
    watch = _Stopwatch()
    with joined(at):
        return watch.taken()


class _Stopwatch:
    """Time, and this process's processor time, from now on."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._began_s, self._cpu_s = self._loop.time(), time.process_time()

    def taken(self) -> Join:
        """Return what went by."""
        return Join(self._loop.time() - self._began_s, time.process_time() - self._cpu_s)


class _Shares:
    """Which share of a core this process takes from now on, and another one."""

    def __init__(self, pid: int) -> None:
        self._pid, self._watch, self._cpu_s = pid, _Stopwatch(), _cpu_s(pid)

    def taken(self) -> tuple[float, float, float]:
        """Return for how long it was watched, and both shares."""
        own, other_s = self._watch.taken(), _cpu_s(self._pid) - self._cpu_s
        return own.seconds, own.cpu_s / own.seconds, other_s / own.seconds


async def _lost(lines: LoneLines, said: Said) -> int:
    """Return how many events are not in the archive, once all are or no more of them come."""
    events, kept = sum(said.events.values()), -1
    await lines.coherent()
    while (now := lines.events()) not in (kept, events):
        kept = now
        await asyncio.sleep(_LAST_S)
        await lines.coherent()
    return events - now


def _cpu_s(pid: int) -> float:
    return sum(cost.cpu_s for cost in costs(pid).values())
