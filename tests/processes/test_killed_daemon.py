"""Processes of a daemon that are killed in mid-deal: the same attempt goes on."""

import json
import os
import signal
from contextlib import suppress

from controller.client.discovery import remove_endpoints
from sim.tables.table_processes import TableProcess
from tests.processes.people import People, another_gateway, held_after_all
from tests.processes.processes import children, part_of
from tests.processes.program import Dealtable
from tests.waiting import until


async def nothing_is_found(table: TableProcess, dealtable: Dealtable) -> None:
    """Verify the journal: one attempt, right in the end."""
    checked = await dealtable("verify", table.state_dir, "--json")
    report = json.loads(checked.out)
    assert (checked.code, report["findings"]) == (0, [])
    assert [attempt["outcome"] for attempt in report["attempts"]] == ["ok"]


async def test_a_daemon_killed_in_mid_deal_goes_on_with_the_same_attempt(
    table: TableProcess, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.deal_to_card()
        assert table.daemon is not None
        os.kill(table.daemon.pid, signal.SIGKILL)
        await table.daemon.wait()

    await table.start_daemon()
    async with People(table) as people:
        held = await held_after_all(people, before)
        assert held.boot != before.boot
    await nothing_is_found(table, dealtable)


async def test_a_machine_killed_in_mid_deal_is_started_again_and_goes_on_with_its_attempt(
    table: TableProcess, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.deal_to_card()
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
    table: TableProcess, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.deal_to_card()
        remove_endpoints(table.state_dir)
        os.kill(part_of(table, "gateway"), signal.SIGKILL)
    await another_gateway(table)
    async with People(table) as people:
        held = await held_after_all(people, before)
        assert held.boot == before.boot
    await nothing_is_found(table, dealtable)


async def test_a_part_that_is_killed_over_and_over_ends_the_daemon(table: TableProcess) -> None:
    daemon = table.daemon
    assert daemon is not None

    def kill_its_gateway() -> bool:
        """Kill the gateway if there is one; return whether the daemon has ended."""
        for words, pid in children(daemon.pid).items():
            if "run gateway" in words:
                with suppress(ProcessLookupError):  # it ended since it was listed
                    os.kill(pid, signal.SIGKILL)
        return daemon.returncode is not None

    await until(kill_its_gateway)
    assert daemon.returncode == 1
    log = (table.state_dir / "daemon.log").read_text()
    assert "a part of the table ended" in log
