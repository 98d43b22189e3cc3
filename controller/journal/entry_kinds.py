"""The kinds of journal entries: the type of their data, their order, and which are public.

One table serves the machine that writes entries, `verify` that reads them, and the schemas of
public entries. attempt_entries.py has more types of data.
"""

from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from controller.journal import attempt_entries as steps
from controller.journal.attempt_entries import (
    Back,
    Base64,
    Count,
    EntryData,
    FaultName,
    Hash,
    Ms,
    Signature,
)
from controller.messages import PersonName, ProgramRelease, Role, Seat


class OpenedData(EntryData, frozen=True):
    """The daemon started. The fields are facts about the table and the program.

    `table_key` is the table's public CURVE key (Z85). Every commitment covers it. `sets` has the id
    of each set of cards at the table, and the design on the backs of its cards (A or B). `verify`
    is the public Ed25519 key that checks the signatures of the table's heads. If the machine signs
    no heads, `verify` is absent. `release` is the release that the program reports. If the program
    has no release manifest, `release` is absent.
    """

    table: str
    table_key: str
    simulated: bool
    version: str
    sets: dict[str, Back]
    verify: Hash | UnsetType = UNSET
    release: ProgramRelease | UnsetType = UNSET


class OpenedHandData(EntryData, frozen=True):
    """The chief opened the hand of the player at `seat`: the chief saw the faces of this hand.

    `by` is the chief's name. `key` is the chief's public key (hex).
    """

    seat: Seat
    reason: str
    by: str
    key: str


class AnswerData(EntryData, frozen=True):
    """A command's confidential answer, encrypted for the sender of the command.

    The answer is sent again if a command with the same id arrives again.
    """

    id: str
    key: str
    sealed: Base64


class MeetingData(EntryData, frozen=True):
    """A new match: its players, table and rulebook. `record` has the pairs' earlier penalties."""

    match: str
    meeting: dict[str, Any]
    record: list[dict[str, Any]]
    profile: str
    profile_hash: Hash
    at_ms: Ms


class MatchData(EntryData, frozen=True):
    """An event of the match. `event` is its name. The other fields of the event are beside it."""

    event: str
    at_ms: Ms


class KeptEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A match event that the table first kept secret. `n` is the number of its private entry."""

    n: Count
    event: dict[str, Any]


class MatchToldData(EntryData, frozen=True):
    """Match events that the table kept secret until this entry, for example the returned cards.

    `told` is the list of these events. Beside each event, `n` is the number of its private entry.
    """

    told: list[KeptEvent]


class TransferredData(EntryData, frozen=True):
    """A person moved the match from this table to another table, which `to` names.

    `to_head` is the last head of the journal of `to`. It is null if the command `transfer` did not
    contain it. `by` is the person who decided. If the decision was verbal, `entered_by` is the
    person who entered it. Otherwise `entered_by` is absent.
    """

    match: str
    to: str
    to_head: Hash | None
    by: str
    at_ms: Ms
    entered_by: str | UnsetType = UNSET


class TakenOverData(EntryData, frozen=True):
    """A person moved a match to this table from another table, which `table` names.

    `n` is the number of the entry `transferred` in the other table's journal. `head` is the head of
    that journal after this entry. `digest` is the hash of the match's document, the data that the
    other table transferred (controller/match/transfer_document.py). `sig` is the other table's
    signature of the digest. The key `verify` from the command `take_over` checks `sig`. The next
    entry is `meeting`. After it, the next `events` entries of kind `match` are the earlier events
    of the match. Their times are converted to this table's clock. `proofs` has the commitment of
    each earlier attempt of the match, with its table, deal and attempt. `moves` has the transfers
    of the match for the score sheet. It is absent without such transfers. `by` is the person who
    decided. If the decision was verbal, `entered_by` is the person who entered it. Otherwise
    `entered_by` is absent.
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
    """A person paused the machine.

    `by` is this person, and `reason` is the person's role. A person with this role, or the chief,
    can end the pause. `why` is the reason for the pause, in the person's words.
    """

    reason: str
    by: str
    why: str


class PauseEndedData(EntryData, frozen=True):
    """A pause of the machine ended.

    `reason` is the role of the person who began the pause. `by` is the person who ended it.
    """

    reason: str
    by: str


class AcknowledgedData(EntryData, frozen=True):
    """A person acknowledged a fault, or a call for a referee that the match made by itself.

    For a fault, `name` is its name in capital letters. For a call, `name` is the reason of the call
    in small letters. If a fault does not concern a board, or for a call, `board` is "".
    """

    name: str
    by: str
    board: Literal["", "dealer", "reader"]


class SetLoadedData(EntryData, frozen=True):
    """A person reported that the set `set` is now in the hopper. `back` is its back (A or B)."""

    set: str
    back: Back
    by: str


class SetClearedData(EntryData, frozen=True):
    """A person counted a barred set and found it complete. The set may be used again."""

    set: str
    by: str


