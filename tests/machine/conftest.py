"""Whole tables in process, in virtual time."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from controller.messages import ClientCommand, CommandReply, MachinePhase
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.machine.tables import Tables


@pytest.fixture
def table(runtime_dir: Path) -> Tables:
    """Make a table with faults of the menu: `async with table("missing_card") as trial`."""

    def make(*faults: str, **options: Any) -> AbstractAsyncContextManager[TableInProcess]:
        settings = MechanicsSettings(faults=tuple(map(parse_fault, faults)))
        return run_table_in_process(settings, runtime_dir, **options)

    return make


@pytest.fixture
def virtual_run(table: Tables) -> Callable[[ClientCommand], CommandReply]:
    """Give a table that waits for a deal one command, in a loop of its own; return its answer."""

    async def order(command: ClientCommand) -> CommandReply:
        async with table() as trial:
            await trial.wait_for_phase(MachinePhase.EMPTY)
            return await trial.machine.submit(command)

    def run(command: ClientCommand) -> CommandReply:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(order(command))

    return run
