"""A disk without room in mid-deal: the machine stands still and says so, and goes on with room."""

import json
import resource

import pytest
from msgspec.structs import replace

from controller.config import PanelSection, load_table
from controller.keys.table_keys import create_table_keys
from controller.messages import AttemptOutcome, MachinePhase, Role
from controller.service import machine_process
from controller.service.machine_process import SerialRecording
from sim.tables.table_processes import TableProcess
from tests.processes.people import FAST, People
from tests.processes.processes import part_of
from tests.processes.program import Dealtable

FULL_BYTES = 4096
"""Files may grow no further than this: no frame of a write-ahead log fits, even of one that begins
anew, but the process's own log does."""


def let_files_grow(pid: int, limit: int) -> None:
    """Say how large a file of a process may become."""
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, most))


async def test_a_full_disk_stops_the_cards_and_with_room_the_same_attempt_goes_on(
    table: TableProcess, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.deal_to_card()
        machine = part_of(table, "machine")
        let_files_grow(machine, FULL_BYTES)
        stopped = await people.until(
            lambda state: any(alert.name == "STORAGE_FAILED" for alert in state.alerts)
        )
        assert stopped.machine.phase is MachinePhase.FAULT
        refused = await people.order(Role.REFEREE, "hold", reason="look")
        assert refused.error is not None
        assert refused.error.code == "STORAGE_FAILED"
        arrived = (await table.control.request("truth"))["arrived"]
        later = await people.until(lambda state: state.time > stopped.time)
        assert later.machine.phase is MachinePhase.FAULT
        assert (await table.control.request("truth"))["arrived"] <= arrived + 1

        let_files_grow(machine, resource.RLIM_INFINITY)
        await table.control.request("speed", value=FAST)
        held = await people.held()
        assert part_of(table, "machine") == machine
        assert held.alerts == []
        (proof,) = held.fairness
        assert (proof.attempt, proof.outcome) == (1, AttemptOutcome.OK)
        assert proof.commitment == before.fairness[-1].commitment
        assert await people.pockets() == [27, 27, 27, 27, 0]
    checked = await dealtable("verify", table.state_dir, "--json")
    assert (checked.code, json.loads(checked.out)["findings"]) == (0, [])


@pytest.mark.parametrize("part", ["own_image", "pin_factory"])
async def test_a_machine_that_cannot_be_built_keeps_no_later_try_from_the_journal(
    boards: TableProcess, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    config = load_table(boards.config)
    config = replace(config, panel=PanelSection(pins="mock"))
    create_table_keys(boards.state_dir)
    config.table.runtime_dir.mkdir(mode=0o700)
    parts = machine_process._MachineFactory(config, SerialRecording(None, config))

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as disk:
        disk.setattr(machine_process, part, broken)
        for _ in range(2):
            with pytest.raises(OSError, match="Input/output error"):
                await parts.build()
    machine = await parts.build()
    machine.panel_control.close()
    await machine.record.journal.close()
