"""The effects of a match: requests to the table, and news.

Each effect is returned once. The match itself executes none of them, and no penalty is applied
without a person's decision.
"""

from typing import Literal

import msgspec

from controller.match.clocks.match_clock import AddedTime
from controller.match.clocks.stopwatch import ClockReport
from controller.match.refusals import Refusal
from controller.messages import Seat
from controller.rules.deal_duties import DealDuties

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


class RefereeCalled(EffectBase, frozen=True):
    """A call of a referee to the table. `reason` names the situation."""

    reason: MatchCallReason
    seat: Seat | None = None


class AddedTimeDue(EffectBase, frozen=True):
    """The table lost time that a referee may give back (补时). The referee decides how much."""

    added_time: AddedTime


class ClockReported(EffectBase, frozen=True):
    """A clock reached a point at which a person may have to rule."""

    report: ClockReport


MatchEffect = EventRefused | DealDue | RefereeCalled | AddedTimeDue | ClockReported
Effects = tuple[MatchEffect, ...]
