"""Figures of the programs themselves: the command line's help, memory, and the start of a table."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from controller.messages import MachinePhase, PublicState, Role
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    now_s,
    time_in_turns_us,
    time_s,
    timed_figure,
    valued_figure,
)
from sim.people.practice_players import seat_players
from sim.tables.process_costs import measure_costs, resident_mib
from sim.tables.table_processes import HallPlan, TableProcess, run_hall


def _python_alone() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


@timed_figure("help", floor=_python_alone, documented=4.0, aim=8.0)
def show_help() -> None:
    """The command line's help, against an interpreter that does nothing."""
    subprocess.run(
        [sys.executable, "-c", "from controller.cli import main; main(['--help'])"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


_SPEED = 10.0
_STARTS, _FEW_STARTS = 5, 1
_PACKAGES = "click, gpiozero, msgspec, nacl.signing, serial, structlog, zmq.asyncio"


@asynccontextmanager
async def _run_table(speed: float = _SPEED) -> AsyncIterator[TableProcess]:
    with tempfile.TemporaryDirectory() as folder:
        async with run_hall(HallPlan(Path(folder), speed=speed)) as (table,):
            yield table


@valued_figure("memory")
def measure_memory() -> list[FigureValue]:
    """Resident MiB of a table's machine and gateway after a deal, against a bare interpreter."""
    machine, gateway = asyncio.run(_resident_mib())
    floor = _bare_mib()
    return [
        FigureValue(
            what="machine",
            value=machine,
            floor=floor,
            unit=FigureUnit.MIB,
            documented=4.5,
            aim_value=45,
        ),
        FigureValue(
            what="gateway",
            value=gateway,
            floor=floor,
            unit=FigureUnit.MIB,
            documented=4.0,
            aim_value=40,
        ),
    ]


async def _resident_mib() -> tuple[float, float]:
    async with _run_table() as table, seat_players(table) as people:
        await people.play_deal()
        spent = measure_costs(_daemon_pid(table))
        return spent["run machine"].rss_mib, spent["run gateway"].rss_mib


def _bare_mib() -> float:
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        return resident_mib(process.pid)


def _packages_alone() -> object:
    return subprocess.run([sys.executable, "-c", f"import {_PACKAGES}"], check=True)


class _TimedStarts:
    """A timer that alternately starts one table and imports its packages only."""

    took_s = 0.0

    def packages_alone(self) -> float:
        """Start the table for the figure, then return the time of the packages only."""
        self.took_s = asyncio.run(_time_start_s())
        return time_s(_packages_alone)


@valued_figure("start")
def measure_start() -> list[FigureValue]:
    """Time from a table's start until it can deal, against the import of its packages."""
    starts = _TimedStarts()
    value_us, floor_us = time_in_turns_us(
        lambda: starts.took_s, starts.packages_alone, 1, choose_size(_STARTS, _FEW_STARTS)
    )
    return [
        FigureValue(
            value=value_us / 1e6,
            floor=floor_us / 1e6,
            unit=FigureUnit.S,
            documented=3.5,
            aim_value=1.0,
        )
    ]


async def _time_start_s() -> float:
    async with _run_table() as table:
        await table.stop_daemon()
        begun_s = now_s()
        await table.start_daemon()
        async with table.client(Role.TABLE, topics=("state/",)) as client:
            async for heard in client.feed():
                if (
                    msgspec.json.decode(heard.body, type=PublicState).machine.phase
                    is MachinePhase.EMPTY
                ):
                    return now_s() - begun_s
    raise AssertionError("a feed does not end")


def _daemon_pid(table: TableProcess) -> int:
    assert table.daemon is not None
    return table.daemon.pid
