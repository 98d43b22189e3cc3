"""A console under a large hall's load: what it costs, and how soon a browser shows a change.

One run has simulated feeds in a process of their own, a real console over them, and browsers with
the hall's page open. At some tables somebody calls for a referee and thinks better of it; the page
is watched from outside for when that is drawn. Then, without browsers, the console's processor
time stands beside that of a bare process that drains the same feeds and decodes each state.
"""

import asyncio
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from controller.gateway.certificates import create_keys
from controller.messages import Role
from controller.roster import CLIENTS
from controller.trials.costs import costs
from controller.trials.feeds import Called, FeedAt, Said
from controller.trials.hall import HallError
from controller.trials.hall_console import RunningConsole, area_of
from controller.trials.pixels import Drawn, bare_ms, watching

if TYPE_CHECKING:
    from sqlalchemy import Engine

CALLERS: Final = 8
_SETTLE_S: Final = 3.0
_PATIENCE_S: Final = 60.0
_LEAST_S: Final = 2.0
_LOOK_S: Final = 5.0
_LOOKS: Final = 60
_PIN: Final = "271828"


class Load(msgspec.Struct, frozen=True):
    """What a console is put under. `seconds`: how long it is watched with browsers."""

    feeds: int = 400
    per_s: float = 10.0
    browsers: int = 5
    seconds: float = 20.0


class Times(msgspec.Struct, frozen=True):
    """Times in milliseconds: how many, their median, the 95th of a hundred, the longest."""

    count: int
    p50_ms: float
    p95_ms: float
    most_ms: float


class Console(msgspec.Struct, frozen=True, kw_only=True):
    """What came out. Cores are shares of one; `_mib` is resident memory, first and last.

    `cores`: with browsers; `cores_alone` and `floor_cores`: without, at the same time as the bare
    process. `states_per_s`: what the feeds really said, of all tables. `lost`: events that they
    had and the console's archive has not. `reloads`: of pages, by themselves. `pixels` and
    `bare_pixels` are None without a browser to look with.
    """

    load: Load
    cores: float
    cores_alone: float
    floor_cores: float
    first_mib: float
    last_mib: float
    states_per_s: float
    events: int
    lost: int
    reloads: int
    pixels: Times | None
    bare_pixels: Times | None


async def console_load(load: Load) -> Console:
    """Put a console under a load and return what it cost. Raises HallError."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with _feeds(load) as feeds:
            console = _configured(folder, feeds.at)
            await console.start()
            try:
                return await _watched(load, console, feeds)
            finally:
                await console.stop()


class _Feeds:
    """The process of the feeds."""

    def __init__(self, process: asyncio.subprocess.Process, at: list[FeedAt]) -> None:
        self.process, self.at = process, at

    async def quiet(self) -> Said:
        """Let nothing more happen but states; return what did."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"\n")
        return msgspec.json.decode(await self.process.stdout.readline(), type=Said)


@asynccontextmanager
async def _feeds(load: Load) -> AsyncIterator[_Feeds]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controller.trials.feeds"),
        *("--count", str(load.feeds), "--per-s", str(load.per_s), "--callers", str(CALLERS)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 28,
    )
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        if not line:
            raise HallError("the simulated feeds did not open")
        yield _Feeds(process, msgspec.json.decode(line, type=list[FeedAt]))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _configured(folder: Path, at: Sequence[FeedAt]) -> RunningConsole:
    """Write the configuration of a console over feeds, with keys of its own."""
    create_keys(folder)
    lines = [f'[console]\nname = "bench"\nlisten = "127.0.0.1:0"\nkeys = "{folder / CLIENTS}"\n']
    for number, one in enumerate(at):
        lines.append(
            f'[[tables]]\nid = "{one.id}"\narea = "{area_of(number)}"\nfeed = "{one.feed}"\n'
            f"commands = \"{one.commands}\"\nserver_key = '{one.server_key}'\n"
        )
    config = folder / "console.toml"
    config.write_text("\n".join(lines), encoding="utf-8")
    return RunningConsole(config)


