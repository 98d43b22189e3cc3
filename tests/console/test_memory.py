"""What the console holds in memory does not grow with what it has heard."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import Engine, event

from controller.console.feed.event_intake import EventIntake
from controller.console.store.archive import Archive, JournalMark, StoredEvent, WriteBatch
from controller.messages import PublicEvent
from tests.console.journal import Journal


class Disk:
    """A writer that has room for all, and says what is on the disk when it is asked."""

    def __init__(self) -> None:
        self.marks: dict[str, JournalMark] = {}

    def add(
        self, kept: Sequence[StoredEvent], marks: Mapping[str, JournalMark], heads: object = ()
    ) -> "asyncio.Future[None]":
        self.marks |= marks
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


def kept(one: PublicEvent) -> StoredEvent:
    return StoredEvent(one, msgspec.json.encode(one))


def make(disk: Disk, told: list[PublicEvent]) -> EventIntake:
    return EventIntake(disk, {}, told.append, lambda table: None)  # type: ignore[arg-type]


async def test_events_that_are_on_the_disk_are_not_remembered() -> None:
    disk, journal, told = Disk(), Journal(), list[PublicEvent]()
    intake = make(disk, told)
    for _ in range(500):
        intake.add_event(kept(journal.happens()))
        intake.flush()
        intake.note_written(disk.marks)
    assert len(told) == 500
    assert sum(map(len, intake._announced_ahead.values())) == 0


async def test_what_is_not_on_the_disk_yet_is_told_of_once_however_it_comes() -> None:
    disk, journal, told = Disk(), Journal(), list[PublicEvent]()
    intake = make(disk, told)
    events = [journal.happens() for _ in range(4)]
    table = events[0].table
    for one in (events[0], events[2], events[3]):  # the second was lost on the way
        intake.add_event(kept(one))
    intake.flush()
    intake.note_written(disk.marks)
    intake.add_page(table, list(map(kept, events)))
    assert sorted(one.n for one in told) == [1, 2, 3, 4]


async def test_another_past_of_a_table_is_told_of_though_its_numbers_were_there_before() -> None:
    disk, journal, told = Disk(), Journal(), list[PublicEvent]()
    intake = make(disk, told)
    for _ in range(5):
        intake.add_event(kept(journal.happens()))
    intake.flush()
    other = Journal(journal.table, past="another")
    events = [other.happens() for _ in range(3)]
    intake.restart_journal(journal.table)
    intake.add_page(journal.table, list(map(kept, events)))
    assert told[5:] == events


def test_groups_of_whatever_size_are_written_by_one_statement(engine: Engine) -> None:
    """A driver keeps the statements that it was given; one with all rows in it is large."""
    said: set[str] = set()
    event.listen(engine, "before_cursor_execute", lambda *told: said.add(told[2]))
    journal, archive = Journal(), Archive(engine)
    for size in range(2, 30):
        group = tuple(kept(journal.happens()) for _ in range(size))
        assert archive.write([WriteBatch(group)]).events == size
    assert len(said) == 1
