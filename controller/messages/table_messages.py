"""The public state of a table, and its public events."""

from enum import StrEnum
from typing import Any, Literal

import msgspec

from controller.messages.command_messages import Message, Seat
from controller.messages.match_messages import PublicMatch

SCHEMA_VERSION = 1


class MachinePhase(StrEnum):
    """The phase of the machine: a fault, no attempt (`empty`), or a step of the present attempt."""

    FAULT = "fault"
    EMPTY = "empty"
    COMMITTED = "committed"
    CUT = "cut"
    SHUFFLING = "shuffling"
    DEALING = "dealing"
    HELD = "held"
    RELEASED = "released"


class AttemptOutcome(StrEnum):
    """The way in which an attempt ended: dealt correctly, refused by the 27-lock, or voided."""

    OK = "ok"
    MISDEAL = "misdeal"
    VOID = "void"


class LandedCards(Message, frozen=True, kw_only=True):
    """The number of cards in each pocket and in the tray, counted by the landing sensors."""

    N: int = 0
    W: int = 0
    S: int = 0
    E: int = 0
    tray: int = 0


class PublicMachine(Message, frozen=True, kw_only=True):
    """The state of the machine, as part of the public state of a table.

    While dealing, only `fed` is updated for each card. `deal` and `attempt` are the machine's. With
    deal-ahead they belong to the next deal, while the match's are those of the hands that the
    players hold. `attempt` is the table's own number. It is used only once, and commands and proofs
    name it. `of_deal` is the number for people: the count of attempts at this deal. `card_set` is
    the set in the hopper, or the set to put there; `set_out` is the set that the players hold.
    `cutters` may cut now. Empty means no seat, or in practice any seat. `counter` is the number on
    display while the machine waits for a cut. `pauses` are the reasons why the machine starts
    nothing, and the people who paused it.

    `ready_in_s` is an estimate while cards are dealt; it is null if it is unknown or if nothing
    moves. Two values describe the hands that were released last. `due_to_ready_ms` is the time that
    people waited for them after their deal was due (0: they were ready). `ready_to_button_ms` is
    the time from there to the command that released them.
    """

    phase: MachinePhase
    deal: int | None = None
    attempt: int | None = None
    of_deal: int | None = None
    fed: int = 0
    refed: int = 0
    landed: LandedCards | None = None
    ready_in_s: float | None = None
    card_set: str | None = None
    set_out: str | None = None
    cutters: list[Seat] = msgspec.field(default_factory=list)
    due_to_ready_ms: int | None = None
    ready_to_button_ms: int | None = None
    counter: int | None = None
    pauses: dict[str, str] = msgspec.field(default_factory=dict)


class CardSetState(Message, frozen=True, kw_only=True):
    """A set of cards and its history at this table.

    `barred` are the reasons why it may not be used until a person has counted it. `cleared` counts
    how often that was done. `attempts` were dealt with it, `deals` of them were released, and
    `misdeals` put its count in doubt. `last_match` and `last_deal` are the last deal whose hands
    were released from it. If its composition is found wrong later, check that deal.
    """

    id: str
    back: str
    barred: list[str] = msgspec.field(default_factory=list)
    attempts: int = 0
    deals: int = 0
    misdeals: int = 0
    cleared: int = 0
    last_match: str | None = None
    last_deal: int | None = None


class Reveal(Message, frozen=True, kw_only=True):
    """The seed (the secret number) and the cut of a finished attempt, published to check its proof.

    controller/deal/PROOF.md defines the check.
    """

    seed: str
    cut: int | None


class Fairness(Message, frozen=True, kw_only=True):
    """The public part of the proof that one attempt was fair. Bytes are hex.

    `attempt` is the table's own number. `of_deal` is the number of the attempt at its deal, from 1
    on (null from a table of an older version). `recalled` is the reason why released hands are
    dealt again.
    """

    deal: int
    attempt: int
    of_deal: int | None = None
    commitment: str
    cut: int | None = None
    uncut: bool = False
    hands: str | None = None
    outcome: AttemptOutcome | None = None
    reasons: list[str] = msgspec.field(default_factory=list)
    recalled: list[str] = msgspec.field(default_factory=list)
    reveal: Reveal | None = None


