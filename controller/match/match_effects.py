"""The effects of a match: requests to the table, and news.

Each effect is returned once. The match itself executes none of them, and no penalty is applied
without a person's decision.
"""

from typing import Literal

import msgspec

from controller.match.clocks.match_clock import AddedTime
from controller.match.clocks.stopwatch import ClockReport
from controller.match.refusals import Refusal
from controller.match.sheet_rows import SheetRow
from controller.messages import Seat
from controller.rules.deal_duties import DealDuties
from controller.rules.tribute import TributePlan

MatchCallReason = Literal[
    "wrong_player",
    "count",
    "second_count",
    "misdeals_in_a_row",
    "name_leader",
    "added_time",
    "extra_deal",
]
"""Reasons to call a referee, except clocks, which have their own effect."""


class EffectBase(msgspec.Struct, frozen=True, tag_field="effect", tag=True):
    """One effect of an event."""


class EventRefused(EffectBase, frozen=True):
    """The event changed nothing. The refusal is the reason."""

    refusal: Refusal


class DealDue(EffectBase, frozen=True):
    """A deal, or a new attempt of it, is due: by the machine, or by hand."""

    deal: int
    by_hand: bool
    duties: DealDuties


class TurnupRepeated(EffectBase, frozen=True):
    """The turned-up card does not count. Cut and turn up again (翻到王/红心2，重翻)."""

    card: str


class AntiTributeAsked(EffectBase, frozen=True):
    """The question whether the payers have both big jokers together."""

    payers: tuple[Seat, ...]


class TributeValuesAsked(EffectBase, frozen=True):
    """The question what each payer's tribute must count. All of them have laid theirs."""

    payers: tuple[Seat, ...]


class TributePlanned(EffectBase, frozen=True):
    """The plan of payers, receivers and returns."""

    plan: TributePlan


class LeaderDetermined(EffectBase, frozen=True):
    """The leader of the deal, whose play begins it."""

    seat: Seat


class RefereeCalled(EffectBase, frozen=True):
    """A person must come. `reason` names the situation."""

    reason: MatchCallReason
    seat: Seat | None = None


class AddedTimeDue(EffectBase, frozen=True):
    """The table lost time that a referee may give back (补时). The referee decides how much."""

    added_time: AddedTime


class ClockReported(EffectBase, frozen=True):
    """A clock reached a point at which a person may have to rule."""

    report: ClockReport


class RowAdded(EffectBase, frozen=True):
    """A row was added to the score sheet."""

    row: SheetRow


class ExtraDealDue(EffectBase, frozen=True):
    """The match needs a winner: the chief orders an extra deal."""


class HandsVoided(EffectBase, frozen=True):
    """Held hands are no longer needed. Their record is opened."""

    reason: str


MatchEffect = (
    EventRefused
    | DealDue
    | TurnupRepeated
    | AntiTributeAsked
    | TributeValuesAsked
    | TributePlanned
    | LeaderDetermined
    | RefereeCalled
    | AddedTimeDue
    | ClockReported
    | RowAdded
    | ExtraDealDue
    | HandsVoided
)
Effects = tuple[MatchEffect, ...]
