"""Who writes the journal's rows: a thread of its own in `run`, the caller in process.

A committer is handed groups of rows in order and answers each with the number of
the last row that is committed; answers come on the loop, never from inside
`commit`. The first refusal of the disk is the last answer: after a failed sync
nobody knows which rows the disk has, so no write is tried again.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from controller.journal.chain import Row
from controller.journal.errors import StorageFailed
from controller.journal.store import JournalStore


class Group(NamedTuple):
    """Rows to commit together. `last` is the number of the newest, also where `rows` is empty."""

    rows: Sequence[Row]
    last: int
    durable: bool


class RowsCommitted(NamedTuple):
    """All rows up to `last` are committed; if `durable`, the disk has them."""

    last: int
    durable: bool


Answer = Callable[[RowsCommitted | StorageFailed], None]


class Committer(Protocol):
    """Writes groups of rows in order."""

    def start(self, answer: Answer) -> None:
        """Take the function that gets the answers, on the running loop."""

    def commit(self, group: Group) -> None:
        """Take a group to write; never blocks on the thread's account, never raises."""

    def close(self) -> None:
        """Write what was handed in, then stop; no answer comes after this."""


class InlineCommitter:
    """Writes at once, in the caller: for simulated time, where no thread may be."""

    def __init__(self, store: JournalStore) -> None:
        """Take the store to write to."""
        self._store = store
        self._answer: Answer | None = None
        self._failed = False

    def start(self, answer: Answer) -> None:
        """See Committer."""
        self._answer = answer

    def commit(self, group: Group) -> None:
        """See Committer."""
        if self._failed or self._answer is None:
            return
        result = _write(self._store, [group])
        self._failed = isinstance(result, StorageFailed)
        asyncio.get_running_loop().call_soon(self._tell, result)

    def close(self) -> None:
        """See Committer."""
        self._answer = None

    def _tell(self, result: RowsCommitted | StorageFailed) -> None:
        if self._answer is not None:
            self._answer(result)


class ThreadCommitter:
    """One writer thread: what waits while it writes becomes one group, so a slow disk
    makes larger groups, not a slower loop."""

    def __init__(self, store: JournalStore) -> None:
        """Take the store; from `start` to `close` only the thread writes to it."""
        self._store = store
        self._waiting: queue.SimpleQueue[Group | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._answer: Answer | None = None
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    def start(self, answer: Answer) -> None:
        """See Committer."""
        self._loop, self._answer = asyncio.get_running_loop(), answer
        self._thread.start()

    def commit(self, group: Group) -> None:
        """See Committer."""
        self._waiting.put(group)

    def close(self) -> None:
        """See Committer. Waits for the thread: sync first, so that there is nothing to wait for."""
        self._answer = None
        self._waiting.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        failed = False
        open_for_more = True
        while open_for_more:
            groups, open_for_more = self._take()
            if groups and not failed:
                result = _write(self._store, groups)
                failed = isinstance(result, StorageFailed)
                self._post_result(result)

    def _take(self) -> tuple[list[Group], bool]:
        """Wait for a group and take all that came with it; False behind the last one."""
        taken = [self._waiting.get()]
        with contextlib.suppress(queue.Empty):
            while taken[-1] is not None:
                taken.append(self._waiting.get_nowait())
        return [group for group in taken if group is not None], taken[-1] is not None

    def _post_result(self, result: RowsCommitted | StorageFailed) -> None:
        assert self._loop is not None
        # The loop may be closed by now: its process ends and nobody listens.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._tell, result)

    def _tell(self, result: RowsCommitted | StorageFailed) -> None:
        if self._answer is not None:
            self._answer(result)


def _write(store: JournalStore, groups: Sequence[Group]) -> RowsCommitted | StorageFailed:
    durable = any(group.durable for group in groups)
    try:
        store.write([row for group in groups for row in group.rows], durable=durable)
    except StorageFailed as failure:
        return failure
    except Exception as error:  # a writer that ended without a word would hold up every sync
        return StorageFailed(f"the journal cannot be written: {error!r}")
    return RowsCommitted(groups[-1].last, durable)
