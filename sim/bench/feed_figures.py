"""Benchmark figures of a console without web pages: it only receives and archives feeds.

`open_feed_reader` puts together the same parts as the real console: the observer's key from a
folder, a database, and a thread that writes.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from controller.client.client import ClientIdentity
from controller.client.connection import TableConnectionState
from controller.console.commands.table_clients import load_identity
from controller.console.console_config import ConfiguredTable
from controller.console.feed.table_feeds import TableFeeds
from controller.console.store.archive import Archive
from controller.console.store.database import WorkerThread, open_engine
from controller.host.loggers import structlog
from controller.keys.table_keys import create_table_keys
from controller.messages import Role
from controller.roster import CLIENTS_FOLDER
from controller.service.wall_clock import read_wall_clock_ms
from sim.bench.feed_drain import open_lines
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    bench_options,
    choose_size,
    valued_figure,
)
from sim.bench.helper_process import run_feeds, run_helper
from sim.bench.simulated_feeds import FeedAddress, FeedTotals
from sim.memory_folders import memory_folder
from sim.tables.process_costs import tree_cpu_s
from sim.tables.table_processes import HallError

_CHECK_INTERVAL_S: Final = 0.01


@dataclass
class StateRange:
    """The states received from one table: the first, the last, and their number.

    The first and the last are stored as bytes.
    """

    first: bytes
    last: bytes = b""
    count: int = 0

    @property
    def missing(self) -> int:
        """The number of states that were sent between the first and the last, but not received."""
        first, last = (_NUMBERED.decode(body).seq for body in (self.first, self.last))
        return last - first + 1 - self.count


class ConsoleFeedReader(TableFeeds):
    """A console's receiver of feeds, which stores events in an archive and counts the states.

    `ranges`: the range of states of each table that sent any, since the counts were restarted.
    """

    ranges: dict[str, StateRange]

    def open(self, feeds: Sequence[FeedAddress]) -> None:
        """Start to receive from the feeds `feeds`."""
        self.ranges = {}
        for one in feeds:
            self.add(ConfiguredTable(**msgspec.structs.asdict(one)))

    async def wait_until_complete(self) -> None:
        """Wait until every table has sent a state, and all events before this state are on disk.

        New events may arrive later.
        """
        while True:
            if not self.incomplete_tables and all(map(self._is_complete, self.ids)):
                break
            await asyncio.sleep(_CHECK_INTERVAL_S)
        await self.wait_until_stored()

    def count_events(self) -> int:
        """Return the number of events in the archive."""
        return sum(1 for table in self.ids for _ in self._archive.events(table))

    def _receive(self, table: str, topic: bytes, body: bytes) -> None:
        if topic.startswith(b"state/"):
            span = self.ranges.get(table)
            if span is None:
                span = self.ranges[table] = StateRange(body)
            span.last = body
            span.count += 1
        super()._receive(table, topic, body)

    def _is_complete(self, table: str) -> bool:
        seen = self.snapshot(table)
        return seen.state is not None and seen.contact_times.link is TableConnectionState.OPEN


@asynccontextmanager
async def open_feed_reader(folder: Path) -> AsyncIterator[ConsoleFeedReader]:
    """Yield a console's feed reader for the `with` block.

    Its keys and database are made in `folder`.
    """
    create_table_keys(folder)

    def observer(line: ConfiguredTable) -> ClientIdentity:
        return load_identity(folder / CLIENTS_FOLDER, Role.OBSERVER)

    async with AsyncExitStack() as stack:
        # the output must contain only the measurement
        stack.enter_context(structlog.testing.capture_logs())
        engine, writing = open_engine(f"sqlite:///{folder / 'console.db'}"), WorkerThread("writing")
        stack.callback(engine.dispose)
        stack.callback(writing.close)
        ids = (f"bench-{number}" for number in count())
        lines = ConsoleFeedReader(
            observer, Archive(engine), writing.run, read_wall_clock_ms, ids.__next__
        )
        yield await stack.enter_async_context(lines)


class _Numbered(msgspec.Struct):
    """The number of a public state, decoded without the rest of the state."""

    seq: int


_NUMBERED: Final = msgspec.json.Decoder(_Numbered)


STATES_PER_S: Final = 10.0
"""The number of states that a feed publishes in a second."""
PAST_EVENTS: Final = 50
"""The number of events that a feed has before a client connects."""
_SETTLE_S: Final = 1.0
_START_TIMEOUT_S: Final = 60.0
_LATE_EVENT_TIMEOUT_S: Final = 10.0
"""Events that do not arrive within this time after others count as lost."""


class DrainCost(msgspec.Struct, frozen=True, kw_only=True):
    """The processor time of a console that receives `feeds` feeds, and how much data it lost.

    `cores` is the console's share of one core, and `floor_cores` that of a program which only
    receives and decodes. `states` were received in `seconds`. `missing`: states that did not
    arrive. `lost`: events that the feeds published and the archive does not contain.
    """

    feeds: int
    seconds: float
    cores: float
    floor_cores: float
    states: int
    missing: int
    lost: int

    def violations(self) -> list[str]:
        """Return a line for each kind of lost data: states not received, events not archived."""
        found = [f"{self.missing} states did not arrive"] if self.missing else []
        return [*found, f"{self.lost} events are not in the archive"] if self.lost else found


class JoinCost(msgspec.Struct, frozen=True):
    """The cost of connecting to all feeds: seconds until data has arrived, and processor time."""

    seconds: float
    cpu_s: float


async def measure_drain(feeds: int, seconds: float) -> DrainCost:
    """Run a console with `feeds` feeds for `seconds` seconds, and return its DrainCost.

    A bare process receives the same feeds at the same time. Raises HallError.
    """
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        async with (
            run_feeds(feeds, STATES_PER_S) as served,
            run_helper("feed_drain") as bare,
            open_feed_reader(folder) as lines,
            asyncio.timeout(_START_TIMEOUT_S + seconds),
        ):
            bare.send(msgspec.json.encode(served.addresses))
            await bare.read(dict[str, str])  # the process has received from all feeds
            lines.open(served.addresses)
            await lines.wait_until_complete()
            await asyncio.sleep(_SETTLE_S)
            lines.ranges = {}
            watch, bare_s = _start_watch(), -tree_cpu_s(bare.process.pid)
            await asyncio.sleep(seconds)
            spent = watch()
            bare_s += tree_cpu_s(bare.process.pid)
            spans = lines.ranges.values()
            return DrainCost(
                feeds=feeds,
                seconds=round(spent.seconds, 2),
                cores=spent.cpu_s / spent.seconds,
                floor_cores=bare_s / spent.seconds,
                states=sum(span.count for span in spans),
                missing=sum(span.missing for span in spans),
                lost=await _count_lost_events(lines, await served.stop_events()),
            )


async def measure_joins(feeds: int, rounds: int) -> tuple[list[JoinCost], list[JoinCost]]:
    """Return the costs of connecting to all feeds: those of a console, then those of the floor.

    The floor is a receiver without archive. Each of `rounds` rounds adds one cost to each list. A
    first round is not counted. Raises HallError.
    """
    async with run_feeds(feeds, STATES_PER_S, past=PAST_EVENTS) as served:
        at = served.addresses
        turns = [(await _join_bare(at), await _join_with_archive(at)) for _ in range(rounds + 1)]
    bare, whole = zip(*turns[1:], strict=True)
    return list(whole), list(bare)


async def _join_with_archive(at: Sequence[FeedAddress]) -> JoinCost:
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        async with open_feed_reader(folder) as lines, asyncio.timeout(_START_TIMEOUT_S):
            watch = _start_watch()
            lines.open(at)
            await lines.wait_until_complete()
            return watch()


async def _join_bare(at: Sequence[FeedAddress]) -> JoinCost:
    watch = _start_watch()
    with open_lines(at):
        return watch()


def _start_watch() -> Callable[[], JoinCost]:
    """Start a stopwatch, and return a function that returns the cost since the start.

    The cost is the elapsed time and the processor time of this process.
    """
    loop = asyncio.get_running_loop()
    began_s, cpu_s = loop.time(), time.process_time()
    return lambda: JoinCost(loop.time() - began_s, time.process_time() - cpu_s)


async def _count_lost_events(lines: ConsoleFeedReader, published: FeedTotals) -> int:
    """Wait until `lines` archives no more events. Return how many events it lacks."""
    events, kept = sum(published.events.values()), -1
    await lines.wait_until_complete()
    while (now := lines.count_events()) not in (kept, events):
        kept = now
        await asyncio.sleep(_LATE_EVENT_TIMEOUT_S)
        await lines.wait_until_complete()
    return events - now


_AIMS_CORES: Final = {400: 0.25, 1_000: 0.5}
"""The aim as a share of a core, by number of feeds."""

Result = TypeVar("Result")


@valued_figure("fan_in")
def measure_feeds() -> list[FigureValue]:
    """Measure a console's share of one core at 10 states/s a table. The floor only decodes."""
    tables = sorted({*choose_size((50, 200, 400), ()), bench_options.feeds})
    return [_drain_value(_run(measure_drain(feeds, choose_size(5.0, 2.0)))) for feeds in tables]


