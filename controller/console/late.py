"""Which of a table's events happened first: they come as they are heard, or asked for, later.

Pure. Numbers say it within one journal. A table may begin another (a new disk, another machine):
its numbers begin anew then, under another boot, and what is of the old one has the earlier stamp.
"""

import msgspec

from controller.console.view.waits import stamp_to_epoch_ms
from controller.messages import Event


class Moment(msgspec.Struct, frozen=True, gc=False):
    """Where an event stands in its table's past: entry `n`, told under `boot`, stamped `time`."""

    n: int
    boot: str
    time: str

    def late(self, than: "Moment") -> bool:
        """Tell whether this came late: it happened before one that was known already.

        Raises ValueError for a stamp that is none.
        """
        if self.n >= than.n:
            return False
        return self.boot == than.boot or stamp_to_epoch_ms(self.time) < stamp_to_epoch_ms(than.time)


def moment(event: Event) -> Moment:
    """Return where an event stands in its table's past."""
    return Moment(event.n, event.boot, event.time)


def insert(known: list[Event], event: Event, most: int) -> None:
    """Put an event to its place among those known, oldest first, of which the newest `most` stay.

    One that is known already changes nothing.
    """
    at, own = len(known), moment(event)
    if at >= most and own.late(moment(known[0])):
        return
    while at and own.late(moment(known[at - 1])):
        at -= 1
    if at and (known[at - 1].n, known[at - 1].head) == (event.n, event.head):
        return
    known.insert(at, event)
    del known[:-most]
