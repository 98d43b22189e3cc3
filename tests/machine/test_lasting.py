"""A machine outlives its disk, whatever the disk says."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from controller.journal.errors import JournalError, StorageFailed
from controller.journal.store import Store
from controller.messages import Phase, Role
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

    def reopen() -> Store:
        tries.append(None)
        if len(tries) < TRIES:
            raise trouble
        return Store.in_memory()

    async with table(reopen=reopen) as at:
        await at.phase(Phase.EMPTY)
        at.machine.record.journal.on_failed(StorageFailed("the disk is full"))
        await at.until(lambda state: any(one.name == "STORAGE_FAILED" for one in state.alerts))
        await asyncio.sleep(0.1)
        assert await refused(at, Role.CHIEF, "hold", reason="tea") == "STORAGE_FAILED"
        await at.phase(Phase.EMPTY)
        assert len(tries) == TRIES
        assert "STORAGE_FAILED" not in alerts(at)
        await ordered(at, Role.CHIEF, "hold", reason="tea")
