"""A console under load: delays until pages show a change, processor share, memory, lost events.

`measure_console` starts simulated feeds and a console, and measures two phases: with browsers, and
alone. `summarize_times` and `summarize_memory` calculate the results.
"""

import asyncio
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Final

import msgspec

from controller.keys.table_keys import create_table_keys
from controller.messages import Role
from controller.roster import CLIENTS_FOLDER
from sim.bench.browser_pages import DrawnChange, PageChanges, PageHeap, find_missing_program
from sim.bench.helper_process import FeedsProcess, HelperProcess, run_feeds, run_helper
from sim.bench.simulated_feeds import CallChange, FeedAddress
from sim.memory_folders import memory_folder
from sim.tables.console_process import ConsoleProcess, area_of
from sim.tables.process_costs import measure_costs, tree_cpu_s
from sim.tables.table_processes import HallError

MIN_SLOPE_S: Final = 300.0
"""The minimum time for a slope of memory. A shorter time shows only the beginning."""
_MAX_SAMPLES: Final = 200
"""The maximum number of samples between which slopes are calculated."""


class TimeSummary(msgspec.Struct, frozen=True):
    """Statistics of several times in milliseconds: count, median, 95th percentile and maximum."""

    count: int
    p50_ms: float
    p95_ms: float
    most_ms: float


class MemoryUse(msgspec.Struct, frozen=True):
    """The memory of a process in MiB during a measurement: first, last and maximum.

    `mib_per_hour`: the growth over the last two thirds of the time. It is the median of the slopes
    between all samples, so that temporary changes do not count. It is None for less than five
    minutes.
    """

    first_mib: float
    last_mib: float
    most_mib: float
    mib_per_hour: float | None


def draw_delays_ms(called: Sequence[CallChange], drawn: Sequence[DrawnChange]) -> list[float]:
    """Return for each change in `drawn` the milliseconds since the same change in `called`.

    Some changes give no delay: those that ended before they could be drawn, and those drawn later
    than the next change. `called` has all changes of the calls, sorted by time.
    """
    by_table: dict[str, list[CallChange]] = defaultdict(list)
    for one in called:
        by_table[one.id].append(one)
    found = []
    for seen in drawn:
        changes = by_table[seen.table]
        before = bisect_right(changes, seen.at_ms, key=lambda one: one.at_ms)
        if before and changes[before - 1].calls == seen.calls:
            found.append(seen.at_ms - changes[before - 1].at_ms)
    return found


def summarize_times(all_ms: Sequence[float]) -> TimeSummary | None:
    """Return the statistics of the times `all_ms`, or None if `all_ms` is empty."""
    if not all_ms:
        return None
    # `quantiles` needs at least two values
    of_two = all_ms if len(all_ms) > 1 else (*all_ms, *all_ms)
    hundredths = quantiles(of_two, n=100, method="inclusive")
    return TimeSummary(
        len(all_ms), round(hundredths[49], 1), round(hundredths[94], 1), round(max(all_ms), 1)
    )


