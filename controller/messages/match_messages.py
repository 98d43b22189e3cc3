"""The match at a table, as everybody may see it."""

from typing import Literal

import msgspec

from controller.messages.command_messages import Message, Seat, Side


class PublicPair(Message, frozen=True, kw_only=True):
    """Two partners: the pair's number, its name, and who sits where."""

    id: str
    name: str
    players: dict[Seat, str] = msgspec.field(default_factory=dict)


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
    laid: list[Seat] = msgspec.field(default_factory=list)
    required: dict[Seat, str] = msgspec.field(default_factory=dict)
    payments: list[TributePayment] = msgspec.field(default_factory=list)
    returns: list[TributeReturn] = msgspec.field(default_factory=list)
    returns_shown: Literal["open", "together", "secret"]
    given: list[Seat] = msgspec.field(default_factory=list)
    equal: bool = False
    choice_open: bool = False
    chooser: Seat | None = None


class PublicChoices(Message, frozen=True, kw_only=True):
    """Big Two before play: what is asked, and who has chosen it; who shows his hand comes
    out when all have answered.
    """

    asked: Literal["open_hand", "doubling"] | None
    opened: list[Seat] = msgspec.field(default_factory=list)
    doubled: list[Seat] = msgspec.field(default_factory=list)


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
    provisional: list[str] = msgspec.field(default_factory=list)


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
    waiting_for: list[Seat] = msgspec.field(default_factory=list)
    deal: int | None = None
    attempt: int | None = None
    by_hand: bool = False
    hand_duties: HandDuties | None = None
    extra: bool = False
    pairs: dict[Side, PublicPair | None] = msgspec.field(
        default_factory=lambda: {"NS": None, "EW": None}
    )
    seated: list[Seat] = msgspec.field(default_factory=list)
    started: bool = False
    suspended: str | None = None
    levels: dict[Side, str | None] = msgspec.field(default_factory=lambda: {"NS": None, "EW": None})
    level: str | None = None
    owner: Side | None = None
    failures: dict[Side, int] | None = None
    points: dict[Side, int] | None = None
    cutters: list[Seat] = msgspec.field(default_factory=list)
    cut_range: tuple[int, int] | None = None
    cutter: Seat | None = None
    leader: Seat | None = None
    led: bool = False
    turned_up: str | None = None
    counted: list[Seat] = msgspec.field(default_factory=list)
    claimed: Seat | None = None
    claims: list[Seat] = msgspec.field(default_factory=list)
    misdeals: int = 0
    tribute: Tribute | None = None
    choices: PublicChoices | None = None
    outs: list[Seat] = msgspec.field(default_factory=list)
    order: list[Seat] = msgspec.field(default_factory=list)
    dead: list[Seat] = msgspec.field(default_factory=list)
    left: dict[Seat, int] | None = None
    confirmed: list[str] = msgspec.field(default_factory=list)
    totals: dict[Seat, int] | None = None
    start_ms: int | None = None
    began_ms: int | None = None
    clock: PublicMatchClock | None = None
    area_stop: PublicAreaStop | None = None
    added_time_s: int = 0
    announced: str | None = None
    clocks: list[PublicSeatClock] = msgspec.field(default_factory=list)
    rulings: list[PublicRuling] = msgspec.field(default_factory=list)
    spoken: list[VerbalCorrection] = msgspec.field(default_factory=list)
    verdict: PublicVerdict | None = None
    score: PublicScore | None = None
    version: int = 1
    signed: list[SheetSigner] = msgspec.field(default_factory=list)
    signers: list[str] = msgspec.field(default_factory=list)
