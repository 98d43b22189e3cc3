"""A run of the plant with its tables, and what its samples say."""

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import msgspec

from controller.trials.hall import (
    HallError,
    HallPlan,
    TableProcess,
    end_program,
    run_simulator,
    start_program,
)
from controller.trials.players import seat_players
from controller.trials.reaction.peers import PeerProgram
from controller.trials.reaction.variants import TableVariant
from sim.folders import memory_folder

SPEED: Final = 20.0
PERCENTS: Final = (50, 90, 99)
Samples = list[list[float]]
"""Rounds: microseconds of the floor, then of each table, then of each peer."""


def collect_samples(
    variants: Sequence[TableVariant], deals: int, peers: Sequence[PeerProgram] = ()
) -> Samples:
    """Have every table deal so often, side by side; return the rounds, the first deal's aside.

    Raises HallError where a table does not come up.
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
                module="controller.trials.reaction.plant",
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
    """A table without people: it deals when it is told."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def deal(self) -> object:
        """Have it deal once. Raises HallError where it has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b"deal\n")
        line = await self.process.stdout.readline()
        if not line:
            raise HallError("the bare table ended by itself; its last words stand above")
        return line


async def _start_bare_table(table: TableProcess) -> asyncio.subprocess.Process:
    return await start_program(
        *table.board_ports,
        table.control.path,
        module="controller.trials.reaction.plain",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=sys.stderr,
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the value below which so many of 100 lie."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, len(ranked) * percent // 100)]


def block_median(
    samples: Samples, at: int, over: int, percent: int, blocks: int = 5
) -> tuple[float, float]:
    """Return a percentile of column `at` and of `over`, each the one of the median block.

    The median block is that whose ratio of the two is the median of all blocks' ratios.
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
