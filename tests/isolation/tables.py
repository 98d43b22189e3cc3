"""Fixtures: tables whose processes are looked at from outside, as one user and as two."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.host.users import User, find_user
from controller.service.process_users import create_table_folders
from tests.isolation import apart
from tests.isolation.apart import (
    GATEWAY,
    MACHINE,
    STRANGER,
    ApartTable,
    House,
    StartAs,
    can_run,
    configuration,
    copy_house,
    interpreters,
    start_boards,
)
from tests.isolation.looking import status
from tests.processes.people import People
from tests.processes.program import Program

_SYS_PTRACE = 19


@pytest.fixture
def as_root() -> None:
    """Go on where the test is root; the build server is, or the test of this file's name fails."""
    if os.getuid() != 0:
        pytest.skip("only root starts two users: run this as root, as the build server does")


@pytest.fixture
def sees_all() -> bool:
    """Tell whether this test may look into a process that hides, or is another user's.

    Root may, with the right to trace processes: a container has to be given it (SYS_PTRACE).
    """
    return bool(int(status(os.getpid(), "CapEff")[0], 16) >> _SYS_PTRACE & 1)


@pytest.fixture
def machine_user(as_root: None) -> User:
    """Give the machine's user."""
    return find_user(MACHINE)


@pytest.fixture
def gateway_user(as_root: None) -> User:
    """Give the gateway's user."""
    return find_user(GATEWAY)


@pytest.fixture
def stranger(as_root: None) -> User:
    """Give a user who has nothing to do here."""
    return find_user(STRANGER)


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    """Give what other users can run, wherever the checkout lies: a copy where they cannot."""
    user = find_user(GATEWAY)
    if os.getuid() != 0 or can_run(user, sys.executable, None):
        yield House(sys.executable, None)
        return
    folder = Path(tempfile.mkdtemp(prefix="dt-house-", dir="/dev/shm"))
    try:
        copy_house(folder)
        pythons = [python for python in interpreters() if can_run(user, python, folder)]
        assert pythons, f"{sys.executable}: other users cannot run it, nor is there another"
        yield House(pythons[0], folder)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def reachable(as_root: None, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """See to it that what a test starts is what other users can run."""
    monkeypatch.setattr(sys, "executable", house.python)
    if house.packages is not None:
        monkeypatch.setenv("PYTHONPATH", str(house.packages))


@pytest.fixture
def open_folder(runtime_dir: Path) -> Path:
    """Give a fresh folder in memory in which everybody may look."""
    runtime_dir.chmod(0o755)
    return runtime_dir


@pytest.fixture
async def start_as() -> AsyncIterator[StartAs]:
    """Start `dealtable` as a user; what still runs at the end is killed."""
    started: list[Program] = []

    async def start(user: User, *words: object, **options: Any) -> Program:
        started.append(await apart.start_as(user, *words, **options))
        return started[-1]

    yield start
    await asyncio.gather(*(program.close() for program in started))


@pytest.fixture
async def apart_boards(reachable: None, open_folder: Path) -> AsyncIterator[ApartTable]:
    """Give a table of two users, laid out; its boards are there, its daemon is not."""
    simulator, info = await start_boards(open_folder)
    try:
        (open_folder / "table.toml").write_text(configuration(info))
        table = ApartTable(info, open_folder)
        create_table_folders(table.settings)
        try:
            yield table
        finally:
            if table.daemon is not None:
                await table.stop_daemon()
    finally:
        simulator.terminate()
        await simulator.wait()


@pytest.fixture
async def two_users(apart_boards: ApartTable) -> ApartTable:
    """Give a table of two users with its daemon."""
    await apart_boards.start_daemon()
    return apart_boards


@pytest.fixture
async def sitting(two_users: ApartTable) -> AsyncIterator[People]:
    """Sit people down at the table of two users."""
    async with People(two_users) as people:
        yield people