class Alert(Message, frozen=True, kw_only=True):
    """A message about a fault, which people must see: catalogue code, cause and next action."""

    code: int
    name: str
    since: str
    cause: str
    action: str
    cause_zh: str
    action_zh: str


class RefereeCall(Message, frozen=True, kw_only=True):
    """A call for the referee, from the seat that pressed the red button or from the match.

    `seat` is null if the match itself needs a referee.
    """

    seat: Seat | None
    reason: str
    since: str
    words_en: str = ""
    words_zh: str = ""


class TableCounters(Message, frozen=True, kw_only=True):
    """The numbers of deals, redeals, voids, misreads and jams since the journal began."""

    deals: int = 0
    redeals: int = 0
    voids: int = 0
    misreads: int = 0
    jams: int = 0


class SignedHead(Message, frozen=True, kw_only=True):
    """The hash of the journal after entry `n` (its head), signed by the table's machine.

    Bytes are hex. The bytes that `sig` covers are described in controller/signing/signed_heads.py
    and deal/PROOF.md.
    """

    n: int
    head: str
    sig: str


class ProgramRelease(Message, frozen=True, kw_only=True):
    """The release of the program that runs a table. The program itself reports these values.

    `serial` grows from release to release. `hash` covers the files that the program runs from, as
    the program itself *reports* it (controller/signing/releases.py). A malicious program can report
    any hash.
    """

    version: str
    serial: int
    hash: str


class Firmware(Message, frozen=True, kw_only=True):
    """The firmware that a board reports. `hash` is also only *reported* by the board."""

    version: str
    hash: str


class ConnectedBoard(Firmware, frozen=True, kw_only=True):
    """The report of a connected board: its firmware, and the kind of hardware that it drives.

    `hal` is `sim` (simulated mechanics), `rp2` (the RP2040 of our own boards) or `adapter`, a
    program that drives bought parts. An adapter cannot stop if its computer hangs; its
    other limits are in deploy/THREATS.md. `other` is a kind that this version does not have.
    """

    hal: Literal["sim", "rp2", "adapter", "other"] = "other"


ReaderTrigger = Literal["wire", "asked"]


class ReportedBoards(Message, frozen=True, kw_only=True):
    """The reports of a table's two boards. A board that is missing or not the expected one is null.

    `trigger` starts each look of the reader. `wire`: a wire from the dealer board. `asked`: the
    machine asks the reader for each card, so the two boards do not count each card independently.
    It is null without a reader.
    """

    dealer: ConnectedBoard | None = None
    reader: ConnectedBoard | None = None
    trigger: ReaderTrigger | None = None


class PublicState(Message, frozen=True, kw_only=True):
    """The complete public state of one table, published under the topic `state/<table>`.

    `head` is the journal's head at this moment. `signed` is the signed head at the last change of
    the machine's phase, null before the first change. Keep the signed heads: a table that shows two
    heads for one entry, or returns to an entry before a kept head, has rewritten its past.
    `release` is null for a program without a manifest.
    """

    schema: int = SCHEMA_VERSION
    table: str
    boot: str
    seq: int
    time: str
    simulated: bool
    mode: Literal["play", "test"]
    machine: PublicMachine
    match: PublicMatch
    fairness: list[Fairness]
    head: str
    signed: SignedHead | None = None
    release: ProgramRelease | None = None
    boards: ReportedBoards = ReportedBoards()
    alerts: list[Alert]
    calls: list[RefereeCall]
    sets: list[CardSetState] = msgspec.field(default_factory=list)
    counters: TableCounters


class PublicEvent(Message, frozen=True, kw_only=True):
    """One public entry of the journal, number `n`, published under the topic `event/<table>`.

    `prev` and `head` are the hashes of the chain before and after it (controller/journal).
    """

    schema: int = SCHEMA_VERSION
    table: str
    boot: str
    n: int
    time: str
    simulated: bool
    kind: str
    deal: int | None
    attempt: int | None
    data: dict[str, Any]
    prev: str
    head: str
