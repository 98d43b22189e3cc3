"""The benchmark figure `reaction`: the time from a card's event to its ROUTE message.

One process, the plant, simulates the boards of all tables. Two events decide a card: AT_READER and
READ. The plant holds back the later of the two until its table has a turn. In its turn, the plant
writes the event and reads the line until the ROUTE is complete. Each round has one turn for each
table and one for an echo process, in a random order. Other work of the computer therefore disturbs
all of them alike. The time of the plant is part of every measured time, including that of the
floor.

reaction_plant.py has the plant and its rounds, echo_process.py the floor, and bare_table.py a table
of two boards and the dealing loop alone. tests/peers has programs with other serial libraries, if
the checkout contains them.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
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
from sim.bench.helper_process import run_helper
from sim.bench.reaction_plant import CHECKOUT
from sim.memory_folders import memory_folder
from sim.people.practice_players import seat_players
from sim.tables.table_processes import HallError, HallPlan, run_simulator, start_program

PLAIN: Final = "plain"
"""A bare table: only serial links and the dealing loop."""
ALL_ON: Final = "everything on"
"""A table with machine, gateway and a subscriber."""

_BLOCKS = 5
_FOLDER = "tests/peers"


class PeerProgram(msgspec.Struct, frozen=True):
    """A program to compare: it answers the same card events, but with another serial library.

    `name` is its description, with the versions of its libraries.
    """

    module: str
    name: str


def find_peers() -> list[PeerProgram]:
    """Return the peer programs whose libraries are installed."""
    files = sorted((CHECKOUT / _FOLDER).glob("*.py"))
    modules = [".".join((*_FOLDER.split("/"), file.stem)) for file in files]
    found = []
    for module in modules:
        # Without arguments a program prints its description. It fails without its library.
        words = [sys.executable, "-m", module]
        told = subprocess.run(
            words, cwd=CHECKOUT, capture_output=True, text=True, timeout=20.0, check=False
        )
        if told.returncode == 0 and (name := told.stdout.strip()):
            found.append(PeerProgram(module, name))
    return found


SPEED: Final = 20.0
PERCENTS: Final = (50, 90, 99)
Samples = list[list[float]]
"""A list of rounds.

Each round has microseconds of the floor, of the table PLAIN, of the table ALL_ON, then of each
peer.
"""


async def collect_samples(deals: int, peers: Sequence[PeerProgram]) -> Samples:
    """Deal at a bare table and a complete table at the same time. Return the reaction times.

    The tables are PLAIN and ALL_ON. The programs `peers` are measured too. The first deal does
    not count. `deals` more deals count. Raises HallError if a table does not start.
    """
    with tempfile.TemporaryDirectory() as folder, memory_folder() as runtime_dir:
        plan = HallPlan(Path(folder) / "hall", tables=2, speed=SPEED)
        plan.state_dir.mkdir()
        samples = Path(folder) / "samples.json"

        async def plant(
            plan: HallPlan, config: Path, runtime_dir: Path
        ) -> asyncio.subprocess.Process:
            return await start_program(
                *(str(config), str(runtime_dir), str(plan.tables), str(plan.speed), str(samples)),
                *(peer.module for peer in peers),
                module="sim.bench.reaction_plant",
                stdout=asyncio.subprocess.PIPE,
            )

        async with (
            run_simulator(plan, runtime_dir, plant) as (plain, all_on),
            run_helper(
                "bare_table", *plain.board_ports, plain.control.path, what="the bare table"
            ) as bare,
            AsyncExitStack() as stack,
        ):
            stack.push_async_callback(all_on.stop_daemon)
            await all_on.start_daemon()
            people = await stack.enter_async_context(seat_players(all_on))
            for _ in range(deals + 1):
                await asyncio.gather(bare.request(b"deal", int), people.play_deal())
        taken = msgspec.json.decode(samples.read_bytes(), type=Samples)
        return taken[len(taken) // (deals + 1) :]


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the element after the lowest `percent` % of sorted `values`, or else the largest."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, len(ranked) * percent // 100)]


def block_median(samples: Samples, at: int, over: int, percent: int) -> tuple[float, float]:
    """Return the percentile `percent` of two columns of `samples`, `at` and `over`.

    `samples` is divided into _BLOCKS blocks of rounds. Each block has a ratio of the
    percentiles of both columns. The result is from the block with the median of these ratios.
    Raises ValueError for fewer rounds than blocks.
    """
    size = len(samples) // _BLOCKS
    if not size:
        raise ValueError(f"{len(samples)} rounds are too few for {_BLOCKS} blocks")
    blocks = [samples[begin : begin + size] for begin in range(0, size * _BLOCKS, size)]
    pairs = [
        [percentile([row[column] for row in block], percent) for column in (at, over)]
        for block in blocks
    ]
    value, floor = sorted(pairs, key=lambda pair: pair[0] / pair[1])[_BLOCKS // 2]
    return value, floor


_AIM_RATIOS: Final = {
    (PLAIN, 50): 1.85,
    (PLAIN, 90): 1.7,
    (PLAIN, 99): 2.0,
    (ALL_ON, 50): 2.1,
    (ALL_ON, 90): 1.9,
    (ALL_ON, 99): 2.5,
}
_DOCUMENTED_BESIDE: Final = 1.2
"""The ratio of a whole table to a program that only answers.

The ratio to a program that polls is much lower.
"""


@valued_figure("reaction")
def measure_reaction() -> list[FigureValue]:
    """Measure the time from a card's event to its route. The floor is a fixed answer."""
    beside = find_peers()
    # One deal has too few cards for the other percentiles.
    percents = choose_size(PERCENTS, (50,))
    try:
        samples = asyncio.run(collect_samples(choose_size(7, 1), beside))
    except HallError as error:
        raise click.ClickException(f"reaction: {error}") from error
    if bench_options.plot is not None:
        names = ["echo", PLAIN, ALL_ON, *(one.name for one in beside)]
        columns = zip(*samples, strict=True)
        try:
            draw_distribution(dict(zip(names, columns, strict=True)), bench_options.plot)
        except OSError as error:
            raise click.ClickException(f"{bench_options.plot}: {error.strerror}") from error
    values = []
    for at, table in enumerate((PLAIN, ALL_ON), 1):
        for percent in percents:
            us, floor_us = block_median(samples, at, 0, percent)
            what, aim = f"{table}, p{percent}", _AIM_RATIOS[table, percent]
            values.append(FigureValue(what, us, floor_us, FigureUnit.US, 2.4, aim))
    for over, peer in enumerate(beside, 3):
        us, floor_us = block_median(samples, 1, over, 50)
        what = f"{PLAIN} over {peer.name}, p50"
        values.append(FigureValue(what, us, floor_us, FigureUnit.US, _DOCUMENTED_BESIDE))
    return values


def draw_distribution(times_us: Mapping[str, Sequence[float]], file: Path) -> None:
    """Draw the distribution of the times of each name in `times_us` into the SVG file `file`.

    Each curve shows, for each time in µs, the share of cards that took longer. The first name is
    the floor. Raises OSError if the file cannot be written. Needs the extra `lab`.
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
        # Each line style serves ten curves.
        style = "k-" if number == 0 else ("-", "--", "-.", ":")[number // 10 % 4]
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
