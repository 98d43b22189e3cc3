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
    """The base of all effects of an event."""


class EventRefused(EffectBase, frozen=True):
    """The report that an event was refused and changed nothing. `refusal` is the reason."""

    refusal: Refusal


class DealDue(EffectBase, frozen=True):
    """The request for a deal, or for a new attempt of the same deal.

    The machine deals it, or people deal it by hand.
    """

    deal: int
    by_hand: bool
    duties: DealDuties


class RefereeCalled(EffectBase, frozen=True):
    """The request that a referee comes to the table. `reason` names the situation."""

    reason: MatchCallReason
    seat: Seat | None = None


class AddedTimeDue(EffectBase, frozen=True):
    """The request that a referee decides how much lost time the table gets back (补时)."""

    added_time: AddedTime


class ClockReported(EffectBase, frozen=True):
    """The report that a clock reached a point at which a person may have to rule."""

    report: ClockReport


MatchEffect = EventRefused | DealDue | RefereeCalled | AddedTimeDue | ClockReported
Effects = tuple[MatchEffect, ...]
