"""What the outside may see and say: public state, public events, commands, replies.

Other people's programs depend on these shapes; `dealtable schema` prints them as
JSON Schema. Nothing here can hold a face that the rules do not make public.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

SCHEMA_VERSION = 1

Seat = Literal["N", "W", "S", "E"]
Side = Literal["NS", "EW"]

_FORBIDDEN_IN_NAMES = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff()\uff08\uff09"
)
"""What is in no person's name: what nobody sees, and the brackets that stand around his key's."""
PersonName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,
        pattern=rf"^[^{_FORBIDDEN_IN_NAMES}\s](?:[^{_FORBIDDEN_IN_NAMES}]*[^{_FORBIDDEN_IN_NAMES}\s])?$",
        description="a person's name, 1 to 40 printable characters without brackets",
        examples=["Li Na"],
    ),
]
"""Who gives an order, where several people have one key."""


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


class Role(StrEnum):
    """What a client's key is admitted as."""

    OBSERVER = "observer"
    TABLE = "table"
    REFEREE = "referee"
    CHIEF = "chief"
    TECHNICIAN = "technician"


class Message(msgspec.Struct, frozen=True, gc=False):
    """A value that crosses a socket."""


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
    cutters: list[Seat] = []
    due_to_ready_ms: int | None = None
    ready_to_button_ms: int | None = None
    counter: int | None = None
    pauses: dict[str, str] = {}


class CardSetState(Message, frozen=True, kw_only=True):
    """A set and its history at this table.

    `barred`: why it may not be dealt with until a person has counted it; `cleared`: how often
    one has. `attempts` were dealt with it, `deals` of them were released, `misdeals` put
    its count in doubt. `last_match`, `last_deal`: the last deal whose hands were out with it; where
    its composition is found wrong later, that is the deal to look at.
    """

    id: str
    back: str
    barred: list[str] = []
    attempts: int = 0
    deals: int = 0
    misdeals: int = 0
    cleared: int = 0
    last_match: str | None = None
    last_deal: int | None = None


class PublicPair(Message, frozen=True, kw_only=True):
    """Two partners: the pair's number, its name, and who sits where."""

    id: str
    name: str
    players: dict[Seat, str] = {}


class PublicMatchClock(Message, frozen=True, kw_only=True):
    """The time of a match at this table, with what was added to it.

    `left_s`: whole seconds, as of `Match.at_ms`. `running`: not while the area stands still,
    nor before the start. `deadline_ms`: when it will be up by the table's clock; None while
    it stands.
    """

    left_s: int
    running: bool = False
    deadline_ms: int | None = None


class PublicAreaStop(Message, frozen=True, kw_only=True):
    """The clocks of the whole area are stopped (全区停表), the machines are not.

    `since_ms`: by the table's clock. `reason` and `by` are null where an older program wrote it
    down.
    """

    since_ms: int
    reason: str | None = None
    by: str | None = None


class PublicSeatClock(Message, frozen=True, kw_only=True):
    """Somebody is waited for: `left_s` whole seconds until the clock has something to say.

    `seat` and `side` are null where it is all four. 0: it has said all it had to.
    """

    duty: str
    seat: Seat | None = None
    side: Side | None = None
    left_s: int
    running: bool


class HandDuties(Message, frozen=True, kw_only=True):
    """Who does what in a deal whose hands are drawn by hand, any one of several.

    `shuffles`: least and most passes. `turnup`: a card is turned up before the hands are drawn.
    `first_drawer`: null where the turned-up card decides.
    """

    shufflers: list[Seat]
    shuffles: tuple[int, int]
    turnup: bool
    first_drawer: Seat | None = None


class TributePayment(Message, frozen=True, kw_only=True):
    """A tribute that goes from `giver` to `to`; `card`: the rank that is due."""

    giver: Seat
    to: Seat
    card: str


class TributeReturn(Message, frozen=True, kw_only=True):
    """A card given back: `any`, `ten` (10 or less), or `ten_advised` (a word above 10).

    `card`: its rank, null where it is secret, was not told, or the other is not there yet.
    """

    giver: Seat
    to: Seat
    rule: Literal["any", "ten", "ten_advised"]
    card: str | None = None


