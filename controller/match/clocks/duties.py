"""Which clock a rulebook gives to which duty (seed 000 A20–21, 003 R4.6 and R6.1, 004 C).

Each function returns None, or no clocks, where the profile has no such limit (0).
"""

from typing import cast

from controller.cards import side_of
from controller.match.clocks.countdown import ClockDuty, ClockLimit, DutyClock, DutyClocks
from controller.match.clocks.due import ClockOffence, ClockReportKind
from controller.match.clocks.stopwatch import Stopwatch
from controller.messages import Seat, Side
from controller.rules.profile import GuandanProfile
from controller.rules.seats import SIDES


def play_clock(
    profile: GuandanProfile, seat: Seat, at_ms: int, *, called: bool, first_lead: bool = False
) -> DutyClock | None:
    """Return the clock for one play or pass of `seat` from `at_ms` on.

    Warning when the time is over, then a violation, which takes the turn away and ends
    the clock (seed 000 A21.1; 003 R4.6 has a time only). `called`: a referee counts the
    seconds (读秒), what mode `on_call` waits for. `first_lead`: the deal's first play, for
    which the opening has its own limit where there is one (seed 003 R4.6).
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
    return _seat_duty_clock("play", seat, at_ms, limits)


def sort_clock(profile: GuandanProfile, at_ms: int) -> DutyClock | None:
    """Return the clock for counting and sorting (理牌), from the release of the hands on.

    Tribute opens when all four have counted, or when this is over; it blames nobody. From
    a machine 27 cards come at once, seed 000 A21.2 supposes sorting while drawing:
    provisional.
    """
    return _single_limit_clock(profile, "sort", "clocks.sort_s", "sort_over", at_ms)


def opening_clock(profile: GuandanProfile, at_ms: int) -> DutyClock | None:
    """Return the clock from the release of the hands to the first lead (seed 003 R4.6).

    Counting, tribute and return are within it.
    """
    return _single_limit_clock(
        profile, "opening", "clocks.opening_s", "opening_over", at_ms, "delay_play"
    )


def tribute_clocks(profile: GuandanProfile, payers: tuple[Seat, ...], at_ms: int) -> DutyClocks:
    """Return a clock for each payer, from the opening of tribute at `at_ms` on.

    That is when all four have counted, or when sorting was over by its clock. A warning when
    the time is over, a violation for each further delay (seed 000 A21.2).
    """
    return tuple(
        clock
        for seat in payers
        if (clock := _exchange_clock(profile, "tribute", seat, at_ms)) is not None
    )


def return_clock(profile: GuandanProfile, giver: Seat, at_ms: int) -> DutyClock | None:
    """Return the clock for a return, from `at_ms` on, when `giver` had his tribute.

    Warning and violations as for the tribute (seed 000 A21.2).
    """
    return _exchange_clock(profile, "return", giver, at_ms)


def late_clocks(profile: GuandanProfile, start_ms: int) -> DutyClocks:
    """Return a clock for each side, from the announced start on; it ends when both sit there.

    Who is late has lost by default where the rulebook says so (seed 003 R6.1, 004 C), else
    the event's regulations know what then (seed 000 A20).
    """
    if not profile.clocks.late_s:
        return ()
    kind: ClockReportKind = (
        "late_default" if profile.clocks.late_then == "default" else "late_regulations"
    )
    limit = _clock_limit(profile, "clocks.late_s", kind, "late")
    return tuple(
        DutyClock(duty="late", side=side, watch=Stopwatch(start_ms), limits=(limit,))
        for side in SIDES
    )


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
    return _seat_duty_clock(duty, seat, at_ms, limits, repeats=len(limits) > 1)


def _single_limit_clock(
    profile: GuandanProfile,
    duty: ClockDuty,
    key: str,
    kind: ClockReportKind,
    at_ms: int,
    offence: ClockOffence | None = None,
) -> DutyClock | None:
    """Return a clock with one limit for all four."""
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


def _seat_duty_clock(
    duty: ClockDuty,
    seat: Seat,
    at_ms: int,
    limits: tuple[ClockLimit, ...],
    *,
    repeats: bool = False,
) -> DutyClock:
    return DutyClock(
        duty=duty,
        seat=seat,
        side=cast(Side, side_of(seat)),
        watch=Stopwatch(at_ms),
        limits=limits,
        repeats=repeats,
    )
