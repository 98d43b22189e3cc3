"""Clocks that measure how long players take for a duty, for example a play or a tribute."""

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.match.clocks import stopwatch
from controller.match.clocks.stopwatch import ClockOffence, ClockReport, ClockReportKind, Stopwatch
from controller.messages import Seat, Side
from controller.rules.profile import GuandanProfile
from controller.seats import SIDES, side_of

ClockDuty = Literal["play", "tribute", "return", "opening", "sort", "late"]
"""The duties that have a clock."""


class ClockLimit(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One time limit for a duty, and the kind of report that is due when the limit is over.

    The duty must be done within `within_ms` after the end of the previous limit, or after the
    start. The last millisecond of a limit is still in time. `from_warning`: the limit counts from
    the spoken warning, if a referee reported its time.
    """

    within_ms: int
    kind: ClockReportKind
    offence: ClockOffence | None = None
    key: str
    article: str | None
    from_warning: bool = False


class DutyClock(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The clock of one duty of a seat, of a side or of all four players.

    If all four have it, `seat` and `side` are None. `repeats` means that the last limit is
    repeated (以下类推). `told` is the number of limits that were reported. `base_ms` is the running
    time from which the next limit counts.
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
    """Return the time of the next report, or None if no limit is left or the clock is paused."""
    limit = _next_limit(clock)
    if limit is None:
        return None
    return stopwatch.moment_of_elapsed(clock.watch, clock.base_ms + limit.within_ms + 1)


def left_ms(clock: DutyClock, at_ms: int) -> int:
    """Return how many ms are left at `at_ms` of the next limit, or 0 if no limit is left."""
    limit = _next_limit(clock)
    if limit is None:
        return 0
    return max(0, clock.base_ms + limit.within_ms - stopwatch.elapsed_ms(clock.watch, at_ms))


def tick(clock: DutyClock, at_ms: int) -> tuple[DutyClock, tuple[ClockReport, ...]]:
    """Return the clock at `at_ms` and the reports due since the last tick, the oldest first.

    A late or repeated call makes no difference: each report is returned once, with its own time.
    """
    dues = []
    while (moment_ms := next_due_ms(clock)) is not None and moment_ms <= at_ms:
        limit = _next_limit(clock)
        assert limit is not None  # Without a limit there would be no moment.
        dues.append(
            ClockReport(
                kind=limit.kind,
                at_ms=moment_ms,
                seat=clock.seat,
                side=clock.side,
                offence=limit.offence,
                step=clock.told + 1 if limit.offence else None,
                key=limit.key,
                article=limit.article,
            )
        )
        clock = replace(clock, told=clock.told + 1, base_ms=clock.base_ms + limit.within_ms)
    return clock, tuple(dues)


def restart_from_warning(clock: DutyClock, at_ms: int) -> DutyClock:
    """Return the clock, in which the next limit counts from the warning spoken at `at_ms`.

    The clock stays unchanged unless `from_warning` is True for its next limit (seed 000 A21.1).
    Call `tick` first, so that an expired limit is reported.
    """
    limit = _next_limit(clock)
    if limit is None or not limit.from_warning:
        return clock
    spoken_ms = stopwatch.elapsed_ms(clock.watch, at_ms)
    return replace(clock, base_ms=max(clock.base_ms, spoken_ms))


def first_due_ms(clocks: DutyClocks) -> int | None:
    """Return the earliest time at which any clock has a report, or None if no clock will report.

    So one timer is enough for all clocks.
    """
    moments = (next_due_ms(clock) for clock in clocks)
    return min((moment for moment in moments if moment is not None), default=None)


def tick_all(clocks: DutyClocks, at_ms: int) -> tuple[DutyClocks, tuple[ClockReport, ...]]:
    """Return all clocks at `at_ms` and all reports due since the last tick, the oldest first."""
    ticked = [tick(clock, at_ms) for clock in clocks]
    dues = sorted((due for _, said in ticked for due in said), key=lambda due: due.at_ms)
    return tuple(clock for clock, _ in ticked), tuple(dues)


def pause_all(clocks: DutyClocks, at_ms: int) -> DutyClocks:
    """Return all clocks, paused from `at_ms` on, because play is suspended (暂停).

    One `resume_all` ends several pauses. The caller must check whether another reason remains.
    """
    return tuple(replace(clock, watch=stopwatch.pause(clock.watch, at_ms)) for clock in clocks)


def resume_all(clocks: DutyClocks, at_ms: int) -> DutyClocks:
    """Return all clocks, running again from `at_ms` on, because play continues (继续比赛)."""
    return tuple(replace(clock, watch=stopwatch.resume(clock.watch, at_ms)) for clock in clocks)


def remove_done(
    clocks: DutyClocks, duty: ClockDuty, seat: Seat | None = None, side: Side | None = None
) -> DutyClocks:
    """Return `clocks` without the clocks of `duty`, because players have done this duty.

    With `seat` or `side`, only the clocks of this seat or side are removed. Call `tick_all` first,
    so that a late duty is still reported.
    """
    return tuple(clock for clock in clocks if not _is_clock_of(clock, duty, seat, side))


def restart_all_from_warning(
    clocks: DutyClocks, duty: ClockDuty, at_ms: int, seat: Seat | None = None
) -> DutyClocks:
    """Call `restart_from_warning` for each clock of `duty`, and return all clocks.

    With `seat`, only the clock of this seat is changed.
    """
    return tuple(
        restart_from_warning(clock, at_ms) if _is_clock_of(clock, duty, seat, None) else clock
        for clock in clocks
    )


def clocks_for_duty(clocks: DutyClocks, duty: ClockDuty) -> Iterable[DutyClock]:
    """Return the clocks that measure the time for `duty`."""
    return (clock for clock in clocks if clock.duty == duty)


def _is_clock_of(clock: DutyClock, duty: ClockDuty, seat: Seat | None, side: Side | None) -> bool:
    return clock.duty == duty and seat in (None, clock.seat) and side in (None, clock.side)


def _next_limit(clock: DutyClock) -> ClockLimit | None:
    if clock.told < len(clock.limits):
        return clock.limits[clock.told]
    return clock.limits[-1] if clock.repeats and clock.limits else None


def play_clock(
    profile: GuandanProfile, seat: Seat, at_ms: int, *, called: bool, first_lead: bool = False
) -> DutyClock | None:
    """Return the clock for one play or pass of `seat`, or None if this play has no time limit.

    The clock runs from `at_ms` on. It reports a warning when the time is over, and later a
    violation, for which the seat loses its turn (seed 000 A21.1; 003 R4.6 has only a time).
    `called` is True if a referee counts the seconds (读秒). In the mode `on_call` only such a play
    has a clock. `first_lead`: the deal's first play, which may have the opening's own limit.
    """
    rules = profile.clocks
    wanted = {"off": False, "on_call": called, "every_play": True}[rules.play_clock]
    if not wanted or not rules.play_s or (first_lead and rules.opening_s):
        return None
    warning = _clock_limit(profile, "clocks.play_s", "play_warning", "delay_play")
    violation = _clock_limit(
        profile, "clocks.play_warned_s", "play_violation", "delay_play", from_warning=True
    )
    limits = (warning, violation) if violation.within_ms else (warning,)
    side, watch = side_of(seat), Stopwatch(at_ms)
    return DutyClock(duty="play", seat=seat, side=side, watch=watch, limits=limits)


def sort_clock(profile: GuandanProfile, at_ms: int) -> DutyClock | None:
    """Return the clock for counting and sorting (理牌), or None if the profile has no limit for it.

    The clock runs from `at_ms`, the release of the hands. Tribute begins when all four have
    counted, or when this time is over, which is no offence. Provisional: seed 000 A21.2 assumes
    that players sort while they draw, but a machine gives 27 cards at once.
    """
    return _single_limit_clock(profile, "sort", "clocks.sort_s", "sort_over", at_ms)


def opening_clock(profile: GuandanProfile, at_ms: int) -> DutyClock | None:
    """Return the clock for the time to the first lead, or None if the profile has no such limit.

    The time begins at the release of the hands and includes counting, tribute and return.
    Source: seed 003 R4.6.
    """
    return _single_limit_clock(
        profile, "opening", "clocks.opening_s", "opening_over", at_ms, "delay_play"
    )


def tribute_clocks(profile: GuandanProfile, payers: tuple[Seat, ...], at_ms: int) -> DutyClocks:
    """Return a clock for each payer of tribute, or () if the profile has no limit for tribute.

    The clocks run from `at_ms` on, when tribute begins: all four have counted, or the sorting time
    is over. A clock reports a warning when the time is over, and a violation for each further delay
    (seed 000 A21.2).
    """
    return tuple(
        clock
        for seat in payers
        if (clock := _exchange_clock(profile, "tribute", seat, at_ms)) is not None
    )


def return_clock(profile: GuandanProfile, giver: Seat, at_ms: int) -> DutyClock | None:
    """Return the clock for the return card of `giver`, or None if the profile has no limit for it.

    The clock runs from `at_ms` on, when `giver` got the tribute. Warning and violations are as for
    the tribute (seed 000 A21.2).
    """
    return _exchange_clock(profile, "return", giver, at_ms)


def late_clocks(profile: GuandanProfile, start_ms: int) -> DutyClocks:
    """Return a clock for each side, which measures how late the side is after the announced start.

    The caller removes a side's clock when both its players are seated. A late side loses by default
    if the rulebook demands it (seed 003 R6.1, 004 C). Otherwise the tournament's regulations decide
    (seed 000 A20). The result is () if the rulebook has no such limit.
    """
    if not profile.clocks.late_s:
        return ()
    by_default = profile.clocks.late_then == "default"
    kind: ClockReportKind = "late_default" if by_default else "late_regulations"
    limit = _clock_limit(profile, "clocks.late_s", kind, "late")
    late = DutyClock(duty="late", watch=Stopwatch(start_ms), limits=(limit,))
    return tuple(replace(late, side=side) for side in SIDES)


_EXCHANGE_LIMITS: dict[ClockDuty, tuple[str, ClockReportKind, ClockReportKind, ClockOffence]] = {
    "tribute": ("clocks.tribute_s", "tribute_warning", "tribute_violation", "delay_tribute"),
    "return": ("clocks.return_s", "return_warning", "return_violation", "delay_return"),
}


def _exchange_clock(
    profile: GuandanProfile, duty: ClockDuty, seat: Seat, at_ms: int
) -> DutyClock | None:
    key, warning, violation, offence = _EXCHANGE_LIMITS[duty]
    first = _clock_limit(profile, key, warning, offence)
    if not first.within_ms:
        return None
    further = _clock_limit(profile, "clocks.overrun_s", violation, offence)
    limits = (first, further) if further.within_ms else (first,)
    side, watch = side_of(seat), Stopwatch(at_ms)
    repeats = len(limits) > 1
    return DutyClock(duty=duty, seat=seat, side=side, watch=watch, limits=limits, repeats=repeats)


def _single_limit_clock(
    profile: GuandanProfile,
    duty: ClockDuty,
    key: str,
    kind: ClockReportKind,
    at_ms: int,
    offence: ClockOffence | None = None,
) -> DutyClock | None:
    """Return one clock for all four players together, with the limit `key`; None if it is 0."""
    limit = _clock_limit(profile, key, kind, offence)
    if not limit.within_ms:
        return None
    return DutyClock(duty=duty, watch=Stopwatch(at_ms), limits=(limit,))


def _clock_limit(
    profile: GuandanProfile,
    key: str,
    kind: ClockReportKind,
    offence: ClockOffence | None,
    *,
    from_warning: bool = False,
) -> ClockLimit:
    seconds: int = getattr(profile.clocks, key.removeprefix("clocks."))
    return ClockLimit(
        within_ms=seconds * 1000,
        kind=kind,
        offence=offence,
        key=key,
        article=profile.article(key),
        from_warning=from_warning,
    )
