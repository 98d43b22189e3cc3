"""Pure functions for the completeness and the order of a table's received events.

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
    """The completeness of a table's received events: no event up to `mark` is missing.

    `may_be_incomplete` is True if an entry after the mark may be missing. `newest_unlinked` is the
    number of the newest received event that did not follow the mark. `confirmed_head` is the head
    of the journal up to which the table confirmed that there are no more entries.
    """

    mark: JournalMark = JOURNAL_START
    may_be_incomplete: bool = True
    newest_unlinked: int = 0
    confirmed_head: str = ""


def with_event(completeness: Completeness, event: PublicEvent) -> Completeness:
    """Return `completeness` after the console has received `event`.

    If `event` is the next entry after the mark, it becomes the mark. The event of the mark itself
    changes nothing. With any other event, events before it may be missing.
    """
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
    """Return the mark at the entry of `event`, in the journal to which `mark` belongs."""
    return JournalMark(event.n, event.head, mark.journal)


def may_have_more_events(completeness: Completeness, head: str) -> bool:
    """Return whether a table with the journal head `head` may have events after the mark."""
    return head not in (completeness.mark.head, completeness.confirmed_head)


def fill_start(mark: JournalMark) -> int:
    """Return the argument `since` of a request that returns the entry of the mark first."""
    return max(mark.n - 1, 0)


def is_continued_by(mark: JournalMark, page: Sequence[PublicEvent]) -> bool:
    """Return whether `page` begins with the mark's entry. If the mark has no entry, return True."""
    return mark.n == 0 or (bool(page) and (page[0].n, page[0].head) == (mark.n, mark.head))


def with_fill_begun(completeness: Completeness) -> Completeness:
    """Return `completeness` without known gaps, because a request will fill these gaps."""
    return replace(completeness, may_be_incomplete=False, newest_unlinked=0)


def with_new_journal(completeness: Completeness) -> Completeness:
    """Return `completeness` for a new, empty journal that replaces the table's stored journal.

    It is called if a table's entries contradict the stored ones. The new entries count as another
    journal, even if the table rewrote only the end of the old one.
    """
    return replace(
        completeness,
        mark=replace(JOURNAL_START, journal=completeness.mark.journal + 1),
        confirmed_head="",
    )


def with_fill_finished(completeness: Completeness, mark: JournalMark, head: str) -> Completeness:
    """Return `completeness` after a request that returned all missing events up to `mark`.

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
        """Return whether the event at this position happened before the event at `other`.

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
    """Insert an event into a sorted list, oldest first, and keep only the newest `limit` events.

    An event that is already in the list changes nothing.
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