class Tribute(Message, frozen=True, kw_only=True):
    """Tribute and return of the present deal.

    `anti`: whether both big jokers let the payers off, null until it was checked. `laid`:
    who has laid his card. `required`: what it had to be, by payer, after all have laid.
    `equal`: two tributes of one value; `choice_open`: UP may still choose whose he takes;
    `chooser`: who that is, until a card is given back.
    `returns_shown`: openly, together once both are there, or never (暗还).
    """

    payers: list[Seat]
    anti: bool | None = None
    laid: list[Seat] = []
    required: dict[Seat, str] = {}
    payments: list[TributePayment] = []
    returns: list[TributeReturn] = []
    returns_shown: Literal["open", "together", "secret"]
    given: list[Seat] = []
    equal: bool = False
    choice_open: bool = False
    chooser: Seat | None = None


class PublicChoices(Message, frozen=True, kw_only=True):
    """Big Two before play: what is asked, and who has chosen it; who shows his hand comes
    out when all have answered.
    """

    asked: Literal["open_hand", "doubling"] | None
    opened: list[Seat] = []
    doubled: list[Seat] = []


class PublicRuling(Message, frozen=True, kw_only=True):
    """What is ruled on an offence, or proposed: nothing happens until somebody decides it.

    `by` proposed it at `at_ms` (the table's clock), `approved_by` decided it. `verbal`: the chief
    approved by word, which `entered_by` entered, null in `confirmed_by` until he has confirmed it;
    `rejection_entered_by`: who entered the chief's word that it comes to nothing.
    """

    id: str
    offence: str
    offence_en: str
    offence_zh: str
    deal: int
    side: Side
    seat: Seat | None
    penalty: str
    penalty_en: str
    penalty_zh: str
    article: str | None
    needs: Literal["referee", "chief"]
    state: Literal["proposed", "decided", "rejected"]
    by: str
    at_ms: int | None = None
    approved_by: str | None = None
    rejected_by: str | None = None
    verbal: bool = False
    entered_by: str | None = None
    confirmed_by: str | None = None
    rejection_entered_by: str | None = None


class VerbalCorrection(Message, frozen=True, kw_only=True):
    """A result of `deal` that was corrected by word of the chief `by`, as `entered_by` entered it.

    `row`: of the score sheet, by which the chief confirms it.
    """

    row: int
    deal: int
    by: str
    entered_by: str
    reason: str


class PublicVerdict(Message, frozen=True, kw_only=True):
    """How a match ended; no `winner` after a draw, or where both sides have lost."""

    winner: Side | None
    how: str
    how_en: str
    how_zh: str


class PublicScore(Message, frozen=True, kw_only=True):
    """A match in points; null where the rulebook has none of a kind.

    `provisional`: the keys of the profile behind these numbers that no text has.
    """

    match_points: dict[Side, int] | None = None
    level_points: dict[Side, int] | None = None
    deal_points: dict[Side, int] | None = None
    total: dict[Side, int] | None = None
    provisional: list[str] = []


class SheetSigner(Message, frozen=True, kw_only=True):
    """Who signed the score sheet: a side, a seat or the referee, by which person."""

    signer: str
    person: str


