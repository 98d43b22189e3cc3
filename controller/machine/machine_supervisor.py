"""A machine that outlives a full disk: it stands still, says so, and comes back when there is room.

A journal that could not be written is never written on: nobody knows which rows the disk has.
So the file is opened and checked anew, and a new machine built from it; boards and cards are
as they were, and the attempt under way goes on (take_over.py). Gateways keep their connection
meanwhile, and see the fault.
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
"""How often the disk is tried again, and the fault said; as often as a state without news."""


class MachineSupervisor:
    """Runs one machine after the other over the same boards.

    `build` opens the journal and makes a machine of it, or raises JournalError or OSError;
    `publish` takes states that no machine publishes by itself.
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
        """The present machine, or the last one while there is none."""
        assert self._machine is not None  # `start` came first
        return self._machine

    async def start(self) -> None:
        """Build the first machine. Raises JournalError where its journal cannot be used."""
        self._machine = await self._build()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            try:
                await self.machine.run()
            except StorageFailed as failed:
                await self._wait_for_disk(failed)

    async def submit(self, command: ClientCommand) -> CommandReply:
        """Return the answer to a command; without a journal nothing is carried out."""
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
        """Return the public state as of now."""
        return self.machine.state()

    async def shut_down(self, limit_s: float) -> None:
        """End what is under way as far as it can still be written; the daemon is stopping."""
        if self._failure is None:
            await self.machine.table_boards.shut_down(limit_s)

    async def close(self) -> None:
        """Close the journal."""
        with suppress(StorageFailed):
            await self.machine.record.journal.close()

    async def _wait_for_disk(self, failed: StorageFailed) -> None:
        """Return with a new machine once the journal can be written again."""
        self._failure = failed
        self._journal_failed.set()
        with suppress(OSError):  # the log may lie on that very disk
            _log.error("the journal cannot be written: the machine stands still", why=str(failed))
        await self.close()
        while self._failure is not None:
            self._publish(self.state())
            await asyncio.sleep(DISK_RETRY_INTERVAL_S)
            with suppress(JournalError, OSError):  # a disk that fails has errors of its own
                self._machine = await self._build()
                self._failure = None
                _log.info("the journal can be written again: the machine goes on")
        self._journal_failed = asyncio.Event()
