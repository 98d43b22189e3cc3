"""Which of a table's events happened first: they come as they are heard, or asked for, later.

Pure. Numbers say it within one journal. A table may begin another (a new disk, another machine):
its numbers begin anew then, under another boot, and what is of the old one has the earlier stamp.
"""

import msgspec

from controller.console.view.reasons import stamp_to_epoch_ms
from controller.messages import PublicEvent


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
