"""The data of the entries of an attempt, kind by kind: the journal's rows and the feed's events.

Bytes are lower-case hex; fields of the type `Base64` are base64. `at_ms` is the time of the table's
clock in whole milliseconds. It only increases, also over restarts. A field is always present unless
its description states otherwise. Null means that a value is not known. The journal does not depend
on a rulebook, so the schemas of a match and its events are made in controller/cli/schema.py.
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
    """The base class of the `data` of journal entries. Each kind of entry has a subclass."""


class BegunData(EntryData, frozen=True):
    """Both boards have begun the attempt. The set of cards is in the machine."""


class SeedData(EntryData, frozen=True):
    """The seed of the attempt's sequence, encrypted with the attempt's key.

    `box` has the seed. `for_chief` has the attempt's key, encrypted with the chief's key.
    """

    box: Base64
    for_chief: Base64


class DeckData(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The composition of a set of cards: how many packs, whether with jokers, and how many
    cards.
    """

    packs: Count
    jokers: bool
    cards: Count


class CommittedData(EntryData, frozen=True):
    """The commitment to the sequence, and the values to which the commitment is bound.

    The commitment is also bound to the deal and the attempt, which are fields of the entry.
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
    """The number of cards that the players cut, and the seat that cut, if it is known.

    For a deal without a cut, `cut` is null and `reason` has the reason. `seat` is absent if it is
    not known. `reason` is absent if there was a cut.
    """

    cut: int | None
    at_ms: Ms
    reason: str | UnsetType = UNSET
    seat: Seat | UnsetType = UNSET


class ShuffledData(EntryData, frozen=True):
    """The shuffler finished after `passes` passes."""

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
    """A group of board events that shows the pocket of each card without its face."""

    boots: dict[BoardKind, tuple[int, int, int]]
    b: Base64


class OpenedEventGroup(CourseEventGroup, frozen=True, kw_only=True, gc=False):
    """A group of board events that shows the pocket and the face of each card.

    `looks` has four bytes for each READ event: face, back, face up, confidence.
    """

    looks: Base64


class DealtData(EntryData, frozen=True):
    """All cards left the hopper and the tray.

    `fed` is the number of cards fed from the hopper, and `refed` is the number fed from the tray.
    """

    fed: Count
    refed: Count


class HeldData(EntryData, frozen=True):
    """The hands are right, and are locked in the machine. `hands` is their hash (PROOF.md)."""

    hands: Hash


class HandsBoxData(EntryData, frozen=True):
    """The faces of the held hands and a random number, encrypted with the attempt's key."""

    box: Base64


class VerdictData(EntryData, frozen=True):
    """The outcome of an attempt, the reasons for it, and how many cards were fed and landed.

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

    If the cards decide who leads, `leader` is the seat that leads. `turned_up` is the card that
    decided it. A field is absent if the rulebook or the deal has no such value. A deal of a match
    has two waiting times. `due_to_ready_ms` begins when the deal is due, and ends when its hands
    are ready. It is 0 if they were ready before. `ready_to_button_ms` begins when the deal is due
    and its hands are ready. It ends with the command that released the hands.
    """

    at_ms: Ms
    due_to_ready_ms: Ms | UnsetType = UNSET
    ready_to_button_ms: Ms | UnsetType = UNSET
    leader: Seat | UnsetType = UNSET
    turned_up: str | UnsetType = UNSET


class SealedToChiefData(EntryData, frozen=True):
    """The attempt's key was lost in a power failure, so the machine cannot publish the record.

    Only the chief's key can open the attempt (`for_chief` of its `seed`).
    """

    reason: FaultName


class RevealedData(EntryData, frozen=True):
    """The seed and the cut of an attempt that has ended. `cut` is null for a deal without a cut.

    For hands that were played, `course` shows where each card went. It is absent if the whole
    record follows. It is also absent for hands that were released after a power cut.
    """

    seed: Hash
    cut: int | None
    course: list[CourseEventGroup] | UnsetType = UNSET


class WithdrawnData(EntryData, frozen=True):
    """The hands that are locked in the machine will not be released. `reasons` has the causes."""

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
    """The published record of an attempt: the face in each place, and the random number (nonce).

    `hands` has the faces (hex). `nonce` is the random number in the hash of `held`. Both are null
    if the hands of the attempt were never held. `events` has the board events so far, with all
    looks (readings of a card) that may be published. If an attempt ended early and the sensors were
    queried, `settled` has the last status of the sensors. `counted` is the number of `events` that
    the verdict's counts include. `key` is the attempt's key. It opens the sealed rows, whose
    content is public now.
    """

    nonce: Hash | None
    hands: Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")] | None
    events: list[OpenedEventGroup] | UnsetType = UNSET
    settled: FinalSensorState | UnsetType = UNSET
    counted: Count | UnsetType = UNSET
    key: Hash | UnsetType = UNSET


class RecalledData(EntryData, frozen=True):
    """Released hands are dealt again, because a count was wrong or the chief decided this."""

    reasons: list[FaultName]


@cache
def required_fields(data: type[EntryData]) -> tuple[str, ...]:
    """Return the fields that data of this type must have."""
    return tuple(field.name for field in msgspec.structs.fields(data) if field.required)
