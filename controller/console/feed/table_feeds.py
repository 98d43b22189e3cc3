"""All tables of a console: the last state of each table, its freshness, and all its events.

The feeds are read about twenty times a second. Of several new states of a table only the last is
decoded, and listeners are notified once. All events go to the archive, in order, and missing events
are requested. An invalid message is only counted.
"""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final, Self

import zmq
from msgspec.structs import replace

from controller.client.client import ClientIdentity
from controller.client.connection import CurveKeys, TableConnectionState
from controller.console import freshness as how
from controller.console.console_config import ConfiguredTable
from controller.console.feed.backfill import Backfill, FetchEvents, open_event_source
from controller.console.feed.event_intake import EventIntake
from controller.console.feed.feed_sockets import FeedSockets
from controller.console.feed.message_checks import (
    MessageRejected,
    RejectionCounts,
    check_signed_head,
    count_rejection,
    parse_event,
    parse_state,
)
from controller.console.freshness import (
    ContactTimes,
    Freshness,
    after_console_stall,
    shift_contact_times,
)
from controller.console.store.archive import Archive, StoredEvent, WriteResult
from controller.console.store.event_writer import MAX_WAITING_EVENTS, EventWriter
from controller.console.store.event_writer import RETRY_INTERVAL_S as STORE_RETRY_S
from controller.console.table_snapshots import (
    Listeners,
    RunBlocking,
    StartTask,
    StoreStatus,
    TableSnapshot,
    Unsubscribe,
    natural_sort_key,
)
from controller.console.view.wait_reasons import is_deal_due
from controller.host.loggers import structlog
from controller.messages import PublicEvent, SignedHead

SWITCH_INTERVAL_S: Final = 0.0005
"""The switch interval of Python threads: how long the event loop and the store's threads block each
other.

SQLite releases the interpreter with every row. With Python's default of 5 ms, a busy event loop, as
when all tables connect, would limit writes to some hundred rows a second.
"""
POLL_INTERVAL_S: Final = 0.5
"""The interval of checks for tables that have become silent or stale."""
STALL_S: Final = 1.0
"""A longer interval between two checks means that the console itself was stalled: its process was
stopped, or its computer was overloaded.
"""
FLUSH_INTERVAL_S: Final = 0.2
"""How long events are collected before they go to the store. In a hall where events arrive with
every tick, a transaction costs more than the rows that it writes.
"""
_log = structlog.get_logger("console")


class _TableFeed:
    """The data that the console has from the feed of one table."""

    def __init__(self, line: ConfiguredTable, me: ClientIdentity, now_ms: int) -> None:
        self.configured, self.identity = line, me
        self.snapshot = TableSnapshot(
            table=line.id, area=line.area, contact_times=ContactTimes(link_since_ms=now_ms)
        )
        self.rejections = RejectionCounts()
        self.new_state: bytes | None = None
        self.freshness: Freshness | None = None
        self.signed_head: SignedHead | None = None


