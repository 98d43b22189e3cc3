"""Who has said that he goes to a table that waits, so that no two go there."""

import asyncio
from collections.abc import Callable, Collection

from controller.console.seen import RunBlocking
from controller.console.store.takes import AssignmentStore
from controller.loggers import structlog

_log = structlog.get_logger("console")


class CallAssignments:
    """Who goes to a table that waits: kept in the database, written by `run` off the loop.

    `on_change` is told of every table to which somebody else goes now.
    """

    def __init__(
        self, store: AssignmentStore, run_blocking: RunBlocking, now_ms: Callable[[], int]
    ) -> None:
        self._store, self._run_blocking, self._now_ms = store, run_blocking, now_ms
        self._by_table: dict[str, str] = {}
        self._writes: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[str], None] = lambda table: None

    async def load(self, tables: Collection[str]) -> None:
        """Take up what was kept, but of a table that is not among these any more."""
        self._by_table = await self._run_blocking(self._store.load)
        for table in self._by_table.keys() - set(tables):
            self.assign(table, None)

    def assigned_to(self, table: str) -> str | None:
        """Return who goes to a table."""
        return self._by_table.get(table)

    def assign(self, table: str, person: str | None) -> None:
        """Let somebody go to a table, or nobody more."""
        if self._by_table.get(table) == person:
            return
        if person is None:
            del self._by_table[table]
        else:
            self._by_table[table] = person
        at_ms = self._now_ms()
        task = asyncio.ensure_future(self._write(table, person, at_ms))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        self.on_change(table)

    def release_person(self, person: str) -> None:
        """Let nobody wait for somebody who comes no more: he may not, or is not there."""
        for table, going in list(self._by_table.items()):
            if going == person:
                self.assign(table, None)

    async def _write(self, table: str, person: str | None, at_ms: int) -> None:
        try:
            await self._run_blocking(lambda: self._store.write(table, person, at_ms))
        except Exception as failed:  # it holds as long as the console runs
            _log.warning("who goes to a table is not kept", table=table, why=str(failed))

    async def close(self) -> None:
        """Wait until all is written."""
        await asyncio.gather(*self._writes, return_exceptions=True)
