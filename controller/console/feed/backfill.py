"""Requests for events that the console has missed, sent to a few tables at a time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import msgspec
import zmq

from controller.client.client import Client, ClientIdentity, NoAnswer
from controller.client.connection import BadAddress
from controller.client.discovery import Endpoints
from controller.console.console_config import ConfiguredTable
from controller.console.feed import journal_positions as of
from controller.console.feed.event_intake import EventIntake
from controller.console.feed.message_checks import MessageRejected, convert_event
from controller.console.store.archive import StoredEvent
from controller.host.loggers import structlog

SETTLE_DELAY_S: Final = 1.0
"""The delay between a suspected gap and the request. Events that are only late arrive in this time.
"""
AUDIT_DELAY_S: Final = 30.0
"""The delay if the only sign of a gap is a new head of the journal. Usually private entries were
added.
"""
MAX_TABLES_AT_ONCE: Final = 16
"""The most tables that are asked at the same time."""
FIRST_RETRY_S: Final = 5.0
MAX_RETRY_S: Final = 60.0
_log = structlog.get_logger("console")

FetchEvents = Callable[[int], Awaitable[Sequence[StoredEvent]]]
"""A function that requests the events after a number.

It returns some of them in order, and an empty list at the end. It raises NoAnswer, BadAddress.
"""
OpenEventSource = Callable[[str], AbstractAsyncContextManager[FetchEvents]]
"""A function that opens a connection to a table for requests."""


class Backfill:
    """A scheduler of requests for events that the console has missed.

    `head_of` returns the head of the journal that a table showed last.
    """

    def __init__(
        self, intake: EventIntake, open_event_source: OpenEventSource, head_of: Callable[[str], str]
    ) -> None:
        self._intake, self._open_event_source, self._head_of = intake, open_event_source, head_of
        self._loop = asyncio.get_running_loop()
        self._slots = asyncio.Semaphore(MAX_TABLES_AT_ONCE)
        self._connected: set[str] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._fill_tasks: dict[str, asyncio.Task[None]] = {}
        self._cancelled_tasks: set[asyncio.Task[None]] = set()
        self._failure_count: dict[str, int] = {}
        self._is_paused = False

    @property
    def incomplete_tables(self) -> frozenset[str]:
        """Return the connected tables of which the archive may lack events."""
        return frozenset(
            t for t in self._connected if t in self._fill_tasks or self._may_be_incomplete(t)
        )

    def ask_soon(self, table: str) -> None:
        """Schedule a request for a table's missing events after a short delay (SETTLE_DELAY_S)."""
        self._ask_in(table, SETTLE_DELAY_S)

    def ask_later(self, table: str) -> None:
        """Schedule a request for a table's missing events after a long delay (AUDIT_DELAY_S)."""
        self._ask_in(table, AUDIT_DELAY_S)

    def note_connected(self, table: str) -> None:
        """Record that a table is connected, and request its missing events at once."""
        self._connected.add(table)
        self._failure_count.pop(table, None)
        self._intake.mark_gap(table)
        self._ask_in(table, 0)

    def note_disconnected(self, table: str) -> None:
        """Record that a table is disconnected, and cancel all requests to it."""
        self._connected.discard(table)
        timer = self._timers.pop(table, None)
        if timer is not None:
            timer.cancel()
        task = self._fill_tasks.pop(table, None)
        if task is not None:
            self._intake.mark_gap(table)
            task.cancel()
            self._cancelled_tasks.add(task)
            task.add_done_callback(self._cancelled_tasks.discard)

    def set_paused(self, paused: bool) -> None:
        """Pause or resume all requests. When they are resumed, every incomplete table is asked."""
        self._is_paused = paused
        if not paused:
            for table in self._connected:
                if self._may_be_incomplete(table):
                    self._ask_in(table, 0)

    async def close(self) -> None:
        """Stop all requests. No task remains, and no open socket."""
        for table in self._connected | self._timers.keys() | self._fill_tasks.keys():
            self.note_disconnected(table)
        await asyncio.gather(*self._cancelled_tasks, return_exceptions=True)

    def _may_be_incomplete(self, table: str) -> bool:
        return self._intake.completeness(table).may_be_incomplete

    def _ask_in(self, table: str, after_s: float) -> None:
        """Schedule a request to a table in `after_s` seconds, unless one is due before that time.

        Do nothing if the table is not connected, or if requests are paused.
        """
        if table not in self._connected or self._is_paused:
            return
        known = self._timers.get(table)
        if known is not None:
            if known.when() <= self._loop.time() + after_s:
                return
            known.cancel()
        self._timers[table] = self._loop.call_later(after_s, self._start_fill, table)

    def _start_fill(self, table: str) -> None:
        del self._timers[table]
        if table in self._fill_tasks:
            self._ask_in(table, SETTLE_DELAY_S)
            return
        if not self._may_be_incomplete(table) and not self._intake.may_have_more(
            table, self._head_of(table)
        ):
            return  # The events were only late and have arrived.
        task = self._fill_tasks[table] = self._loop.create_task(self._run_fill(table))
        task.add_done_callback(lambda done: self._fill_done(table, done))

    def _fill_done(self, table: str, task: asyncio.Task[None]) -> None:
        if self._fill_tasks.get(table) is task:
            del self._fill_tasks[table]

    async def _run_fill(self, table: str) -> None:
        async with self._slots:
            try:
                async with self._open_event_source(table) as ask:
                    await self._fill(table, ask)
            except (NoAnswer, BadAddress) as silent:
                self._intake.mark_gap(table)
                times = self._failure_count[table] = self._failure_count.get(table, 0) + 1
                again_s = min(FIRST_RETRY_S * 2 ** min(times - 1, 10), MAX_RETRY_S)
                _log.info("not told what is missing", table=table, why=str(silent))
                self._ask_in(table, again_s)
            except Exception:  # After a programming error the gap must still be noted.
                _log.exception("not asked what is missing", table=table)
                self._intake.mark_gap(table)
                self._ask_in(table, MAX_RETRY_S)
            else:
                self._failure_count.pop(table, None)

    async def _fill(self, table: str, fetch_events: FetchEvents) -> None:
        """Request a table's missing events page by page, and pass them to the intake.

        The next page is requested while the last one is written.
        """
        head = self._head_of(table)
        mark = self._intake.begin_fill(table).mark
        page = await fetch_events(of.fill_start(mark))
        if not of.is_continued_by(mark, [one.event for one in page]):
            _log.warning("a table has another past than was kept", table=table, n=mark.n)
            mark = self._intake.restart_journal(table)
            page = await fetch_events(0)
        written: asyncio.Future[None] | None = None
        while page and page[-1].event.n > mark.n:
            if written is not None:
                await written  # Each table has at most one page in the queue.
            written = self._intake.add_page(table, page)
            if written is None:
                self._intake.mark_gap(table)
                self._ask_in(table, FIRST_RETRY_S)
                return
            mark = of.mark_at(mark, page[-1].event)
            page = await fetch_events(mark.n)
        if self._intake.finish_fill(table, mark, head).may_be_incomplete:
            self._ask_in(table, SETTLE_DELAY_S)


