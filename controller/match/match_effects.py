"""The effects that a match returns for an event: requests to the table or to people, and reports.

Each effect is returned once. The caller must carry out the effects. No effect applies a penalty,
because a penalty needs a person's decision.
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
    """The base class of all effects that a match returns for an event."""


class EventRefused(EffectBase, frozen=True):
    """The report that an event was refused and changed nothing. `refusal` is the reason."""

    refusal: Refusal


class DealDue(EffectBase, frozen=True):
    """The request to deal `deal`, by hand or by the machine: a new deal, or the same deal again."""

    deal: int
    by_hand: bool
    duties: DealDuties


class RefereeCalled(EffectBase, frozen=True):
    """The request that a referee comes to the table, because of `reason`."""

    reason: MatchCallReason
    seat: Seat | None = None


class AddedTimeDue(EffectBase, frozen=True):
    """The request that a referee decides how much lost time the table gets back (补时)."""

    added_time: AddedTime


class ClockReported(EffectBase, frozen=True):
    """The report of a clock: a time limit ended, or an announcement was due. A referee may rule."""

    report: ClockReport


MatchEffect = EventRefused | DealDue | RefereeCalled | AddedTimeDue | ClockReported
Effects = tuple[MatchEffect, ...]
