"""What was heard is written in groups and in order, and waits while the database is away."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from controller.console.console import TaskSupervisor
from controller.console.store.archive import (
    Archive,
    JournalMark,
    StoredEvent,
    WriteBatch,
    WriteResult,
)
from controller.console.store.database import StoreError
from controller.console.store.event_writer import (
    IDLE_CHECK_INTERVAL_S,
    RETRY_INTERVAL_S,
    EventWriter,
)
from controller.console.table_snapshots import Result
from tests.console.journal import Journal
from tests.waiting import until

pytestmark = pytest.mark.virtual


class Disk(Archive):
    """An archive that takes down what it is given, as long as it is there.

    `asked`: how many groups it was given. While it is `held` it writes one for each `go_on`.
    """

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.asked = 0
        self.away = self.held = False
        self._may = asyncio.Semaphore(0)

    async def run(self, call: Callable[[], Result], /) -> Result:
        """Run a call, as the thread of a store does, once it may."""
        self.asked += 1
        if self.held:
            await self._may.acquire()
        return call()

    def go_on(self) -> None:
        """Let a group be written that is held up, or the next one."""
        self._may.release()

    def let_go(self) -> None:
        """Hold nothing up any more."""
        self.held = False
        self.go_on()

    def write(self, batches: Sequence[WriteBatch]) -> WriteResult:
        if self.away:
            raise StoreError("no such disk")
        self.groups.append([one.event.n for batch in batches for one in batch.events])
        return WriteResult(0, {}, ())


def events(count: int) -> list[StoredEvent]:
    journal = Journal()
    return [StoredEvent(journal.happens(), b"{}") for _ in range(count)]


@pytest.fixture
def disk() -> Disk:
    """An archive that can go away."""
    return Disk()


@pytest.fixture
async def make(disk: Disk) -> AsyncIterator[Callable[..., EventWriter]]:
    """Makes writers."""
    made: list[EventWriter] = []

    def make(**more: Any) -> EventWriter:
        made.append(EventWriter(disk, disk.run, lambda: 77, **more))
        return made[-1]

    yield make
    disk.let_go()
    disk.away = False
    for writer in made:
        await writer.close()


async def test_what_comes_while_one_group_is_written_becomes_the_next_one(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer, kept = make(), events(6)
    disk.held = True
    first = writer.add(kept[:1])
    await until(lambda: disk.asked == 1)
    later = [writer.add([one]) for one in kept[1:]]
    disk.let_go()
    assert first is not None
    await first
    for done in later:
        assert done is not None
        await done
    assert disk.groups == [[1], [2, 3, 4, 5, 6]]
    assert writer.status.waiting == 0


async def test_while_the_database_is_away_events_wait_and_that_is_said(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer, kept = make(), events(3)
    disk.away = True
    done = [writer.add([one]) for one in kept]
    await until(lambda: writer.is_away)
    assert writer.status.away_since_ms == 77
    assert writer.status.why == "no such disk"
    assert writer.status.waiting == 3
    disk.away = False
    for one in done:
        assert one is not None
        await one
    assert [n for group in disk.groups for n in group] == [1, 2, 3]
    assert not writer.is_away


async def test_what_finds_no_room_is_refused_and_counted(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer, kept = make(max_events=4), events(7)
    disk.away = True
    assert writer.add(kept[:3]) is not None
    assert writer.add(kept[3:5]) is None
    assert writer.add(kept[5:6]) is not None
    assert writer.status.refused == 2
    assert writer.status.waiting == 4


async def test_who_reads_waits_for_what_was_taken_before_and_for_nothing_later(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer, kept = make(), events(3)
    await writer.wait_until_written()
    disk.held = True
    writer.add(kept[:1])
    await until(lambda: disk.asked == 1)
    writer.add(kept[1:2])
    settled = asyncio.ensure_future(writer.wait_until_written())
    disk.go_on()
    await until(lambda: disk.asked == 2)  # the first is written, and the second is begun
    assert not settled.done()
    writer.add(kept[2:])
    disk.go_on()
    await settled
    assert disk.groups == [[1], [2]]


async def test_who_reads_does_not_wait_for_a_database_that_is_away(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer, kept = make(), events(2)
    disk.away = disk.held = True
    writer.add(kept[:1])
    settled = asyncio.ensure_future(writer.wait_until_written())
    await until(lambda: disk.asked == 1)
    assert not settled.done()
    disk.let_go()
    await settled
    writer.add(kept[1:])
    await writer.wait_until_written()
    assert writer.status.waiting == 2


async def test_one_batch_larger_than_all_room_is_taken_where_nothing_waits(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    done = make(max_events=2).add(events(5))
    assert done is not None
    await done
    assert disk.groups == [[1, 2, 3, 4, 5]]


async def test_who_closes_it_has_all_written_and_waits_for_no_database_that_is_away(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer = make()
    writer.add(events(2))
    await writer.close()
    assert disk.groups == [[1, 2]]
    disk.away = True
    other = make()
    left = other.add(events(1), {"T01": JournalMark(1, "0" * 64)})
    await other.close()
    assert left is not None
    assert left.cancelled()


async def test_in_a_quiet_hall_it_is_found_out_that_the_database_is_away_and_that_it_is_back(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    writer = make()
    disk.away = True
    await asyncio.sleep(IDLE_CHECK_INTERVAL_S + 0.1)
    assert writer.is_away
    disk.away = False
    await asyncio.sleep(RETRY_INTERVAL_S + IDLE_CHECK_INTERVAL_S)
    assert not writer.is_away


async def test_whatever_fails_in_writing_loses_nothing_and_is_said(
    make: Callable[..., EventWriter], disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(disk, "write", lambda batches: 1 // 0)
        writer = make()
        done = writer.add(events(2))
        await until(lambda: writer.is_away)
        assert writer.status.why
    assert done is not None
    await done
    assert [group for group in disk.groups if group] == [[1, 2]]


@pytest.mark.parametrize("what", ["on_written", "on_status"])
async def test_writing_that_ended_by_a_fault_is_said_and_keeps_nobody_waiting(
    make: Callable[..., EventWriter], disk: Disk, what: str
) -> None:
    told: list[bool] = []

    def breaks(*_: object) -> None:
        told.append(True)
        raise ZeroDivisionError

    writer = make(max_events=2, **{what: breaks})
    disk.away = what == "on_status"
    writer.add(events(1))
    await until(lambda: told and writer.is_away)
    await writer.wait_until_written()
    assert writer.status.away_since_ms == 77
    assert writer.status.why
    writer.add(events(1))
    await writer.wait_until_written()
    while writer.add(events(1)) is not None:  # it does not pile up without end
        pass
    assert writer.status.waiting <= 2


async def test_who_has_to_know_is_told_that_writing_has_ended(
    make: Callable[..., EventWriter],
) -> None:
    held: list[bool] = []

    def breaks(written: WriteResult) -> None:
        raise ZeroDivisionError

    def hold() -> None:
        held.append(writer.is_away)

    writer: EventWriter = make(on_written=breaks, on_status=hold)
    writer.add(events(1))
    await until(lambda: held)
    left = writer.add(events(1))
    await writer.close()
    assert held == [True]
    assert left is not None
    assert left.cancelled()


async def test_the_console_ends_where_writing_ends_by_a_fault_and_not_where_the_database_is_away(
    make: Callable[..., EventWriter], disk: Disk
) -> None:
    running = TaskSupervisor()

    def breaks(written: WriteResult) -> None:
        raise ZeroDivisionError

    disk.away = True
    writer = make(on_written=breaks, start_task=running.start)
    writer.add(events(1))
    await until(lambda: disk.asked > 1)  # it is tried again
    assert not running.stopping.is_set()
    disk.away = False
    await running.stopping.wait()
    assert isinstance(running.failure, ZeroDivisionError)


async def never() -> None:
    await asyncio.Event().wait()


async def test_what_is_ended_on_purpose_is_no_failure_of_the_console() -> None:
    running = TaskSupervisor()
    ended = running.start(never())
    over = running.start(asyncio.sleep(0))
    ended.cancel()
    await asyncio.gather(ended, over, return_exceptions=True)
    assert running.failure is None
    assert not running.stopping.is_set()
