"""Figures of the reaction: the time from a card's event to its route.

One process, the plant, simulates the boards of all tables. Two events decide a card: AT_READER and
READ. The plant holds back the later of the two until its table has a turn. In its turn, the plant
writes the event and reads the line until the ROUTE is complete. Each round has one turn for each
table and one for an echo process, in a random order. Other work of the computer therefore disturbs
all of them alike. The time of the plant is part of every measured time, including that of the
floor.

reaction_plant.py     the process of all boards, and its rounds echo_process.py       the floor: a
process that answers bytes with bytes bare_table.py         a table of two boards and the dealing
loop alone disturbed/            modules that Python loads at its start to disturb a process
tests/peers           programs with other serial libraries, if the checkout contains them
"""

import asyncio
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import click
import msgspec

from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    bench_options,
    choose_size,
    valued_figure,
)
from sim.bench.reaction_plant import CHECKOUT
from sim.memory_folders import memory_folder
from sim.people.practice_players import seat_players
from sim.tables.table_processes import (
    HallError,
    HallPlan,
    TableProcess,
    end_program,
    run_simulator,
    start_program,
)

_STYLES: Final = ("-", "--", "-.", ":")
"""The line styles of the plot; each serves ten curves."""
FSYNC_MS: Final = 20
"""A delay that an SD card sometimes has."""
_HERE = Path(__file__).parent
_SLOW_C = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int slow(const char *name, int fd) {
    const struct timespec wait = {0, %d * 1000000L};
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    nanosleep(&wait, 0);
    return real(fd);
}
int fsync(int fd) { return slow("fsync", fd); }
int fdatasync(int fd) { return slow("fdatasync", fd); }
"""


class TableVariant(msgspec.Struct, frozen=True):
    """A table in one configuration of the measurement.

    `is_whole`: True for machine, gateway and a subscriber, False for the dealing loop alone.
    `disturbance`: a disturbance and the part it affects, as in disturbed/sitecustomize.py.
    `slow_fsync`: each fsync of the table takes FSYNC_MS longer.
    """

    name: str
    is_whole: bool = True
    disturbance: str = ""
    slow_fsync: bool = False

    def environment(self, folder: Path) -> Mapping[str, str]:
        """Return the environment variables of the table's processes.

        `folder` receives the built library.
        """
        found = {}
        if self.disturbance:
            found["PYTHONPATH"] = str(_HERE / "disturbed")
            found["DEALTABLE_DISTURBED"] = self.disturbance
        if self.slow_fsync:
            found["LD_PRELOAD"] = str(_build_slow_library(folder))
        return found


PLAIN: Final = TableVariant("plain", is_whole=False)
ALL_ON: Final = TableVariant("everything on")
SLOW_FSYNC: Final = TableVariant(f"fsync + {FSYNC_MS} ms", slow_fsync=True)
FULL_GC: Final = TableVariant("full collections", disturbance="machine:collect")
BUSY_GATEWAY: Final = TableVariant("hog in the gateway", disturbance="gateway:hog")


def find_compiler() -> str | None:
    """Return the path of the C compiler for a slow fsync, or None without a compiler."""
    return shutil.which("cc")


def _build_slow_library(folder: Path) -> Path:
    cc = find_compiler()
    if cc is None:
        raise FileNotFoundError("no C compiler: install gcc")
    source, library = folder / "slow.c", folder / "slow.so"
    source.write_text(_SLOW_C % FSYNC_MS, encoding="ascii")
    subprocess.run([cc, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


_FOLDER = "tests/peers"
_LIMIT_S = 20.0


class PeerProgram(msgspec.Struct, frozen=True):
    """A program to compare with. `name` is its description, with the versions of its libraries."""

    module: str
    name: str


def find_peers() -> list[PeerProgram]:
    """Return the peer programs whose libraries are installed."""
    files = sorted((CHECKOUT / _FOLDER).glob("*.py"))
    modules = [".".join((*_FOLDER.split("/"), file.stem)) for file in files]
    asked = [(module, _peer_name(module)) for module in modules]
    return [PeerProgram(module, name) for module, name in asked if name]


def _peer_name(module: str) -> str:
    """Return the line that a program prints without arguments, or "" if it fails."""
    words = [sys.executable, "-m", module]
    told = subprocess.run(
        words, cwd=CHECKOUT, capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    return told.stdout.strip() if told.returncode == 0 else ""


SPEED: Final = 20.0
PERCENTS: Final = (50, 90, 99)
Samples = list[list[float]]
"""A list of rounds.

