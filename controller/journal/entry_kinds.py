"""The kinds of entries: which are public, their data, and what must come before them.

One table, for the machine that writes entries, for `verify` that reads them, and for the schemas of
public entries. attempt_entries.py has more types of data.
"""

from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from controller.journal.attempt_entries import (
    Back,
    Base64,
    BegunData,
    CommittedData,
    Count,
    CutData,
    DealtData,
    EntryData,
    FaultName,
    HandsBoxData,
    Hash,
    HeldData,
    Ms,
    RecalledData,
    RecordData,
    ReleasedData,
    RevealedData,
    SealedToChiefData,
    SeedData,
    ShuffledData,
    Signature,
    VerdictData,
    WireData,
    WithdrawnData,
    required_fields,
)
from controller.messages import PersonName, ProgramRelease, Role, Seat


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
    """A match came from `table`, whose journal has `head` behind its `transferred`, entry
    `n`.

    `digest` names the document it came in (controller/match/transfer_document.py), `sig` is
    that table's signature of it, by the key `verify` that whoever ordered it named
    (controller/signing/signed_commands.py). Its `meeting` follows, and then its `events`, so
    many of kind `match`, with times of this table's clock. `proofs`: what its attempts
    promised so far, by table, deal and attempt. `moves`: how it came here, from table to
    table, for its score sheet; missing where the document has none. `entered_by`: who took it
    here and entered the word as the chief's, which `by` gave; missing where it was no word by
    mouth.
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
    certificate; `person`: who gave it with that key, null where he did not say. `result`:
    what was answered, as far as it is public; or `refused`: it was begun and could not be
    carried out after all. `args`, `of` (the deal and attempt that it named), `boot` (the run
    that it was for: this one) and `sig`: whoever knows the signer's key can check that he
    gave it (controller/signing/signed_commands.py). Of these a button's command has `args`
    alone; `answer`, `tribute`, `return` and `take_over` have them in a private row. Where
    `configure` is refused after it began, a row before that has as `result` the `settings`
    that the board took, and as `unknown` the setting that was sent to it without an answer:
    the board may have it. Where an entry cannot hold `args` as an object (it has a fraction),
    `args` is the JSON text that was signed; such a command is always refused.
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


class EntryKind(NamedTuple):
    """A kind of entry. `data` is what it holds.

    `after` are the kinds of the same attempt that must all stand before it;
    `once` says that an attempt has at most one.
    """

    public: bool
    data: type[EntryData]
    after: tuple[str, ...] = ()
    once: bool = False

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The fields that its data cannot be without."""
        return required_fields(self.data)


PUBLIC, PRIVATE, ONCE = True, False, True

ENTRY_KINDS: dict[str, EntryKind] = {
    "opened": EntryKind(PUBLIC, OpenedData),
    # An attempt, in the order of its steps.
    "seed": EntryKind(PRIVATE, SeedData, (), ONCE),
    "committed": EntryKind(PUBLIC, CommittedData, ("seed",), ONCE),
    "cut": EntryKind(PUBLIC, CutData, ("committed",), ONCE),
    "begun": EntryKind(PUBLIC, BegunData, ("cut",), ONCE),
    "shuffled": EntryKind(PUBLIC, ShuffledData, ("begun",), ONCE),
    "wire": EntryKind(PRIVATE, WireData),
    "dealt": EntryKind(PUBLIC, DealtData, ("shuffled",), ONCE),
    "held": EntryKind(PUBLIC, HeldData, ("dealt",), ONCE),
    "hands_box": EntryKind(PRIVATE, HandsBoxData, ("dealt",), ONCE),
    "verdict": EntryKind(PUBLIC, VerdictData, ("seed",), ONCE),
    "released": EntryKind(PUBLIC, ReleasedData, ("held", "verdict"), ONCE),
    "sealed_to_chief": EntryKind(PUBLIC, SealedToChiefData, ("committed",), ONCE),
    "revealed": EntryKind(PUBLIC, RevealedData, ("committed", "verdict"), ONCE),
    "withdrawn": EntryKind(PUBLIC, WithdrawnData, ("held", "verdict"), ONCE),
    "record": EntryKind(PUBLIC, RecordData, ("verdict",), ONCE),
    "recalled": EntryKind(PUBLIC, RecalledData, ("released",), ONCE),
    # A match.
    "meeting": EntryKind(PUBLIC, MeetingData),
    "match": EntryKind(PUBLIC, MatchData),
    "match_kept": EntryKind(PRIVATE, MatchData),
    "match_told": EntryKind(PUBLIC, MatchToldData),
    "transferred": EntryKind(PUBLIC, TransferredData),
    "taken_over": EntryKind(PUBLIC, TakenOverData),
    "opened_hand": EntryKind(PUBLIC, OpenedHandData),
    # People and the machine: each pause ends by itself.
    "command_kept": EntryKind(PRIVATE, CommandKeptData),
    "command": EntryKind(PUBLIC, CommandData),
    "answer": EntryKind(PRIVATE, AnswerData),
    "call": EntryKind(PUBLIC, CallData),
    "call_ended": EntryKind(PUBLIC, CallEndedData),
    "pause": EntryKind(PUBLIC, PauseData),
    "pause_ended": EntryKind(PUBLIC, PauseEndedData),
    "acknowledged": EntryKind(PUBLIC, AcknowledgedData),
    "set_loaded": EntryKind(PUBLIC, SetLoadedData),
    "set_cleared": EntryKind(PUBLIC, SetClearedData),
    "fault": EntryKind(PUBLIC, FaultData),
    "fault_cleared": EntryKind(PUBLIC, FaultClearedData),
}
"""Kinds this program writes. A journal may hold others, of a later version."""
