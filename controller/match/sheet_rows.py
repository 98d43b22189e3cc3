"""The rows of the score sheet (记分表), and the standing (levels, points) computed from them.

Rows are only added. Seed 000 A3.12, A13.1: the sheet is the evidence of the result. A standing is
computed only from the rows, so a sheet alone proves its match. A played deal's level, leader and
tribute are facts: a correction changes only its recorded result.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.messages import Seat, Side
from controller.rules.deal_result import DealResult, ForfeitedDeal
from controller.rules.match_end import MatchScore, MatchVerdict
from controller.rules.match_standing import (
    MatchStanding,
    PerSide,
    PlayedDeal,
    apply_level_penalty,
    initial_standing,
    standing_after_deal,
)
from controller.rules.penalties.penalty_record import Penalty
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import Level
from controller.seats import side_of

CorrectionChoice = Literal["from_now", "void_later", "stand"]


class SheetRowBase(msgspec.Struct, frozen=True, tag_field="kind", kw_only=True):
    """The base of all rows of the score sheet. `row` is the row's number, from 1."""

    row: int
    at_ms: int


class CardGiven(msgspec.Struct, frozen=True, gc=False):
    """A tribute or return card that went from one seat to another.

    `card` is its rank, or None if it is secret.
    """

    giver: Seat
    to: Seat
    card: str | None = None


class DealRow(SheetRowBase, frozen=True, tag="deal"):
    """The row of a played deal: its facts and its result.

    `levels`, `failures` and `points` are the values after the deal, for the printed sheet.
    """

    deal: int
    level: Level
    owner: Side | None
    result: DealResult
    extra: bool
    by_hand: bool
    cutter: Seat | None
    cut: int | None
    first_drawer: Seat | None
    leader: Seat | None
    turned_up: str | None
    anti: bool
    tribute: tuple[CardGiven, ...]
    returns: tuple[CardGiven, ...]
    dead: tuple[Seat, ...]
    misdeals: int
    began_ms: int | None
    levels: PerSide
    failures: PerSide
    points: PerSide


class LeaderRow(SheetRowBase, frozen=True, tag="leader"):
    """The row that names the leader of the deal after `deal`, because `deal` was forfeited.

    The side that did not forfeit chose this seat. Source: seed 000 A15.3.3.
    """

    deal: int
    leader: Seat


class ShiftRow(SheetRowBase, frozen=True, tag="shift"):
    """The row of a penalty that moved `side` by `steps` levels, down if `steps` is negative.

    Source: seed 003 R6.2–3.
    """

    ruling: str
    side: Side
    steps: int


class RulingRow(SheetRowBase, frozen=True, tag="ruling"):
    """The row of a decided penalty: the offending side, the offence and the rulebook's article.

    `offence_ms` is the time of the offence. Effects on levels or deals have rows of their own.
    Source: seed 003 R6.2.
    """

    ruling: str
    person: str | None
    seat: Seat | None
    side: Side
    deal: int
    offence: str
    offence_ms: int
    penalty: Penalty
    article: str | None


class OverturnedRow(SheetRowBase, frozen=True, tag="overturned"):
    """The row that records that the chief overturned a ruling.

    The ruling and its level changes do not count. Source: seed 002 A15.
    """

    ruling: str


class CorrectionRow(SheetRowBase, frozen=True, tag="correction"):
    """The row that corrects a wrong result of `deal`.

    `was` is the wrong result, which stays readable (seed 000 A15.3.8). `choice`: the new result
    counts from now on, or it counts and the later deals are void, or nothing changes. `by`: the
    person who decided. `entered_by`: the person who entered a spoken decision of the chief.
    `ruling`: the ruling that caused the correction. Its confirmation also confirms this decision.
    """

    deal: int
    was: DealResult
    result: DealResult
    choice: CorrectionChoice
    by: str
    reason: str
    entered_by: str | None = None
    ruling: str | None = None


class StoppedRow(SheetRowBase, frozen=True, tag="stopped"):
    """The row of a deal that was not played to its end and does not count.

    Time was up (seed 000 A14.2.3), the match was lost, or a correction of an earlier deal voided
    the later ones.
    """

    deal: int
    reason: str


class RedealtRow(SheetRowBase, frozen=True, tag="redealt"):
    """The row of a deal that was dealt again after the players had their hands.

    No level changes. `reason`: "count" after a wrong count (seed 000 A5.2), otherwise the chief's
    words. `by`: the person who decided. `entered_by`: the person who entered a spoken decision of
    the chief. `claimed`: the seat that claimed the count.
    """

    deal: int
    reason: str
    by: str
    claimed: Seat | None = None
    entered_by: str | None = None


class EndRow(SheetRowBase, frozen=True, tag="end"):
    """The row with the end of the match: the verdict and the score.

    After a correction, a later row of this kind replaces it.
    """

    verdict: MatchVerdict
    score: MatchScore


SheetRow = (
    DealRow
    | LeaderRow
    | ShiftRow
    | RulingRow
    | OverturnedRow
    | CorrectionRow
    | StoppedRow
    | RedealtRow
    | EndRow
)
Sheet = tuple[SheetRow, ...]


def replay_sheet(profile: GuandanProfile, sheet: Sheet) -> MatchStanding:
    """Return the standing of a match (levels and points) that follows from its score sheet."""
    standing = initial_standing(profile)
    for row in effective_rows(sheet):
        standing = apply_row(profile, standing, row)
    return standing


def apply_row(profile: GuandanProfile, standing: MatchStanding, row: SheetRow) -> MatchStanding:
    """Return the standing of a match after one more row. The row must not be a correction."""
    match row:
        case DealRow():
            played = PlayedDeal(row.level, row.owner, row.result, row.extra)
            return standing_after_deal(profile, standing, played, row.row)
        case ShiftRow():
            return apply_level_penalty(profile, standing, row.side, row.steps, row.row)
        case LeaderRow():
            previous = standing.previous
            if not isinstance(previous, ForfeitedDeal) or side_of(row.leader) != previous.winners:
                return standing  # The deal before has another result by now.
            return replace(standing, previous=ForfeitedDeal(previous.loser, row.leader))
    return standing


def find_deal_row(sheet: Sheet, deal: int) -> DealRow | None:
    """Return the row of deal `deal` with all corrections applied, or None if no row is valid."""
    rows = (row for row in effective_rows(sheet) if isinstance(row, DealRow))
    return next((row for row in rows if row.deal == deal), None)


def last_deal_row(sheet: Sheet) -> DealRow | None:
    """Return the last valid deal row with all corrections applied, or None if there is none."""
    deals = [row for row in effective_rows(sheet) if isinstance(row, DealRow)]
    return deals[-1] if deals else None


def effective_rows(sheet: Sheet) -> Iterable[SheetRow]:
    """Yield the valid rows of a score sheet, with wrong results replaced by their corrections.

    Rows that a correction voided, and level changes of overturned rulings, are left out.
    """
    corrections = [row for row in sheet if isinstance(row, CorrectionRow) and row.choice != "stand"]
    results = {row.deal: row.result for row in corrections}
    voiding = [row for row in corrections if row.choice == "void_later"]
    overturned = {row.ruling for row in sheet if isinstance(row, OverturnedRow)}
    for row in sheet:
        of_deal = row.deal if isinstance(row, (DealRow, LeaderRow)) else 0
        if any(of_deal > by.deal and row.row < by.row for by in voiding):
            continue
        if isinstance(row, ShiftRow) and row.ruling in overturned:
            continue
        known = results.get(row.deal) if isinstance(row, DealRow) else None
        yield row if known is None else replace(row, result=known)
