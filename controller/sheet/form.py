"""The score sheet (记分表) as data: all that the printed page contains, in reading order.

These values cross the socket as JSON for the command `sheet`. Levels and ranks are texts. Every
`_ms` is a time of the table's clock. Every `_at` is a time of the wall clock, if that is known.
"""

from typing import Literal

import msgspec

from controller.messages import PublicPair, PublicRuling, PublicScore, PublicVerdict, Seat, Side

SHEET_VERSION = 1
"""The version of this form."""


class SheetPart(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of all parts of the score sheet."""


class SheetRules(SheetPart, frozen=True, kw_only=True):
    """The names of the match's profile, and the profile's `hash`, which is in each commitment."""

    name: str
    title_en: str
    title_zh: str
    event_en: str | None = None
    event_zh: str | None = None
    hash: str


class DealOutcome(SheetPart, frozen=True, kw_only=True):
    """The result of a deal: the finish order, or the side that lost the deal by a penalty.

    `order`: the seats that emptied their hands, first to last.
    """

    order: list[Seat] = []
    forfeited_by: Side | None = None


class CardPassed(SheetPart, frozen=True, kw_only=True):
    """A card that one seat gave to another as tribute or return.

    `card`: its rank, null if it was not reported. `secret`: the rank may not be shown (暗还, seed
    004 CN5).
    """

    giver: Seat
    to: Seat
    card: str | None = None
    secret: bool = False


class SheetPenalty(SheetPart, frozen=True, kw_only=True):
    """A penalty that was given in a deal. `overturned`: the chief withdrew it."""

    ruling: str
    side: Side
    seat: Seat | None
    penalty_en: str
    penalty_zh: str
    article: str | None
    overturned: bool = False


class DealLine(SheetPart, frozen=True, kw_only=True):
    """The row of the score sheet for one deal of Guandan.

    `outcome`, `gain` and `levels` have the values that count now. `gain`: the levels that the
    winners really climbed. `levels`, `points`: those of the sides after the deal, null if the deal
    no longer counts. `written`: the levels that were written at the time, if a correction has
    changed them. `uncut`: the deal was dealt without a cut.
    """

    row: int
    deal: int
    level: str
    owner: Side | None
    outcome: DealOutcome
    result: Literal["R12", "R13", "R14"]
    winners: Side
    counts: bool = True
    corrected: bool = False
    gain: int | None = None
    levels: dict[Side, str] | None = None
    written: dict[Side, str] | None = None
    points: dict[Side, int] | None = None
    extra: bool
    by_hand: bool
    cutter: Seat | None
    cut: int | None
    uncut: bool = False
    first_drawer: Seat | None
    leader: Seat | None
    turned_up: str | None
    anti: bool
    tribute: list[CardPassed]
    returns: list[CardPassed]
    dead: list[Seat]
    misdeals: int
    penalties: list[SheetPenalty]
    began_ms: int | None
    ended_ms: int


class BigTwoLine(SheetPart, frozen=True, kw_only=True):
    """The row of the score sheet for one deal of Big Two.

    `left`: the number of cards left. `totals`: the sums of the scores after the deal.
    """

    row: int
    deal: int
    leader: Seat
    left: dict[Seat, int]
    opened: list[Seat]
    doubled: list[Seat]
    scores: dict[Seat, int]
    totals: dict[Seat, int]
    by_hand: bool
    uncut: bool = False
    misdeals: int
    ended_ms: int


class SheetCorrection(SheetPart, frozen=True, kw_only=True):
    """A correction of a deal's result after the result was entered.

    `was` and `now`: the old and the new result. `by`: the person who decided. `entered_by`: the
    person who entered a spoken decision of the chief `by`. `confirmed_by`: the person who confirmed
    that decision in writing. It is null if the confirmation is still missing, or if the decision
    was not spoken. `reason_zh`: the reason in Chinese if the table wrote it (for a ruling: its
    offence). It is null if `reason` was written by a person.
    """

    row: int
    at_ms: int
    deal: int
    was: DealOutcome
    now: DealOutcome
    choice: Literal["from_now", "void_later", "stand"]
    by: str
    reason: str
    reason_zh: str | None = None
    entered_by: str | None = None
    confirmed_by: str | None = None


class SheetNote(SheetPart, frozen=True, kw_only=True):
    """A note on the sheet that belongs neither to a deal nor to a correction."""

    row: int
    at_ms: int
    en: str
    zh: str


class SignatureLine(SheetPart, frozen=True, kw_only=True):
    """A line on which one person or side signs the sheet.

    `person` and `at_ms` are null until it is signed. `duty`: the duty to keep the sheet (记分), or
    to check it (监督), if the rulebook assigns it.
    """

    signer: str
    duty: Literal["scorer", "checker"] | None = None
    person: str | None = None
    at_ms: int | None = None


class SheetVersion(SheetPart, frozen=True, kw_only=True):
    """One version of the score sheet, which people have signed or must sign.

    `rows`: the number of rows in this version. `signatures`: the signatures so far.
    """

    version: int
    rows: int
    signatures: list[SignatureLine]


class ScoreSheet(SheetPart, frozen=True, kw_only=True):
    """The whole score sheet of one match."""

    sheet: int = SHEET_VERSION
    game: Literal["guandan", "bigtwo"]
    table: str
    table_no: str
    event: str
    round: int
    match_no: int
    match: str
    stage: str
    rules: SheetRules
    pairs: dict[Side, PublicPair]
    start_ms: int | None
    end_ms: int | None
    start_at: str | None = None
    end_at: str | None = None
    state: Literal["open", "over", "signed"]
    deals: list[DealLine] = []
    hands: list[BigTwoLine] = []
    corrections: list[SheetCorrection] = []
    notes: list[SheetNote] = []
    rulings: list[PublicRuling] = []
    verdict: PublicVerdict | None = None
    levels: dict[Side, str] | None = None
    score: PublicScore | None = None
    totals: dict[Seat, int] | None = None
    signatures: list[SignatureLine]
    version: int
    versions: list[SheetVersion]
    head: str