async def _watched(load: Load, console: RunningConsole, feeds: _Feeds) -> Console:
    pid = console.process.pid if console.process is not None else 0
    for number in range(load.browsers):
        await console.accept(await console.invite(f"ref{number}", Role.REFEREE), _PIN)
    async with watching(console.url, load.browsers, _PIN) as pages:
        await asyncio.sleep(_SETTLE_S)
        await pages.begin()
        first_mib = _mib(pid)
        cores = await _cores(pid, load.seconds)
        last_mib = _mib(pid)
        drawn = await pages.end()
        bare = await bare_ms(pages, max(_LEAST_S, load.seconds / 4))
    cores_alone, floor_cores = await _beside_floor(pid, feeds.at, max(_LEAST_S, load.seconds / 2))
    said = await feeds.quiet()
    events = sum(said.events.values())
    lost = await _lost(console.folder / "console.db", said)
    return Console(
        load=load,
        cores=cores,
        cores_alone=cores_alone,
        floor_cores=floor_cores,
        first_mib=first_mib,
        last_mib=last_mib,
        states_per_s=round(said.states / said.seconds, 1),
        events=events,
        lost=lost,
        reloads=pages.reloads,
        pixels=times(until_drawn_ms(said.called, drawn)),
        bare_pixels=times(bare),
    )


async def _cores(pid: int, seconds: float) -> float:
    """Return which share of a core a process takes, over some time."""
    loop = asyncio.get_running_loop()
    began_s, cpu_s = loop.time(), _cpu_s(pid)
    await asyncio.sleep(seconds)
    return round((_cpu_s(pid) - cpu_s) / (loop.time() - began_s), 4)


async def _beside_floor(pid: int, at: Sequence[FeedAt], seconds: float) -> tuple[float, float]:
    """Return the shares of a console and of a bare process over the same time."""
    bare = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controller.trials.bare_drain"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert bare.stdin is not None
    assert bare.stdout is not None
    try:
        bare.stdin.write(msgspec.json.encode(list(at)) + b"\n")
        async with asyncio.timeout(_PATIENCE_S):
            await bare.stdout.readline()  # it hears them all
        shares = await asyncio.gather(_cores(pid, seconds), _cores(bare.pid, seconds))
        return shares[0], shares[1]
    finally:
        bare.kill()
        await bare.wait()


async def _lost(database: Path, said: Said) -> int:
    """Return how many events are not in the archive, once all are or nothing more comes there."""
    from controller.console.store.archive import open_engine

    engine = open_engine(f"sqlite:///{database}")
    events, now, kept = sum(said.events.values()), 0, -1
    try:
        for _ in range(_LOOKS):
            now = _count(engine)
            if now in (kept, events):
                break
            kept = now
            await asyncio.sleep(_LOOK_S)
    finally:
        engine.dispose()
    return events - now


def _count(engine: "Engine") -> int:
    from sqlalchemy import func, select

    from controller.console.store.tables import EVENTS

    with engine.connect() as base:
        return int(base.scalar(select(func.count()).select_from(EVENTS)) or 0)


def until_drawn_ms(called: Sequence[Called], drawn: Sequence[Drawn]) -> list[float]:
    """Return how long after each change it was drawn, on each page where it was.

    A change that was over before it could be drawn, and one drawn later than the next, are none.
    """
    by_table: dict[str, list[Called]] = defaultdict(list)
    for one in called:
        by_table[one.id].append(one)
    found = []
    for seen in drawn:
        before = [one for one in by_table[seen.table] if one.at_ms <= seen.at_ms]
        if before and before[-1].calls == seen.calls:
            found.append(seen.at_ms - before[-1].at_ms)
    return found


def times(all_ms: Sequence[float]) -> Times | None:
    """Return what some times have in common; None for none."""
    if len(all_ms) < 2:
        return None
    hundredths = statistics.quantiles(all_ms, n=100, method="inclusive")
    return Times(
        len(all_ms), round(hundredths[49], 1), round(hundredths[94], 1), round(max(all_ms), 1)
    )


def _cpu_s(pid: int) -> float:
    return sum(cost.cpu_s for cost in costs(pid).values())


def _mib(pid: int) -> float:
    return sum(cost.rss_mib for cost in costs(pid).values())
