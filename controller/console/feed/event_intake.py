"""What of the tables' events goes to the store, and up to where each table's past is complete."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from controller.console.feed import journal_positions as of
from controller.console.feed.journal_positions import JOURNAL_START, Completeness
from controller.console.store.archive import JournalMark, StoredEvent
from controller.console.store.event_writer import EventWriter
from controller.messages import PublicEvent
from controller.signing.signed_heads import KeptHead

MAX_WAITING_HEADS: Final = 10_000
"""Signed heads that wait for room, over all tables (provisional)."""

MAX_ANNOUNCED_AHEAD: Final = 20_000
"""Events of a table behind its mark on the disk, as behind a hole, of which it is remembered that
they were told of; more are told twice."""

MAX_GATHERED_BYTES: Final = 1 << 20
"""Bytes of events that are gathered at most before they are handed to the writer (provisional)."""


class EventIntake:
    """Collects events until `flush` hands them to the writer, together with their marks; many of
    them go by themselves.

    `marks` are those on the disk. `on_event` is told of every event once in a run of the console:
    as it comes, or as a table's answer brings what was missed, so not always in order.
    `on_doubt` is told of tables that are to be asked.
    """

    def __init__(
        self,
        writer: EventWriter,
        marks: Mapping[str, JournalMark],
        on_event: Callable[[PublicEvent], None],
        on_gap: Callable[[str], None],
    ) -> None:
        self._writer, self._stored_marks = writer, dict(marks)
        self._on_event, self._on_gap = on_event, on_gap
        self._completeness: dict[str, Completeness] = {}
        self._announced_ahead: dict[str, set[int]] = {}
        self._events: list[StoredEvent] = []
        self._marks: dict[str, JournalMark] = {}
        self._heads: list[KeptHead] = []
        self._bytes = 0

    def completeness(self, table: str) -> Completeness:
        """Return how much of a table's past is kept, or on its way to the disk."""
        past = self._completeness.get(table)
        return (
            Completeness(mark=self._stored_marks.get(table, JOURNAL_START))
            if past is None
            else past
        )

    def add_event(self, stored: StoredEvent) -> None:
        """Take an event of the feed."""
        event, before = stored.event, self.completeness(stored.event.table)
        self._events.append(replace(stored, journal=before.mark.journal))
        after = self._completeness[event.table] = of.with_event(before, event)
        if after.mark is not before.mark:
            self._marks[event.table] = after.mark
        elif after is not before:
            self._on_gap(event.table)
        if event.n > before.mark.n:  # else an answer has brought it, or will
            beyond = self._announced_ahead.setdefault(event.table, set())
            if len(beyond) < MAX_ANNOUNCED_AHEAD:
                beyond.add(event.n)
            self._on_event(event)
        self._bytes += len(stored.body)
        if self._bytes > MAX_GATHERED_BYTES:
            self.flush()

    def add_head(self, head: KeptHead) -> None:
        """Take a signed head."""
        self._heads.append(head)

    def may_have_more(self, table: str, head: str) -> bool:
        """Tell whether a table that shows this head of its journal may have said more."""
        return of.may_have_more_events(self.completeness(table), head)

    def mark_gap(self, table: str) -> None:
        """Note that a table may have said something while nobody heard it."""
        self._completeness[table] = of.with_gap(self.completeness(table))

    def flush(self) -> None:
        """Hand what came together to the writer. What finds no room there is asked for later."""
        if not self._events and not self._heads:
            return
        kept, marks, heads = self._events, self._marks, self._heads
        self._events, self._marks, self._heads, self._bytes = [], {}, [], 0
        if self._writer.add(kept, marks, heads) is None:
            self._heads = heads[-MAX_WAITING_HEADS:]  # they cannot be asked for
            for table in {one.event.table for one in kept}:
                past = self.completeness(table)
                mark = self._stored_marks.get(table, JOURNAL_START)
                self._completeness[table] = Completeness(
                    mark=mark, newest_unlinked=past.newest_unlinked
                )
                self._on_gap(table)

    def note_written(self, marks: Mapping[str, JournalMark]) -> None:
        """Note what is on the disk: nothing up to there is asked for again."""
        self._stored_marks.update(marks)
        for table, mark in marks.items():
            self._forget_announced(table, mark)

    def forget_table(self, table: str) -> None:
        """Forget what is known of a table, but for what is on the disk."""
        self._completeness.pop(table, None)
        self._announced_ahead.pop(table, None)

    def begin_fill(self, table: str) -> Completeness:
        """Note that a table is about to be asked, and return what is kept."""
        past = self._completeness[table] = of.with_fill_begun(self.completeness(table))
        return past

    def restart_journal(self, table: str) -> JournalMark:
        """Note that a table has another past than what is kept; return its beginning."""
        past = self.completeness(table)
        self._forget_announced(table, past.mark)  # its numbers come again, for something else
        self._completeness[table] = of.with_new_journal(past)
        return self._completeness[table].mark

    def add_page(self, table: str, page: Sequence[StoredEvent]) -> "asyncio.Future[None] | None":
        """Take what a table answered, without a hole before it; None where it finds no room.

        What came before it goes before it, so that no mark is written over a later one.
        """
        self.flush()
        past, last = self.completeness(table), page[-1].event
        marks = {table: of.mark_at(past.mark, last)} if last.n > past.mark.n else {}
        kept = [replace(one, journal=past.mark.journal) for one in page]
        done = self._writer.add(kept, marks)
        if done is None:
            return None
        heard = self._announced_ahead.get(table, set())
        for one in page:
            if one.event.n > past.mark.n and one.event.n not in heard:
                self._on_event(one.event)
        if marks:
            self._completeness[table] = of.with_mark(past, marks[table])
        return done

    def finish_fill(self, table: str, mark: JournalMark, head: str) -> Completeness:
        """Note that a table said all up to `mark`, and return what is kept.

        `head`: its journal's, as it was shown before the table was asked.
        """
        past = self._completeness[table] = of.with_fill_finished(
            self.completeness(table), mark, head
        )
        if not past.may_be_incomplete:
            self._announced_ahead.pop(table, None)
        return past

    def _forget_announced(self, table: str, mark: JournalMark) -> None:
        """Forget which events up to a mark were told of."""
        told = self._announced_ahead.pop(table, None)
        if told and (later := {n for n in told if n > mark.n}):
            self._announced_ahead[table] = later
