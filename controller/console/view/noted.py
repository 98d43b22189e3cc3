"""What is known beside the tables' states and no state says: noted while the console runs."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from controller.heads import HeadConflict
from controller.release import Manifest


class Workload(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a referee has on his hands: where he went and is, and since when.

    `done`: tables he has been to and that wait no more, `average_ms` from going to that;
    `orders`: those that tables have carried out for him. All since the console began.
    """

    person: str
    tables: tuple[str, ...]
    since_ms: int | None = None
    done: int = 0
    average_ms: int | None = None
    orders: int = 0


class OpenedHandNote(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A hand that was looked at in the present match."""

    table: str
    seat: str
    by: str
    deal: int | None
    at_ms: int


class HallNotes(msgspec.Struct, frozen=True, kw_only=True):
    """What is known beside the states. `since`: when an open matter was first seen, by its name.

    `manifest`: of the release that tables should run; None compares nothing. `unsigned_heads`: how
    many signed heads of a table did not fit its key.
    """

    first_seen_ms: Mapping[str, int] = {}
    opened_hands: Sequence[OpenedHandNote] = ()
    disagreements: Sequence[HeadConflict] = ()
    unsigned_heads: Mapping[str, int] = {}
    workloads: Sequence[Workload] = ()
    manifest: Manifest | None = None


NO_NOTES: Final = HallNotes()
