"""Appending: numbered and chained at once, told of once it is kept, never lost in silence."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.journal.committer import Committer, InlineCommitter, ThreadCommitter
from controller.journal.entries import (
    ZERO_HEAD,
    ChainedEntry,
    PrivateEntryError,
    StorageFailed,
    encode,
    entry_from_event,
    next_head,
    public_event,
)
from controller.journal.journal import Journal
from controller.journal.store import JournalStore
from tests.journal.failing import Disk, failing
from tests.journal.scripted import wall
from tests.waiting import turn

Opener = Callable[[], Journal]
COMMITTERS = [InlineCommitter, ThreadCommitter]


class Heard:
    """What a journal told its owner."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.committed: list[ChainedEntry] = []
        self.failures: list[StorageFailed] = []
        self._waiting: asyncio.Future[None] | None = None
        journal.on_committed = self._on_committed
        journal.on_failed = self.failures.append

    def _on_committed(self, entries: Sequence[ChainedEntry]) -> None:
        assert entries, "never called for nothing"
        assert self.journal.last_committed >= entries[-1].entry.n
        if any(item.entry.public for item in entries):
            assert self.journal.last_synced >= max(e.entry.n for e in entries if e.entry.public)
        self.committed.extend(entries)
        if self._waiting is not None:
            self._waiting.set_result(None)
            self._waiting = None

    async def next(self) -> None:
        """Wait for the next call."""
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting


def open_journal(state_dir: Path, kind: type[Any], disk: Disk | None = None) -> Journal:
    store = JournalStore.open(state_dir, failing(disk)) if disk else JournalStore.open(state_dir)
    committer: Committer = kind(store)
    return Journal(store, committer, wall=wall, boot="b007")


@pytest.fixture(params=COMMITTERS, ids=["inline", "thread"])
async def journal(request: pytest.FixtureRequest, state_dir: Path) -> AsyncIterator[Journal]:
    opened = open_journal(state_dir, request.param)
    yield opened
    await opened.close()


async def test_an_entry_has_its_number_and_head_at_once(journal: Journal) -> None:
    first = journal.append("opened", {"table": "T01"}, public=True)
    second = journal.append("cut", {"cut": 41}, deal=1, attempt=1, public=True)
    assert (first.entry.n, first.prev) == (1, ZERO_HEAD)
    assert (second.entry.n, second.prev) == (2, first.head)
    assert second.head == next_head(first.head, second.body) == journal.head


async def test_entries_are_told_once_in_order_after_their_commit(journal: Journal) -> None:
    heard = Heard(journal)
    appended = []
    for n in range(1, 60):
        appended.append(journal.append("wire", {"b": "", "boots": {}}, public=n % 7 == 0))
        if n % 3 == 0:
            journal.flush()
        if n % 20 == 0:
            await turn()
    assert heard.committed != appended
    await journal.sync()
    assert heard.committed == appended
    assert list(journal.entries()) == appended


async def test_nothing_is_told_from_inside_append_flush_or_sync(journal: Journal) -> None:
    heard = Heard(journal)
    journal.append("opened", {}, public=True)
    journal.flush()
    assert heard.committed == []
    await journal.sync()
    assert len(heard.committed) == 1


async def test_a_sync_ends_when_all_before_it_is_durable(journal: Journal) -> None:
    journal.append("seed", {"box": ""}, public=False)
    await journal.sync()
    assert (journal.last_synced, journal.last_committed, journal.last_number) == (1, 1, 1)


async def test_syncs_that_wait_together_all_end(journal: Journal) -> None:
    waiting = []
    for _ in range(5):
        journal.append("seed", {"box": ""}, public=False)
        waiting.append(asyncio.ensure_future(journal.sync()))
    await asyncio.gather(*waiting)
    assert journal.last_synced == 5


async def test_a_sync_somebody_gave_up_harms_no_other(journal: Journal) -> None:
    journal.append("seed", {"box": ""}, public=False)
    given_up = asyncio.ensure_future(journal.sync())
    await turn()
    given_up.cancel()
    journal.append("seed", {"box": ""}, public=False)
    await journal.sync()
    assert journal.last_synced == 2


