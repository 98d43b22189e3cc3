"""The public state of the match at a table."""

from typing import Literal

import msgspec

from controller.messages.command_messages import Message, Seat, Side


class PublicPair(Message, frozen=True, kw_only=True):
    """Two partners: the pair's number, its name, and the player at each seat."""

    id: str
    name: str
    players: dict[Seat, str] = msgspec.field(default_factory=dict)


class PublicMatchClock(Message, frozen=True, kw_only=True):
    """The remaining time of a match at this table, including time that a referee added.

    `left_s` is in whole seconds, at the time `at_ms` of the match. `running` is false before the
    start and while the area is stopped. `deadline_ms` is the end of the time by the table's clock;
    it is null while the clock is stopped.
    """

    left_s: int
    running: bool = False
    deadline_ms: int | None = None


class PublicAreaStop(Message, frozen=True, kw_only=True):
    """A pause of the match clocks at all tables of a playing area (全区停表).

    The machines are not stopped. `since_ms` is by the table's clock. `reason` and `by` are null if
    an older program wrote the entry.
    """

    since_ms: int
    reason: str | None = None
    by: str | None = None


class PublicSeatClock(Message, frozen=True, kw_only=True):
    """A clock that measures how long a player takes for `duty`, for example to play a card.

    `left_s` is the time until the clock calls the referee next, in whole seconds. If it is 0, the
    clock has no further call. `seat` and `side` are null if all four players are meant.
    """

    duty: str
    seat: Seat | None = None
    side: Side | None = None
    left_s: int
    running: bool


class HandDuties(Message, frozen=True, kw_only=True):
    """The duties of the players in a deal by hand, that is, without the machine.

    Any one of several `shufflers` may shuffle. `shuffles` is the minimum and maximum number of
    passes. `turnup` is true if a card is turned up before the hands are drawn. `first_drawer` is
    null if the turned-up card decides.
    """

    shufflers: list[Seat]
    shuffles: tuple[int, int]
    turnup: bool
    first_drawer: Seat | None = None


class TributePayment(Message, frozen=True, kw_only=True):
    """A tribute card, which the seat `giver` pays to the seat `to`. `card` is its due rank."""

    giver: Seat
    to: Seat
    card: str


class TributeReturn(Message, frozen=True, kw_only=True):
    """A card that the receiver of a tribute gives back, and the rule for this card.

    The rule is `any`, `ten` (10 or less) or `ten_advised`. With `ten_advised` any card is allowed,
    with a remark above 10. `card` is its rank. It is null if the rank is secret, was not reported,
    or the other return is missing.
    """

    giver: Seat
    to: Seat
    rule: Literal["any", "ten", "ten_advised"]
    card: str | None = None


class Tribute(Message, frozen=True, kw_only=True):
    """The tributes of the present deal, and the cards that are given back.

    `anti` is true if both big jokers release the payers from tribute. It is null until that was
    checked. `laid` are the payers that have laid their card. `required` is the card that was due,
    by payer; it is public after all have laid. `equal` is true for two tributes of the same value.
    `choice_open` is true while UP, the player who went out first (上游), may still choose one of
    them. `chooser` is UP's seat, until a card is given back. `returns_shown` is `open`, `together`
    (when both returns are there) or `secret`, which is never shown (暗还).
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
    """The players' answers before play in the card game Big Two: who shows the hand, who doubles.

    `asked` is the present question. `opened` and `doubled` are the seats that said yes. The seats
    that show their hand are published when all have answered.
    """

    asked: Literal["open_hand", "doubling"] | None
    opened: list[Seat] = msgspec.field(default_factory=list)
    doubled: list[Seat] = msgspec.field(default_factory=list)


class PublicRuling(Message, frozen=True, kw_only=True):
    """A ruling on a charge (an accusation): it is proposed, decided or rejected.

    A proposal has no effect until a person decides it. `by` proposed it at `at_ms` (the table's
    clock), `approved_by` decided it. With `verbal` the chief approved it orally and `entered_by`
    entered it; `confirmed_by` is null until the chief has confirmed it. `rejection_entered_by`
    entered the chief's oral decision to reject it.
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
    """A correction of the result of `deal`, which the chief `by` decided orally.

    `entered_by` entered the correction. `row` is the row of the score sheet, by which the chief
    confirms it.
    """

    row: int
    deal: int
    by: str
    entered_by: str
    reason: str


class PublicVerdict(Message, frozen=True, kw_only=True):
    """The result of a match. `winner` is null after a draw, and if both sides have lost."""

    winner: Side | None
    how: str
    how_en: str
    how_zh: str


class PublicScore(Message, frozen=True, kw_only=True):
    """The points of both sides in a match.

    A kind of points that the rulebook does not have is null. `provisional` lists the keys of the
    profile behind these numbers that no rule text contains.
    """

    match_points: dict[Side, int] | None = None
    level_points: dict[Side, int] | None = None
    deal_points: dict[Side, int] | None = None
    total: dict[Side, int] | None = None
    provisional: list[str] = msgspec.field(default_factory=list)


class SheetSigner(Message, frozen=True, kw_only=True):
    """A signer of the score sheet, and the name of the person who signed for this signer.

    `signer` is a side, a seat or the referee.
    """

    signer: str
    person: str


class PublicMatch(Message, frozen=True, kw_only=True):
    """The state of the match, as part of the public state of a table.

    A value that the match has not set yet is null. The fields from `event` to `stage` show which
    match of which tournament this is; `match` is its id. `phase_*` and `next_*` are texts for
    people. `next` is the next step, and `waiting_for` has the seats for which the match waits.
    `at_ms` is the table's clock at this state; every `_ms` is by that clock.

    A command about the match must name `deal` and `attempt`. `deal` is 0 before the first deal.
    `attempt` is the attempt whose hands the players have; it is null while no hands are out, and if
    they were drawn by hand. `by_hand` is true if the hands of this deal are drawn by hand, by
    `hand_duties`. `extra` is true if this deal only decides the match. `suspended` is the reason
    why the table is stopped. `claimed` is the seat that claimed a wrong count, until the claim is
    answered; `claims` are the seats of all claims of this match. `misdeals` counts the attempts of
    this deal that gave no hands.

    `levels` are the levels of the sides. `level` is played in this deal (本副打几); it is the level
    of the side `owner`. `failures` counts the deals in which a side did not pass its A. `cutters`
    may cut now, a packet of `cut_range` cards; `cutter` has cut. `leader` and `turned_up` are
    published with the release. `outs` are players who declared that they are out, without an
    opponent's confirmation yet; `order` are the players who are out, in turn. `dead` are the
    seats whose hands are out of play. `confirmed` are the sides that confirmed the result.
    `points` is set if deals give points. `left` is Big Two's cards left, entered but not
    confirmed; `totals` are the scores of Big Two. `rulings` are the pending rulings and the
    newest others. `spoken` are corrections by the chief's oral decision that the chief has not
    confirmed. `signers` still have to sign the sheet, whose version is `version`.
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
