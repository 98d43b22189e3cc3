"""A writer that stores received events in the archive, many events in one transaction.

Events wait in memory if the database is away.

The next group collects while one group is written. So a slow database makes larger groups and never
a slower event loop. Events that exceed the limits are refused, and the caller requests them from
the table later. If the writer itself fails because of a programming error, the console ends. Until
then the database is reported as unavailable, so that no caller waits for it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from controller.console.store.archive import (
    Archive,
    JournalMark,
    StoredEvent,
    WriteBatch,
    WriteResult,
)
from controller.console.store.database import StoreError
from controller.console.table_snapshots import RunBlocking, StartTask, StoreStatus
from controller.host.loggers import structlog
from controller.signing.signed_heads import KeptHead

MAX_WAITING_EVENTS: Final = 20_000
"""The most events that may wait, for all tables together (provisional): some minutes of a large
hall.
"""
MAX_WAITING_BYTES: Final = 32 << 20
"""The most bytes that the JSON texts of all waiting events may have."""
GROUP_EVENTS: Final = 2_000
"""The approximate number of events in one transaction."""
RETRY_INTERVAL_S: Final = 1.0
IDLE_CHECK_INTERVAL_S: Final = 5.0
"""The interval of database checks in a quiet hall: people's commands need the database, too."""
_log = structlog.get_logger("console")


class EventWriter:
    """A writer that stores events of all tables in the order in which they were added.

    `run_blocking` runs a blocking call on the store's thread. `now_ms` is the console's clock.
    `on_written` is called for each group that is on the disk, `on_status` when the database becomes
    unavailable or available. `start_task` starts a task that the console cannot run without.
    """

    def __init__(
        self,
        archive: Archive,
        run_blocking: RunBlocking,
        now_ms: Callable[[], int],
        on_written: Callable[[WriteResult], None] = lambda written: None,
        on_status: Callable[[], None] = lambda: None,
        retry_s: float = RETRY_INTERVAL_S,
        max_events: int = MAX_WAITING_EVENTS,
        start_task: StartTask = asyncio.create_task,
    ) -> None:
        """Start the task that writes the queued events. A running event loop is required."""
        self._archive, self._run_blocking, self._now_ms = archive, run_blocking, now_ms
        self._on_written, self._on_status = on_written, on_status
        self._retry_s, self._max_events = retry_s, max_events
        self._batches: deque[tuple[WriteBatch, asyncio.Future[None]]] = deque()
        self._waiting_events = self._waiting_bytes = self._refused = 0
        self._away_since_ms: int | None = None
        self._error = ""
        self._added = asyncio.Event()
        self._attempted = asyncio.Event()
        self._closing = asyncio.Event()
        self._task = start_task(self._write_batches())
        self._task.add_done_callback(self._task_done)

    @property
    def status(self) -> StoreStatus:
        """Return since when the database is unavailable, and how many events wait in memory."""
        return StoreStatus(
            away_since_ms=self._away_since_ms,
            why=self._error,
            waiting=self._waiting_events,
            refused=self._refused,
        )

    @property
    def is_away(self) -> bool:
        """Return whether the database is unavailable: the last write or the whole writer failed."""
        return self._away_since_ms is not None

    def add(
        self,
        kept: Sequence[StoredEvent] = (),
        marks: Mapping[str, JournalMark] | None = None,
        heads: Sequence[KeptHead] = (),
    ) -> asyncio.Future[None] | None:
        """Queue rows for one transaction. Return a future, or None if the queue is full.

        The future is done when the rows are on the disk.
        """
        size = sum(len(one.body) for one in kept)
        many = self._waiting_events + len(kept) + len(heads)
        full = many > self._max_events or self._waiting_bytes + size > MAX_WAITING_BYTES
        if full and (self._batches or self.is_away):
            self._refused += len(kept)
            return None
        batch = WriteBatch(tuple(kept), dict(marks or {}), tuple(heads))
        done = asyncio.get_running_loop().create_future()
        self._batches.append((batch, done))
        self._waiting_events = many
        self._waiting_bytes += size
        self._added.set()
        return done

    async def wait_until_written(self) -> None:
        """Wait until the queued rows are on the disk, or until the database is unavailable."""
        if not self._batches:
            return
        _, last = self._batches[-1]
        while not (last.done() or self.is_away):
            await self._attempted.wait()

    def shift_times(self, by_ms: int) -> None:
        """Add `by_ms` to the start time of an outage, because the clock was changed by `by_ms`."""
        if self._away_since_ms is not None:
            self._away_since_ms += by_ms

    async def close(self) -> None:
        """Write the waiting rows if the database is available, and end the writer's task."""
        self._closing.set()
        self._added.set()
        await asyncio.gather(self._task, return_exceptions=True)
        for _, done in self._batches:
            done.cancel()

    async def _write_batches(self) -> None:
        while self._batches or not self._closing.is_set():
            if not self._batches:
                self._added.clear()
                # A wait for a batch, or until it is time to check the database.
                await _wait_up_to(IDLE_CHECK_INTERVAL_S, self._added)
                if not self._batches and self._closing.is_set():
                    break
            group: list[WriteBatch] = []
            events = 0
            for batch, _ in self._batches:
                if group and events + len(batch.events) > GROUP_EVENTS:
                    break
                group.append(batch)
                events += len(batch.events)
            try:
                written = await self._run_blocking(partial(self._archive.write, group))
            except Exception as error:  # Any exception: the waiting rows must not be lost.
                ours = None if isinstance(error, StoreError) else error
                self._error = str(error)
                if self._away_since_ms is None:
                    self._away_since_ms = self._now_ms()
                    _log.warning(
                        "the store is away, events wait in memory", why=self._error, exc_info=ours
                    )
                    self._on_status()
                self._signal_attempt()
                if self._closing.is_set():
                    break
                await _wait_up_to(self._retry_s, self._closing)
                continue
            for batch in group:
                _, done = self._batches.popleft()
                self._waiting_events -= len(batch.events) + len(batch.heads)
                self._waiting_bytes -= sum(len(one.body) for one in batch.events)
                if not done.done():
                    done.set_result(None)
            if self._away_since_ms is not None:
                _log.info("the store is back", away_ms=self._now_ms() - self._away_since_ms)
                self._away_since_ms, self._error = None, ""
                self._on_status()
            self._on_written(written)
            self._signal_attempt()

    def _task_done(self, task: "asyncio.Task[None]") -> None:
        """Report the database as unavailable if the writer's task ended with an exception."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        self._error = str(error) or type(error).__name__
        if self._away_since_ms is None:
            self._away_since_ms = self._now_ms()
        self._signal_attempt()
        try:
            self._on_status()
        except Exception:
            _log.exception("not told that nothing is kept")

    def _signal_attempt(self) -> None:
        self._attempted.set()
        self._attempted = asyncio.Event()


async def _wait_up_to(timeout_s: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
