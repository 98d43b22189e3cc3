"""A machine outlives its disk, whatever the disk says."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.journal.entries import JournalError, StorageFailed
from controller.journal.store import JournalStore
from controller.messages import MachinePhase, Role
from tests.journal.failing import Disk, failing
from tests.machine.stages import alerts, ordered, refused

pytestmark = pytest.mark.virtual
Tables = Callable[..., Any]
TRIES = 3


@pytest.mark.parametrize(
    "trouble", [JournalError("no room yet"), OSError(5, "Input/output error")], ids=repr
)
async def test_a_machine_tries_its_disk_until_the_journal_opens(
    table: Tables, trouble: Exception
) -> None:
    tries: list[None] = []

    def reopen() -> JournalStore:
        tries.append(None)
        if len(tries) < TRIES:
            raise trouble
        return JournalStore.in_memory()

    async with table(reopen=reopen) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        at.machine.record.journal.on_failed(StorageFailed("the disk is full"))
        await at.wait_for_state(
            lambda state: any(one.name == "STORAGE_FAILED" for one in state.alerts)
        )
        await asyncio.sleep(0.1)
        assert await refused(at, Role.CHIEF, "hold", reason="tea") == "STORAGE_FAILED"
        await at.wait_for_phase(MachinePhase.EMPTY)
        assert len(tries) == TRIES
        assert "STORAGE_FAILED" not in alerts(at)
        await ordered(at, Role.CHIEF, "hold", reason="tea")


@pytest.mark.parametrize("reads", range(5))
async def test_a_machine_tries_its_disk_until_the_journal_can_be_read(
    table: Tables, tmp_path: Path, reads: int
) -> None:
    """Before the first reading, between two of them, or once the new machine runs."""
    tries: list[Disk] = []

    def reopen() -> JournalStore:
        tries.append(Disk())
        folder = tmp_path / str(len(tries))
        folder.mkdir()
        store = JournalStore.open(folder, failing(tries[-1]))
        tries[-1].reads = reads if len(tries) < TRIES else None
        return store

    async with table(reopen=reopen) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        at.machine.record.journal.on_failed(StorageFailed("the disk is full"))
        await at.wait_for_state(
            lambda state: any(one.name == "STORAGE_FAILED" for one in state.alerts)
        )
        await at.wait_for_phase(MachinePhase.EMPTY)
        assert len(tries) == TRIES
        assert "STORAGE_FAILED" not in alerts(at)
        await ordered(at, Role.CHIEF, "hold", reason="tea")


async def test_an_order_that_finds_the_journal_unreadable_stops_the_machine_until_it_is_not(
    table: Tables, tmp_path: Path
) -> None:
    disk = Disk()
    async with table(
        store=JournalStore.open(tmp_path, failing(disk)), reopen=lambda: JournalStore.in_memory()
    ) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        disk.reads = 0
        assert await refused(at, Role.OBSERVER, "events", since=0) == "STORAGE_FAILED"
        await at.wait_for_state(
            lambda state: any(one.name == "STORAGE_FAILED" for one in state.alerts)
        )
        await at.wait_for_phase(MachinePhase.EMPTY)
        await ordered(at, Role.CHIEF, "hold", reason="tea")
