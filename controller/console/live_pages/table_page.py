"""A table's page: its state, its events, sent commands, and the commands that it accepts now.

A page exists only while it has viewers, and for a short time after.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import msgspec

from controller.console.commands.command_dispatcher import CommandDispatcher
from controller.console.feed.journal_positions import insert_in_order
from controller.console.freshness import Freshness
from controller.console.live_pages.hall_page import Hall
from controller.console.live_pages.page_parts import PageParts
from controller.console.request_error import RequestError, unknown_table
from controller.console.store.archive import Archive
from controller.console.store.database import StoreError
from controller.console.table_snapshots import RunBlocking, Tables, TableSnapshot
from controller.console.view.area_clocks import AreaStopView, area_stop_of
from controller.console.view.event_lines import TableEventLine, describe_events
from controller.console.view.hardware import HardwareView, describe_hardware
from controller.console.view.phrases import rulebook_name
from controller.host.loggers import structlog
from controller.messages import PublicEvent, Role
from controller.words import Words

_log = structlog.get_logger("console")

OFFERS_INTERVAL_S: Final = 1.0
"""The least seconds between two requests to a table for the commands that it offers a role."""
TICK_INTERVAL_S: Final = 0.5
EXPIRY_S: Final = 5.0
"""Seconds for which a page without viewers stays in memory. A viewer who connects again or reloads
the page then receives only the changes, and the table is not asked again."""
MAX_EVENTS: Final = 200
"""The number of newest events from which the lines of the page are made."""
MAX_LINES: Final = 50
"""The maximum of event lines on the page, without the quiet lines."""


class TablePartView(msgspec.Struct, frozen=True, kw_only=True):
    """The facts on a table's page that are not in the table's state, for example its freshness.

    `since_ms` is a time by the console's clock. `skew_ms` is how far the console's clock is ahead
    of the table's clock, which makes the time stamps of the table's state. `rules` is the title of
    the rulebook. `rules` and `hardware` are None if no state was received. `stop` is the area's
    pause that stops the table's clock.
    """

    id: str
    area: str
    standing: Freshness
    since_ms: int
    heard_ms: int | None
    skew_ms: int = 0
    rules: Words | None = None
    hardware: HardwareView | None = None
    stop: AreaStopView | None = None


class _TablePage:
    """One table's page for one role, which exists while it has viewers and for a short time after.

    `failed` is set if the page cannot continue. `expiry_timer` ends the page soon after its last
    viewer has left.
    """

    def __init__(self) -> None:
        self.parts = PageParts()
        self.viewers = 0
        self.changed = asyncio.Event()
        self.failed = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.expiry_timer: asyncio.TimerHandle | None = None


class TablePages:
    """The tables' pages that have viewers, one page for each table and role."""

    def __init__(
        self,
        tables: Tables,
        dispatcher: CommandDispatcher,
        hall: Hall,
        archive: Archive,
        run_blocking: RunBlocking,
        now_ms: Callable[[], int],
    ) -> None:
        self._tables, self._dispatcher, self._hall = tables, dispatcher, hall
        self._archive, self._run_blocking, self._now_ms = archive, run_blocking, now_ms
        self._pages: dict[tuple[str, Role], _TablePage] = {}
        self._events: dict[str, list[PublicEvent]] = {}
        self._unpublished: set[str] = set()
        self._failed_reads: set[str] = set()
        self._refreshing: set[str] = set()
        self._refresh_again: set[str] = set()
        self._refresh_tasks: set[asyncio.Task[None]] = set()
        self._unsubscribe: list[Callable[[], None]] = []
        self._closed = False

    def start(self) -> None:
        """Begin to receive the tables' states and events."""
        self._unsubscribe = [
            self._tables.on_change(self._table_changed),
            self._tables.on_event(self._note_event),
            self._tables.on_event(self._dispatcher.note_event),
        ]
        self._dispatcher.on_commands_changed = self._commands_changed
        self._hall.on_wait_changed = self._table_changed

    @property
    def page_count(self) -> int:
        """Return the number of pages in memory. Each table has one page for each role."""
        return len(self._pages)

    async def close(self) -> None:
        """Stop the tasks of all pages."""
        self._closed = True
        for undo in self._unsubscribe:
            undo()
        for page in self._pages.values():
            _cancel_expiry(page)
        self._dispatcher.on_commands_changed = self._hall.on_wait_changed = lambda table: None
        tasks = [
            *self._refresh_tasks,
            *(one for page in self._pages.values() for one in page.tasks),
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @asynccontextmanager
    async def open_page(
        self, table: str, role: Role
    ) -> AsyncIterator[tuple[PageParts, asyncio.Event]]:
        """Yield the parts of a table's page, and an asyncio.Event that is set if the page fails.

        Raises RequestError for an unknown table.
        """
        try:
            self._tables.snapshot(table)
        except KeyError:
            raise unknown_table(table) from None
        page = self._pages.get(key := (table, role))
        if page is not None and page.expiry_timer and page.failed.is_set():
            _cancel_expiry(page)
            self._expire(key, page)
            page = None
        if page is None:
            page = self._pages[key] = _TablePage()
            self._publish(table, page)
        _cancel_expiry(page)
        page.viewers += 1
        try:
            if not page.tasks:
                updates = (
                    self._refresh_offers(table, role, page),
                    self._load_page(table),
                    self._tick(table, page),
                )
                page.tasks = [asyncio.create_task(_run_or_fail(page, each)) for each in updates]
            yield page.parts, page.failed
        finally:
            page.viewers -= 1
            if not page.viewers and (self._closed or page.failed.is_set()):
                self._expire(key, page)
            elif not page.viewers:
                soon = asyncio.get_running_loop().call_later
                page.expiry_timer = soon(EXPIRY_S, self._expire, key, page)

    def _expire(self, key: tuple[str, Role], page: _TablePage) -> None:
        for task in page.tasks:
            task.cancel()
        del self._pages[key]
        if not any(table == key[0] for table, _ in self._pages):
            self._events.pop(key[0], None)

    def _pages_of(self, table: str) -> Iterable[_TablePage]:
        return [page for (one, _), page in self._pages.items() if one == table]

    def _fail(self, table: str) -> None:
        for page in self._pages_of(table):
            page.failed.set()

    def _table_changed(self, table: str) -> None:
        for page in self._pages_of(table):
            self._publish(table, page)
            page.changed.set()

    def _publish(self, table: str, page: _TablePage) -> None:
        try:
            seen = self._tables.snapshot(table)
        except KeyError:
            for name in ("table", "state", "wait", "offers"):
                page.parts.drop(name)
            return
        page.parts.put("table", self._table_part(seen))
        if seen.body is not None:
            page.parts.put_json("state", seen.body)
        page.parts.put("wait", self._hall.waiting_table(table))

    def _table_part(self, snapshot: TableSnapshot) -> TablePartView:
        how, since_ms = snapshot.freshness(self._now_ms())
        state, received_ms = snapshot.state, snapshot.contact_times.received_ms
        return TablePartView(
            id=snapshot.table,
            area=snapshot.area,
            standing=how,
            since_ms=0 if how is Freshness.LIVE else since_ms,
            heard_ms=None if how is Freshness.LIVE else received_ms,
            skew_ms=snapshot.contact_times.skew_ms,
            rules=None if state is None else rulebook_name(state.match.profile),
            hardware=None if state is None else describe_hardware(state.boards),
            stop=None if state is None else area_stop_of(state, received_ms),
        )

    async def _tick(self, table: str, page: _TablePage) -> None:
        """Repeatedly publish the table's freshness, and repeat reads of its data that failed."""
        while True:
            await asyncio.sleep(TICK_INTERVAL_S)
            self._publish(table, page)
            if table in self._failed_reads:
                self._commands_changed(table)

    async def _load_page(self, table: str) -> None:
        """Read a table's newest commands and events, and publish them on its pages."""
        await self._publish_commands(table)
        if table not in self._events:
            self._events[table] = []
            await self._read_events(table)
        self._publish_events(table)

    async def _read_events(self, table: str) -> None:
        """Load a table's newest events into memory, and add events received during the load."""
        try:
            kept = await self._run_blocking(lambda: self._archive.newest(table, MAX_EVENTS))
        except StoreError as failed:
            _log.warning("events not read", table=table, why=str(failed))
            self._failed_reads.add(table)
            return
        if table not in self._events:  # The table has no viewer any more.
            return
        heard, self._events[table] = self._events[table], kept
        for event in heard:
            insert_in_order(kept, event, MAX_EVENTS)

    def _note_event(self, event: PublicEvent) -> None:
        if event.table in self._events:
            insert_in_order(self._events[event.table], event, MAX_EVENTS)
            if event.table not in self._unpublished:  # Publish several events together.
                self._unpublished.add(event.table)
                asyncio.get_running_loop().call_soon(self._publish_events, event.table)

    def _publish_events(self, table: str) -> None:
        self._unpublished.discard(table)
        try:
            lines = _newest_lines(describe_events(self._events.get(table, ())))
        except Exception:
            _log.exception("events not shown", table=table)
            self._fail(table)
            return
        for page in self._pages_of(table):
            page.parts.put("told", lines)

    def _commands_changed(self, table: str) -> None:
        """Start a task that reads a table's newest commands and publishes them on its pages.

        Changes while the task runs cause exactly one more task after it.
        """
        if table in self._refreshing:
            self._refresh_again.add(table)
        elif any(self._pages_of(table)):
            self._refreshing.add(table)
            task = asyncio.ensure_future(self._refresh_commands(table))
            task.add_done_callback(self._refresh_tasks.discard)
            self._refresh_tasks.add(task)  # Nothing else holds a reference to the task.

    async def _refresh_commands(self, table: str) -> None:
        try:
            again = table in self._failed_reads
            self._failed_reads.discard(table)
            await self._publish_commands(table)
            if again and table in self._events:
                await self._read_events(table)
                self._publish_events(table)
        except Exception:
            _log.exception("page not updated", table=table)
            self._fail(table)
        finally:
            self._refreshing.discard(table)
        if table in self._refresh_again:
            self._refresh_again.discard(table)
            self._commands_changed(table)

    async def _publish_commands(self, table: str) -> None:
        try:
            orders = await self._dispatcher.recent_commands(table)
        except StoreError as failed:
            _log.warning("commands not read", table=table, why=str(failed))
            self._failed_reads.add(table)
            return
        except Exception:  # A page that ends is better than one with an old command.
            _log.exception("commands not read", table=table)
            self._fail(table)
            return
        for page in self._pages_of(table):
            page.parts.put("orders", orders)

    async def _refresh_offers(self, table: str, role: Role, page: _TablePage) -> None:
        """Request the table's offers (accepted commands) after each change that may affect them.

        A table that does not answer is asked again, because without its answer the page shows every
        command as possible.
        """
        asked: tuple[Any, ...] | None = None
        while True:
            page.changed.clear()
            now = None
            with suppress(KeyError):  # The table does not belong to the console any more.
                if (state := self._tables.snapshot(table).state) is not None:
                    # The parts of a state that determine the possible commands.
                    now = state.boot, state.head, state.machine.phase, state.match.phase
            if now is None or now == asked:
                await page.changed.wait()
                continue
            asked = now if await self._load_offers(table, role, page) else None
            await asyncio.sleep(OFFERS_INTERVAL_S)

    async def _load_offers(self, table: str, role: Role, page: _TablePage) -> bool:
        """Request and publish the table's offers, and return whether the table answered."""
        try:
            reply = await self._dispatcher.query(table, "offers", {"role": role.value}, role)
        except (RequestError, KeyError):  # The table is silent, or was removed.
            page.parts.drop("offers")
            return False
        if reply.result is None:  # An older table offers all commands.
            page.parts.drop("offers")
        else:
            page.parts.put("offers", reply.result.get("offers", []))
        return True


def _cancel_expiry(page: _TablePage) -> None:
    """Cancel the timer, if there is one, that removes a page without viewers."""
    if page.expiry_timer is not None:
        page.expiry_timer.cancel()
        page.expiry_timer = None


async def _run_or_fail(page: _TablePage, coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that updates a page, and mark the page as failed if an error occurs.

    So the page shows nothing old.
    """
    try:
        await coroutine
    except Exception:
        _log.exception("page not updated")
        page.failed.set()


def _newest_lines(lines: tuple[TableEventLine, ...]) -> list[TableEventLine]:
    """Return the newest MAX_LINES lines that are not `quiet`, with the quiet lines around them."""
    loud = [at for at, line in enumerate(lines) if not line.quiet]
    return list(lines if len(loud) <= MAX_LINES else lines[loud[-MAX_LINES - 1] + 1 :])
