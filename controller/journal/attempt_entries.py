"""What the data of an entry holds, kind by kind: the journal's rows and the feed's events.

Bytes are lower-case hex, or base64 where a field says so; `at_ms` is the table's clock:
whole milliseconds that only go forward, over restarts, too. A field that may be missing is
there only where that is said of it; null stands for what is not known. What no type here
can say, because the journal knows no rulebook (a match, its events), is said where the
schemas are made (controller/cli/schema.py).
"""

from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from controller.messages import AttemptOutcome, LandedCards, PersonName, ProgramRelease, Role, Seat

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


class OpenedData(EntryData, frozen=True):
    """The daemon began: whose journal this is, and the version of the program.

    `table_key`: the table's public CURVE key (Z85), part of every commitment. `sets`: the back of
    each set that lies at the table, by its id. `verify`: the table's Ed25519 key, that of its
    signed heads; missing where the machine signs none. `release`: which one the program says
    it is; missing where it has no manifest.
    """

    table: str
    table_key: str
    simulated: bool
    version: str
    sets: dict[str, Back]
    verify: Hash | UnsetType = UNSET
    release: ProgramRelease | UnsetType = UNSET


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
    """A group of board events (wire_group.py); `sealed`: what the reader saw, and the pockets.

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


class OpenedHandData(EntryData, frozen=True):
    """The chief looked at a hand as it was dealt: whose, why, and by which key (hex)."""

    seat: Seat
    reason: str
    by: str
    key: str


class AnswerData(EntryData, frozen=True):
    """What only the asker of a command may read, for the same id again."""

    id: str
    key: str
    sealed: Base64


class MeetingData(EntryData, frozen=True):
    """A match is laid out: who plays it where, by which rulebook, and what its pairs bring."""

    match: str
    meeting: dict[str, Any]
    record: list[dict[str, Any]]
    profile: str
    profile_hash: Hash
    at_ms: Ms


class MatchData(EntryData, frozen=True):
    """Something happened in the match: `event` says what, with the fields of that event."""

    event: str
    at_ms: Ms


class KeptEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What happened in the match at the private entry `n`."""

    n: Count
    event: dict[str, Any]


class MatchToldData(EntryData, frozen=True):
    """What was kept back of the match, once it may be seen: all returns of a deal at once."""

    told: list[KeptEvent]


class TransferredData(EntryData, frozen=True):
    """The match goes on at the table `to`, by whose word.

    `to_head`: a head that the journal of that table had shortly before, where it was asked.
    `entered_by`: who carried it out and entered the word as the chief's, which `by` gave; missing
    where it was no word by mouth.
    """

    match: str
    to: str
    to_head: Hash | None
    by: str
    at_ms: Ms
    entered_by: str | UnsetType = UNSET


class TakenOverData(EntryData, frozen=True):
    """A match came from `table`, whose journal has `head` behind its `transferred`, entry `n`.

    `digest` names the document it came in (controller/match/transfer_document.py), `sig` is that table's
    signature of it, by the key `verify` that whoever ordered it named (controller/signing/signed_commands.py). Its
    `meeting` follows, and then its `events`, so many of kind `match`, with times of this table's
    clock. `proofs`: what its attempts promised so far, by table, deal and attempt. `moves`: how it
    came here, from table to table, for its score sheet; missing where the document has none.
    `entered_by`: who took it here and entered the word as the chief's, which `by` gave; missing
    where it was no word by mouth.
    """

    match: str
    table: str
    n: Count
    head: Hash
    digest: Hash
    verify: Hash
    sig: Signature
    events: Count
    proofs: list[dict[str, Any]]
    by: str
    at_ms: Ms
    moves: list[dict[str, Any]] | UnsetType = UNSET
    entered_by: str | UnsetType = UNSET


class PauseData(EntryData, frozen=True):
    """Somebody stopped the machine. `reason`: whose it is to end, a role; `why`: in his words."""

    reason: str
    by: str
    why: str


class PauseEndedData(EntryData, frozen=True):
    """Somebody lets it go on, as far as `reason` is concerned."""

    reason: str
    by: str


class AcknowledgedData(EntryData, frozen=True):
    """A person has seen a fault, or answered what the match called for.

    `name`: of the fault, or of the call in small letters; `board`: "" where none is meant.
    """

    name: str
    by: str
    board: Literal["", "dealer", "reader"]


class SetLoadedData(EntryData, frozen=True):
    """Another set lies in the machine."""

    set: str
    back: Back
    by: str


class SetClearedData(EntryData, frozen=True):
    """A barred set was counted by a person, and is whole."""

    set: str
    by: str


class FaultData(EntryData, frozen=True):
    """A fault is latched: `evidence` fills the words of the catalogue."""

    code: int
    name: FaultName
    evidence: dict[str, str]


class FaultClearedData(EntryData, frozen=True):
    """It is there no more, with the evidence it had."""

    code: int
    name: FaultName
    evidence: dict[str, str]


class CallData(EntryData, frozen=True):
    """A player called the referee with the red button (`button`), or why in his words."""

    seat: Seat
    reason: str


class CallEndedData(EntryData, frozen=True):
    """He took it back with the green one; or a referee, `by`, is at the table."""

    seat: Seat
    by: str | UnsetType = UNSET


class CommandKeptData(EntryData, frozen=True):
    """The arguments and the signature of the next row, a `command` that may not show its own."""

    id: str
    key: str
    args: dict[str, Any] | str
    of: tuple[int | None, int | None]
    boot: str
    sig: str


class CommandData(EntryData, frozen=True):
    """A signed command that acted, and by whom.

    `key`: the signer's (hex), `panel` for a button of the table; `who`: the name of its
    certificate; `person`: who gave it with that key, null where he did not say. `result`: what was
    answered, as far as it is public; or `refused`: it was begun and could not be carried out after
    all. `args`, `of` (the deal and attempt that it named), `boot` (the run that it was for: this
    one) and `sig`: whoever knows the signer's key can check that he gave it
    (controller/signing/signed_commands.py). Of these a button's command has `args` alone; `answer`, `tribute`,
    `return` and `take_over` have them in a private row. Where `configure` is refused after it
    began, a row before that has as `result` the `settings` that the board took, and as `unknown`
    the setting that was sent to it without an answer: the board may have it. Where an entry cannot
    hold `args` as an object (it has a fraction), `args` is the JSON text that was signed; such a
    command is always refused.
    """

    id: str
    key: str
    cmd: str
    role: Role
    who: str
    person: PersonName | None = None
    args: dict[str, Any] | str | UnsetType = UNSET
    of: tuple[int | None, int | None] | UnsetType = UNSET
    boot: str | UnsetType = UNSET
    sig: str | UnsetType = UNSET
    result: dict[str, Any] | UnsetType = UNSET
    refused: FaultName | UnsetType = UNSET


@cache
def required_fields(data: type[EntryData]) -> tuple[str, ...]:
    """Return the fields that data of this type cannot be without."""
    return tuple(field.name for field in msgspec.structs.fields(data) if field.required)
