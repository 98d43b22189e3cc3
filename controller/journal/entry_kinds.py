"""The kinds of entries: which are public, their data, and which kinds must precede them.

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
    """The daemon started. The fields describe the table and the program.

    `table_key` is the table's public CURVE key (Z85), which is part of every commitment. `sets` has
    the back (A or B) of each set of cards at the table, by the id of the set. `verify` is the
    table's Ed25519 key, which signs its heads. It is absent if the machine signs no heads.
    `release` is the release that the program reports. It is absent if the program has no release
    manifest.
    """

    table: str
    table_key: str
    simulated: bool
    version: str
    sets: dict[str, Back]
    verify: Hash | UnsetType = UNSET
    release: ProgramRelease | UnsetType = UNSET


class OpenedHandData(EntryData, frozen=True):
    """The chief looked at a hand as it was dealt.

    `by` is the chief's name. `key` is the chief's key (hex).
    """

    seat: Seat
    reason: str
    by: str
    key: str


class AnswerData(EntryData, frozen=True):
    """A command's confidential answer, encrypted so that only the sender of the command can
    read it.

    The answer is sent again if a command with the same id comes again.
    """

    id: str
    key: str
    sealed: Base64


class MeetingData(EntryData, frozen=True):
    """A match was set up: its players, table, rulebook, and the earlier penalties of its teams."""

    match: str
    meeting: dict[str, Any]
    record: list[dict[str, Any]]
    profile: str
    profile_hash: Hash
    at_ms: Ms


class MatchData(EntryData, frozen=True):
    """An event of the match. `event` has its name and its fields."""

    event: str
    at_ms: Ms


class KeptEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A match event that was first kept secret, and the number `n` of its private entry."""

    n: Count
    event: dict[str, Any]


class MatchToldData(EntryData, frozen=True):
    """Events of the match that were kept secret and are published now, such as all cards given
    back.
    """

    told: list[KeptEvent]


class TransferredData(EntryData, frozen=True):
    """The match moves to the table `to`, because a person decided this.

    `to_head` is a head that the journal of that table had shortly before, if the head was
    requested. `by` is the person who decided. `entered_by` is the person who entered a verbal
    decision of the chief. It is absent if the decision was not verbal.
    """

    match: str
    to: str
    to_head: Hash | None
    by: str
    at_ms: Ms
    entered_by: str | UnsetType = UNSET


class TakenOverData(EntryData, frozen=True):
    """This table took a match over from `table`.

    `n` is the number of the entry `transferred` in that table's journal, and `head` is the head
    after this entry. `digest` identifies the document of the match
    (controller/match/transfer_document.py). `sig` is that table's signature of the digest, made
    with the key `verify` (controller/signing/signed_commands.py). The sender of the command named
    that key. The entry `meeting` follows. After it, as many entries of kind `match` follow as
    `events` states, with times of this table's clock. `proofs` has the commitments of the match's
    attempts so far, by table, deal and attempt. `moves` has the earlier transfers of the match for
    the score sheet. It is absent if the document has none. `by` is the person who decided.
    `entered_by` is the person who entered a verbal decision of the chief. It is absent if the
    decision was not verbal.
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

    `reason` is the role that may end the pause. `why` has the person's own words.
    """

    reason: str
    by: str
    why: str


class PauseEndedData(EntryData, frozen=True):
    """A pause of the machine ended.

    `reason` is the role that could end the pause. `by` is the person who ended it.
    """

    reason: str
    by: str


class AcknowledgedData(EntryData, frozen=True):
    """A person acknowledged a fault, or ended a call by which the match asked for a referee.

    `name` is the name of the fault. For a call, it is the name of the call in small letters.
    `board` is "" if the fault does not concern a board.
    """

    name: str
    by: str
    board: Literal["", "dealer", "reader"]


class SetLoadedData(EntryData, frozen=True):
    """A person reported that another set of cards is in the machine."""

    set: str
    back: Back
    by: str


class SetClearedData(EntryData, frozen=True):
    """A person counted a set of cards whose use was forbidden, and found it complete."""

    set: str
    by: str


class FaultData(EntryData, frozen=True):
    """A fault was raised. `evidence` has the values for the text of the fault catalogue."""

    code: int
    name: FaultName
    evidence: dict[str, str]


class FaultClearedData(FaultData, frozen=True):
    """A fault was cleared. `evidence` is the evidence with which the fault was raised."""


class CallData(EntryData, frozen=True):
    """A player called the referee. `reason` is `button` or the player's own words."""

    seat: Seat
    reason: str


class CallEndedData(EntryData, frozen=True):
    """A player's call of the referee ended.

    `by` is the referee who came to the table. It is absent if the player cancelled the call with
    the green button.
    """

    seat: Seat
    by: str | UnsetType = UNSET


class CommandKeptData(EntryData, frozen=True):
    """The secret part of the `command` in the next row: its arguments and its signature."""

    id: str
    key: str
    args: dict[str, Any] | str
    of: tuple[int | None, int | None]
    boot: str
    sig: str


class CommandData(EntryData, frozen=True):
    """A signed command that was carried out or refused, and its sender.

    `key` is the signer's key (hex), or `panel` for a button of the table. `who` is the name in the
    key's certificate. `person` is the person who gave the command with that key. It is null if the
    command named no person. `result` is the public part of the answer. If the command was begun and
    could not be carried out, the entry has `refused` in place of `result`.

    `of` has the deal and attempt that the command named. `boot` is the run of the daemon that the
    command was for. This is always the present run. With `args`, `of`, `boot` and `sig`, everybody
    can check the signature of the command (controller/signing/signed_commands.py). Of these four
    fields, a command of a button has only `args`. For `answer`, `tribute`, `return` and
    `take_over`, all four fields are in a private row. An entry cannot contain a fraction. If `args`
    has a fraction, the entry has `args` as the JSON text that was signed, and the command is always
    refused.

    The command `configure` can be refused after it began. Then an earlier row has a `result` with
    the `settings` that the board accepted. `unknown` is a setting that was sent and got no answer.
    It is possible that the board accepted this setting.
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
    """The properties that all entries of one kind have.

    `data` is the type of their data. `after` has the kinds that must all precede such an entry in
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
