"""Collector that passes the tables' events to the database, and records possible gaps."""

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
"""The most signed heads that wait for room in the queue, for all tables together (provisional)."""

MAX_ANNOUNCED_AHEAD: Final = 20_000
"""The most events after a table's stored mark that are remembered as passed to `on_event`.

If there are more, for example after a long gap, an event may be passed twice.
"""

MAX_GATHERED_BYTES: Final = 1 << 20
"""The most bytes of events that are collected before they are passed to the writer (provisional).
"""


class EventIntake:
    """A collector that passes the tables' events and signed heads to the database writer.

    `flush` does that. It is also called automatically when many bytes are collected. `marks` are
    the marks on the disk. `on_event` is called once for every event in a run of the console: when
    the event arrives, or when a table's answer contains a missing event. So the events are not
    always in order. `on_gap` is called with each table that must be asked for missing events.
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
        """Return a table's completeness: its mark, and whether later entries may be missing."""
        past = self._completeness.get(table)
        return past or Completeness(mark=self._stored_marks.get(table, JOURNAL_START))

    def add_event(self, stored: StoredEvent) -> None:
        """Collect an event of a feed, and call `on_gap` if events before it may be missing."""
        event, before = stored.event, self.completeness(stored.event.table)
        self._events.append(replace(stored, journal=before.mark.journal))
        after = self._completeness[event.table] = of.with_event(before, event)
        if after.mark is not before.mark:
            self._marks[event.table] = after.mark
        elif after is not before:
            self._on_gap(event.table)
        if event.n > before.mark.n:  # An event up to the mark is announced by a table's answer.
            beyond = self._announced_ahead.setdefault(event.table, set())
            if len(beyond) < MAX_ANNOUNCED_AHEAD:
                beyond.add(event.n)
            self._on_event(event)
        self._bytes += len(stored.body)
        if self._bytes > MAX_GATHERED_BYTES:
            self.flush()

    def add_head(self, head: KeptHead) -> None:
        """Collect a signed head, which the next `flush` passes to the writer."""
        self._heads.append(head)

    def may_have_more(self, table: str, head: str) -> bool:
        """Return whether a table with the journal head `head` may have events after its mark."""
        return of.may_have_more_events(self.completeness(table), head)

    def mark_gap(self, table: str) -> None:
        """Record that events of a table may be missing, for example after an interruption."""
        self._completeness[table] = replace(self.completeness(table), may_be_incomplete=True)

    def flush(self) -> None:
        """Pass the collected events and heads to the writer. Refused events are requested later."""
        if not self._events and not self._heads:
            return
        kept, marks, heads = self._events, self._marks, self._heads
        self._events, self._marks, self._heads, self._bytes = [], {}, [], 0
        if self._writer.add(kept, marks, heads) is None:
            # Heads are kept, because tables cannot be asked for them again.
            self._heads = heads[-MAX_WAITING_HEADS:]
            for table in {one.event.table for one in kept}:
                past = self.completeness(table)
                mark = self._stored_marks.get(table, JOURNAL_START)
                self._completeness[table] = Completeness(
                    mark=mark, newest_unlinked=past.newest_unlinked
                )
                self._on_gap(table)

    def note_written(self, marks: Mapping[str, JournalMark]) -> None:
        """Record the marks up to which the tables' events are now on the disk.

        Events up to these marks are not requested again.
        """
        self._stored_marks.update(marks)
        for table, mark in marks.items():
            self._forget_announced(table, mark)

    def forget_table(self, table: str) -> None:
        """Delete the data on a table's events from memory. The mark on the disk remains."""
        self._completeness.pop(table, None)
        self._announced_ahead.pop(table, None)

    def begin_fill(self, table: str) -> Completeness:
        """Forget a table's gaps, because a request will fill them, and return the completeness."""
        past = self._completeness[table] = of.with_fill_begun(self.completeness(table))
        return past

    def restart_journal(self, table: str) -> JournalMark:
        """Begin a new journal for a table, and return the mark at the start of the new journal.

        It is called if a table's entries contradict the stored ones.
        """
        past = self.completeness(table)
        self._forget_announced(table, past.mark)  # Its numbers come again, for other events.
        self._completeness[table] = of.with_new_journal(past)
        return self._completeness[table].mark

    def add_page(self, table: str, page: Sequence[StoredEvent]) -> "asyncio.Future[None] | None":
        """Queue a page of missing events. Return a future, or None if the queue is full.

        The future is done when the page is stored. No event may be missing between the mark and the
        page. Events that were collected earlier are queued first, so that no mark overwrites a
        later mark.
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
            self._completeness[table] = replace(past, mark=marks[table])
        return done

    def finish_fill(self, table: str, mark: JournalMark, head: str) -> Completeness:
        """Record the end of a request that returned a table's missing events up to `mark`.

        Return the new completeness. `head` was the journal's head when the request began.
        """
        past = self._completeness[table] = of.with_fill_finished(
            self.completeness(table), mark, head
        )
        if not past.may_be_incomplete:
            self._announced_ahead.pop(table, None)
        return past

    def _forget_announced(self, table: str, mark: JournalMark) -> None:
        """Forget which of the events up to `mark` were already passed to `on_event`."""
        told = self._announced_ahead.pop(table, None)
        if told and (later := {n for n in told if n > mark.n}):
            self._announced_ahead[table] = later