@valued_figure("join")
def measure_late_join() -> list[FigureValue]:
    """Measure the time until a console has all data of 200 tables. The floor only receives."""
    tables = choose_size(200, 40)
    whole, bare = _run(measure_joins(tables, choose_size(5, 2)))
    value_s, floor_s = (statistics.median(one.seconds for one in costs) for costs in (whole, bare))
    value_us, floor_us = (
        statistics.median(one.cpu_s for one in costs) / tables * 1e6 for costs in (whole, bare)
    )
    each = "processor time a table"
    return [
        FigureValue(f"{tables} tables", value_s, floor_s, FigureUnit.S, 4.0, aim_value=1.0),
        FigureValue(each, value_us, floor_us, FigureUnit.US, documented=7.0, aim_value=2_000.0),
    ]


def _drain_value(cost: DrainCost) -> FigureValue:
    """Return the measured `cost` of receiving feeds as a value of the figure `fan_in`.

    Raises ClickException if states or events are missing.
    """
    if wrong := cost.violations():
        raise click.ClickException(f"fan_in: {cost.feeds} feeds: {'; '.join(wrong)}")
    what, aim = f"{cost.feeds} tables", _AIMS_CORES.get(cost.feeds)
    return FigureValue(what, cost.cores, cost.floor_cores, FigureUnit.CORES, 2.0, aim_value=aim)


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        return asyncio.run(work)
    except HallError as error:
        raise click.ClickException(f"fan_in: {error}") from error
    except TimeoutError as error:
        raise click.ClickException(
            "fan_in: messages of some feeds did not arrive: this computer is too slow or too busy"
        ) from error