def summarize_memory(samples: Sequence[tuple[float, float]]) -> MemoryUse:
    """Return a summary of at least one memory sample (seconds, MiB), in the order of time."""
    all_mib = [mib for _, mib in samples]
    last_s = samples[-1][0]
    late = [one for one in samples if one[0] >= last_s / 3]
    late = late[:: 1 + len(late) // _MAX_SAMPLES]
    slope = None
    if last_s >= MIN_SLOPE_S:
        slopes = (
            (mib - was) / (at_s - was_s) for (was_s, was), (at_s, mib) in combinations(late, 2)
        )
        slope = round(median(slopes) * 3_600, 2)
    return MemoryUse(round(all_mib[0], 2), round(all_mib[-1], 2), round(max(all_mib), 2), slope)


CALLERS: Final = 8
SETTLE_S: Final = 3.0
SAMPLE_INTERVAL_S: Final = 10.0
"""The interval of memory samples. At the same interval, the drawn changes are read from the pages.
"""
PROGRESS_INTERVAL_S: Final = 60.0
"""The interval of progress lines. At the same interval, the pages collect garbage."""
MAX_ALONE_S: Final = 20.0
_MIN_ALONE_S: Final = 2.0
_START_TIMEOUT_S: Final = 60.0
_ARCHIVE_CHECK_INTERVAL_S: Final = 5.0
_MAX_ARCHIVE_CHECKS: Final = 60
_PIN: Final = "271828"

ReportProgress = Callable[[str], None]
"""A function that receives a line for people: the present work and its progress."""


class ConsoleLoad(msgspec.Struct, frozen=True):
    """The load of one measurement of a console: feeds, states, browsers and duration.

    `seconds`: the duration of the phase with browsers. Each of `feeds` sends `per_s` states a
    second.
    """

    feeds: int = 400
    per_s: float = 10.0
    browsers: int = 5
    seconds: float = 20.0

    @property
    def alone_s(self) -> float:
        """The duration of the phase `alone`, which has no browsers, in seconds."""
        return max(_MIN_ALONE_S, min(MAX_ALONE_S, self.seconds / 2))


class LoadPhase(msgspec.Struct, frozen=True):
    """One phase of a measurement: its duration, the console's share of one core, and its memory."""

    seconds: float
    cores: float
    memory: MemoryUse


class PageFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The measured values of a console's pages in browsers.

    `reloads`: how often pages were loaded again without a request. `bare`: the times of a bare page
    in the same browser at the same time. Times are None if nothing was drawn. `heap`: the memory of
    a page's scripts. `nodes` and `listeners`: the first and last number of elements and listeners.
    All three are the mean of all pages.
    """

    drawn: TimeSummary | None
    bare: TimeSummary | None
    reloads: int
    heap: MemoryUse
    nodes: tuple[int, int]
    listeners: tuple[int, int]


class ConsoleLoadResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one measurement of a console under load, with the values of each phase.

    The phase `alone` comes after `with_browsers`, at the same time as `floor_cores`, the share of a
    bare process. `pages` is None without a browser. `states_per_s`: the rate of states that all
    feeds really published, over the whole run. `lost`: events that the feeds published and the
    console's archive does not contain.
    """

    load: ConsoleLoad
    with_browsers: LoadPhase
    pages: PageFigures | None
    alone: LoadPhase
    floor_cores: float
    states_per_s: float
    events: int
    lost: int

    def violations(self) -> list[str]:
        """Return a line for each error of the console: lost events, or pages that reloaded."""
        found = [f"{self.lost} of {self.events} events are not in the archive"] if self.lost else []
        if self.pages is not None and self.pages.reloads:
            found.append(f"pages were loaded again by themselves, {self.pages.reloads} times")
        return found


async def measure_console(
    load: ConsoleLoad, report: ReportProgress = lambda line: None
) -> ConsoleLoadResult:
    """Start the feeds of `load` and a console, and measure the console. Raises HallError."""
    if load.browsers and (what := find_missing_program()) is not None:
        raise HallError(f"pages cannot be measured: {what}")
    with memory_folder(Path(tempfile.gettempdir())) as folder:
        report(f"opening {load.feeds} feeds of {load.per_s:g} states a second, and the console")
        async with run_feeds(load.feeds, load.per_s, callers=CALLERS) as feeds:
            console = _configure_console(folder, feeds.addresses)
            try:
                await console.start()
                return await _measure_phases(load, console, feeds, report)
            finally:
                await console.stop()


def _configure_console(folder: Path, at: Sequence[FeedAddress]) -> ConsoleProcess:
    """Write the files of a console for the feeds `at`, and return the console, not started."""
    create_table_keys(folder)
    lines = [
        f'[console]\nname = "bench"\nlisten = "127.0.0.1:0"\nkeys = "{folder / CLIENTS_FOLDER}"\n'
    ]
    for number, one in enumerate(at):
        lines.append(
            f'[[tables]]\nid = "{one.id}"\narea = "{area_of(number)}"\nfeed = "{one.feed}"\n'
            f"commands = \"{one.commands}\"\nserver_key = '{one.server_key}'\n"
        )
    config = folder / "console.toml"
    config.write_text("\n".join(lines), encoding="utf-8")
    return ConsoleProcess(config)


async def _measure_phases(
    load: ConsoleLoad, console: ConsoleProcess, feeds: FeedsProcess, report: ReportProgress
) -> ConsoleLoadResult:
    assert console.process is not None
    timer = _PhaseTimer(console.process.pid, report)
    with_browsers, watch = await _measure_with_browsers(load, console, timer)
    alone, floor_cores = await _measure_alone(load.alone_s, feeds.addresses, timer)
    said = await feeds.stop_events()
    events = sum(said.events.values())
    report(f"waiting until the archive has all {events} events")
    return ConsoleLoadResult(
        load=load,
        with_browsers=with_browsers,
        pages=None if watch is None else watch.summarize(said.called),
        alone=alone,
        floor_cores=floor_cores,
        states_per_s=round(said.states / said.seconds, 1),
        events=events,
        lost=await _count_lost_events(console.folder / "console.db", events),
    )


class _PageWatch:
    """A collector that regularly reads and stores the changes that all pages have drawn.

    So no page has to store many changes.
    """

    def __init__(self, helper: HelperProcess) -> None:
        self._helper = helper
        self._drawn: list[DrawnChange] = []
        self._bare_ms: list[float] = []
        self._heaps: list[tuple[float, PageHeap]] = []
        self._reloads = 0

    async def reset(self) -> None:
        """Begin a phase: measure the pages' memory, and discard all changes drawn until now."""
        await self.measure_heap(0.0)
        await self.collect()
        self._drawn, self._bare_ms = [], []

    async def collect(self) -> None:
        """Read the changes that the pages have drawn since the previous call, and store them."""
        seen = await self._helper.request(b"drawn", PageChanges)
        self._drawn += seen.drawn
        self._bare_ms += seen.bare_ms
        self._reloads = seen.reloads

    async def measure_heap(self, at_s: float) -> float:
        """Measure and store the pages' memory at the time `at_s`. Return the mean in MiB."""
        seen = await self._helper.request(b"heaps", list[PageHeap])
        one = PageHeap(
            mean(page.mib for page in seen),
            round(mean(page.nodes for page in seen)),
            round(mean(page.listeners for page in seen)),
        )
        self._heaps.append((at_s, one))
        return one.mib

    def summarize(self, called: Sequence[CallChange]) -> PageFigures:
        """Return drawing times, reloads and memory of the pages. `called`: changes of the calls."""
        first, last = self._heaps[0][1], self._heaps[-1][1]
        return PageFigures(
            drawn=summarize_times(draw_delays_ms(called, self._drawn)),
            bare=summarize_times(self._bare_ms),
            reloads=self._reloads,
            heap=summarize_memory([(at_s, one.mib) for at_s, one in self._heaps]),
            nodes=(first.nodes, last.nodes),
            listeners=(first.listeners, last.listeners),
        )


class _PhaseTimer:
    """A timer that measures one process in several phases, and reports the progress as text."""

    def __init__(self, pid: int, report: ReportProgress) -> None:
        self._pid, self.report = pid, report

    async def measure_phase(
        self, name: str, seconds: float, watch: _PageWatch | None = None
    ) -> LoadPhase:
        """Measure processor share and memory of the process in the phase `name`, for `seconds`.

        Meanwhile `watch`, if given, reads the changes that the pages draw.
        """
        self.report(f"{name}: {_span_text(seconds)} left, {_resident_mib(self._pid):.1f} MiB")
        if watch is not None:
            await watch.reset()
        loop, cpu_s, reported_s = asyncio.get_running_loop(), tree_cpu_s(self._pid), 0.0
        began_s = loop.time()
        samples = [(0.0, _resident_mib(self._pid))]
        while (passed_s := loop.time() - began_s) < seconds:
            if passed_s - reported_s >= PROGRESS_INTERVAL_S:
                reported_s += PROGRESS_INTERVAL_S
                heap = "" if watch is None else f", a page {await watch.measure_heap(passed_s):.2f}"
                mib = f"{samples[-1][1]:.1f} MiB{heap}"
                self.report(f"{name}: {_span_text(seconds - passed_s)} left, {mib}")
            await asyncio.sleep(min(SAMPLE_INTERVAL_S, max(0.0, seconds - (loop.time() - began_s))))
            samples.append((loop.time() - began_s, _resident_mib(self._pid)))
            if watch is not None:
                await watch.collect()
        cores = (tree_cpu_s(self._pid) - cpu_s) / (loop.time() - began_s)
        if watch is not None:
            await watch.measure_heap(passed_s)
        return LoadPhase(round(passed_s, 1), round(cores, 4), summarize_memory(samples))


async def _measure_with_browsers(
    load: ConsoleLoad, console: ConsoleProcess, timer: _PhaseTimer
) -> tuple[LoadPhase, _PageWatch | None]:
    """Measure the console while browsers show its pages. Return the LoadPhase and its _PageWatch.

    If `load` has no browsers, measure the console without them, and return None as the watch.
    """
    if not load.browsers:
        await asyncio.sleep(SETTLE_S)
        return await timer.measure_phase("without a browser", load.seconds), None
    timer.report(f"opening {load.browsers} browsers")
    for number in range(load.browsers):
        await console.accept_invitation(await console.invite(f"ref{number}", Role.REFEREE), _PIN)
    words = ("--url", console.url, "--count", str(load.browsers), "--pin", _PIN)
    own = console.folder / "browsers"  # the files of the browsers are deleted with this folder
    own.mkdir()
    async with run_helper("browser_pages", *words, env={"TMPDIR": str(own)}) as helper:
        await helper.read(dict[str, str])  # all browsers are open
        await asyncio.sleep(SETTLE_S)
        watch = _PageWatch(helper)
        phase = await timer.measure_phase(f"with {load.browsers} browsers", load.seconds, watch)
    return phase, watch


async def _measure_alone(
    seconds: float, at: Sequence[FeedAddress], timer: _PhaseTimer
) -> tuple[LoadPhase, float]:
    """Measure the console without browsers, and at the same time a process that only decodes feeds.

    Return the console's phase, and the share of one core that the other process used.
    """
    async with run_helper("feed_drain") as bare:
        bare.send(msgspec.json.encode(list(at)))
        async with asyncio.timeout(_START_TIMEOUT_S):
            await bare.read(dict[str, str])  # the process has received from all feeds
        loop, pid = asyncio.get_running_loop(), bare.process.pid
        began_s, cpu_s = loop.time(), tree_cpu_s(pid)
        phase = await timer.measure_phase("alone", seconds)
        return phase, round((tree_cpu_s(pid) - cpu_s) / (loop.time() - began_s), 4)


async def _count_lost_events(database: Path, events: int) -> int:
    """Wait until the archive has `events` events or grows no more. Return how many are missing."""
    from sqlalchemy import func, select

    from controller.console.store.database import open_engine
    from controller.console.store.database_schema import EVENTS

    engine = open_engine(f"sqlite:///{database}")
    now, kept = 0, -1
    try:
        for _ in range(_MAX_ARCHIVE_CHECKS):
            with engine.connect() as base:
                now = int(base.scalar(select(func.count()).select_from(EVENTS)) or 0)
            if now in (kept, events):
                break
            kept = now
            await asyncio.sleep(_ARCHIVE_CHECK_INTERVAL_S)
    finally:
        engine.dispose()
    return events - now


def _span_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 2 * PROGRESS_INTERVAL_S else f"{seconds / 60:.0f} min"


def _resident_mib(pid: int) -> float:
    return sum(cost.rss_mib for cost in measure_costs(pid).values())
