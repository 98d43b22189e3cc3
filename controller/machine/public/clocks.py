"""The clocks of a match as anybody may know them: whole seconds left, and whether they run."""

from typing import Any, Literal

from controller.match.clocks import countdown, match_clock, stopwatch
from controller.match.clocks.countdown import DutyClock
from controller.match.phase import MatchPhase
from controller.match.state import AnyMatch, BigTwoMatch
from controller.messages import PublicAreaStop, PublicMatchClock, PublicSeatClock


def public_time(match: AnyMatch, now_ms: int) -> dict[str, Any]:
    """Return the clocks of the match and of its seats, in whole seconds left."""
    clock = match.clock
    clocks = [_seat_clock(one, now_ms) for one in match.clocks]
    if isinstance(match, BigTwoMatch):
        clocks += _choice_clock(match, now_ms)
    return {
        "start_ms": None if clock.watch is None else clock.watch.starts_ms,
        "clock": _clock(clock, now_ms),
        "area_stop": _area_stop(clock),
        "added_time_s": clock.added_ms // 1000,
        "clocks": clocks,
    }


def _clock(clock: match_clock.MatchClock, now_ms: int) -> PublicMatchClock | None:
    left_ms = match_clock.left_ms(clock, now_ms)
    if left_ms is None:
        return None
    running = clock.watch is not None and not clock.watch.is_paused
    ends_ms = clock.limit_ms + clock.added_ms
    deadline_ms = (
        stopwatch.moment_of_elapsed(clock.watch, ends_ms) if clock.watch and running else None
    )
    return PublicMatchClock(left_s=_seconds(left_ms), running=running, deadline_ms=deadline_ms)


def _area_stop(clock: match_clock.MatchClock) -> PublicAreaStop | None:
    since_ms = match_clock.stopped_since_ms(clock)
    if since_ms is None:
        return None
    stop = clock.area_stop or match_clock.UNKNOWN_AREA_STOP
    return PublicAreaStop(since_ms=since_ms, reason=stop.reason, by=stop.by)


def _seat_clock(clock: DutyClock, now_ms: int) -> PublicSeatClock:
    return PublicSeatClock(
        duty=clock.duty,
        seat=clock.seat,
        side=clock.side,
        left_s=_seconds(countdown.left_ms(clock, now_ms)),
        running=not clock.watch.is_paused,
    )


def _choice_clock(match: BigTwoMatch, now_ms: int) -> list[PublicSeatClock]:
    """Return the clock of a choice: it stands while the table or the area does."""
    asking = (
        match.choices.current_round()
        if match.choices and match.phase is MatchPhase.CHOICES
        else None
    )
    deadline_ms = None if asking is None else asking.deadline_ms()
    if asking is None or deadline_ms is None:
        return []
    area = match.clock.watch is not None and match.clock.watch.is_paused
    stands = area or match.suspended is not None
    named = asking.seats_asked()
    return [
        PublicSeatClock(
            duty=asked_choice(match) or "",
            seat=named[0] if len(named) == 1 else None,
            left_s=_seconds(deadline_ms - (match.now_ms if stands else now_ms)),
            running=not stands,
        )
    ]


def _seconds(ms: int) -> int:
    """Return milliseconds left as whole seconds, begun ones included; 0 when they are over."""
    return max(0, -(-ms // 1000))


def asked_choice(match: BigTwoMatch) -> Literal["open_hand", "doubling"] | None:
    """Return which choice is asked before play; None: none is."""
    if match.choices is None or match.phase is not MatchPhase.CHOICES:
        return None
    return "open_hand" if match.choices.doubling is None else "doubling"