async def test_a_journal_goes_on_where_it_ended(state_dir: Path) -> None:
    for run in range(3):
        journal = open_journal(state_dir, ThreadCommitter)
        assert journal.last_number == run
        appended = journal.append("opened", {"run": run}, public=True)
        await journal.close()
        assert appended.entry.n == run + 1


async def test_entries_can_be_asked_for_behind_a_number(journal: Journal) -> None:
    appended = [journal.append("counters", {"i": i}, public=True) for i in range(9)]
    await journal.sync()
    assert list(journal.entries(after=4)) == appended[4:]
    assert list(journal.entries(after=4, limit=2)) == appended[4:6]
    assert list(journal.entries(limit=2)) == appended[:2]
    assert list(journal.entries(after=99)) == []


async def test_a_private_entry_never_becomes_an_event(journal: Journal) -> None:
    seed = journal.append("seed", {"box": "secret"}, deal=1, attempt=1, public=False)
    with pytest.raises(PrivateEntryError) as refused:
        public_event(seed, "T01", True)
    assert "secret" not in str(refused.value)


async def test_an_event_is_its_entry_again(journal: Journal) -> None:
    cut = journal.append("cut", {"cut": 41, "who": "南"}, deal=3, attempt=7, public=True)
    event = public_event(cut, "T01", False)
    assert (event.n, event.deal, event.attempt, event.simulated) == (1, 3, 7, False)
    assert encode(entry_from_event(event)) == cut.body


@pytest.mark.parametrize("value", [0.5, b"raw", {1: "a"}, 2**60, object(), "\ud800"])
async def test_what_two_writers_might_spell_differently_is_refused(
    journal: Journal, value: object
) -> None:
    with pytest.raises(ValueError, match=r"cut|surrogates"):
        journal.append("cut", {"deep": [{"x": value}]}, public=True)
    assert journal.last_number == 0


async def test_an_entry_too_long_for_the_chain_is_refused(journal: Journal) -> None:
    with pytest.raises(ValueError, match="65535"):
        journal.append("record", {"events": "x" * 65535}, public=True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(data=st.dictionaries(st.text(), json_values))
def test_whatever_an_entry_may_hold_comes_back_the_same(data: dict[str, Any]) -> None:
    async def there_and_back() -> None:
        store = JournalStore.in_memory()
        journal = Journal(store, InlineCommitter(store), wall=wall, boot="b007")
        appended = journal.append("command", data, public=True)
        await journal.sync()
        assert appended.entry.data == data
        assert list(journal.entries()) == [appended]
        await journal.close()

    asyncio.run(there_and_back())


@pytest.mark.virtual
async def test_a_journal_in_process_needs_no_thread_and_no_time() -> None:
    store = JournalStore.in_memory()
    journal = Journal(store, InlineCommitter(store), wall=wall, boot="b007")
    before = asyncio.get_running_loop().time()
    journal.append("opened", {}, public=True)
    await journal.sync()
    await journal.close()
    assert asyncio.get_running_loop().time() == before


# When the disk refuses.


@pytest.mark.parametrize("kind", COMMITTERS)
async def test_a_disk_that_refuses_is_told_once_and_every_sync_raises(
    state_dir: Path, kind: type[Any]
) -> None:
    disk = Disk()
    journal = open_journal(state_dir, kind, disk)
    heard = Heard(journal)
    kept = journal.append("opened", {}, public=True)
    await journal.sync()
    disk.full = True
    journal.append("cut", {"cut": 41}, public=True)
    waiting = [asyncio.ensure_future(journal.sync()) for _ in range(3)]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [StorageFailed] * 3
    assert "disk I/O error" in str(results[0])
    disk.full = False
    journal.append("cut", {"cut": 42}, public=True)
    journal.flush()
    with pytest.raises(StorageFailed):
        await journal.sync()
    assert len(heard.failures) == 1
    assert heard.committed == [kept]
    with pytest.raises(StorageFailed):
        await journal.close()
    again = open_journal(state_dir, kind)
    assert list(again.entries()) == [kept]
    await again.close()


@pytest.mark.parametrize("kind", COMMITTERS)
@pytest.mark.parametrize("surprise", [MemoryError(), OverflowError("too large"), KeyError("n")])
async def test_a_write_that_fails_for_whatever_reason_ends_every_sync(
    state_dir: Path, kind: type[Any], surprise: Exception
) -> None:
    disk = Disk()
    journal = open_journal(state_dir, kind, disk)
    heard = Heard(journal)
    disk.surprise = surprise
    journal.append("opened", {}, public=True)
    with pytest.raises(StorageFailed, match=type(surprise).__name__):
        await journal.sync()
    with pytest.raises(StorageFailed):
        await journal.close()
    assert (len(heard.failures), heard.committed) == (1, [])


@pytest.mark.parametrize("kind", COMMITTERS)
async def test_a_journal_that_cannot_be_read_is_a_storage_failure_told_once(
    state_dir: Path, kind: type[Any]
) -> None:
    disk = Disk()
    journal = open_journal(state_dir, kind, disk)
    heard = Heard(journal)
    disk.reads = 0
    for _ in range(2):
        with pytest.raises(StorageFailed, match="cannot be read: disk I/O error"):
            list(journal.entries())
    assert len(heard.failures) == 1
    with pytest.raises(StorageFailed):
        await journal.close()


@pytest.mark.parametrize("kind", COMMITTERS)
async def test_a_sync_ends_also_where_the_owner_fails_over_what_was_committed(
    state_dir: Path, kind: type[Any]
) -> None:
    journal = open_journal(state_dir, kind)
    raised: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: raised.append(context.get("exception"))
    )
    failure = RuntimeError("a reader of the feed")

    def fail(entries: Sequence[ChainedEntry]) -> None:
        raise failure

    journal.on_committed = fail
    journal.append("opened", {}, public=True)
    await journal.sync()
    assert (journal.last_synced, raised) == (1, [failure])
    await journal.close()


