"""Whole, real processes, as people start them. None of them outlives its test."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from controller.messages import Role
from controller.trials.hall import HallPlan, RunningTable, simulator
from tests.processes.people import FAST, People
from tests.processes.processes import marked
from tests.processes.program import DEALTABLE, Done, Program

SPEED = FAST

Start = Callable[..., Awaitable[Program]]
Dealtable = Callable[..., Awaitable[Done]]


@dataclass(frozen=True)
class Demo:
    """A demo that has ended: what it said, and the journal it left."""

    done: Done
    state_dir: Path

    @property
    def summary(self) -> Any:
        """The JSON it printed."""
        return json.loads(self.done.out)


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What all processes of a test inherit, whoever their parent is; none may outlive it."""
    monkeypatch.setenv("DEALTABLE_TEST", str(tmp_path))
    mark = f"DEALTABLE_TEST={tmp_path}"
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
async def boards(tmp_path: Path, runtime_dir: Path) -> AsyncIterator[RunningTable]:
    """Give a table's simulated boards alone, on their ptys; a daemon that a test starts ends."""
    plan = HallPlan(tmp_path / "state", speed=SPEED)
    async with simulator(plan, runtime_dir) as (table,):
        try:
            yield table
        finally:
            if table.daemon is not None:
                await table.stop_daemon()


@pytest.fixture
async def table(boards: RunningTable) -> RunningTable:
    """Give a table with its daemon, once its gateway has found its machine."""
    await boards.start_daemon()
    async with boards.client(Role.OBSERVER) as client:
        while not (await client.hear()).topic.startswith("state/"):
            pass
    return boards


@pytest.fixture
async def people(table: RunningTable) -> AsyncIterator[People]:
    """Sit people down at the table."""
    async with People(table) as people:
        yield people


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Three deals of a demo, once for all tests that only look at what it left."""
    state_dir = tmp_path_factory.mktemp("demo") / "state"
    words = ("demo", "--once", "--deals", "3", "--speed", "20", "--json", "--state-dir", state_dir)
    ended = subprocess.run([*DEALTABLE, *map(str, words)], capture_output=True, text=True)
    return Demo(Done(ended.returncode, ended.stdout, ended.stderr), state_dir)