class FaultData(EntryData, frozen=True):
    """A fault began. `evidence` has the values that fill the text in the fault catalogue."""

    code: int
    name: FaultName
    evidence: dict[str, str]


class FaultClearedData(FaultData, frozen=True):
    """A fault ended. `evidence` has the same values as the event `fault` of this fault."""


class CallData(EntryData, frozen=True):
    """A player called the referee. `reason` is `button`, or the reason that the player gave."""

    seat: Seat
    reason: str


class CallEndedData(EntryData, frozen=True):
    """A player's call of the referee ended.

    `by` is the referee who came to the table. If the player cancelled the call with the green
    button, `by` is absent.
    """

    seat: Seat
    by: str | UnsetType = UNSET


class CommandKeptData(EntryData, frozen=True):
    """The secret fields of the next entry, a `command`: for example its arguments and signature."""

    id: str
    key: str
    args: dict[str, Any] | str
    of: tuple[int | None, int | None]
    boot: str
    sig: str


class CommandData(EntryData, frozen=True):
    """A command that was carried out or refused. It came from a signer or from a button.

    `key` is the signer's public key (hex), or `panel` for a button of the table. `who` is the name
    in the key's certificate. `person` is the person who gave the command with that key. It is null
    if the command named no person. `result` is the public part of the answer. If the command was
    refused, `result` is absent, and `refused` is the name of the fault in the fault catalogue.

    `of` is the deal and attempt that the command named. `boot` is the run that the command named.
    It is always the present run. With `args`, `of`, `boot` and `sig`, everybody can check the
    signature of the command (controller/signing/signed_commands.py). A button does not sign, so its
    command has only `args`. For the commands `answer`, `tribute`, `return` and `take_over`, these
    four fields are in a private entry. An entry cannot contain a number with a fraction. A command
    with such a number is always refused. Then `args` is the JSON text that was signed.

    `configure` sends settings to a board. If it is refused after it began, it has two entries.
    The first has a `result`: `settings` has the settings that the board accepted, and `unknown` has
    a setting without an answer, which the board may have accepted. The second has `refused`.
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
    """The properties of one kind of entry.

    `data` is the type of its data. `after` has the kinds that must all precede such an entry in
    the same attempt. If `once`, an attempt has at most one such entry.
    """

    public: bool
    data: type[EntryData]
    after: tuple[str, ...] = ()
    once: bool = False


PUBLIC, PRIVATE, ONCE = True, False, True

ENTRY_KINDS: dict[str, EntryKind] = {
    "opened": EntryKind(PUBLIC, OpenedData),
    # An attempt, in the order of its steps.
    "seed": EntryKind(PRIVATE, steps.SeedData, (), ONCE),
    "committed": EntryKind(PUBLIC, steps.CommittedData, ("seed",), ONCE),
    "cut": EntryKind(PUBLIC, steps.CutData, ("committed",), ONCE),
    "begun": EntryKind(PUBLIC, steps.BegunData, ("cut",), ONCE),
    "shuffled": EntryKind(PUBLIC, steps.ShuffledData, ("begun",), ONCE),
    "wire": EntryKind(PRIVATE, steps.WireData),
    "dealt": EntryKind(PUBLIC, steps.DealtData, ("shuffled",), ONCE),
    "held": EntryKind(PUBLIC, steps.HeldData, ("dealt",), ONCE),
    "hands_box": EntryKind(PRIVATE, steps.HandsBoxData, ("dealt",), ONCE),
    "verdict": EntryKind(PUBLIC, steps.VerdictData, ("seed",), ONCE),
    "released": EntryKind(PUBLIC, steps.ReleasedData, ("held", "verdict"), ONCE),
    "sealed_to_chief": EntryKind(PUBLIC, steps.SealedToChiefData, ("committed",), ONCE),
    "revealed": EntryKind(PUBLIC, steps.RevealedData, ("committed", "verdict"), ONCE),
    "withdrawn": EntryKind(PUBLIC, steps.WithdrawnData, ("held", "verdict"), ONCE),
    "record": EntryKind(PUBLIC, steps.RecordData, ("verdict",), ONCE),
    "recalled": EntryKind(PUBLIC, steps.RecalledData, ("released",), ONCE),
    # A match.
    "meeting": EntryKind(PUBLIC, MeetingData),
    "match": EntryKind(PUBLIC, MatchData),
    "match_kept": EntryKind(PRIVATE, MatchData),
    "match_told": EntryKind(PUBLIC, MatchToldData),
    "transferred": EntryKind(PUBLIC, TransferredData),
    "taken_over": EntryKind(PUBLIC, TakenOverData),
    "opened_hand": EntryKind(PUBLIC, OpenedHandData),
    # People and the machine. Each pause ends separately.
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
"""The kinds that this program writes. A journal may have others, from a later version."""
