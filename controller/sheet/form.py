"""The score sheet (记分表) as values: all that stands on its print, in reading order.

What crosses the socket for the command `sheet` is this, as JSON. Levels and ranks are
texts; every `_ms` is by the table's clock, every `_at` the wall's, where it is known.
"""

from typing import Literal

import msgspec

from controller.messages import PublicPair, PublicRuling, PublicScore, PublicVerdict, Seat, Side

SHEET_VERSION = 1
"""The version of this form."""


class SheetPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the sheet."""


class SheetRules(SheetPart, frozen=True, kw_only=True):
    """The rulebook: its name and titles, its event's title, and the hash that commitments name."""

    name: str
    title_en: str
    title_zh: str
    event_en: str | None = None
    event_zh: str | None = None
    hash: str


class DealOutcome(SheetPart, frozen=True, kw_only=True):
    """How a deal ended: who went out, in turn, or whose it is not because it was forfeited."""

    order: list[Seat] = []
    forfeited_by: Side | None = None


class CardPassed(SheetPart, frozen=True, kw_only=True):
    """A tribute or a return; `card`: its rank, null where it was not told. `secret`: nobody may
    tell it (暗还, seed 004 CN5)."""

    giver: Seat
    to: Seat
    card: str | None = None
    secret: bool = False


class SheetPenalty(SheetPart, frozen=True, kw_only=True):
    """A penalty of a deal. `overturned`: the chief took it back, it counts no more."""

    ruling: str
    side: Side
    seat: Seat | None
    penalty_en: str
    penalty_zh: str
    article: str | None
    overturned: bool = False


class DealLine(SheetPart, frozen=True, kw_only=True):
    """A deal as it was played; `outcome`, `gain` and `levels` as they count now.

    `gain`: levels that the winners really climbed; `levels`, `points`: of the sides behind
    it, null where it does not count any more. `written`: the levels that were written at the
    time, where a correction has changed them. `uncut`: it was dealt, and nobody had cut.
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
    """A deal of Big Two; `totals`: of the seats behind it."""

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
    """The result of a deal was written wrongly: old and new, whose word it was, and why.

    `entered_by`: who entered it as the chief's, which `by` gave; `confirmed_by`: who confirmed
    that in writing, null: he has still to, or it was no word. `reason_zh`: the reason in Chinese
    where the table wrote it, of a ruling its offence; null: `reason` is a person's, as he wrote it.
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
    """Something else that was written between the deals, in words."""

    row: int
    at_ms: int
    en: str
    zh: str


class SignatureLine(SheetPart, frozen=True, kw_only=True):
    """A line to sign on; `person` and `at_ms` are null as long as nobody has.

    `duty`: who keeps the sheet (记分), or checks that (监督), where the rulebook says.
    """

    signer: str
    duty: Literal["scorer", "checker"] | None = None
    person: str | None = None
    at_ms: int | None = None


class SheetVersion(SheetPart, frozen=True, kw_only=True):
    """The sheet as it was signed, or is to be: with so many rows, and by whom so far."""

    version: int
    rows: int
    signatures: list[SignatureLine]


class ScoreSheet(SheetPart, frozen=True, kw_only=True):
    """The whole sheet of one match."""

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
