"""The journal that the machine writes. A callback receives each appended entry after its commit."""

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


class Journal:
    """The journal of a running machine, which numbers and chains entries and writes them to disk.

    All callbacks come on the loop. `on_committed(entries)` receives every entry once, in order,
    after its commit. A public entry is durable before that, so a published entry cannot be lost
    when the power fails. `on_failed(failure)` comes at most once, when the disk refuses to write or
    read. From then on entries are still chained but never stored, and every `sync` raises
    StorageFailed.

    `last_number` is the number of the newest entry, or 0 in an empty journal, and `head` is the
    head of the chain after it (32 bytes). `last_committed` is the number of the newest entry that
    survives the end of this process. `last_synced` is the number of the newest entry that survives
    a power cut.
    """

    def __init__(
        self, store: JournalStore, committer: Committer, *, wall: Callable[[], str], boot: str
    ) -> None:
        """Continue the chain after the last entry of `store`.

        `wall` returns UTC as ISO text. `boot` identifies this run of the daemon (hex). The event
        loop must be running.
        """
        self.on_committed: Callable[[Sequence[ChainedEntry]], None] = lambda entries: None
        self.on_failed: Callable[[StorageFailed], None] = lambda failure: None
        self._store, self._committer, self._wall = store, committer, wall
        self._boot = boot
        self.last_number, self.head = store.last()
        self.last_committed = self.last_synced = self._last_sync_requested = self.last_number
        self._unwritten: list[ChainedEntry] = []
        self._handed_over: deque[ChainedEntry] = deque()
        self._sync_waiters: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._failure: StorageFailed | None = None
        committer.start(self._on_write_result)

    def append(
        self,
        kind: str,
        data: Mapping[str, Any],
        *,
        deal: int | None = None,
        attempt: int | None = None,
        public: bool,
    ) -> ChainedEntry:
        """Create the next entry of the chain in memory, and return it.

        `flush` or `sync` stores the entry on the disk. Raises ValueError for data that an entry
        cannot contain (entries.py).
        """
        entry = JournalEntry(
            n=self.last_number + 1,
            time=self._wall(),
            boot=self._boot,
            kind=kind,
            public=public,
            deal=deal,
            attempt=attempt,
            data=dict(data),
        )
        body = encode(entry)
        head = next_head(self.head, body)
        # The entry is decoded again, so that a fold gets the same values as a reader of the file.
        chained = ChainedEntry(entry=decode(body), body=body, prev=self.head, head=head)
        self.last_number, self.head = entry.n, head
        if self._failure is None:
            self._unwritten.append(chained)
        return chained

    def flush(self) -> None:
        """Pass to the committer all appended entries that it has not received yet.

        The committer writes them. If one of them is public, it also syncs all of them to the disk.
        """
        if self._unwritten:
            self._hand_over(durable=any(item.entry.public for item in self._unwritten))

    async def sync(self) -> None:
        """Wait until all entries that were appended before this call are on the disk.

        Raises StorageFailed if the disk has refused to write or read.
        """
        if self._failure is not None:
            raise self._failure
        if self.last_synced >= self.last_number:
            return
        if self._last_sync_requested < self.last_number:
            self._hand_over(durable=True)
        done = asyncio.get_running_loop().create_future()
        self._sync_waiters.append((self.last_number, done))
        await done

    async def close(self) -> None:
        """Wait until all entries are on the disk, then close the committer and the journal file.

        Raises StorageFailed after both are closed.
        """
        try:
            await self.sync()
        finally:
            self._committer.close()
            self._store.close()

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[ChainedEntry]:
        """Yield at most `limit` stored entries (None: all), beginning with number `after` + 1.

        Raises StorageFailed if the disk refuses to read.
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
            self._last_sync_requested = self.last_number
        self._committer.commit(WriteGroup(rows, self.last_number, durable))

    def _on_write_result(self, result: RowsCommitted | StorageFailed) -> None:
        if isinstance(result, StorageFailed):
            self._fail(result)
            return
        self.last_committed = max(self.last_committed, result.last)
        if result.durable:
            self.last_synced = result.last
        ready = []
        while self._handed_over and self._handed_over[0].entry.n <= self.last_committed:
            ready.append(self._handed_over.popleft())
        try:
            if ready:
                self.on_committed(ready)
        finally:  # The rows are durable even if `on_committed` fails.
            while self._sync_waiters and self._sync_waiters[0][0] <= self.last_synced:
                _, done = self._sync_waiters.popleft()
                if not done.done():
                    done.set_result(None)

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
