"""What the data of an entry holds, kind by kind: the journal's rows and the feed's events.

Bytes are lower-case hex, or base64 where a field says so; `at_ms` is the table's clock:
whole milliseconds that only go forward, over restarts, too. A field that may be missing is
there only where that is said of it; null stands for what is not known. What no type here
can say, because the journal knows no rulebook (a match, its events), is said where the
schemas are made (controller/cli/schema.py).
"""

from functools import cache
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.messages import AttemptOutcome, LandedCards, Seat

Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", description="32 bytes in hex")]
Signature = Annotated[str, Meta(pattern="^[0-9a-f]{128}$", description="64 bytes in hex")]
Base64 = Annotated[str, Meta(pattern="^[A-Za-z0-9+/]*={0,2}$", description="bytes in base64")]
FaultName = Annotated[
    str, Meta(pattern="^[A-Z][A-Z0-9_]*$", description="a name of the fault catalogue")
]
Count = Annotated[int, Meta(ge=0)]
Ms = Annotated[int, Meta(ge=0, description="milliseconds of the table's clock")]
Back = Literal["A", "B"]
BoardKind = Literal["dealer", "reader"]


class EntryData(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an entry of one kind holds."""


class BegunData(EntryData, frozen=True):
    """Both boards began the attempt: the set is in the machine's hands."""


class SeedData(EntryData, frozen=True):
    """The seed under the attempt's key; `for_chief`: that key, sealed to the chief's."""

    box: Base64
    for_chief: Base64


class DeckData(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a set consists of."""

    packs: Count
    jokers: bool
    cards: Count


class CommittedData(EntryData, frozen=True):
    """What was promised, and the parts of its context (controller/deal/PROOF.md).

    Deal and attempt are the entry's own. `passes`: how often the set will be shuffled.
    """

    commitment: Hash
    table_key: str
    match: str
    profile: str
    profile_hash: Hash
    set: str
    back: Back
    deck: DeckData
    passes: Count


class CutData(EntryData, frozen=True):
    """The players' number of cards, of the seat that cut where that is known.

    Null with a `reason` for a deal without a cut. Both are missing where there are none.
    """

    cut: int | None
    at_ms: Ms
    reason: str | UnsetType = UNSET
    seat: Seat | UnsetType = UNSET


class ShuffledData(EntryData, frozen=True):
    """The shuffler is done, after so many passes."""

    passes: Count


class WireData(EntryData, frozen=True):
    """A group of board events (packed_board_events.py). `sealed` has the faces and the pockets.

    `boots` has for each board its boot id and the first and last number of its events.
    """

    boots: dict[BoardKind, tuple[int, int, int]]
    b: Base64
    sealed: Base64 | UnsetType = UNSET


class CourseEventGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of board events with every pocket, and nothing of what the reader saw."""

    boots: dict[BoardKind, tuple[int, int, int]]
    b: Base64


class OpenedEventGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of board events with what the reader saw, four bytes a look, nothing sealed."""

    boots: dict[BoardKind, tuple[int, int, int]]
    b: Base64
    looks: Base64


class DealtData(EntryData, frozen=True):
    """All cards are out of the hopper and the tray: indices fed from each."""

    fed: Count
    refed: Count


class HeldData(EntryData, frozen=True):
    """Right hands lie in the machine: what they are bound by (PROOF.md)."""

    hands: Hash


class HandsBoxData(EntryData, frozen=True):
    """Nonce and record behind `hands`, under the attempt's key."""

    box: Base64


class VerdictData(EntryData, frozen=True):
    """How an attempt ended, why, and where its cards lie: counted, never faces."""

    outcome: AttemptOutcome
    reasons: list[FaultName]
    landed: LandedCards
    fed: Count
    refed: Count
    at_ms: Ms


class ReleasedData(EntryData, frozen=True):
    """The hands are out.

    `leader`: whom the cards make lead, `turned_up`: by which card; each is missing where the
    rulebook or the deal has no such thing. Of a match's deal, how long its players waited:
    `due_to_ready_ms` from when it was due until its hands were ready (0: they were), and
    `ready_to_button_ms` from there to the order to let them out.
    """

    at_ms: Ms
    due_to_ready_ms: Ms | UnsetType = UNSET
    ready_to_button_ms: Ms | UnsetType = UNSET
    leader: Seat | UnsetType = UNSET
    turned_up: str | UnsetType = UNSET


class SealedToChiefData(EntryData, frozen=True):
    """Its key went with the power: only the chief can open it (`for_chief` of its seed)."""

    reason: FaultName


class RevealedData(EntryData, frozen=True):
    """Seed and cut of an attempt that is over; a null cut: it was dealt without.

    `course`: which card went where, of hands that were played; it is missing where the
    whole record follows, and of hands that went out behind a power cut.
    """

    seed: Hash
    cut: int | None
    course: list[CourseEventGroup] | UnsetType = UNSET


class WithdrawnData(EntryData, frozen=True):
    """Held hands that may not go out any more, and why."""

    reasons: list[FaultName]
    at_ms: Ms


class FinalSensorState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the sensors said at the end.

    At a count all but `pockets_empty`; that and `path_empty` at a beginning which the dealer
    board refused. `reader_pulses`: how many cards the reader board was told of by the wire; it
    stands alone where the boards were asked in the middle of a deal, for one card. `board_fed`,
    `board_landed` (N, W, S, E): the dealer board's own counts, `board_locked`: its own lock holds;
    `pockets_seen`: a card lies in each pocket.
    """

    path_empty: bool | UnsetType = UNSET
    pockets_empty: bool | UnsetType = UNSET
    hopper_empty: bool | UnsetType = UNSET
    tray_empty: bool | UnsetType = UNSET
    reader_pulses: Count | UnsetType = UNSET
    lift_down: bool | UnsetType = UNSET
    pockets_seen: list[bool] | UnsetType = UNSET
    board_fed: Count | UnsetType = UNSET
    board_landed: list[Count] | UnsetType = UNSET
    board_locked: bool | UnsetType = UNSET


class RecordData(EntryData, frozen=True):
    """The opened record of an attempt: a face a place (hex), and the nonce of `hands`.

    Both are null in an attempt that was never held. `events`: its board events so far, where every
    look of theirs can be told; `settled`: of one that was given up, the last look, where the
    sensors were asked; `counted`: how many of `events` the verdict's counts are of. `key`: the
    attempt's key; all that is under it is open by now, and it opens the rows that say so.
    """

    nonce: Hash | None
    hands: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")] | None
    events: list[OpenedEventGroup] | UnsetType = UNSET
    settled: FinalSensorState | UnsetType = UNSET
    counted: Count | UnsetType = UNSET
    key: Hash | UnsetType = UNSET


class RecalledData(EntryData, frozen=True):
    """Hands that were out are dealt again: a wrong count, or the chief's word."""

    reasons: list[FaultName]


@cache
def required_fields(data: type[EntryData]) -> tuple[str, ...]:
    """Return the fields that data of this type cannot be without."""
    return tuple(field.name for field in msgspec.structs.fields(data) if field.required)
