"""A table's machine and gateway as units of their own, as under systemd; each may be killed."""

import signal
from typing import Any

from controller.client.discovery import NoEndpoints, read_endpoints, remove_endpoints
from controller.config import load_table
from controller.keys.table_keys import create_table_keys
from sim.tables.table_processes import TableProcess
from tests.processes.program import Program, Start
from tests.waiting import until


class Units:
    """The two processes of `table`, whose boards are there. `start` starts a `dealtable`."""

    machine: Program
    gateway: Program

    def __init__(self, table: TableProcess, start: Start) -> None:
        self.table = table
        self._start = start
        create_table_keys(table.state_dir)
        load_table(table.config).table.runtime_dir.mkdir(mode=0o700)

    async def start_machine(self) -> None:
        """Start the machine, up to the moment when its gateway may come."""
        self.machine = await self._run("machine")
        await self.machine.line("ready")

    async def start_gateway(self) -> None:
        """Start the gateway, up to the moment when it says where it listens."""
        remove_endpoints(self.table.state_dir)  # a killed one leaves where it was
        self.gateway = await self._run("gateway")
        await until(self._listens)

    async def kill(self, unit: Program) -> None:
        """End a unit as `kill -9` does."""
        done = await unit.end(signal.SIGKILL)
        assert done.code == -signal.SIGKILL, unit.complained

    async def _run(self, part: str, **options: Any) -> Program:
        return await self._start("run", part, "--config", self.table.config, **options)

    def _listens(self) -> bool:
        assert self.gateway.process.returncode is None, self.gateway.complained
        try:
            return bool(read_endpoints(self.table.state_dir))
        except NoEndpoints:
            return False
