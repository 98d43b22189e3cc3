"""Types of the field `data` in an attempt's entries. Each kind of entry has its own type.

The feed has the same `data`. Bytes are lower-case hex. Fields of the type `Base64` are base64.
`at_ms` is the time of the table's clock in whole milliseconds. It only increases, also over
restarts. A field is always present unless its description states otherwise. Null means that a value
is not known. The journal does not depend on a rulebook, so controller/cli/schema.py makes the
schemas of a match and its events.
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
    """The base class of the types of `data` in entries. Each kind of entry has a subclass."""


class BegunData(EntryData, frozen=True):
    """Both boards have begun the attempt. The set of cards is in the machine."""


class SeedData(EntryData, frozen=True):
    """The secret seed of the attempt's sequence of pockets, encrypted with the attempt's key.

    `box` has the seed. `for_chief` has the attempt's key, encrypted with the chief's key.
    """

    box: Base64
    for_chief: Base64


class DeckData(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The composition of a set: its number of packs, whether it has jokers, its number of cards."""

    packs: Count
    jokers: bool
    cards: Count


class CommittedData(EntryData, frozen=True):
    """The table committed to the sequence of pockets. `commitment` covers the other fields.

    The commitment also covers the deal and the attempt, which are fields of the entry.
    `passes` is the number of times that the set will be shuffled. PROOF.md in controller/deal/
    defines the commitment.
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
    """The cut is decided. `cut` is the number that the player at `seat` chose.

    If there was no cut, `cut` is null and `reason` has the reason. Otherwise `reason` is absent.
    If the seat is not known, `seat` is absent.
    """

    cut: int | None
    at_ms: Ms
    reason: str | UnsetType = UNSET
    seat: Seat | UnsetType = UNSET


class ShuffledData(EntryData, frozen=True):
    """The shuffler finished. `passes` is the number of times that it shuffled the set."""

    passes: Count


class WireData(EntryData, frozen=True):
    """A group of up to 32 board events in compact form (packed_board_events.py).

    `boots` has for each board its boot id and the first and last number of its events. `b` has five
    bytes for each event. `sealed` has the faces and the pockets, encrypted with the attempt's key.
    """

    boots: dict[BoardKind, tuple[int, int, int]]
    b: Base64
    sealed: Base64 | UnsetType = UNSET


class CourseEventGroup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A group of board events with the pocket of each card, but without its face."""

    boots: dict[BoardKind, tuple[int, int, int]]
    b: Base64


class OpenedEventGroup(CourseEventGroup, frozen=True, kw_only=True, gc=False):
    """A group of board events with the pocket and the face of each card.

    `looks` has four bytes for each READ event: face, back, face up, confidence.
    """

    looks: Base64


class DealtData(EntryData, frozen=True):
    """The dealing ended: no card is left in the hopper or in the tray.

    `fed` is the number of cards fed from the hopper, and `refed` is the number fed from the tray.
    """

    fed: Count
    refed: Count


class HeldData(EntryData, frozen=True):
    """The hands passed the count and are locked in the machine. `hands`: their hash (PROOF.md)."""

    hands: Hash


class HandsBoxData(EntryData, frozen=True):
    """The faces of the held hands and the nonce of their hash, encrypted with the attempt's key."""

    box: Base64


class VerdictData(EntryData, frozen=True):
    """The verdict of an attempt: the outcome, the reasons for it, and the counts of the cards.

    `landed` has the number of cards in each pocket and in the tray, without faces. `fed` is the
    number of cards fed from the hopper, and `refed` is the number fed from the tray.
    """

    outcome: AttemptOutcome
    reasons: list[FaultName]
    landed: LandedCards
    fed: Count
    refed: Count
    at_ms: Ms


class ReleasedData(EntryData, frozen=True):
    """The hands were released to the players.

    If a card decides who leads, `leader` is the seat that leads. If this card was turned up,
    `turned_up` is this card. Otherwise the fields are absent. In a deal of a match, two fields are
    waiting times. `due_to_ready_ms` is the time from the moment when the deal was due until its
    hands were ready. If they were ready earlier, it is 0. `ready_to_button_ms` is the time from the
    moment when the deal was due and its hands were ready until the command that released them.
    """

    at_ms: Ms
    due_to_ready_ms: Ms | UnsetType = UNSET
    ready_to_button_ms: Ms | UnsetType = UNSET
    leader: Seat | UnsetType = UNSET
    turned_up: str | UnsetType = UNSET


class SealedToChiefData(EntryData, frozen=True):
    """Only the chief can open the attempt's record: a power cut deleted its key in the machine.

    The private entry `seed` has a copy of that key, `for_chief`, which only the chief can decrypt.
    """

    reason: FaultName


class RevealedData(EntryData, frozen=True):
    """The seed and the cut of an attempt that has ended. If there was no cut, `cut` is null.

    If the hands were played, `course` has the pocket of each card. But it is absent if the hands
    were released after a power cut. For other hands, the event `record` has the pockets.
    """

    seed: Hash
    cut: int | None
    course: list[CourseEventGroup] | UnsetType = UNSET


class WithdrawnData(EntryData, frozen=True):
    """The hands that were held will never be released. `reasons` has the causes."""

    reasons: list[FaultName]
    at_ms: Ms


class FinalSensorState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The values of the sensors at the end of an attempt.

    A final count has all fields but `pockets_empty`. A BEGIN that the dealer board refused has that
    field and `path_empty`. `reader_pulses` is the number of cards that the reader board detected by
    the trigger wire. It is the only field if the boards were queried during a deal, because of one
    card. `board_fed` and `board_landed` (N, W, S, E) are the dealer board's own counts.
    `board_locked`: its own lock is closed. `pockets_seen`: a card is in each pocket.
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
    """The published record of an attempt: its hands, its board events and its key.

    `hands` has the faces (hex). `nonce` is the random number in the hash that the event `held` has.
    If the hands were never held, both are null. `events` has the board events until now, with the
    readings of cards (`looks`) that may be published. If the sensors were queried at the end of an
    attempt that failed, `settled` has their last values. If `counted` is present, the verdict used
    only the first `counted` of the events. `key` decrypts the private entries of this attempt. They
    contain nothing secret any more.
    """

    nonce: Hash | None
    hands: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")] | None
    events: list[OpenedEventGroup] | UnsetType = UNSET
    settled: FinalSensorState | UnsetType = UNSET
    counted: Count | UnsetType = UNSET
    key: Hash | UnsetType = UNSET


class RecalledData(EntryData, frozen=True):
    """Released hands must be dealt again: a count was wrong, or the chief ordered a new attempt."""

    reasons: list[FaultName]


@cache
def required_fields(data: type[EntryData]) -> tuple[str, ...]:
    """Return the names of the fields that every value of the type `data` must have."""
    return tuple(field.name for field in msgspec.structs.fields(data) if field.required)
