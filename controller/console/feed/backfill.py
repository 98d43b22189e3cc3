"""What was missed is asked of the tables, a few of them at a time, until nothing is missing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
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
"""How long doubts about a table gather before it is asked; what was only late has come by then."""
AUDIT_DELAY_S: Final = 30.0
"""Where nothing speaks for a hole but that the journal went on, in private as a rule."""
MAX_TABLES_AT_ONCE: Final = 16
"""Tables that are asked at the same time."""
FIRST_RETRY_S: Final = 5.0
MAX_RETRY_S: Final = 60.0
_log = structlog.get_logger("console")

FetchEvents = Callable[[int], Awaitable[Sequence[StoredEvent]]]
"""Asks for the events behind a number; returns some of them in order, none at the end.

Raises NoAnswer, BadAddress."""
OpenEventSource = Callable[[str], AbstractAsyncContextManager[FetchEvents]]
"""Opens a line to a table for questions."""


class StoreFull(Exception):
    """The store takes nothing more for now."""


class Backfill:
    """Asks tables for what is missing. `head` returns what a table shows as its journal's head."""

    def __init__(
        self,
        intake: EventIntake,
        open_event_source: OpenEventSource,
        head_of: Callable[[str], str],
        settle_s: float = SETTLE_DELAY_S,
        audit_s: float = AUDIT_DELAY_S,
    ) -> None:
        self._intake, self._open_event_source, self._head_of = intake, open_event_source, head_of
        self._settle_s, self._audit_s = settle_s, audit_s
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
        """The tables of which something may be missing."""
        return frozenset(
            t for t in self._connected if t in self._fill_tasks or self._may_be_incomplete(t)
        )

    def ask_soon(self, table: str) -> None:
        """Ask a table soon."""
        self._ask_in(table, self._settle_s)

    def ask_later(self, table: str) -> None:
        """Ask a table when there is time."""
        self._ask_in(table, self._audit_s)

    def note_connected(self, table: str) -> None:
        """Note that a table's line is open: what it said before that was not heard."""
        self._connected.add(table)
        self._failure_count.pop(table, None)
        self._intake.mark_gap(table)
        self._ask_in(table, 0)

    def note_disconnected(self, table: str) -> None:
        """Note that a table cannot be asked for now."""
        self._connected.discard(table)
        self._cancel(table)

    def set_paused(self, paused: bool) -> None:
        """Ask nobody while the store takes nothing; behind that, all that are in doubt."""
        self._is_paused = paused
        if not paused:
            for table in self._connected:
                if self._may_be_incomplete(table):
                    self._ask_in(table, 0)

    async def close(self) -> None:
        """Ask nobody any more; nothing is left running, and no socket open."""
        for table in self._connected | self._timers.keys() | self._fill_tasks.keys():
            self.note_disconnected(table)
        await asyncio.gather(*self._cancelled_tasks, return_exceptions=True)

    def _may_be_incomplete(self, table: str) -> bool:
        return self._intake.completeness(table).may_be_incomplete

    def _ask_in(self, table: str, after_s: float) -> None:
        """Ask a table at that time, or earlier if that is meant already."""
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
            self._ask_in(table, self._settle_s)
            return
        if not self._may_be_incomplete(table) and not self._intake.may_have_more(
            table, self._head_of(table)
        ):
            return  # what was only late has come
        task = self._fill_tasks[table] = self._loop.create_task(self._run_fill(table))
        task.add_done_callback(lambda done: self._fill_done(table, done))

    def _fill_done(self, table: str, task: asyncio.Task[None]) -> None:
        if self._fill_tasks.get(table) is task:
            del self._fill_tasks[table]

    def _cancel(self, table: str) -> None:
        timer = self._timers.pop(table, None)
        if timer is not None:
            timer.cancel()
        task = self._fill_tasks.pop(table, None)
        if task is not None:
            self._intake.mark_gap(table)
            task.cancel()
            self._cancelled_tasks.add(task)
            task.add_done_callback(self._cancelled_tasks.discard)

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
            except StoreFull:
                self._intake.mark_gap(table)
                self._ask_in(table, FIRST_RETRY_S)
            except Exception:  # a fault of ours is no reason to forget that something is missing
                _log.exception("not asked what is missing", table=table)
                self._intake.mark_gap(table)
                self._ask_in(table, MAX_RETRY_S)
            else:
                self._failure_count.pop(table, None)

    async def _fill(self, table: str, fetch_events: FetchEvents) -> None:
        """Ask until the table knows no more. While a part is written the next one is asked for."""
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
                await written  # no table has more than one part waiting
            written = self._intake.add_page(table, page)
            if written is None:
                raise StoreFull
            mark = of.mark_at(mark, page[-1].event)
            page = await fetch_events(mark.n)
        if self._intake.finish_fill(table, mark, head).may_be_incomplete:
            self._ask_in(table, self._settle_s)


ANSWER_TIMEOUT_S: Final = 8.0
"""How long a table has for a page of its events."""


def endpoints_of(configured: ConfiguredTable) -> Endpoints:
    """Return where a table is and by which key it is known."""
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
    """Open a line to a table for the block; `on_odd` is told of what is no event of that table.

    Raises BadAddress; what is yielded raises NoAnswer.
    """

    async def ask(since: int) -> Sequence[StoredEvent]:
        reply = await client.ask("events", {"since": since}, timeout_s=ANSWER_TIMEOUT_S)
        told = (reply.result or {}).get("events")
        if not isinstance(told, list):
            raise NoAnswer(f"{configured.commands}: {reply.error and reply.error.code}")
        kept = _stored_events(configured.id, told, on_rejected)
        return sorted((k for k in kept if k.event.n > since), key=lambda k: k.event.n)

    async with Client(endpoints_of(configured), identity, new_id, context=context) as client:
        yield ask


def _stored_events(
    table: str, values: Iterable[object], on_rejected: Callable[[MessageRejected], None]
) -> Iterator[StoredEvent]:
    for value in values:
        try:
            yield StoredEvent(convert_event(value, table), msgspec.json.encode(value))
        except MessageRejected as wrong:
            on_rejected(wrong)
