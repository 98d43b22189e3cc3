"""A player's clock: limits that one after the other are overrun, until the duty is done."""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from controller.match.clocks import stopwatch
from controller.match.clocks.due import ClockOffence, ClockReport, ClockReportKind
from controller.match.clocks.stopwatch import Stopwatch
from controller.messages import Seat, Side

ClockDuty = Literal["play", "tribute", "return", "opening", "sort", "late"]
"""What somebody is waited for."""


class ClockLimit(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """`within_ms` after the limit before it, or after the start, the duty must be done.

    The last millisecond of a limit is still in time. `from_warning`: it counts from the
    spoken warning where a referee told when that was.
    """

    within_ms: int
    kind: ClockReportKind
    offence: ClockOffence | None = None
    key: str
    article: str | None
    from_warning: bool = False


class DutyClock(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One clock for one duty of `seat`, of `side`, or of all where both are None.

    `repeats`: the last limit again and again (以下类推). `told`: how many limits have been
    answered for. `base_ms`: running time from which the next one counts.
    """

    duty: ClockDuty
    seat: Seat | None = None
    side: Side | None = None
    watch: Stopwatch
    limits: tuple[ClockLimit, ...]
    repeats: bool = False
    told: int = 0
    base_ms: int = 0


DutyClocks = tuple[DutyClock, ...]
"""The clocks that run at one table."""


def next_due_ms(clock: DutyClock) -> int | None:
    """Return when the next limit will be overrun; None: it stands still, or has none left."""
    limit = _next_limit(clock)
    if limit is None:
        return None
    return stopwatch.moment_of_elapsed(clock.watch, clock.base_ms + limit.within_ms + 1)


def left_ms(clock: DutyClock, at_ms: int) -> int:
    """Return how much of the present limit is left at `at_ms`; 0: it is over, or none is left."""
    limit = _next_limit(clock)
    if limit is None:
        return 0
    return max(0, clock.base_ms + limit.within_ms - stopwatch.elapsed_ms(clock.watch, at_ms))


def tick(clock: DutyClock, at_ms: int) -> tuple[DutyClock, tuple[ClockReport, ...]]:
    """Return the clock at `at_ms` and what fell due since it was last asked, oldest first.

    Asked late, twice or for nothing it says the same things, each once.
    """
    dues = []
    while (moment_ms := next_due_ms(clock)) is not None and moment_ms <= at_ms:
        limit = _next_limit(clock)
        assert limit is not None  # or there would be no moment
        dues.append(_clock_report(clock, limit, moment_ms))
        clock = _replace_in_clock(
            clock, told=clock.told + 1, base_ms=clock.base_ms + limit.within_ms
        )
    return clock, tuple(dues)


def restart_from_warning(clock: DutyClock, at_ms: int) -> DutyClock:
    """Return the clock after a referee spoke the warning at `at_ms`.

    Only where the next limit is said to count from the warning (seed 000 A21.1); nothing
    changes once that limit was overrun. Ask `tick` first.
    """
    limit = _next_limit(clock)
    if limit is None or not limit.from_warning:
        return clock
    spoken_ms = stopwatch.elapsed_ms(clock.watch, at_ms)
    return _replace_in_clock(clock, base_ms=max(clock.base_ms, spoken_ms))


def first_due_ms(clocks: DutyClocks) -> int | None:
    """Return when the first of the clocks will have something to say: one timer is enough."""
    moments = (next_due_ms(clock) for clock in clocks)
    return min((moment for moment in moments if moment is not None), default=None)


def tick_all(clocks: DutyClocks, at_ms: int) -> tuple[DutyClocks, tuple[ClockReport, ...]]:
    """Return all clocks at `at_ms` and what fell due, oldest first."""
    ticked = [tick(clock, at_ms) for clock in clocks]
    dues = sorted((due for _, said in ticked for due in said), key=lambda due: due.at_ms)
    return tuple(clock for clock, _ in ticked), tuple(dues)


def pause_all(clocks: DutyClocks, at_ms: int) -> DutyClocks:
    """Return all clocks standing still: play is suspended (暂停).

    They stand once: whether several reasons hold is the caller's to know.
    """
    return tuple(
        _replace_in_clock(clock, watch=stopwatch.pause(clock.watch, at_ms)) for clock in clocks
    )


def resume_all(clocks: DutyClocks, at_ms: int) -> DutyClocks:
    """Return all clocks running again (继续比赛)."""
    return tuple(
        _replace_in_clock(clock, watch=stopwatch.resume(clock.watch, at_ms)) for clock in clocks
    )


def remove_done(
    clocks: DutyClocks,
    duty: ClockDuty,
    at_ms: int,
    seat: Seat | None = None,
    side: Side | None = None,
) -> tuple[DutyClocks, tuple[ClockReport, ...]]:
    """Return the clocks without those of a duty that was done at `at_ms`, and what fell due.

    Without `seat` and `side`: whoever's duty it was. All clocks are asked first, so that
    a duty done late is still answered for.
    """
    clocks, dues = tick_all(clocks, at_ms)
    return tuple(clock for clock in clocks if not _is_clock_of(clock, duty, seat, side)), dues


def restart_all_from_warning(
    clocks: DutyClocks, duty: ClockDuty, at_ms: int, seat: Seat | None = None
) -> DutyClocks:
    """Return the clocks after the warning for a duty was spoken (see `warned`)."""
    return tuple(
        restart_from_warning(clock, at_ms) if _is_clock_of(clock, duty, seat, None) else clock
        for clock in clocks
    )


def clocks_for_duty(clocks: DutyClocks, duty: ClockDuty) -> Iterable[DutyClock]:
    """Return the clocks of one duty."""
    return (clock for clock in clocks if clock.duty == duty)


def _is_clock_of(clock: DutyClock, duty: ClockDuty, seat: Seat | None, side: Side | None) -> bool:
    return clock.duty == duty and seat in (None, clock.seat) and side in (None, clock.side)


def _next_limit(clock: DutyClock) -> ClockLimit | None:
    if clock.told < len(clock.limits):
        return clock.limits[clock.told]
    return clock.limits[-1] if clock.repeats and clock.limits else None


def _clock_report(clock: DutyClock, limit: ClockLimit, at_ms: int) -> ClockReport:
    return ClockReport(
        kind=limit.kind,
        at_ms=at_ms,
        seat=clock.seat,
        side=clock.side,
        offence=limit.offence,
        step=clock.told + 1 if limit.offence else None,
        key=limit.key,
        article=limit.article,
    )


def _replace_in_clock(clock: DutyClock, **changes: Any) -> DutyClock:
    return msgspec.structs.replace(clock, **changes)