class PublicMatch(Message, frozen=True, kw_only=True):
    """The players' side of the public state; what no match has said yet is null.

    `event` to `stage`: where it stands in its event; `match`: its id. `phase_*`, `next_*`: in
    words; `next`: what happens next and who is waited for, of whom `waiting_for` has the
    seats. `at_ms`: the table's clock as of this state; every `_ms` is by that clock.

    `deal` (0 before the first) and `attempt` (whose hands the players have, null while none
    are out and where they were drawn by hand) are what a command about the match must name.
    `by_hand`: the hands of this deal are drawn by hand, by `hand_duties`. `extra`: this deal only
    decides the match. `suspended`: why the table stands still. `claimed`: who claimed a wrong
    count that nobody has answered; `claims`: all of this match. `misdeals`: attempts of this
    deal that gave no hands.

    `levels`: of the sides, `level`: what is played in this deal (本副打几), of the side `owner`.
    `failures`: deals in which a side did not pass its A. `cutters` may cut now, a packet of
    `cut_range` cards; `cutter` has. `leader` and `turned_up` come with the release. `outs`: who
    says that he is out, and no opponent has confirmed it; `order`: who is out, in turn;
    `dead`: whose hands are out of play. `confirmed`: sides that confirmed the result.
    `points`: where deals bring any. `left`: Big Two's cards left, entered, not confirmed;
    `totals`: its scores. `rulings`: those that wait for somebody, and the newest others.
    `spoken`: corrections by the chief's word that he has not confirmed.
    `signers`: who has still to sign the sheet, which is its `version`.
    """

    event: str | None = None
    round: int | None = None
    match_no: int | None = None
    table_no: str | None = None
    stage: Literal["swiss", "round_robin", "knockout"] | None = None
    match: str | None = None
    profile: str
    game: Literal["guandan", "bigtwo"] | None = None
    at_ms: int | None = None
    phase: str = "idle"
    phase_en: str = "idle"
    phase_zh: str = "待机"
    next_en: str = ""
    next_zh: str = ""
    waiting_for: list[Seat] = []
    deal: int | None = None
    attempt: int | None = None
    by_hand: bool = False
    hand_duties: HandDuties | None = None
    extra: bool = False
    pairs: dict[Side, PublicPair | None] = msgspec.field(
        default_factory=lambda: {"NS": None, "EW": None}
    )
    seated: list[Seat] = []
    started: bool = False
    suspended: str | None = None
    levels: dict[Side, str | None] = msgspec.field(default_factory=lambda: {"NS": None, "EW": None})
    level: str | None = None
    owner: Side | None = None
    failures: dict[Side, int] | None = None
    points: dict[Side, int] | None = None
    cutters: list[Seat] = []
    cut_range: tuple[int, int] | None = None
    cutter: Seat | None = None
    leader: Seat | None = None
    led: bool = False
    turned_up: str | None = None
    counted: list[Seat] = []
    claimed: Seat | None = None
    claims: list[Seat] = []
    misdeals: int = 0
    tribute: Tribute | None = None
    choices: PublicChoices | None = None
    outs: list[Seat] = []
    order: list[Seat] = []
    dead: list[Seat] = []
    left: dict[Seat, int] | None = None
    confirmed: list[str] = []
    totals: dict[Seat, int] | None = None
    start_ms: int | None = None
    began_ms: int | None = None
    clock: PublicMatchClock | None = None
    area_stop: PublicAreaStop | None = None
    added_time_s: int = 0
    announced: str | None = None
    clocks: list[PublicSeatClock] = []
    rulings: list[PublicRuling] = []
    spoken: list[VerbalCorrection] = []
    verdict: PublicVerdict | None = None
    score: PublicScore | None = None
    version: int = 1
    signed: list[SheetSigner] = []
    signers: list[str] = []


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
    reasons: list[str] = []
    recalled: list[str] = []
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
    sets: list[CardSetState] = []
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


class ClientCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client asks. `key` and `sig` (hex, Ed25519) stand on all that change anything.

    `deal` and `attempt` name what the sender believes to be present; null in
    commands that concern none. `boot`: the run of the table's daemon that the order is for, as the
    sender last saw it in a state; what is signed acts in that run alone. `person`: who gives it,
    at the console that holds the key; null where that is not said.
    """

    id: str
    cmd: str
    deal: int | None = None
    attempt: int | None = None
    boot: str | None = None
    person: PersonName | None = None
    args: dict[str, Any] = {}
    key: str | None = None
    sig: str | None = None


class Failure(Message, frozen=True, kw_only=True):
    """Why a command was refused: a name of the fault catalogue, and what to do, in both languages.

    The Chinese is "" from a table of an older version. `found`: the value that the words name, as
    data; null where they name none, or more than one value.
    """

    code: str
    message: str
    action: str
    message_zh: str = ""
    action_zh: str = ""
    found: str | None = None


class Offer(Message, frozen=True, kw_only=True):
    """Whether a command that changes something could be given now, as `offers` answers.

    It could where `refused` is null; else that is what would be answered. What only a board can
    say (a lid that is open, cards in the hopper) is not asked, nor what only a key decides, nor
    whether a card or a count is right. `seats`: those that it could name now; null where it names
    none. `seatless`: whether it could be given without one; null where it must name one, or names
    none. `by_word`: a referee could give it as the word of the chief alone (`verbal`, `by`).
    """

    cmd: str
    seats: list[Seat] | None = None
    seatless: bool | None = None
    by_word: bool = False
    refused: Failure | None = None


class CommandReply(Message, frozen=True, kw_only=True):
    """The answer to the command of the same `id`."""

    id: str
    ok: bool
    result: dict[str, Any] | None = None
    error: Failure | None = None
