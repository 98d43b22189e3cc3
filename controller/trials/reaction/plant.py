"""The plant: the boards of all tables in one process, and the rounds in which they are timed.

    python -m controller.trials.reaction.plant --config sim.toml --runtime-dir FOLDER \\
        --tables 3 --speed 20 --samples FILE

prints one line of JSON for each table, as `dealtable sim --json` does. Ended, it writes the rounds
in which every table took its turn: a list of lists, the floor's microseconds first, those of the
tables behind it, then those of what else answers a word (--beside MODULE, as often as wanted).
"""

import asyncio
import gc
import os
import pty
import random
import sys
import tty
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import click
import msgspec

from controller.cli.ending import termination_signals
from controller.config import load_sim
from controller.trials.hall import end_program, start_program
from controller.trials.reaction import echo
from controller.trials.reaction.lines import HeldFrames, TimedLine, TimedTable, time_answer
from sim.exact import exact_loop
from sim.hall import HardwareOnPtys, TablePlan, plan_tables
from sim.mechanics.settings import BACKS, MechanicsSettings, PhysicalSet
from sim.outside import BoardName
from sim.ptyline import PtyNoise

GAP_S: Final = (0.001, 0.004)
"""Between two turns."""
ROUND_TIMEOUT_S: Final = 0.1
"""A table whose word has not come by then sits this round out: its boards would lose patience."""

CHECKOUT: Final = Path(__file__).parents[3]
_FLOOR = "controller.trials.reaction.echo"

Turn = Callable[[], float | None]


class TimedHardware(HardwareOnPtys):
    """A simulated table whose boards' lines can be timed."""

    def __init__(self, plan: TablePlan, boots: Callable[[], int]) -> None:
        self._frames = HeldFrames()
        self._lines: dict[BoardName, TimedLine] = {}
        super().__init__(plan, boots)
        self.timed = TimedTable(self._frames, self._lines.__getitem__)

    def make_line(self, name: BoardName, spoil: PtyNoise) -> TimedLine:
        """Return the line of a board."""
        return self._lines.setdefault(name, TimedLine(self.plan.folder / name, spoil, self._frames))


async def run_rounds(
    floor: Turn,
    tables: Sequence[TimedTable],
    beside: Sequence[Turn],
    rng: random.Random,
    samples: list[list[float]],
) -> None:
    """Let all take their turns, round after round, until cancelled; keep whole rounds alone."""
    every = [floor, *(table.time_route for table in tables), *beside]
    while True:
        there = await _wait_until_due(tables)
        away = {number + 1 for number in range(len(tables))} - {number + 1 for number in there}
        turns = [number for number in range(len(every)) if number not in away]
        took: dict[int, float | None] = {}
        for number in rng.sample(turns, len(turns)):
            await asyncio.sleep(rng.uniform(*GAP_S))
            took[number] = every[number]()
        told = [took.get(number) for number in range(len(every))]
        if None not in told:
            samples.append([us for us in told if us is not None])


async def _wait_until_due(tables: Sequence[TimedTable]) -> list[int]:
    """Return the tables of which a word waits: of all, or of those that are there in time."""
    waits = [asyncio.ensure_future(table.due.wait()) for table in tables]
    try:
        await asyncio.wait(waits, timeout=ROUND_TIMEOUT_S)
        return [number for number, table in enumerate(tables) if table.due.is_set()]
    finally:
        for wait in waits:
            wait.cancel()


@asynccontextmanager
async def run_answerer(module: str) -> AsyncIterator[Turn]:
    """Run a process that answers a word at its pty, and give its turn. Raises RuntimeError."""
    ours, theirs = pty.openpty()
    for end in (ours, theirs):
        tty.setraw(end)
    process = await start_program(os.ttyname(theirs), module=module, cwd=CHECKOUT)
    try:
        await _wait_until_ready(ours, process)
        yield lambda: time_answer(ours, ours, echo.READ_FRAME, _is_answer)[0]
    finally:
        await end_program(process)
        os.close(theirs)
        os.close(ours)


async def _wait_until_ready(end: int, process: asyncio.subprocess.Process) -> None:
    """Return once a process has said at its pty that it is there."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(end, there.set)
    ended = asyncio.ensure_future(process.wait())
    said = asyncio.ensure_future(there.wait())
    try:
        await asyncio.wait((ended, said), return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(end)
        ended.cancel()
        said.cancel()
    if not there.is_set():
        raise RuntimeError(f"a program that was to answer ended with {process.returncode}")
    os.read(end, len(echo.ROUTE_FRAME))


def _is_answer(said: bytes) -> bool:
    return len(said) >= len(echo.ROUTE_FRAME)


@click.command()
@click.option("--config", type=click.Path(path_type=Path), required=True)
@click.option("--runtime-dir", type=click.Path(path_type=Path), required=True)
@click.option("--tables", type=int, required=True)
@click.option("--speed", type=float, required=True)
@click.option("--samples", type=click.Path(path_type=Path), required=True)
@click.option("--beside", multiple=True)
def command(
    config: Path,
    runtime_dir: Path,
    tables: int,
    speed: float,
    samples: Path,
    beside: tuple[str, ...],
) -> None:
    """Play the boards of all tables until the process is ended; then write the samples."""
    chosen = load_sim(config)
    plan = TablePlan(
        id=chosen.sim.id,
        folder=runtime_dir,
        settings=MechanicsSettings(
            packs=chosen.mechanics.packs,
            jokers=chosen.mechanics.jokers,
            sets=tuple(PhysicalSet(one.id, BACKS[one.back]) for one in chosen.card_sets),
            speed=speed,
        ),
        seed=chosen.mechanics.seed,
        attendant=False,
    )
    taken: list[list[float]] = []
    with asyncio.Runner(loop_factory=exact_loop) as runner:
        runner.run(_run_plant(plan_tables(plan, tables, runtime_dir), beside, taken))
    samples.write_bytes(msgspec.json.encode(taken))


async def _run_plant(
    plans: Sequence[TablePlan], modules: Sequence[str], samples: list[list[float]]
) -> None:
    stop = asyncio.Event()
    for number in termination_signals():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    rng = random.Random(plans[0].seed)
    async with AsyncExitStack() as stack:
        tables = [TimedHardware(plan, partial(rng.getrandbits, 32)) for plan in plans]
        for table in tables:
            await stack.enter_async_context(table)
            click.echo(msgspec.json.encode(table.info()))
        sys.stdout.flush()
        floor, *beside = [
            await stack.enter_async_context(run_answerer(module)) for module in (_FLOOR, *modules)
        ]
        gc.collect()
        gc.freeze()
        gc.disable()
        playing = asyncio.ensure_future(
            run_rounds(floor, [table.timed for table in tables], beside, rng, samples)
        )
        ending = asyncio.ensure_future(stop.wait())
        await asyncio.wait((playing, ending), return_when=asyncio.FIRST_COMPLETED)
        for task in (playing, ending):
            task.cancel()
        if playing.done():
            playing.result()


if __name__ == "__main__":
    command()
