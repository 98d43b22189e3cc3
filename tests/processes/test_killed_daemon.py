"""Processes of a daemon that are killed in mid-deal: the same attempt goes on."""

import asyncio
import json
import os
import signal

import pytest

from controller.client.endpoints import remove_endpoints
from controller.trials.hall import RunningTable
from tests.processes.conftest import Dealtable
from tests.processes.people import People, another_gateway, held_after_all
from tests.processes.processes import LOOK_S, children


def part_of(table: RunningTable, part: str) -> int:
    """Return the process id of a part of a table's daemon."""
    assert table.daemon is not None
    parts = children(table.daemon.pid)
    (pid,) = [pid for words, pid in parts.items() if f"run {part}" in words]
    return pid


async def nothing_is_found(table: RunningTable, dealtable: Dealtable) -> None:
    """Verify the journal: one attempt, right in the end."""
    checked = await dealtable("verify", table.state_dir, "--json")
    report = json.loads(checked.out)
    assert (checked.code, report["findings"]) == (0, [])
    assert [attempt["outcome"] for attempt in report["attempts"]] == ["ok"]


async def test_a_daemon_killed_in_mid_deal_goes_on_with_the_same_attempt(
    table: RunningTable, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.mid_deal()
        assert table.daemon is not None
        os.kill(table.daemon.pid, signal.SIGKILL)
        await table.daemon.wait()

    await table.start_daemon()
    async with People(table) as people:
        held = await held_after_all(people, before)
        assert held.boot != before.boot
    await nothing_is_found(table, dealtable)


async def test_a_machine_killed_in_mid_deal_is_started_again_and_goes_on_with_its_attempt(
    table: RunningTable, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.mid_deal()
        os.kill(part_of(table, "machine"), signal.SIGKILL)
        # The gateway lives on, and its clients keep their connections.
        held = await held_after_all(people, before)
        assert held.boot != before.boot
        numbers = [event.n for event in people.events]
        assert numbers == sorted(set(numbers))
    log = (table.state_dir / "daemon.log").read_text()
    assert "killed and is started again" in log
    await nothing_is_found(table, dealtable)


async def test_a_gateway_killed_in_mid_deal_is_started_again_and_the_machine_deals_on(
    table: RunningTable, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.mid_deal()
        remove_endpoints(table.state_dir)
        os.kill(part_of(table, "gateway"), signal.SIGKILL)
    await another_gateway(table)
    async with People(table) as people:
        held = await held_after_all(people, before)
        assert held.boot == before.boot
    await nothing_is_found(table, dealtable)


@pytest.mark.timeout(120)
async def test_a_part_that_is_killed_over_and_over_ends_the_daemon(table: RunningTable) -> None:
    assert table.daemon is not None
    while table.daemon.returncode is None:
        parts = children(table.daemon.pid)
        for words, pid in parts.items():
            if "run gateway" in words:
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(LOOK_S)
    assert table.daemon.returncode == 1
    log = (table.state_dir / "daemon.log").read_text()
    assert "a part of the table ended" in log
