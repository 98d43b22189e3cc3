"""What a match asks of the table, and what it tells.

Effects are told once. Nothing here is done by the match itself, and no penalty is ever
applied that a person did not decide.
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
"""What a referee is called for, but for clocks: those say it themselves."""


class EffectBase(msgspec.Struct, frozen=True, tag_field="effect", tag=True):
    """Something to be done or shown."""


class EventRefused(EffectBase, frozen=True):
    """The event changed nothing; the refusal says why."""

    refusal: Refusal


class DealDue(EffectBase, frozen=True):
    """A deal, or a new attempt of it, is due: by the machine, or by hand."""

    deal: int
    by_hand: bool
    duties: DealDuties


class TurnupRepeated(EffectBase, frozen=True):
    """The turned-up card does not count; cut and turn up again (翻到王/红心2，重翻)."""

    card: str


class AntiTributeAsked(EffectBase, frozen=True):
    """Do the payers hold both big jokers between them?"""

    payers: tuple[Seat, ...]


class TributeValuesAsked(EffectBase, frozen=True):
    """What must each payer's tribute count? All of them have laid theirs."""

    payers: tuple[Seat, ...]


class TributePlanned(EffectBase, frozen=True):
    """Who gives whom a card, and who returns one to whom."""

    plan: TributePlan


class LeaderDetermined(EffectBase, frozen=True):
    """Who leads the deal; his play begins it."""

    seat: Seat


class RefereeCalled(EffectBase, frozen=True):
    """A person has to come; `why` names the situation."""

    reason: MatchCallReason
    seat: Seat | None = None


class AddedTimeDue(EffectBase, frozen=True):
    """The table lost time that a referee may give back (补时): he says how much."""

    added_time: AddedTime


class ClockReported(EffectBase, frozen=True):
    """A clock came to a point at which somebody may have to rule."""

    report: ClockReport


class RowAdded(EffectBase, frozen=True):
    """A row was added to the score sheet."""

    row: SheetRow


class ExtraDealDue(EffectBase, frozen=True):
    """The match needs a winner: the chief orders an extra deal."""


class HandsVoided(EffectBase, frozen=True):
    """Hands held in the machine are not needed any more; their record is opened."""

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
