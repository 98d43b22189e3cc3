"""All tables of a console: the last state of each, how fresh it is, and every event kept.

Its feeds are drained some twenty times a second; of the states that came meanwhile the last one
is decoded, and who asked for it is told once. Events all go to the archive, in order, and what
was missed is asked for. A message that is none of the table's is counted and nothing else.
"""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

import zmq
from msgspec.structs import replace

from controller.client.client import ClientIdentity
from controller.client.line import RETRY_S, Keys
from controller.client.monitored import LineState
from controller.console.config import ConfiguredTable
from controller.console.in_order import in_order
from controller.console.lines import heard as how
from controller.console.lines.asking import asking
from controller.console.lines.backfill import AUDIT_DELAY_S, SETTLE_S, Ask, Backfill
from controller.console.lines.counts import Counts, counted
from controller.console.lines.feed import Feed
from controller.console.lines.intake import Intake
from controller.console.lines.signed import check_signed_head
from controller.console.lines.taken import MessageRejected, parse_event, parse_state
from controller.console.listeners import Listeners
from controller.console.seen import Begin, Run, Seen, StoreStatus, Unsubscribe
from controller.console.standing import Heard, Standing, after_console_stall, stepped
from controller.console.store.archive import Archive, Kept, Written
from controller.console.store.writer import MAX_WAITING_EVENTS, EventWriter
from controller.console.store.writer import RETRY_S as STORE_RETRY_S
from controller.console.view.waits import is_deal_due
from controller.loggers import structlog
from controller.messages import Event, SignedHead, State

TURN_S: Final = 0.0005
"""How long the loop keeps the interpreter from the store's threads, and they from it.

SQLite lets go of it with every row; by Python's own 5 ms a loop that works without a pause, as when
all tables are joined, would let some hundred rows a second be written."""
LOOK_S: Final = 0.5
"""How often it is looked which tables have grown silent or stale meanwhile."""
GAP_S: Final = 1.0
"""A console that has looked at nothing for so long stood still itself: its process was stopped, or
its computer had no time for it."""
GATHER_S: Final = 0.2
"""Events gather for so long before they go to the store: in a hall where some come with every tick,
a transaction costs more than all that it writes."""
_log = structlog.get_logger("console")


class _TableFeed:
    """What is known of one table."""

    def __init__(self, line: ConfiguredTable, me: ClientIdentity, now_ms: int) -> None:
        self.line, self.me = line, me
        self.seen = Seen(table=line.id, area=line.area, heard=Heard(link_since_ms=now_ms))
        self.counts = Counts()
        self.news: bytes | None = None
        self.standing: Standing | None = None
        self.signed: SignedHead | None = None


