"""A tap on a table of processes while its machine process is stopped."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from controller.messages import MachinePhase
from sim.tables.handled_table import TAP_S
from sim.tables.table_processes import HallPlan, TableProcess, run_hall
from tests.matches.at_hall import AtHall

SPEED = 20.0


def machine_of(table: TableProcess) -> int:
    """Return the process id of a daemon's machine."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_text().split("\0")
            if "machine" in words and str(table.config) in words:
                return int(folder.name)
    raise LookupError(f"table {table.id} has no machine process")


async def phase(people: AtHall, wanted: MachinePhase) -> None:
    """Wait for a phase of the machine."""
    while not people.states or people.states[-1].machine.phase is not wanted:
        await people.later()


async def test_a_tap_while_the_machine_process_stands_still_starts_the_deal(tmp_path: Path) -> None:
    plan = HallPlan(tmp_path / "state", speed=SPEED)
    async with run_hall(plan) as (table,), AtHall(table) as people:
        await phase(people, MachinePhase.EMPTY)
        machine = machine_of(table)
        os.kill(machine, signal.SIGSTOP)
        await table.control.request("tap", name="start", hold_ms=1000 * TAP_S * SPEED)
        os.kill(machine, signal.SIGCONT)
        await phase(people, MachinePhase.COMMITTED)
