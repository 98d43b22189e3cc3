"""What is heard goes to the archive in groups, and waits in memory while the database is away.

While one group is written the next one gathers, so that a slow database makes larger groups and
never a slower loop. What finds no room is refused: who had it asks the table for it later. Where
writing itself ends by a fault of ours the console ends, as it does by any other (running.py); until
then the database is said to be away, so that nobody waits for it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from controller.console.seen import Begin, Run, StoreStanding
from controller.console.store.archive import Archive, Batch, Kept, Mark, StoreError, Written
from controller.heads import KeptHead
from controller.loggers import structlog

MOST_EVENTS: Final = 20_000
"""Events that wait at most, over all tables (provisional): some minutes of a large hall."""
MOST_BYTES: Final = 32 << 20
"""Bytes of their texts."""
GROUP: Final = 2_000
"""Events of one transaction, about."""
RETRY_S: Final = 1.0
LOOK_S: Final = 5.0
"""In a quiet hall the database is tried so often: people's orders need it, too."""
_log = structlog.get_logger("console")


class Writer:
    """Writes what the tables said, in the order in which it was given.

    `run` runs a blocking call on the store's thread; `now_ms` is the console's clock. `on_written`
    is told of each batch that is on the disk, `on_standing` when the database went or came back.
    `begin` begins what the console cannot be without.
    """

    def __init__(
        self,
        archive: Archive,
        run: Run,
        now_ms: Callable[[], int],
        on_written: Callable[[Written], None] = lambda written: None,
        on_standing: Callable[[], None] = lambda: None,
        retry_s: float = RETRY_S,
        most_events: int = MOST_EVENTS,
        begin: Begin = asyncio.create_task,
    ) -> None:
        """Begin to write; needs a running loop."""
        self._archive, self._run, self._now_ms = archive, run, now_ms
        self._on_written, self._on_standing = on_written, on_standing
        self._retry_s, self._most = retry_s, most_events
        self._batches: deque[tuple[Batch, asyncio.Future[None]]] = deque()
        self._events = self._bytes = self._refused = 0
        self._away_since_ms: int | None = None
        self._why = ""
        self._news = asyncio.Event()
        self._tried = asyncio.Event()
        self._closing = asyncio.Event()
        self._task = begin(self._write_on())
        self._task.add_done_callback(self._is_over)

    @property
    def standing(self) -> StoreStanding:
        """How the database is."""
        return StoreStanding(
            away_since_ms=self._away_since_ms,
            why=self._why,
            waiting=self._events,
            refused=self._refused,
        )

    @property
    def away(self) -> bool:
        """Whether the database took nothing when it was last tried."""
        return self._away_since_ms is not None

    def keep(
        self,
        kept: Sequence[Kept] = (),
        marks: Mapping[str, Mark] | None = None,
        heads: Sequence[KeptHead] = (),
    ) -> asyncio.Future[None] | None:
        """Take what came together, to be written together; None where there is no room for it.

        What is returned is done when it is on the disk.
        """
        size = sum(len(one.body) for one in kept)
        many = self._events + len(kept) + len(heads)
        full = many > self._most or self._bytes + size > MOST_BYTES
        if full and (self._batches or self.away):
            self._refused += len(kept)
            return None
        batch = Batch(tuple(kept), dict(marks or {}), tuple(heads))
        done = asyncio.get_running_loop().create_future()
        self._batches.append((batch, done))
        self._events = many
        self._bytes += size
        self._news.set()
        return done

    async def settled(self) -> None:
        """Return once all that was taken by now is on the disk, or the database takes nothing."""
        if not self._batches:
            return
        _, last = self._batches[-1]
        while not (last.done() or self.away):
            await self._tried.wait()

    def stepped(self, by_ms: int) -> None:
        """Take it that the console's clock was set by so much."""
        if self._away_since_ms is not None:
            self._away_since_ms += by_ms

    async def close(self) -> None:
        """Write what waits, if the database takes it, and stop."""
        self._closing.set()
        self._news.set()
        await asyncio.gather(self._task, return_exceptions=True)
        for _, done in self._batches:
            done.cancel()

    async def _write_on(self) -> None:
        while self._batches or not self._closing.is_set():
            if not self._batches:
                self._news.clear()
                await self._rest()
                if not self._batches and self._closing.is_set():
                    break
            group = self._group()
            try:
                written = await self._run(partial(self._archive.write, group))
            except Exception as error:  # whatever it is: what waits is not lost by it
                self._went(error)
                self._tell_tried()
                if self._closing.is_set():
                    break
                await self._pause()
                continue
            self._done(group)
            self._came()
            self._on_written(written)
            self._tell_tried()

    def _is_over(self, task: "asyncio.Task[None]") -> None:
        """Say that nothing is taken down any more, where a fault of ours has ended the writing."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        self._why = str(error) or type(error).__name__
        if self._away_since_ms is None:
            self._away_since_ms = self._now_ms()
        self._tell_tried()
        try:
            self._on_standing()
        except Exception:
            _log.exception("not told that nothing is kept")

    async def _rest(self) -> None:
        """Wait for something to write, or until it is time to look whether anything could be."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await self._news.wait()

    def _tell_tried(self) -> None:
        self._tried.set()
        self._tried = asyncio.Event()

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._retry_s):
                await self._closing.wait()

    def _group(self) -> list[Batch]:
        """Return what is written next; it stays in its place until it is on the disk."""
        group: list[Batch] = []
        events = 0
        for batch, _ in self._batches:
            if group and events + len(batch.kept) > GROUP:
                break
            group.append(batch)
            events += len(batch.kept)
        return group

    def _done(self, group: Sequence[Batch]) -> None:
        for batch in group:
            _, done = self._batches.popleft()
            self._events -= len(batch.kept) + len(batch.heads)
            self._bytes -= sum(len(one.body) for one in batch.kept)
            if not done.done():
                done.set_result(None)

    def _went(self, error: Exception) -> None:
        ours = None if isinstance(error, StoreError) else error
        self._why = str(error)
        if self._away_since_ms is None:
            self._away_since_ms = self._now_ms()
            _log.warning("the store is away, events wait in memory", why=self._why, exc_info=ours)
            self._on_standing()

    def _came(self) -> None:
        if self._away_since_ms is not None:
            _log.info("the store is back", away_ms=self._now_ms() - self._away_since_ms)
            self._away_since_ms, self._why = None, ""
            self._on_standing()
