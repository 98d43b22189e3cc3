"""The hall's pages: the row of every table, the waiting tables, the areas, and the chief's part.

A row is built again when its table has news. It is also built again when time alone changes it: a
table becomes silent, or a table without a referee becomes a matter for the chief.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from controller.console.accounts.account_store import Account
from controller.console.call_assignments import CallAssignments
from controller.console.freshness import Freshness
from controller.console.live_pages.page_parts import PageParts
from controller.console.table_snapshots import StartTask, Tables, TableSnapshot, Unsubscribe
from controller.console.view.hall_rows import build_hall_row
from controller.console.view.wait_reasons import (
    WaitingTable,
    build_queue,
    build_waiting_table,
    list_table_reasons,
)
from controller.host.loggers import structlog
from controller.messages import Role

GATHER_INTERVAL_S: Final = 0.01
"""Seconds for which changes are collected before they are published together."""
TICK_INTERVAL_S: Final = 0.5
"""Seconds between two checks for rows that time alone changes.

The parts made of all tables are built at the same interval.
"""
MAX_ROW_BYTES: Final = 1 << 14
"""The maximum length of one table's row, and of its reasons to wait.

Every browser of the hall receives both, and one table must not fill their connections. A tenth of
it is already a long row. The number is an estimate.
"""

_log = structlog.get_logger("console")

HallPart = Callable[[Sequence[TableSnapshot], int], object]
"""A function that returns one part of the hall's stream, made of all tables at `now_ms`."""