async def test_a_really_full_disk_is_a_storage_failure(state_dir: Path) -> None:
    disk = Disk()
    journal = open_journal(state_dir, ThreadCommitter, disk)
    assert disk.connection is not None
    disk.connection.execute("PRAGMA max_page_count = 8")
    with pytest.raises(StorageFailed, match="full"):
        await fill(journal)
    with pytest.raises(StorageFailed):
        await journal.close()


async def fill(journal: Journal) -> None:
    for _ in range(100):
        journal.append("record", {"events": "x" * 9000}, public=False)
        await journal.sync()


async def test_a_slow_disk_stops_neither_the_loop_nor_an_append(state_dir: Path) -> None:
    disk = Disk()
    journal = open_journal(state_dir, ThreadCommitter, disk)
    heard = Heard(journal)
    disk.hold()
    for _ in range(500):
        journal.append("wire", {"b": "", "boots": {}}, public=False)
        journal.flush()
    syncing = asyncio.ensure_future(journal.sync())
    for _ in range(10):
        await turn()
    assert journal.last_number == 500
    assert not syncing.done()
    assert heard.committed == []
    disk.let_go()
    await syncing
    assert len(heard.committed) == 500
    # What waited together was committed together.
    assert disk.commits <= 3
    await journal.close()


@pytest.mark.parametrize("kind", COMMITTERS)
async def test_a_sync_commits_with_full_synchronisation_and_a_flush_without(
    state_dir: Path, kind: type[Any]
) -> None:
    disk = Disk()
    journal = open_journal(state_dir, kind, disk)
    heard = Heard(journal)
    disk.levels.clear()
    journal.append("wire", {"b": "", "boots": {}}, public=False)
    journal.flush()
    await heard.next()
    assert disk.levels == [(NORMAL, 1)]
    await journal.sync()
    assert disk.levels[1:] == [(FULL, 0)], "written before, durable only now: a commit all the same"
    journal.append("wire", {"b": "", "boots": {}}, public=False)
    await journal.sync()
    assert disk.levels[2:] == [(FULL, 1)]
    journal.append("cut", {"cut": 41}, public=True)
    journal.flush()
    await heard.next()
    assert disk.levels[3:] == [(FULL, 1)], "what goes on the feed is durable before"
    await journal.sync()
    assert len(disk.levels) == 4, "nothing is left to do"
    await journal.close()


NORMAL, FULL = 1, 2
