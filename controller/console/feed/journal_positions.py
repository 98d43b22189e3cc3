"""How much of a table's past is kept, and whether something may be missing. Pure.

Only public entries come, and the chain runs over private ones, too: an event that does not follow
from the last one may have private entries before it, or others that got lost on the way. Only the
table knows, so it is asked for what lies behind the last entry that is known to be complete; its
answer begins with that very entry, or the table has another past now.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.console.freshness import stamp_to_epoch_ms
from controller.console.store.archive import JournalMark
from controller.messages import PublicEvent

JOURNAL_START: Final = JournalMark(0, "0" * 64)
"""The head before the first entry of any journal."""


class Completeness(msgspec.Struct, frozen=True, gc=False):
    """Up to `mark` nothing public is missing. `doubt`: behind it something may be.

    `newest`: the number of the last event that was heard and did not follow; `settled`: the head
    of the journal up to which the table itself said that there is no more.
    """

    mark: JournalMark = JOURNAL_START
    may_be_incomplete: bool = True
    newest_unlinked: int = 0
    confirmed_head: str = ""


def with_event(completeness: Completeness, event: PublicEvent) -> Completeness:
    """Return how much is kept with an event of the feed."""
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
    """Return the mark at an event of the same journal."""
    return JournalMark(event.n, event.head, mark.journal)


def may_have_more_events(completeness: Completeness, head: str) -> bool:
    """Tell whether a table that shows this head of its journal may have said what was not heard."""
    return head not in (completeness.mark.head, completeness.confirmed_head)


def fill_start(mark: JournalMark) -> int:
    """Return behind which entry to ask, so that the answer begins with the one of the mark."""
    return max(mark.n - 1, 0)


def is_continued_by(mark: JournalMark, page: Sequence[PublicEvent]) -> bool:
    """Tell whether an answer that was asked for so begins with the entry of the mark."""
    return mark.n == 0 or (bool(page) and (page[0].n, page[0].head) == (mark.n, mark.head))


def with_gap(completeness: Completeness) -> Completeness:
    """Return what is known of a table that was not heard for a while."""
    return replace(completeness, may_be_incomplete=True)


def with_fill_begun(completeness: Completeness) -> Completeness:
    """Return what is known when the table is about to be asked: doubts count from now on."""
    return replace(completeness, may_be_incomplete=False, newest_unlinked=0)


def with_new_journal(completeness: Completeness) -> Completeness:
    """Return what is kept of the other past that a table turned out to have: nothing yet.

    It counts as another journal, even if the table rewrote only the end of the old one.
    """
    return replace(
        completeness,
        mark=replace(JOURNAL_START, journal=completeness.mark.journal + 1),
        confirmed_head="",
    )


def with_mark(completeness: Completeness, mark: JournalMark) -> Completeness:
    """Return what is kept with a part of the table's answer, up to `mark`."""
    return replace(completeness, mark=mark)


def with_fill_finished(completeness: Completeness, mark: JournalMark, head: str) -> Completeness:
    """Return how much is kept once the table has told all up to `mark`.

    `head` is what the table showed as its journal's when it was first asked.
    """
    last = mark if mark.n > completeness.mark.n else completeness.mark
    return replace(
        completeness,
        mark=last,
        may_be_incomplete=completeness.newest_unlinked > last.n,
        confirmed_head=head,
    )


class JournalPosition(msgspec.Struct, frozen=True, gc=False):
    """Where an event stands in its table's past: entry `n`, told under `boot`, stamped `time`."""

    n: int
    boot: str
    time: str

    def is_before(self, other: "JournalPosition") -> bool:
        """Tell whether this came late: it happened before one that was known already.

        Raises ValueError for a stamp that is none.
        """
        if self.n >= other.n:
            return False
        return self.boot == other.boot or stamp_to_epoch_ms(self.time) < stamp_to_epoch_ms(
            other.time
        )


def position_of(event: PublicEvent) -> JournalPosition:
    """Return where an event stands in its table's past."""
    return JournalPosition(event.n, event.boot, event.time)


def insert_in_order(known: list[PublicEvent], event: PublicEvent, limit: int) -> None:
    """Put an event to its place among those known, oldest first, of which the newest `most` stay.

    One that is known already changes nothing.
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