class Hall:
    """The content of the hall's pages: for each role, named parts that are published separately.

    `hall_parts` has the functions of parts made of all tables, each with the roles that see the
    part. `start_task` starts tasks that run as long as the console. `on_wait_changed` is called
    with each table that begins or ceases to wait, or has other reasons.
    """

    def __init__(
        self,
        tables: Tables,
        call_assignments: CallAssignments,
        now_ms: Callable[[], int],
        hall_parts: Mapping[str, tuple[HallPart, frozenset[Role]]] | None = None,
        start_task: StartTask = asyncio.create_task,
    ) -> None:
        self._start_task = start_task
        self._tables, self._call_assignments, self._now_ms = tables, call_assignments, now_ms
        self._hall_parts = dict(hall_parts or {})
        self._parts_by_role = {role: PageParts() for role in Role}
        self._changed_tables: set[str] = set()
        self._freshness: dict[str, tuple[Freshness, int]] = {}
        self._waiting_tables: dict[str, WaitingTable] = {}
        self._unrenderable: dict[str, int] = {}
        self._failed_parts: set[str] = set()
        self._unsubscribe: Unsubscribe = lambda: None
        self._tasks: list[asyncio.Task[None]] = []
        self._changes = asyncio.Event()
        self.on_wait_changed: Callable[[str], None] = lambda table: None

    def start(self) -> None:
        """Publish the rows of all tables, and begin to publish each later change."""
        self._changed_tables.update(self._tables.ids)
        self._publish_waits()
        self._publish()
        self._unsubscribe = self._tables.on_change(self._mark_changed)
        self._call_assignments.on_change = self._mark_changed
        self._tasks = [self._start_task(self._publish_changes()), self._start_task(self._tick())]

    async def close(self) -> None:
        """Stop the tasks, so that nothing more is published."""
        self._unsubscribe()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to the times in memory, after the console's clock was set by that amount."""
        self._freshness = {
            table: (how, since_ms + by_ms) for table, (how, since_ms) in self._freshness.items()
        }
        self._unrenderable = {
            table: since_ms + by_ms for table, since_ms in self._unrenderable.items()
        }
        for table in self._tables.ids:
            self._mark_changed(table)

    def parts_for(self, role: Role) -> PageParts:
        """Return the parts of the hall's stream for a role."""
        return self._parts_by_role[role]

    def waiting_table(self, table: str) -> WaitingTable | None:
        """Return a table's reasons to wait for a referee, or None if the table does not wait."""
        return self._waiting_tables.get(table)

    def _mark_changed(self, table: str) -> None:
        self._changed_tables.add(table)
        self._changes.set()

    async def _publish_changes(self) -> None:
        while True:
            await self._changes.wait()
            self._changes.clear()
            self._publish()
            await asyncio.sleep(GATHER_INTERVAL_S)

    async def _tick(self) -> None:
        """Repeatedly publish rows that have become outdated, and parts computed from all tables."""
        while True:
            now_ms = self._now_ms()
            known = set(self._tables.ids)
            for table in known | self._freshness.keys():
                if table not in known or self._is_outdated(table, now_ms):
                    self._mark_changed(table)
            self._publish_hall_parts(now_ms)
            await asyncio.sleep(TICK_INTERVAL_S)

    def _is_outdated(self, table: str, now_ms: int) -> bool:
        """Return whether a table's published row is outdated because time has passed."""
        how, _ = self._tables.snapshot(table).freshness(now_ms)
        shown, waits = self._freshness.get(table), self._waiting_tables.get(table)
        if shown is None or shown[0] is not how or waits is None:
            return shown is None or shown[0] is not how
        taken_by = self._call_assignments.assigned_to(table)
        again = build_waiting_table(table, waits.reasons, taken_by, now_ms)
        return again is not None and again.chiefs != waits.chiefs

    def _publish(self) -> None:
        due, self._changed_tables = self._changed_tables, set()
        now_ms, known, waits = self._now_ms(), set(self._tables.ids), dict(self._waiting_tables)
        for table in due:
            if table in known:
                self._publish_row(self._tables.snapshot(table), now_ms)
            else:
                self._remove_row(table)
            if waits.get(table) != self._waiting_tables.get(table):
                self.on_wait_changed(table)
        if waits != self._waiting_tables:
            self._publish_waits()

    def _publish_waits(self) -> None:
        for role, shown in self._parts_by_role.items():
            shown.put("waits", build_queue(self._waiting_tables.values(), role))

    def _publish_row(self, snapshot: TableSnapshot, now_ms: int) -> None:
        """Publish a table's row. If the state cannot be shown, the row is marked as stale."""
        how, since_ms = snapshot.freshness(now_ms)
        known = self._freshness.get(snapshot.table)
        if how is Freshness.LIVE and known is not None and known[0] is Freshness.LIVE:
            since_ms = known[1]  # The start time stays, so that not every state changes the row.
        try:
            self._put_row(snapshot, (how, since_ms), now_ms)
            self._unrenderable.pop(snapshot.table, None)
        except Exception:
            if snapshot.table not in self._unrenderable:
                _log.exception("state not shown", table=snapshot.table)
            since_ms = self._unrenderable.setdefault(snapshot.table, now_ms)
            shown = msgspec.structs.replace(snapshot, state=None, deal_due_since_ms=None)
            self._put_row(shown, (Freshness.STALE, since_ms), now_ms)

    def _put_row(
        self, snapshot: TableSnapshot, standing: tuple[Freshness, int], now_ms: int
    ) -> None:
        table = snapshot.table
        taken_by = self._call_assignments.assigned_to(table)
        found = list_table_reasons(snapshot, standing)
        waits = build_waiting_table(table, found, taken_by, now_ms)
        if len(msgspec.json.encode(waits)) > MAX_ROW_BYTES:
            raise ValueError(f"{table}: its reasons to wait are too long")
        done = waits is None and standing[0] is Freshness.LIVE  # The referee has finished there.
        row = build_hall_row(snapshot, standing, waits, None if done else taken_by)
        body = msgspec.json.encode(row)
        if len(body) > MAX_ROW_BYTES:
            raise ValueError(f"{table}: its row is too long")
        self._freshness[table] = standing
        if waits is None:
            self._waiting_tables.pop(table, None)
        else:
            self._waiting_tables[table] = waits
        if done:
            self._call_assignments.assign(table, None)
        for shown in self._parts_by_role.values():
            shown.put_json(f"row/{table}", body)

    def _remove_row(self, table: str) -> None:
        """Remove a table's row from the pages, and cancel any referee's assignment to the table."""
        self._freshness.pop(table, None)
        self._waiting_tables.pop(table, None)
        self._unrenderable.pop(table, None)
        self._call_assignments.assign(table, None)
        for shown in self._parts_by_role.values():
            shown.drop(f"row/{table}")

    def _publish_hall_parts(self, now_ms: int) -> None:
        seen = [self._tables.snapshot(table) for table in self._tables.ids]
        for at, one in enumerate(seen):
            if one.table in self._unrenderable:  # Without its state, the parts can be built.
                seen[at] = msgspec.structs.replace(one, state=None)
        for name, (made, roles) in self._hall_parts.items():
            try:
                body = msgspec.json.encode(made(seen, now_ms))
            except Exception:
                if name not in self._failed_parts:
                    _log.exception("part not shown", part=name)
                self._failed_parts.add(name)
                for role in roles:
                    self._parts_by_role[role].drop(name)
                continue
            self._failed_parts.discard(name)
            for role in roles:
                self._parts_by_role[role].put_json(name, body)


def own_account_json(person: Account) -> dict[str, Any]:
    """Return the data of `person` that the pages show to this person."""
    role, language = person.role.value, person.language
    return {"name": person.name, "role": role, "language": language, "table": person.table}