Each round has microseconds of the floor, then of each table, then of each peer.
"""


def collect_samples(
    variants: Sequence[TableVariant], deals: int, peers: Sequence[PeerProgram] = ()
) -> Samples:
    """Run `deals` deals at every table at the same time. Return the rounds.

    The rounds of a first deal are not included. Raises HallError if a table does not start.
    """
    return asyncio.run(_collect_samples(variants, deals, peers))


async def _collect_samples(
    variants: Sequence[TableVariant], deals: int, peers: Sequence[PeerProgram]
) -> Samples:
    with tempfile.TemporaryDirectory() as folder, memory_folder() as runtime_dir:
        plan = HallPlan(Path(folder) / "hall", tables=len(variants), speed=SPEED)
        plan.state_dir.mkdir()
        samples = Path(folder) / "samples.json"

        async def plant(
            plan: HallPlan, config: Path, runtime_dir: Path
        ) -> asyncio.subprocess.Process:
            return await start_program(
                *("--config", str(config), "--runtime-dir", str(runtime_dir)),
                *("--tables", str(plan.tables), "--speed", str(plan.speed)),
                *("--samples", str(samples)),
                *(word for peer in peers for word in ("--beside", peer.module)),
                module="sim.bench.reaction_plant",
                stdout=asyncio.subprocess.PIPE,
            )

        async with run_simulator(plan, runtime_dir, plant) as tables, AsyncExitStack() as stack:
            seats: list[Callable[[], Awaitable[object]]] = []
            for table, variant in zip(tables, variants, strict=True):
                if variant.is_whole:
                    stack.push_async_callback(table.stop_daemon)
                    await table.start_daemon(environment=variant.environment(Path(folder)))
                    seats.append((await stack.enter_async_context(seat_players(table))).play_deal)
                else:
                    bare = _BareTableProcess(await _start_bare_table(table))
                    stack.push_async_callback(end_program, bare.process)
                    seats.append(bare.deal)
            for _ in range(deals + 1):
                await asyncio.gather(*(deal() for deal in seats))
        taken = msgspec.json.decode(samples.read_bytes(), type=Samples)
        return taken[len(taken) // (deals + 1) :]


class _BareTableProcess:
    """A table without people. It deals on request."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def deal(self) -> object:
        """Deal once and return the answer. Raises HallError if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"deal\n")
        line = await self.process.stdout.readline()
        if not line:
            raise HallError("the bare table ended unexpectedly; its last messages are above")
        return line


async def _start_bare_table(table: TableProcess) -> asyncio.subprocess.Process:
    return await start_program(
        *table.board_ports,
        table.control.path,
        module="sim.bench.bare_table",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=sys.stderr,
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value below which `percent` of 100 values are."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, len(ranked) * percent // 100)]


def block_median(
    samples: Samples, at: int, over: int, percent: int, blocks: int = 5
) -> tuple[float, float]:
    """Return a percentile of the columns `at` and `over`, both from the median block.

    The ratio of the two columns in the median block is the median of the ratios of all blocks.
    Raises ValueError for fewer rounds than blocks.
    """
    size = len(samples) // blocks
    if not size:
        raise ValueError(f"{len(samples)} rounds are too few for {blocks} blocks")
    pairs = []
    for block in range(blocks):
        part = samples[block * size : (block + 1) * size]
        pairs.append(
            tuple(percentile([row[column] for row in part], percent) for column in (at, over))
        )
    value, floor = sorted(pairs, key=lambda pair: pair[0] / pair[1])[blocks // 2]
    return value, floor


def median_us(samples: Samples, at: int) -> float:
    """Return the median of a column."""
    return statistics.median(row[at] for row in samples)


_DEALS: Final = 7
_HOGGED_DEALS: Final = 4
_FEW_DEALS: Final = 1
_FEW_PERCENTS: Final = (50,)
"""The percentiles with --small. One deal has too few cards for the others."""
_AIM_RATIOS: Final = {
    (PLAIN, 50): 1.85,
    (PLAIN, 90): 1.7,
    (PLAIN, 99): 2.0,
    (ALL_ON, 50): 2.1,
    (ALL_ON, 90): 1.9,
    (ALL_ON, 99): 2.5,
    (SLOW_FSYNC, 99): 2.5,
    (BUSY_GATEWAY, 50): 1.8,
}
_AIM_GC: Final = 1.5
_DOCUMENTED: Final = 2.4
_DOCUMENTED_BESIDE: Final = 1.2
"""The ratio of a whole table to a program that only answers.

