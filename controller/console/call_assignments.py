"""The assignments of referees to waiting tables.

The assignments are stored, so that no referee is called twice after a restart.
"""

import asyncio
from collections.abc import Callable, Collection

from sqlalchemy import Engine, delete, insert, select

from controller.console.store.database_schema import CALL_ASSIGNMENTS
from controller.console.table_snapshots import RunBlocking
from controller.host.loggers import structlog


class AssignmentStore:
    """The stored assignments of referees to tables. Calls may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def load(self) -> dict[str, str]:
        """Return a dictionary from each assigned table to the person who is assigned to it."""
        with self._engine.connect() as base:
            return {row.table_id: row.person for row in base.execute(select(CALL_ASSIGNMENTS))}

    def write(self, table: str, person: str | None, at_ms: int) -> None:
        """Store that `person` is assigned to a table. If `person` is None, delete the row."""
        with self._engine.begin() as base:
            base.execute(delete(CALL_ASSIGNMENTS).where(CALL_ASSIGNMENTS.c.table_id == table))
            if person is not None:
                row = {"table_id": table, "person": person, "at_ms": at_ms}
                base.execute(insert(CALL_ASSIGNMENTS).values(row))


_log = structlog.get_logger("console")


class CallAssignments:
    """The assignments of people to tables that wait for a referee.

    `run_blocking` runs the calls of the database in a thread. `on_change` is called with each table
    that has another assigned person than before.
    """

    def __init__(
        self, store: AssignmentStore, run_blocking: RunBlocking, now_ms: Callable[[], int]
    ) -> None:
        self._store, self._run_blocking, self._now_ms = store, run_blocking, now_ms
        self._by_table: dict[str, str] = {}
        self._writes: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[str], None] = lambda table: None

    async def load(self, tables: Collection[str]) -> None:
        """Load the stored assignments of these tables, and delete those of all other tables."""
        self._by_table = await self._run_blocking(self._store.load)
        for table in self._by_table.keys() - set(tables):
            self.assign(table, None)

    def assigned_to(self, table: str) -> str | None:
        """Return the person who is assigned to a table, or None if there is none."""
        return self._by_table.get(table)

    def assign(self, table: str, person: str | None) -> None:
        """Assign `person` to a table, or remove the table's assignment if `person` is None."""
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
        """Remove all assignments of a person, for example after the account was removed."""
        for table, going in list(self._by_table.items()):
            if going == person:
                self.assign(table, None)

    async def _write(self, table: str, person: str | None, at_ms: int) -> None:
        try:
            await self._run_blocking(lambda: self._store.write(table, person, at_ms))
        except Exception as failed:  # The assignment stays valid in memory.
            _log.warning("assignment not stored", table=table, why=str(failed))

    async def close(self) -> None:
        """Wait until every pending change of an assignment is stored or has failed."""
        await asyncio.gather(*self._writes, return_exceptions=True)
