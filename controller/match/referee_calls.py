"""The calls for a referee that a match makes: their reasons, and whether a call is still open.

A call is open as long as the match waits for that person. A call with an unknown reason is open
until a person acknowledges it.
"""

from collections.abc import Callable
from typing import Literal, cast, get_args

from controller.match.clocks import duty_clocks
from controller.match.clocks.duty_clocks import ClockDuty
from controller.match.clocks.stopwatch import OverrunReason
from controller.match.match_effects import AddedTimeDue, ClockReported, MatchEffect, RefereeCalled
from controller.match.match_effects import MatchCallReason as AskedFor
from controller.match.match_state import AnyMatch
from controller.match.next_deal import is_added_time_open
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.messages import Seat

TransferReason = Literal["hands_unknown"]
"""The reason for a call in a deal whose table did not deal its hands."""

CallReason = AskedFor | OverrunReason | TransferReason
"""All reasons for which a match calls a referee."""


def call_of_effect(effect: MatchEffect) -> tuple[CallReason, Seat | None] | None:
    """Return why and for which seat an effect calls a referee, or None if it calls none."""
    if isinstance(effect, RefereeCalled):
        return effect.reason, effect.seat
    if isinstance(effect, AddedTimeDue):
        return "added_time", None
    if isinstance(effect, ClockReported):
        kind = effect.report.kind
        if kind in _OVERRUN_DUTIES:
            return cast(OverrunReason, kind), effect.report.seat
    return None


def is_call_open(match: AnyMatch, why: str, seat: Seat | None = None) -> bool:
    """Return whether the match still waits for a referee who was called for the reason `why`.

    `seat` is the seat of the call. A call for a reason that the match does not track is open until
    a person ends it.
    """
    if why in _OVERRUN_DUTIES:
        return any(
            clock.seat in (None, seat) or seat is None
            for clock in duty_clocks.clocks_for_duty(match.clocks, _OVERRUN_DUTIES[why])
            if any(limit.kind == why for limit in clock.limits[: clock.told])
        )
    waits = _OPEN_TESTS.get(why)
    return waits is None or waits(match, seat)


def _in_phase(phase: MatchPhase) -> Callable[[AnyMatch, Seat | None], bool]:
    return lambda match, seat: match.phase is phase


def _is_count_claimed(match: AnyMatch, seat: Seat | None) -> bool:
    return match.claimed is not None and seat in (None, match.claimed)


_OPEN_TESTS: dict[str, Callable[[AnyMatch, Seat | None], bool]] = {
    "wrong_player": _in_phase(MatchPhase.SETUP),
    "count": _is_count_claimed,
    "second_count": _is_count_claimed,
    "misdeals_in_a_row": lambda match, seat: match.misdeals > 0 and match.phase in BEFORE_RELEASE,
    "name_leader": _in_phase(MatchPhase.FORFEIT),
    "added_time": lambda match, seat: (
        not match.signatures and is_added_time_open(match, match.now_ms)
    ),
    "extra_deal": _in_phase(MatchPhase.MATCH_CHECK),
}
"""Conditions under which the match still waits for an answer."""

_OVERRUN_DUTIES = {why: cast(ClockDuty, why.partition("_")[0]) for why in get_args(OverrunReason)}
"""The duty that is not done when a clock calls a referee. The kind of the report begins with it."""
