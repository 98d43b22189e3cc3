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

from controller.console.store.archive import Mark
from controller.messages import Event

JOURNAL_START: Final = Mark(0, "0" * 64)
"""The head before the first entry of any journal."""


class Completeness(msgspec.Struct, frozen=True, gc=False):
    """Up to `mark` nothing public is missing. `doubt`: behind it something may be.

    `newest`: the number of the last event that was heard and did not follow; `settled`: the head
    of the journal up to which the table itself said that there is no more.
    """

    mark: Mark = JOURNAL_START
    doubt: bool = True
    newest: int = 0
    settled: str = ""


def told(past: Completeness, event: Event) -> Completeness:
    """Return how much is kept with an event of the feed."""
    mark = past.mark
    if event.n == mark.n + 1 and event.prev == mark.head:
        return replace(past, mark=further(mark, event))
    if event.n == mark.n and event.head == mark.head:
        return past
    return replace(past, doubt=True, newest=max(past.newest, event.n))


def further(mark: Mark, event: Event) -> Mark:
    """Return the mark at an event of the same journal."""
    return Mark(event.n, event.head, mark.journal)


def shown(past: Completeness, head: str) -> bool:
    """Tell whether a table that shows this head of its journal may have said what was not heard."""
    return head not in (past.mark.head, past.settled)


def fill_start(mark: Mark) -> int:
    """Return behind which entry to ask, so that the answer begins with the one of the mark."""
    return max(mark.n - 1, 0)


def goes_on(mark: Mark, page: Sequence[Event]) -> bool:
    """Tell whether an answer that was asked for so begins with the entry of the mark."""
    return mark.n == 0 or (bool(page) and (page[0].n, page[0].head) == (mark.n, mark.head))


def missed(past: Completeness) -> Completeness:
    """Return what is known of a table that was not heard for a while."""
    return replace(past, doubt=True)


def asking(past: Completeness) -> Completeness:
    """Return what is known when the table is about to be asked: doubts count from now on."""
    return replace(past, doubt=False, newest=0)


def anew(past: Completeness) -> Completeness:
    """Return what is kept of the other past that a table turned out to have: nothing yet.

    It counts as another journal, even if the table rewrote only the end of the old one.
    """
    return replace(past, mark=replace(JOURNAL_START, journal=past.mark.journal + 1), settled="")


def advanced(past: Completeness, mark: Mark) -> Completeness:
    """Return what is kept with a part of the table's answer, up to `mark`."""
    return replace(past, mark=mark)


def filled(past: Completeness, mark: Mark, head: str) -> Completeness:
    """Return how much is kept once the table has told all up to `mark`.

    `head` is what the table showed as its journal's when it was first asked.
    """
    last = mark if mark.n > past.mark.n else past.mark
    return replace(past, mark=last, doubt=past.newest > last.n, settled=head)
