"""What goes to the store together, in which order, and what is asked for meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest

from controller.console.feed.backfill import Backfill, FetchEvents
from controller.console.feed.event_intake import MAX_GATHERED_BYTES, EventIntake
from controller.console.store.archive import JournalMark, StoredEvent
from controller.console.store.event_writer import EventWriter
from controller.messages import PublicEvent
from controller.signing.signed_heads import KeptHead
from tests.console.journal import Journal

TABLE = "T1"


class SlowStore:
    """A writer that takes everything and has it on the disk when it is told so."""

    def __init__(self) -> None:
        self.taken: list[list[int]] = []
        self.marks: list[int] = []
        self.writing: list[asyncio.Future[None]] = []

    def add(
        self,
        kept: Sequence[StoredEvent],
        marks: Mapping[str, JournalMark],
        heads: Sequence[KeptHead] = (),
    ) -> "asyncio.Future[None]":
        self.taken.append([one.event.n for one in kept])
        self.marks += [mark.n for mark in marks.values()]
        self.writing.append(asyncio.get_running_loop().create_future())
        return self.writing[-1]


@pytest.fixture
def store() -> SlowStore:
    return SlowStore()


@pytest.fixture
def intake(store: SlowStore) -> EventIntake:
    return EventIntake(cast("EventWriter", store), {}, lambda event: None, lambda table: None)


@pytest.fixture
def events() -> list[PublicEvent]:
    journal = Journal(TABLE)
    for _ in range(9):
        journal.happens()
    return list(journal.public)


def kept(event: PublicEvent, size: int = 10) -> StoredEvent:
    return StoredEvent(event, b" " * size)


@pytest.mark.virtual
async def test_what_gathered_goes_together(
    intake: EventIntake, store: SlowStore, events: list[PublicEvent]
) -> None:
    for event in events[:3]:
        intake.add_event(kept(event))
    assert store.taken == []
    intake.flush()
    assert store.taken == [[1, 2, 3]]


@pytest.mark.virtual
async def test_what_is_large_waits_for_no_others(
    intake: EventIntake, store: SlowStore, events: list[PublicEvent]
) -> None:
    intake.add_event(kept(events[0]))
    intake.add_event(kept(events[1], MAX_GATHERED_BYTES))
    assert store.taken == [[1, 2]]
    intake.add_event(kept(events[2]))
    assert store.taken == [[1, 2]]


@pytest.mark.virtual
async def test_what_was_heard_goes_before_an_answer_so_that_its_mark_is_not_the_last(
    intake: EventIntake, store: SlowStore, events: list[PublicEvent]
) -> None:
    intake.add_event(kept(events[0]))
    intake.add_page(TABLE, [kept(event) for event in events[:4]])
    intake.flush()
    assert store.taken == [[1], [1, 2, 3, 4]]
    assert store.marks == [1, 4]


@pytest.mark.virtual
async def test_the_next_part_is_asked_for_while_one_is_written_and_none_after_that(
    intake: EventIntake, store: SlowStore, events: list[PublicEvent]
) -> None:
    asked: list[int] = []

    async def ask(since: int) -> Sequence[StoredEvent]:
        asked.append(since)
        return [kept(event) for event in events if since < event.n <= since + 2]

    @asynccontextmanager
    async def asking(table: str) -> AsyncIterator[FetchEvents]:
        yield ask

    backfill = Backfill(intake, asking, lambda table: events[-1].head)
    backfill.note_connected(TABLE)
    await asyncio.sleep(1)
    assert (asked, store.taken) == ([0, 2], [[1, 2]])
    store.writing[0].set_result(None)
    await asyncio.sleep(1)
    assert (asked, store.taken) == ([0, 2, 4], [[1, 2], [3, 4]])
    assert backfill.incomplete_tables == {TABLE}
    for number in (1, 2, 3):
        store.writing[number].set_result(None)
        await asyncio.sleep(1)
    assert asked == [0, 2, 4, 6, 8, 9]
    assert store.taken[-1] == [9]
    assert not backfill.incomplete_tables
    await backfill.close()