class Tables:
    """The tables of a console; to be entered on the running loop that it lives on.

    `identity` returns with which key a table's feed is heard and its events are asked for, the
    observer's. `write` runs what may block on the store's thread. `now_ms` is the console's clock,
    `ids` names commands. `most_waiting` events wait in memory while the database is away. `begin`
    begins what runs as long as the console does.
    """

    def __init__(
        self,
        identity: Callable[[ConfiguredTable], ClientIdentity],
        archive: Archive,
        write: Run,
        now_ms: Callable[[], int],
        ids: Callable[[], str],
        *,
        retry_s: float = RETRY_S,
        settle_s: float = SETTLE_S,
        audit_s: float = AUDIT_DELAY_S,
        store_retry_s: float = STORE_RETRY_S,
        most_waiting: int = MAX_WAITING_EVENTS,
        begin: Begin = asyncio.create_task,
    ) -> None:
        self._start_task = begin
        self._identity_of, self._archive, self._write = identity, archive, write
        self._now_ms, self._new_id = now_ms, ids
        self._retry_s, self._settle_s, self._audit_s = retry_s, settle_s, audit_s
        self._store_retry_s, self._max_waiting = store_retry_s, most_waiting
        self._all: dict[str, _TableFeed] = {}
        self._changed_tables: dict[str, None] = {}
        self._events: list[Event] = []
        self._on_change: Listeners[str] = Listeners()
        self._on_event: Listeners[Event] = Listeners()

    async def __aenter__(self) -> Self:
        """Take up what is kept. Raises StoreError."""
        sys.setswitchinterval(TURN_S)
        self._loop, self._next_flush_s = asyncio.get_running_loop(), 0.0
        self._last_check_s = self._loop.time()
        self._marks = await self._write(self._archive.marks)
        self._feed = Feed(
            self._receive, self._count_malformed, self._line_changed, self._publish, self._retry_s
        )
        self._writer = EventWriter(
            self._archive,
            self._write,
            self._now_ms,
            self._written,
            self._store_changed,
            self._store_retry_s,
            self._max_waiting,
            self._start_task,
        )
        self._intake = Intake(self._writer, self._marks, self._note_event, self._note_gap)
        self._backfill = Backfill(
            self._intake, self._open_event_source, self._head_of, self._settle_s, self._audit_s
        )
        self._looking = self._start_task(self._poll())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Hear nobody more, and write down what was heard."""
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)
        await self._backfill.close()
        self._intake.flush()
        await self._writer.close()
        self._feed.close()

    @property
    def context(self) -> "zmq.Context[Any]":
        """The ZeroMQ context, for clients of the same tables; closed before this is left."""
        return self._feed.context

    @property
    def ids(self) -> tuple[str, ...]:
        """All tables, in the order of their numbers."""
        return tuple(self._all)

    @property
    def store_standing(self) -> StoreStatus:
        """How the database is."""
        return self._writer.standing

    @property
    def behind(self) -> frozenset[str]:
        """The tables of whose past something may be missing in the archive."""
        return self._backfill.behind

    def add(self, line: ConfiguredTable) -> None:
        """Begin to hear a table, in the place of the one of that name. Raises BadAddress."""
        known = self._all.get(line.id)
        if known is not None and known.line == line:
            return
        if known is not None:
            self._disconnect(line.id)
        me = self._identity_of(line)
        one = _TableFeed(line, me, self._now_ms())
        self._feed.open(line.id, line.feed, Keys(line.server_key, me.public, me.secret))
        everyone = {**self._all, line.id: one}
        self._all = {table: everyone[table] for table in sorted(everyone, key=in_order)}
        self._changed(line.id)

    def remove(self, table: str) -> None:
        """Hear a table no more, and forget it, but for what is kept. Raises KeyError."""
        del self._all[table]
        self._disconnect(table)
        self._changed(table)

    def seen(self, table: str) -> Seen:
        """Return what is known of a table. Raises KeyError for one that is not the console's."""
        self._check_for_stall()
        return self._all[table].seen

    def standing(self, table: str) -> tuple[Standing, int]:
        """Return how fresh that is, and since when (console's clock). Raises KeyError."""
        return self.seen(table).standing(self._now_ms())

    def counts(self, table: str) -> Counts:
        """Return what was not taken of a table's feed. Raises KeyError."""
        return self._all[table].counts

    def on_change(self, told: Callable[[str], None]) -> Unsubscribe:
        """Tell of every table of which something else is known, at most 20 times a second each."""
        return self._on_change.add(told)

    def on_event(self, told: Callable[[Event], None]) -> Unsubscribe:
        """Tell of every public event that comes, once; what was missed comes later than it was."""
        return self._on_event.add(told)

    def stepped(self, by_ms: int) -> None:
        """Take it that the console's clock was set by so much: what is known stays as fresh."""
        self._writer.stepped(by_ms)
        for table, one in self._all.items():
            since_ms = one.seen.undealt_ms
            one.seen = replace(
                one.seen,
                heard=stepped(one.seen.heard, by_ms),
                undealt_ms=None if since_ms is None else since_ms + by_ms,
            )
            self._changed(table)

    async def settled(self) -> None:
        """Return once the archive has all that was heard by now, or can take nothing."""
        self._intake.flush()
        await self._writer.settled()

    def _disconnect(self, table: str) -> None:
        self._feed.shut(table)
        self._backfill.lost(table)
        self._intake.forget(table)

    # What the feed tells.

    def _receive(self, table: str, topic: bytes, body: bytes) -> None:
        one = self._all[table]
        if topic.startswith(b"state/"):
            one.news = body  # which table it is about stands in the body, too
            self._changed_tables[table] = None
            return
        try:
            event = parse_event(body, table)
        except MessageRejected as wrong:
            self._count_rejection(one, wrong)
            return
        self._intake.heard(Kept(event, body))

    def _count_malformed(self, table: str) -> None:
        self._count_rejection(self._all[table], MessageRejected("junk"))

    def _line_changed(self, table: str, state: LineState) -> None:
        self._check_for_stall()
        one = self._all[table]
        one.seen = replace(one.seen, heard=how.on_line(one.seen.heard, state, self._now_ms()))
        self._changed_tables[table] = None
        if state is LineState.OPEN:
            self._backfill.reached(table)
        else:
            self._backfill.lost(table)

    def _publish(self) -> None:
        """Take the last state of each table that said one, and tell who asked for it."""
        self._check_for_stall()
        if self._changed_tables:
            due, self._changed_tables = self._changed_tables, {}
            now_ms = self._now_ms()
            for table in due:
                one = self._all.get(table)
                if one is not None and one.news is not None:
                    body, one.news = one.news, None
                    self._accept_state_safely(one, body, now_ms)
            for table in due:
                self._changed(table)
        now_s = self._loop.time()
        if now_s >= self._next_flush_s or self._writer.away:  # then what waits is told to people
            self._next_flush_s = now_s + GATHER_S
            self._intake.flush()

    def _accept_state_safely(self, one: _TableFeed, body: bytes, now_ms: int) -> None:
        """Take a state; a fault of ours with one table is none of the others."""
        try:
            self._take(one, body, now_ms)
        except Exception:
            _log.exception("state not taken", table=one.line.id)

    def _take(self, one: _TableFeed, body: bytes, now_ms: int) -> None:
        seen = one.seen
        try:
            state = parse_state(body, seen.table)
        except MessageRejected as wrong:
            self._count_rejection(one, wrong)
            return
        undealt_ms = seen.undealt_ms if seen.undealt_ms is not None else now_ms
        one.seen = Seen(
            table=seen.table,
            area=seen.area,
            state=state,
            body=body,
            heard=how.on_state(seen.heard, seen.state, state, now_ms),
            undealt_ms=undealt_ms if is_deal_due(state) else None,
        )
        if state.signed is not None and state.signed != one.signed:
            one.signed = state.signed
            self._accept_head(one, state, state.signed)
        if self._intake.may_have_more(seen.table, state.head):
            self._backfill.audit(seen.table)

    def _accept_head(self, one: _TableFeed, state: State, signed: SignedHead) -> None:
        kept = check_signed_head(one.line, state.time, signed)
        if kept is None:
            one.counts = replace(one.counts, heads=one.counts.heads + 1)
            _log.warning("a head that the table did not sign", table=one.line.id, n=signed.n)
        else:
            self._intake.head(kept)

    def _count_rejection(self, one: _TableFeed, wrong: MessageRejected) -> None:
        if not one.counts.messages:
            _log.warning("not taken from a feed", table=one.line.id, why=wrong.why)
        one.counts = counted(one.counts, wrong)

    def _changed(self, table: str) -> None:
        one = self._all.get(table)
        if one is not None:
            one.standing = one.seen.standing(self._now_ms())[0]
        self._on_change.tell(table)

    async def _poll(self) -> None:
        """Find who has grown silent or stale, as nothing comes that would tell, and hand on what
        has gathered."""
        while True:
            await asyncio.sleep(LOOK_S)
            self._check_for_stall()
            self._intake.flush()
            now_ms = self._now_ms()
            for table, one in tuple(self._all.items()):
                try:
                    if one.seen.standing(now_ms)[0] is not one.standing:
                        self._changed(table)
                except Exception:  # of one table: the others are looked at
                    _log.exception("not looked at", table=table)

    def _check_for_stall(self) -> None:
        """Find whether the console itself stood still: that is no silence of a table."""
        now_s = self._loop.time()
        gap_s, self._last_check_s = now_s - self._last_check_s, now_s
        if gap_s <= GAP_S:
            return
        _log.warning("the console stood still", for_s=round(gap_s, 1))
        now_ms = self._now_ms()
        stood_ms = now_ms - round(gap_s * 1000)
        for one in self._all.values():
            one.seen = replace(
                one.seen, heard=after_console_stall(one.seen.heard, stood_ms, now_ms)
            )

    # What goes to the store, and what is missing there.

    def _note_event(self, event: Event) -> None:
        """Tell of an event as soon as all is read that came with it."""
        if not self._events:
            asyncio.get_running_loop().call_soon(self._publish_events)
        self._events.append(event)

    def _publish_events(self) -> None:
        events, self._events = self._events, []
        for event in events:
            self._on_event.tell(event)

    def _written(self, written: Written) -> None:
        self._intake.written(written.marks)
        for wrong in written.disagreements:
            _log.error("another past", table=wrong.shown.table, what=wrong.en)

    def _store_changed(self) -> None:
        self._backfill.hold(self._writer.away)

    def _note_gap(self, table: str) -> None:
        self._backfill.doubt(table)

    def _head_of(self, table: str) -> str:
        state = self._all[table].seen.state
        return "" if state is None else state.head

    def _open_event_source(self, table: str) -> AbstractAsyncContextManager[Ask]:
        one = self._all[table]
        odd = partial(self._count_rejection, one)
        return asking(one.line, one.me, self._new_id, self.context, odd)