class TableFeeds:
    """The feeds of all tables of a console.

    Enter it as a context in the running event loop that uses it. `identity_of` returns the
    observer's key with which the console reads a table's feed and requests its events. `write` runs
    blocking calls on the store's thread. `now_ms` is the console's clock, `new_id` names commands.
    At most `max_waiting` events wait in memory while the database is unavailable. `start_task`
    starts a task that runs as long as the console.
    """

    def __init__(
        self,
        identity_of: Callable[[ConfiguredTable], ClientIdentity],
        archive: Archive,
        write: RunBlocking,
        now_ms: Callable[[], int],
        new_id: Callable[[], str],
        *,
        store_retry_s: float = STORE_RETRY_S,
        max_waiting: int = MAX_WAITING_EVENTS,
        start_task: StartTask = asyncio.create_task,
    ) -> None:
        self._start_task = start_task
        self._identity_of, self._archive, self._write = identity_of, archive, write
        self._now_ms, self._new_id = now_ms, new_id
        self._store_retry_s, self._max_waiting = store_retry_s, max_waiting
        self._feeds: dict[str, _TableFeed] = {}
        self._changed_tables: dict[str, None] = {}
        self._new_events: list[PublicEvent] = []
        self._on_change: Listeners[str] = Listeners()
        self._on_event: Listeners[PublicEvent] = Listeners()

    async def __aenter__(self) -> Self:
        """Load the stored marks, and begin to read the feeds. Raises StoreError."""
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._loop, self._next_flush_s = asyncio.get_running_loop(), 0.0
        self._last_check_s = self._loop.time()
        self._marks = await self._write(self._archive.marks)
        self._sockets = FeedSockets(
            self._receive,
            lambda table: self._count_rejection(self._feeds[table], MessageRejected("junk")),
            self._line_changed,
            self._publish,
        )
        self._writer = EventWriter(
            self._archive,
            self._write,
            self._now_ms,
            self._note_written,
            lambda: self._backfill.set_paused(self._writer.is_away),
            self._store_retry_s,
            self._max_waiting,
            self._start_task,
        )
        self._intake = EventIntake(
            self._writer,
            self._marks,
            self._note_event,
            lambda table: self._backfill.ask_soon(table),
        )
        self._backfill = Backfill(self._intake, self._open_event_source, self._head_of)
        self._poll_task = self._start_task(self._poll())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Disconnect from all tables, and write the received events."""
        self._poll_task.cancel()
        await asyncio.gather(self._poll_task, return_exceptions=True)
        await self._backfill.close()
        self._intake.flush()
        await self._writer.close()
        self._sockets.close()

    @property
    def context(self) -> "zmq.Context[Any]":
        """Return the ZeroMQ context for the clients of tables. They must close before the feeds."""
        return self._sockets.context

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of all tables in natural order: table 2 comes before table 10."""
        return tuple(self._feeds)

    @property
    def store_status(self) -> StoreStatus:
        """Return whether the database is available, and how many events wait for it."""
        return self._writer.status

    @property
    def incomplete_tables(self) -> frozenset[str]:
        """Return the connected tables of which the archive may lack events."""
        return self._backfill.incomplete_tables

    def add(self, configured: ConfiguredTable) -> None:
        """Connect to a table. A table of the same name is replaced. Raises BadAddress."""
        known = self._feeds.get(configured.id)
        if known is not None and known.configured == configured:
            return
        if known is not None:
            self._disconnect(configured.id)
        me = self._identity_of(configured)
        one = _TableFeed(configured, me, self._now_ms())
        self._sockets.open(
            configured.id, configured.feed, CurveKeys(configured.server_key, me.public, me.secret)
        )
        everyone = {**self._feeds, configured.id: one}
        self._feeds = {table: everyone[table] for table in sorted(everyone, key=natural_sort_key)}
        self._publish_change(configured.id)

    def remove(self, table: str) -> None:
        """Disconnect from a table and remove the table. Stored data remain. Raises KeyError."""
        del self._feeds[table]
        self._disconnect(table)
        self._publish_change(table)

    def snapshot(self, table: str) -> TableSnapshot:
        """Return a table's last received state and its contact times. Raises KeyError."""
        self._check_for_stall()
        return self._feeds[table].snapshot

    def freshness(self, table: str) -> tuple[Freshness, int]:
        """Return a table's freshness and a time: when its last message arrived if the table is
        live, otherwise when the table ceased to be live.

        Raises KeyError for an unknown table.
        """
        return self.snapshot(table).freshness(self._now_ms())

    def rejections(self, table: str) -> RejectionCounts:
        """Return how many messages of a table's feed were rejected. Raises KeyError."""
        return self._feeds[table].rejections

    def on_change(self, callback: Callable[[str], None]) -> Unsubscribe:
        """Register `callback`, which is then called with the id of each table that has changed.

        A change is a new state or freshness, or an added or removed table. The messages of
        one table cause at most 20 calls a second.
        """
        return self._on_change.add(callback)

    def on_event(self, callback: Callable[[PublicEvent], None]) -> Unsubscribe:
        """Register `callback`, which is then called once with each public event.

        Missed events arrive later, out of order.
        """
        return self._on_event.add(callback)

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to all times in memory, after the console's clock was set by that amount.

        Freshness does not change.
        """
        self._writer.shift_times(by_ms)
        for table, one in self._feeds.items():
            since_ms = one.snapshot.deal_due_since_ms
            one.snapshot = replace(
                one.snapshot,
                contact_times=shift_contact_times(one.snapshot.contact_times, by_ms),
                deal_due_since_ms=None if since_ms is None else since_ms + by_ms,
            )
            self._publish_change(table)

    async def wait_until_stored(self) -> None:
        """Wait until the archive has all received events, or until the database is unavailable."""
        self._intake.flush()
        await self._writer.wait_until_written()

    def _disconnect(self, table: str) -> None:
        self._sockets.close_table(table)
        self._backfill.note_disconnected(table)
        self._intake.forget_table(table)

    # Messages of the feeds.

    def _receive(self, table: str, topic: bytes, body: bytes) -> None:
        one = self._feeds[table]
        if topic.startswith(b"state/"):
            one.new_state = body  # The body also contains the table.
            self._changed_tables[table] = None
            return
        try:
            event = parse_event(body, table)
        except MessageRejected as wrong:
            self._count_rejection(one, wrong)
            return
        self._intake.add_event(StoredEvent(event, body))

    def _line_changed(self, table: str, state: TableConnectionState) -> None:
        self._check_for_stall()
        one = self._feeds[table]
        one.snapshot = replace(
            one.snapshot,
            contact_times=how.with_line_state(one.snapshot.contact_times, state, self._now_ms()),
        )
        self._changed_tables[table] = None
        if state is TableConnectionState.OPEN:
            self._backfill.note_connected(table)
        else:
            self._backfill.note_disconnected(table)

    def _publish(self) -> None:
        """Decode the newest state of each changed table, and notify the listeners."""
        self._check_for_stall()
        if self._changed_tables:
            due, self._changed_tables = self._changed_tables, {}
            now_ms = self._now_ms()
            for table in due:
                one = self._feeds.get(table)
                if one is not None and one.new_state is not None:
                    body, one.new_state = one.new_state, None
                    try:
                        self._accept_state(one, body, now_ms)
                    except Exception:  # One table's state must not affect the other tables.
                        _log.exception("state not taken", table=table)
            for table in due:
                self._publish_change(table)
        now_s = self._loop.time()
        # If the database is unavailable, people are shown how many events wait.
        if now_s >= self._next_flush_s or self._writer.is_away:
            self._next_flush_s = now_s + FLUSH_INTERVAL_S
            self._intake.flush()

    def _accept_state(self, one: _TableFeed, body: bytes, now_ms: int) -> None:
        seen = one.snapshot
        try:
            state = parse_state(body, seen.table)
        except MessageRejected as wrong:
            self._count_rejection(one, wrong)
            return
        undealt_ms = now_ms if seen.deal_due_since_ms is None else seen.deal_due_since_ms
        one.snapshot = TableSnapshot(
            table=seen.table,
            area=seen.area,
            state=state,
            body=body,
            contact_times=how.with_state(seen.contact_times, seen.state, state, now_ms),
            deal_due_since_ms=undealt_ms if is_deal_due(state) else None,
        )
        if state.signed is not None and state.signed != one.signed_head:
            one.signed_head = state.signed
            kept = check_signed_head(one.configured, state.time, state.signed)
            if kept is None:
                one.rejections = replace(
                    one.rejections, unsigned_heads=one.rejections.unsigned_heads + 1
                )
                _log.warning(
                    "a head that the table did not sign", table=one.configured.id, n=state.signed.n
                )
            else:
                self._intake.add_head(kept)
        if self._intake.may_have_more(seen.table, state.head):
            self._backfill.ask_later(seen.table)

    def _count_rejection(self, one: _TableFeed, wrong: MessageRejected) -> None:
        if not one.rejections.messages:
            _log.warning("not taken from a feed", table=one.configured.id, why=wrong.reason)
        one.rejections = count_rejection(one.rejections, wrong)

    def _publish_change(self, table: str) -> None:
        one = self._feeds.get(table)
        if one is not None:
            one.freshness = one.snapshot.freshness(self._now_ms())[0]
        self._on_change.notify(table)

    async def _poll(self) -> None:
        """Repeatedly check whether tables became silent or stale, and flush collected events."""
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            self._check_for_stall()
            self._intake.flush()
            now_ms = self._now_ms()
            for table, one in tuple(self._feeds.items()):
                try:
                    if one.snapshot.freshness(now_ms)[0] is not one.freshness:
                        self._publish_change(table)
                except Exception:  # An exception with one table must not stop the checks of others.
                    _log.exception("not looked at", table=table)

    def _check_for_stall(self) -> None:
        """Detect a pause of the console's process, and do not count it as silence of a table."""
        now_s = self._loop.time()
        gap_s, self._last_check_s = now_s - self._last_check_s, now_s
        if gap_s <= STALL_S:
            return
        _log.warning("the console stood still", for_s=round(gap_s, 1))
        now_ms = self._now_ms()
        stood_ms = now_ms - round(gap_s * 1000)
        for one in self._feeds.values():
            one.snapshot = replace(
                one.snapshot,
                contact_times=after_console_stall(one.snapshot.contact_times, stood_ms, now_ms),
            )

    # Events for the store, and requests for missing events.

    def _note_event(self, event: PublicEvent) -> None:
        """Queue an event for the listeners.

        They receive the event after all messages of this turn of the loop are read.
        """
        if not self._new_events:
            asyncio.get_running_loop().call_soon(self._publish_events)
        self._new_events.append(event)

    def _publish_events(self) -> None:
        events, self._new_events = self._new_events, []
        for event in events:
            self._on_event.notify(event)

    def _note_written(self, written: WriteResult) -> None:
        self._intake.note_written(written.marks)
        for wrong in written.disagreements:
            _log.error("another past", table=wrong.shown.table, what=wrong.en)

    def _head_of(self, table: str) -> str:
        state = self._feeds[table].snapshot.state
        return "" if state is None else state.head

    def _open_event_source(self, table: str) -> AbstractAsyncContextManager[FetchEvents]:
        one = self._feeds[table]
        odd = partial(self._count_rejection, one)
        return open_event_source(one.configured, one.identity, self._new_id, self.context, odd)
