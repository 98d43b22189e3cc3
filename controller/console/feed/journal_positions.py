"""Completeness of the stored events of a table. This module is pure.

A feed contains only public entries, but the chain of heads also runs over private entries. So an
event that does not follow the last entry directly may have private entries before it, or public
entries that were lost. Only the table can resolve this. The console requests the entries after the
last entry that is known to be complete. The answer begins with that last entry; otherwise the table
has another past now.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.console.freshness import stamp_to_epoch_ms
from controller.console.store.archive import JournalMark
from controller.messages import PublicEvent

JOURNAL_START: Final = JournalMark(0, "0" * 64)
"""The mark before the first entry of any journal."""


class Completeness(msgspec.Struct, frozen=True, gc=False):
    """The completeness of a stored journal: up to `mark` no public entry is missing.

    `may_be_incomplete` is True if an entry after the mark may be missing. `newest_unlinked` is the
    number of the newest received event that did not follow the mark. `confirmed_head` is the head
    of the journal up to which the table confirmed that there are no more entries.
    """

    mark: JournalMark = JOURNAL_START
    may_be_incomplete: bool = True
    newest_unlinked: int = 0
    confirmed_head: str = ""


def with_event(completeness: Completeness, event: PublicEvent) -> Completeness:
    """Return the updated completeness after an event was received in the table's feed."""
    mark = completeness.mark
    if event.n == mark.n + 1 and event.prev == mark.head:
        return replace(completeness, mark=mark_at(mark, event))
    if event.n == mark.n and event.head == mark.head:
        return completeness
    return replace(
        completeness,
        may_be_incomplete=True,
        newest_unlinked=max(completeness.newest_unlinked, event.n),
    )


def mark_at(mark: JournalMark, event: PublicEvent) -> JournalMark:
    """Return a mark at the entry `event`, in the same journal as `mark`."""
    return JournalMark(event.n, event.head, mark.journal)


def may_have_more_events(completeness: Completeness, head: str) -> bool:
    """Return whether events of a table may be missing, if `head` is its journal's last hash."""
    return head not in (completeness.mark.head, completeness.confirmed_head)


def fill_start(mark: JournalMark) -> int:
    """Return the number of the entry before the mark, after which missing events are requested."""
    return max(mark.n - 1, 0)


def is_continued_by(mark: JournalMark, page: Sequence[PublicEvent]) -> bool:
    """Return True if the first received event is the mark's entry, or if the mark has none."""
    return mark.n == 0 or (bool(page) and (page[0].n, page[0].head) == (mark.n, mark.head))


def with_fill_begun(completeness: Completeness) -> Completeness:
    """Return the knowledge about missing events after the console has begun to request them.

    Gaps are noted again from now on.
    """
    return replace(completeness, may_be_incomplete=False, newest_unlinked=0)


def with_new_journal(completeness: Completeness) -> Completeness:
    """Return the completeness for a table whose entries contradict the stored ones.

    Nothing of it is stored. It counts as another journal, even if the table rewrote only the end of
    the old one.
    """
    return replace(
        completeness,
        mark=replace(JOURNAL_START, journal=completeness.mark.journal + 1),
        confirmed_head="",
    )


def with_fill_finished(completeness: Completeness, mark: JournalMark, head: str) -> Completeness:
    """Return the knowledge about missing events after the console has received all events up to
    `mark`.

    `head` is the head of the table's journal when the request began.
    """
    last = mark if mark.n > completeness.mark.n else completeness.mark
    return replace(
        completeness,
        mark=last,
        may_be_incomplete=completeness.newest_unlinked > last.n,
        confirmed_head=head,
    )


class JournalPosition(msgspec.Struct, frozen=True, gc=False):
    """The position of an event in the order of all events of its table.

    `n` is the number of the entry, `boot` the run of the daemon, and `time` the time stamp.
    """

    n: int
    boot: str
    time: str

    def is_before(self, other: "JournalPosition") -> bool:
        """Return whether this event happened before the other event.

        Raises ValueError for an invalid time stamp.
        """
        if self.n >= other.n:
            return False
        return self.boot == other.boot or stamp_to_epoch_ms(self.time) < stamp_to_epoch_ms(
            other.time
        )


def position_of(event: PublicEvent) -> JournalPosition:
    """Return the position of an event in the order of all events of its table."""
    return JournalPosition(event.n, event.boot, event.time)


def insert_in_order(known: list[PublicEvent], event: PublicEvent, limit: int) -> None:
    """Insert an event into a list that is sorted from oldest to newest.

    Only the newest `limit` events stay. An event that is already in the list changes nothing.
    """
    at, own = len(known), position_of(event)
    if at >= limit and own.is_before(position_of(known[0])):
        return
    while at and own.is_before(position_of(known[at - 1])):
        at -= 1
    if at and (known[at - 1].n, known[at - 1].head) == (event.n, event.head):
        return
    known.insert(at, event)
    del known[:-limit]
