"""The public state of a table, and its public events."""

from enum import StrEnum
from typing import Any, Literal

import msgspec

from controller.messages.command_messages import (
    Message,
    Seat,
)
from controller.messages.match_messages import (
    PublicMatch,
)

SCHEMA_VERSION = 1


class MachinePhase(StrEnum):
    """Where the machine is with its present attempt."""

    FAULT = "fault"
    EMPTY = "empty"
    COMMITTED = "committed"
    CUT = "cut"
    SHUFFLING = "shuffling"
    DEALING = "dealing"
    HELD = "held"
    RELEASED = "released"


class AttemptOutcome(StrEnum):
    """How an attempt ended: dealt right, refused by the 27-lock, or given up."""

    OK = "ok"
    MISDEAL = "misdeal"
    VOID = "void"


class LandedCards(Message, frozen=True, kw_only=True):
    """Cards in each outlet, counted by the landing sensors."""

    N: int = 0
    W: int = 0
    S: int = 0
    E: int = 0
    tray: int = 0


class PublicMachine(Message, frozen=True, kw_only=True):
    """The hardware's side of the public state. While dealing only `fed` runs live.

    `deal` and `attempt` are the machine's: with deal-ahead the next deal's, while the match's are
    still those of the hands that the players hold. `attempt` is the table's own number, given once
    and named by commands and proofs; `of_deal` is what people read: which attempt at this deal.
    `card_set` is the set in the hopper, or to be laid into it; `set_out` the one that the players
    hold. `cutters` may cut now; empty: nobody, or in practice anybody. `counter`: the number on
    display while a cut is waited for. `pauses`: why the machine begins nothing, and who stopped it.

    `ready_in_s`: an estimate while cards are dealt; null: unknown, or nothing moves. Of the hands
    that went out last: `due_to_ready_ms`, how long people waited for them since their deal was due
    (0: they were ready), and `ready_to_button_ms`, from there to the order to let them out.
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
    """A set and its history at this table.

    `barred`: why it may not be dealt with until a person has counted it; `cleared`: how often
    one has. `attempts` were dealt with it, `deals` of them were released, `misdeals` put
    its count in doubt. `last_match`, `last_deal`: the last deal whose hands were out with it; where
    its composition is found wrong later, that is the deal to look at.
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
    """Seed and cut of a finished attempt (controller/deal/PROOF.md)."""

    seed: str
    cut: int | None


class Fairness(Message, frozen=True, kw_only=True):
    """The proof of one attempt as far as it may be public. Bytes are hex.

    `attempt` is the table's own number, `of_deal` which attempt at its deal it is, from 1 on
    (null: from a table of an older version). `recalled`: why hands that were out are dealt again.
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
    """Something a person must look at: a code of the fault catalogue, cause and next action."""

    code: int
    name: str
    since: str
    cause: str
    action: str
    cause_zh: str
    action_zh: str


class RefereeCall(Message, frozen=True, kw_only=True):
    """A person waits for the referee: who pressed red, or what the match needs somebody for."""

    seat: Seat | None
    reason: str
    since: str
    words_en: str = ""
    words_zh: str = ""


class TableCounters(Message, frozen=True, kw_only=True):
    """What happened since the journal began."""

    deals: int = 0
    redeals: int = 0
    voids: int = 0
    misreads: int = 0
    jams: int = 0


class SignedHead(Message, frozen=True, kw_only=True):
    """The journal's head behind entry `n`, signed by the table's machine. Bytes are hex.

    What `sig` is over stands in controller/signing/signed_heads.py and deal/PROOF.md.
    """

    n: int
    head: str
    sig: str


class ProgramRelease(Message, frozen=True, kw_only=True):
    """The release that a table's program says it is.

    `serial` only grows from release to release. `hash`: over the files it runs from, as the
    program itself *reports* it (controller/signing/releases.py): one that lies can say any.
    """

    version: str
    serial: int
    hash: str


class Firmware(Message, frozen=True, kw_only=True):
    """The firmware that a board says it runs; `hash` is *reported* by itself, too."""

    version: str
    hash: str


class ConnectedBoard(Firmware, frozen=True, kw_only=True):
    """A board that is there: its firmware, and what stands behind its pins, as it says itself.

    `hal`: simulated mechanics, the RP2040 of our own boards, or an `adapter`, a program that
    drives bought parts. An adapter cannot stop by itself when its computer hangs, and what else
    it cannot promise stands in deploy/THREATS.md. `other`: of a version not known here.
    """

    hal: Literal["sim", "rp2", "adapter", "other"] = "other"


ReaderTrigger = Literal["wire", "asked"]


class ReportedBoards(Message, frozen=True, kw_only=True):
    """What both boards are; null: that board is not there, or is not the right one.

    `trigger`: how the reader is told of a card: by the dealer board's `wire`, or it is `asked` by
    the machine, and two boards that count each card by themselves are none; null without one.
    """

    dealer: ConnectedBoard | None = None
    reader: ConnectedBoard | None = None
    trigger: ReaderTrigger | None = None


class PublicState(Message, frozen=True, kw_only=True):
    """The whole public state of one table, self-contained: topic `state/<table>`.

    `head` is the journal's at this moment; `signed` the one at the last change of the machine's
    phase, null before the first. Keep the signed ones: a table that shows two heads for one
    entry, or goes back behind one, has another past than it said. `release` is null for a
    program without a manifest.
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
    """One public entry of the journal, number `n`: topic `event/<table>`.

    `prev` and `head` are the chain before and behind it (controller/journal).
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
