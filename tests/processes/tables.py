"""Fixtures: whole, real processes of a table, as people start them. None outlives its test."""

import asyncio
import math
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.messages import Role
from sim.memory_folders import ROOT_VARIABLE
from sim.tables import table_processes
from sim.tables.table_processes import HallPlan, TableProcess, run_simulator
from tests.processes.people import FAST, People
from tests.processes.processes import marked
from tests.processes.program import Dealtable, Done, Program, Start

VARIABLE = "DEALTABLE_TEST"


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give every process of the test a mark and the test's own folder in memory.

    All processes inherit the mark, also those with another parent. None may outlive the test. A
    daemon may take as long to start as the test may last.
    """
    monkeypatch.setattr(table_processes, "START_TIMEOUT_S", math.inf)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv(ROOT_VARIABLE, str(runtime_dir))
    mark = f"{VARIABLE}={tmp_path}"
    yield mark
    left = marked(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start `dealtable` with words; what still runs at the end is killed."""
    started: list[Program] = []

    async def start(*words: object, **options: Any) -> Program:
        started.append(await Program.start(*words, **options))
        return started[-1]

    yield start
    await asyncio.gather(*(program.close() for program in started))


@pytest.fixture
def dealtable(start: Start) -> Dealtable:
    """Run `dealtable` with words to its end."""

    async def run(*words: object, **options: Any) -> Done:
        return await (await start(*words, **options)).end()

    return run


@pytest.fixture
async def boards(tmp_path: Path, runtime_dir: Path) -> AsyncIterator[TableProcess]:
    """Give a table's simulated boards alone, on their ptys; a daemon that a test starts ends."""
    plan = HallPlan(tmp_path / "state", speed=FAST)
    async with run_simulator(plan, runtime_dir) as (table,):
        try:
            yield table
        finally:
            if table.daemon is not None:
                await table.stop_daemon()


@pytest.fixture
async def table(boards: TableProcess) -> TableProcess:
    """Give a table with its daemon, once its gateway has found its machine."""
    await boards.start_daemon()
    async with boards.client(Role.OBSERVER) as client:
        while not (await client.next_message()).topic.startswith("state/"):
            pass
    return boards


@pytest.fixture
async def people(table: TableProcess) -> AsyncIterator[People]:
    """Sit people down at the table."""
    async with People(table) as people:
        yield people