ANSWER_TIMEOUT_S: Final = 8.0
"""The time limit for one page of a table's events."""


def endpoints_of(configured: ConfiguredTable) -> Endpoints:
    """Return a table's addresses and public key from its configuration."""
    return Endpoints(
        table=configured.id,
        feed=configured.feed,
        commands=configured.commands,
        server_key=configured.server_key,
    )


@asynccontextmanager
async def open_event_source(
    configured: ConfiguredTable,
    identity: ClientIdentity,
    new_id: Callable[[], str],
    context: "zmq.Context[Any]",
    on_rejected: Callable[[MessageRejected], None],
) -> AsyncIterator[FetchEvents]:
    """Yield a function that requests a table's events over a new connection.

    `on_rejected` is called for each invalid event. Raises BadAddress. The yielded function raises
    NoAnswer.
    """

    async def ask(since: int) -> Sequence[StoredEvent]:
        reply = await client.ask("events", {"since": since}, timeout_s=ANSWER_TIMEOUT_S)
        told = (reply.result or {}).get("events")
        if not isinstance(told, list):
            raise NoAnswer(f"{configured.commands}: {reply.error and reply.error.code}")
        kept: list[StoredEvent] = []
        for value in told:
            try:
                event = convert_event(value, configured.id)
            except MessageRejected as wrong:
                on_rejected(wrong)
            else:
                kept.append(StoredEvent(event, msgspec.json.encode(value)))
        return sorted((k for k in kept if k.event.n > since), key=lambda k: k.event.n)

    async with Client(endpoints_of(configured), identity, new_id, context=context) as client:
        yield ask
