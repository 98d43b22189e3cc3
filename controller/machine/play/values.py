"""What is known of the match at a table, beside the match itself."""

from collections.abc import Mapping
from typing import Any

import msgspec

from controller.machine.waited import WaitingTimes
from controller.match import events
from controller.match.events import MatchEvent
from controller.match.state import AnyMatch
from controller.match.transfer import TableMove, TransferProof
from controller.messages import RefereeCall


class DealAhead(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a deal that is dealt before it is due: its cut, and that it is held."""

    deal: int
    cut: events.SetCut
    dealt: events.HandsDealt | None = None


class WithheldEvent(msgspec.Struct, frozen=True):
    """An event of the match that the public was not told yet: its entry, and what it held."""

    n: int
    event: Mapping[str, Any]


class TransferredMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match that went to the table `to`: how it stood, and all that had happened in it.

    `begun` is the journal's entry that it began with here, `n` the one that says it went, of
    the time `wall` and `at_ms` of the table's clock, by whose word (`by`, `entered_by`). `moves`:
    how it had come here.
    """

    match: AnyMatch
    log: tuple[MatchEvent, ...]
    to: str
    first_entry: int
    n: int
    at_ms: int
    wall: str
    by: str
    entered_by: str | None = None
    earlier_proofs: tuple[TransferProof, ...] = ()
    moves: tuple[TableMove, ...] = ()


class ArrivingMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match of another table on its way into the journal: `left` of its events are due.

    It is nowhere before the last of them: a daemon may die between two.
    """

    match_id: str
    events_left: int
    digest: str
    earlier_proofs: tuple[TransferProof, ...]
    moves: tuple[TableMove, ...] = ()
    match_so_far: "TableMatch | None" = None


class TableMatch(msgspec.Struct, frozen=True, kw_only=True):
    """The match, and what its people wait for.

    `attempt`: the attempt whose hands the players hold; None while none are out, or where
    they were drawn by hand. On the table's clock: `due_ms`, when the present deal became due;
    `since_ms`, when its phase began; `said_ms`, when something last happened. `again`: the fault
    for which hands that were out are dealt again. `ahead`: the next deal, dealt while this
    one is played. `waited`: how long this one's hands took, once they are ordered
    out. `kept`: what happened and may only be seen with the rest of it
    (controller/match/unseen.py). `needs`: what a referee was called for by the match.
    `log`: everything that happened, from the journal's entry `begun` on. Of a match that came
    from another table: `digest`, the document it came in, `brought`, what its attempts elsewhere
    promised, and `moves`, from which table to which. `coming`: one on its way in. `sent`: the
    match that went from here to another table last; `left_out`: its deal, if its hands were out
    then and are played on there. `barred`: the pairs that earlier matches at this table
    disqualified, each with its event.
    """

    match: AnyMatch | None = None
    attempt: int | None = None
    due_ms: int = 0
    phase_since_ms: int = 0
    last_event_ms: int = 0
    redeal_reason: str | None = None
    ahead: DealAhead | None = None
    waiting_times: WaitingTimes | None = None
    withheld: tuple[WithheldEvent, ...] = ()
    match_calls: tuple[RefereeCall, ...] = ()
    events: tuple[MatchEvent, ...] = ()
    first_entry: int = 0
    digest: str | None = None
    earlier_proofs: tuple[TransferProof, ...] = ()
    moves: tuple[TableMove, ...] = ()
    arriving: ArrivingMatch | None = None
    transferred: TransferredMatch | None = None
    played_elsewhere: "DealId | None" = None
    disqualified: frozenset[tuple[str, str]] = frozenset()


class DealId(msgspec.Struct, frozen=True, gc=False):
    """The deal that a match waits for, or will next."""

    match_id: str
    deal: int


def with_changes(play: TableMatch, **changes: Any) -> TableMatch:
    """Return the match at the table with some of its fields replaced."""
    return msgspec.structs.replace(play, **changes)
