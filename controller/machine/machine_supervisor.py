"""The supervisor, which builds a new TableMachine after a failed write to the journal.

After a failed write the content of the disk is unknown, so the open journal is not used any more.
When the disk can be written again, the file is opened and checked, and a new machine is built from
it. Boards and cards are as before, and the running attempt is resumed (attempts/recovery.py).
Gateways stay connected meanwhile and show the fault.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from controller.host.loggers import structlog
from controller.journal.entries import JournalError, StorageFailed
from controller.machine.commands.command_request import failure
from controller.machine.machine import TableMachine
from controller.messages import ClientCommand, CommandReply, PublicState

_log = structlog.get_logger("machine")
DISK_RETRY_INTERVAL_S = 1.0
"""After a failed write: the interval at which the disk is tried again and the state is published.
"""


class MachineSupervisor:
    """The supervisor that runs one TableMachine, and builds and runs a new one if the disk fails.

    `build` opens the journal and makes a machine, or raises JournalError or OSError. `publish`
    receives the states that are published while no machine runs.
    """

    def __init__(
        self, build: Callable[[], Awaitable[TableMachine]], publish: Callable[[PublicState], None]
    ) -> None:
        self._build, self._publish = build, publish
        self._machine: TableMachine | None = None
        self._failure: StorageFailed | None = None
        self._journal_failed = asyncio.Event()

    @property
    def machine(self) -> TableMachine:
        """Return the machine that runs now. While no machine runs, return the last one."""
        assert self._machine is not None  # `start` was called before.
        return self._machine

    async def start(self) -> None:
        """Build the first machine, without running it. Raises JournalError for a bad journal."""
        self._machine = await self._build()

    async def run(self) -> None:
        """Run the machine until this task is cancelled. After a failed write, run a new machine."""
        while True:
            try:
                await self.machine.run()
            except StorageFailed as failed:
                await self._wait_for_disk(failed)

    async def submit(self, command: ClientCommand) -> CommandReply:
        """Return the machine's answer to a command, or STORAGE_FAILED while no machine runs."""
        if self._failure is None:
            answering = asyncio.ensure_future(self.machine.submit(command))
            falling = asyncio.ensure_future(self._journal_failed.wait())
            try:
                both: set[asyncio.Future[Any]] = {answering, falling}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                if answering.done():
                    return answering.result()
            finally:
                answering.cancel()
                falling.cancel()
        return CommandReply(id=command.id, ok=False, error=failure("STORAGE_FAILED"))

    def state(self) -> PublicState:
        """Return the public state of the present machine."""
        return self.machine.state()

    async def shut_down(self, limit_s: float) -> None:
        """End the running attempt, if a machine runs. Wait at most `limit_s` for its last entry."""
        if self._failure is None:
            await self.machine.table_boards.shut_down(limit_s)

    async def close(self) -> None:
        """Close the journal of the present machine."""
        with suppress(StorageFailed):
            await self.machine.record.journal.close()

    async def _wait_for_disk(self, failed: StorageFailed) -> None:
        """Close the journal after the error `failed`, and retry until a new machine is built."""
        self._failure = failed
        self._journal_failed.set()
        with suppress(OSError):  # The log may be on the same disk.
            _log.error("the journal cannot be written: the machine stops", why=str(failed))
        await self.close()
        while self._failure is not None:
            self._publish(self.state())
            await asyncio.sleep(DISK_RETRY_INTERVAL_S)
            with suppress(JournalError, OSError):  # A failing disk raises other errors as well.
                self._machine = await self._build()
                self._failure = None
                _log.info("the journal can be written again: the machine continues")
        self._journal_failed = asyncio.Event()