The ratio to a program that polls is much lower.
"""


@valued_figure("reaction")
def measure_reaction() -> list[FigureValue]:
    """Time from a card's event to its route on the line, against a process that echoes bytes."""
    quiet = [PLAIN, ALL_ON, SLOW_FSYNC, FULL_GC]
    if find_compiler() is None:
        click.echo("reaction: no C compiler, so no slow fsync: install gcc", err=True)
        quiet.remove(SLOW_FSYNC)
    beside = find_peers()
    percents = choose_size(PERCENTS, _FEW_PERCENTS)
    samples = _run_reactions(quiet, choose_size(_DEALS, _FEW_DEALS), beside)
    found = _against_floor(quiet, samples, percents)
    at = quiet.index(ALL_ON) + 1
    full_gc = quiet.index(FULL_GC) + 1
    found.append(_value(_over_text(FULL_GC, ALL_ON), samples, full_gc, at, percents[-1], _AIM_GC))
    found += _against_peers(quiet, beside, samples)
    if bench_options.plot is not None:
        _draw(
            ["echo", *(one.name for one in quiet), *(one.name for one in beside)],
            samples,
            bench_options.plot,
        )
    hogged = _run_reactions([BUSY_GATEWAY], choose_size(_HOGGED_DEALS, _FEW_DEALS))
    return [*found, *_against_floor([BUSY_GATEWAY], hogged, percents[:2])]


def _run_reactions(
    variants: list[TableVariant], deals: int, beside: Sequence[PeerProgram] = ()
) -> Samples:
    try:
        return collect_samples(variants, deals, beside)
    except HallError as error:
        raise click.ClickException(f"reaction: {error}") from error


def draw_distribution(times_us: Mapping[str, Sequence[float]], file: Path) -> None:
    """Write an SVG with one curve for each name's times (µs). The first name is the floor.

    Raises OSError if the file cannot be written. Needs the extra `lab`.
    """
    import matplotlib
    import numpy as np
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    for number, (name, all_us) in enumerate(times_us.items()):
        longer = 1 - np.arange(len(all_us)) / len(all_us)
        style = "k-" if number == 0 else _STYLES[number // 10 % len(_STYLES)]
        axes.step(np.sort(all_us), longer, style, where="post", label=name, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("µs from the card's event to its route on the line")
    axes.set_ylabel("share of cards that took longer")
    axes.grid(which="both", alpha=0.2)
    axes.legend(fontsize="small")
    # Without a date and random ids, the same times give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "reaction", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


def _draw(names: Sequence[str], samples: Samples, file: Path) -> None:
    columns = zip(*samples, strict=True)
    try:
        draw_distribution(dict(zip(names, columns, strict=True)), file)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error


def _against_floor(
    variants: list[TableVariant], samples: Samples, percents: Sequence[int]
) -> list[FigureValue]:
    return [
        _value(variant.name, samples, at, 0, percent, _AIM_RATIOS.get((variant, percent)))
        for at, variant in enumerate(variants, 1)
        for percent in percents
    ]


def _against_peers(
    variants: list[TableVariant], beside: Sequence[PeerProgram], samples: Samples
) -> list[FigureValue]:
    """Return the time of a route from the dealing loop, in multiples of each peer's answer."""
    at = variants.index(PLAIN) + 1
    return [
        _value(_over_text(PLAIN, peer), samples, at, over, 50, None, _DOCUMENTED_BESIDE)
        for over, peer in enumerate(beside, len(variants) + 1)
    ]


def _over_text(one: TableVariant, other: TableVariant | PeerProgram) -> str:
    return f"{one.name} over {other.name}"


def _value(
    what: str,
    samples: Samples,
    at: int,
    over: int,
    percent: int,
    aim: float | None,
    documented: float = _DOCUMENTED,
) -> FigureValue:
    value, floor = block_median(samples, at, over, percent)
    return FigureValue(
        what=f"{what}, p{percent}",
        value=value,
        floor=floor,
        unit=FigureUnit.US,
        documented=documented,
        aim=aim,
    )
