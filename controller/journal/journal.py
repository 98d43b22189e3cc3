"""The journal for the machine: an entry is appended now, and reported later when it is stored."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from controller.journal.committer import Committer, RowsCommitted, WriteGroup
from controller.journal.entries import (
    ChainedEntry,
    JournalEntry,
    StorageFailed,
    StoredRow,
    decode,
    encode,
    next_head,
)
from controller.journal.store import JournalStore


def _no_callback(_: Any) -> None:
    """Do nothing. This is the default of a callback that is not set."""


class Journal:
    """The journal of a running machine, which appends entries to a store through a committer.

    All callbacks come on the loop. `on_committed(entries)` receives every entry once, in order,
    after its commit. A public entry is durable before that: a published entry cannot be lost with
    the power. `on_failed(failure)` comes at most once, when the disk refuses to write or read. From
    then on entries are still chained but never stored, and every `sync` raises StorageFailed.
    """

    def __init__(
        self, store: JournalStore, committer: Committer, *, wall: Callable[[], str], boot: str
    ) -> None:
        """Continue after the store's last entry.

        `wall` returns UTC as ISO text. `boot` is hex. The event loop must be running.
        """
        self.on_committed: Callable[[Sequence[ChainedEntry]], None] = _no_callback
        self.on_failed: Callable[[StorageFailed], None] = _no_callback
        self._store = store
        self._committer = committer
        self._wall = wall
        self._boot = boot
        self._last_number, self._head = store.last()
        self._last_committed = self._last_synced = self._last_sync_requested = self._last_number
        self._unwritten: list[ChainedEntry] = []
        self._handed_over: deque[ChainedEntry] = deque()
        self._sync_waiters: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._failure: StorageFailed | None = None
        committer.start(self._on_write_result)

    @property
    def last_number(self) -> int:
        """Return the number of the newest entry, or 0 in an empty journal."""
        return self._last_number

    @property
    def head(self) -> bytes:
        """Return the head of the chain after the newest entry, 32 bytes."""
        return self._head

    @property
    def last_committed(self) -> int:
        """Return the number of the newest entry that survives the end of this process."""
        return self._last_committed

    @property
    def last_synced(self) -> int:
        """Return the number of the newest entry that survives a power cut."""
        return self._last_synced

    def append(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        deal: int | None = None,
        attempt: int | None = None,
        public: bool,
    ) -> ChainedEntry:
        """Number and chain an entry, and return it.

        `flush` or `sync` stores the entry. Raises ValueError for data that an entry cannot contain
        (entries.py).
        """
        entry = JournalEntry(
            n=self._last_number + 1,
            time=self._wall(),
            boot=self._boot,
            kind=kind,
            public=public,
            deal=deal,
            attempt=attempt,
            data=dict(data),
        )
        body = encode(entry)
        head = next_head(self._head, body)
        # The entry is decoded again, so that a fold gets the same values as a reader of the file.
        chained = ChainedEntry(entry=decode(body), body=body, prev=self._head, head=head)
        self._last_number, self._head = entry.n, head
        if self._failure is None:
            self._unwritten.append(chained)
        return chained

    def flush(self) -> None:
        """Pass on all appended entries to be committed, with a sync if any of them is public."""
        if self._unwritten:
            self._hand_over(durable=any(item.entry.public for item in self._unwritten))

    async def sync(self) -> None:
        """Wait until everything appended so far is durable.

        Raises StorageFailed if the disk has refused to write or read.
        """
        if self._failure is not None:
            raise self._failure
        if self._last_synced >= self._last_number:
            return
        if self._last_sync_requested < self._last_number:
            self._hand_over(durable=True)
        done = asyncio.get_running_loop().create_future()
        self._sync_waiters.append((self._last_number, done))
        await done

    async def close(self) -> None:
        """Sync, then close committer and store. Raises StorageFailed after both are closed."""
        try:
            await self.sync()
        finally:
            self._committer.close()
            self._store.close()

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[ChainedEntry]:
        """Yield committed entries after number `after`, at most `limit` of them.

        Raises StorageFailed.
        """
        try:
            yield from self._store.entries(after, limit)
        except StorageFailed as failure:
            self._fail(failure)
            raise

    def _hand_over(self, *, durable: bool) -> None:
        rows = [StoredRow(item.entry.n, item.body, item.head) for item in self._unwritten]
        self._handed_over.extend(self._unwritten)
        self._unwritten.clear()
        if durable:
            self._last_sync_requested = self._last_number
        self._committer.commit(WriteGroup(rows, self._last_number, durable))

    def _on_write_result(self, result: RowsCommitted | StorageFailed) -> None:
        if isinstance(result, StorageFailed):
            self._fail(result)
            return
        self._last_committed = max(self._last_committed, result.last)
        if result.durable:
            self._last_synced = result.last
        try:
            self._publish()
        finally:  # The rows are durable even if `on_committed` fails.
            while self._sync_waiters and self._sync_waiters[0][0] <= self._last_synced:
                _, done = self._sync_waiters.popleft()
                if not done.done():
                    done.set_result(None)

    def _publish(self) -> None:
        ready = []
        while self._handed_over and self._handed_over[0].entry.n <= self._last_committed:
            ready.append(self._handed_over.popleft())
        if ready:
            self.on_committed(ready)

    def _fail(self, failure: StorageFailed) -> None:
        if self._failure is not None:
            return
        self._failure = failure
        self._unwritten.clear()
        self._handed_over.clear()
        while self._sync_waiters:
            _, done = self._sync_waiters.popleft()
            if not done.done():
                done.set_exception(failure)
        self.on_failed(failure)
