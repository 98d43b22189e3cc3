"""Committers, which write the journal's rows in the caller's thread or in a separate thread.

A committer receives groups of rows in order. After each commit it reports the number of the last
committed row. It reports by a call on the event loop, never from inside `commit`. The first error
of the disk is the last report. After a failed sync it is unknown which rows the disk has, so no
write is tried again.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from controller.journal.entries import StorageFailed, StoredRow
from controller.journal.store import JournalStore


class WriteGroup(NamedTuple):
    """A group of rows that are committed in one transaction.

    `last` is the number of the newest row, even if `rows` is empty. If `durable`, the rows must be
    on the disk before the result is reported.
    """

    rows: Sequence[StoredRow]
    last: int
    durable: bool


class RowsCommitted(NamedTuple):
    """A report that all rows up to number `last` are committed. `durable`: they are on the disk."""

    last: int
    durable: bool


CommitCallback = Callable[[RowsCommitted | StorageFailed], None]


class Committer(Protocol):
    """A writer that commits groups of rows in order and reports each result by a callback."""

    def start(self, on_result: CommitCallback) -> None:
        """Make `on_result` the function that the event loop calls with the result of each write."""

    def commit(self, group: WriteGroup) -> None:
        """Accept a group of rows to write. This never waits for another thread and never raises."""

    def close(self) -> None:
        """Write all accepted groups, then stop. No result comes after this."""


class InlineCommitter:
    """A committer that writes in the caller's thread, before `commit` returns."""

    def __init__(self, store: JournalStore) -> None:
        self._store = store
        self._on_result: CommitCallback | None = None
        self._failed = False

    def start(self, on_result: CommitCallback) -> None:
        """Call `on_result` from now on with the result of each write (see Committer)."""
        self._on_result = on_result

    def commit(self, group: WriteGroup) -> None:
        """Write the group before this call returns. After an error, write nothing."""
        if self._failed or self._on_result is None:
            return
        result = _write(self._store, [group])
        self._failed = isinstance(result, StorageFailed)
        asyncio.get_running_loop().call_soon(self._report, result)

    def close(self) -> None:
        """Report no more results. All accepted groups are written already."""
        self._on_result = None

    def _report(self, result: RowsCommitted | StorageFailed) -> None:
        if self._on_result is not None:
            self._on_result(result)


class ThreadCommitter:
    """A committer that writes in a separate thread.

    The groups that wait while the thread writes become one group. So a slow disk makes larger
    groups, and does not make the event loop slower.
    """

    def __init__(self, store: JournalStore) -> None:
        """Create the thread that writes. From `start` to `close`, only it may write to `store`."""
        self._store = store
        self._queue: queue.SimpleQueue[WriteGroup | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_result: CommitCallback | None = None
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self, on_result: CommitCallback) -> None:
        """Start the thread that writes. `on_result` receives the result of each write."""
        self._loop, self._on_result = asyncio.get_running_loop(), on_result
        self._thread.start()

    def commit(self, group: WriteGroup) -> None:
        """Add `group` to the queue of the thread that writes (see Committer)."""
        self._queue.put(group)

    def close(self) -> None:
        """Write all accepted groups, then stop (see Committer).

        This waits for the thread, so call sync first.
        """
        self._on_result = None
        self._queue.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        failed = False
        open_for_more = True
        while open_for_more:
            groups, open_for_more = self._take_groups()
            if groups and not failed:
                result = _write(self._store, groups)
                failed = isinstance(result, StorageFailed)
                assert self._loop is not None
                # The loop may be closed by now, because its process is ending.
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._report, result)

    def _take_groups(self) -> tuple[list[WriteGroup], bool]:
        """Wait for an item in the queue. Return all queued groups, and whether more may come."""
        taken = [self._queue.get()]
        with contextlib.suppress(queue.Empty):
            while taken[-1] is not None:
                taken.append(self._queue.get_nowait())
        return [group for group in taken if group is not None], taken[-1] is not None

    def _report(self, result: RowsCommitted | StorageFailed) -> None:
        if self._on_result is not None:
            self._on_result(result)


def _write(store: JournalStore, groups: Sequence[WriteGroup]) -> RowsCommitted | StorageFailed:
    durable = any(group.durable for group in groups)
    try:
        store.write([row for group in groups for row in group.rows], durable=durable)
    except StorageFailed as failure:
        return failure
    except Exception as error:  # A writer that ends silently blocks every sync.
        return StorageFailed(f"the journal cannot be written: {error!r}")
    return RowsCommitted(groups[-1].last, durable)
