"""The time of a match: the area's clock, and the time that was added for this table (补时).

All tables of an area start, pause and continue together, by the same stamps (seed 000 A14.2.3–4,
003 N4.3–4, 004 CN5). The clock of a match without a time limit runs too, and reports nothing.
"""

from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.match.clocks import stopwatch
from controller.match.clocks.stopwatch import ClockReport, ClockReportKind, Stopwatch
from controller.rules.profile import GuandanProfile

AddedTimeAuthority = Literal["referee", "chief"]
"""The role that must decide about added time."""

ANNOUNCEMENTS: tuple[tuple[int, ClockReportKind], ...] = (
    (15 * 60_000, "announce_15"),
    (5 * 60_000, "announce_5"),
    (60_000, "announce_1"),
)
"""The time left, in ms, at which each announcement is due.

This is a custom of halls, not a rule.
"""


class ClockMark(msgspec.Struct, frozen=True, gc=False):
    """An announcement that is due when `left_ms` of the match's time are left."""

    left_ms: int
    kind: ClockReportKind
    key: str | None = None
    article: str | None = None


class TableStop(msgspec.Struct, frozen=True, gc=False):
    """An interruption at this table only, while the clock of the area ran.

    `to_ms` is None while the stop continues. `reason` is a fault's name, a count or a long ruling,
    from the table's journal.
    """

    reason: str
    from_ms: int
    to_ms: int | None = None


class AreaClockStop(msgspec.Struct, frozen=True, gc=False):
    """A pause of the clock of the whole area (全区停表): its reason, and who ordered it."""

    reason: str | None = None
    by: str | None = None


UNKNOWN_AREA_STOP = AreaClockStop()
"""A stop that an older program wrote, without details."""


class AddedTime(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A proposal to add `add_ms` to this table's time, because the table was stopped (`stops`).

    A person must grant it.
    """

    add_ms: int
    needs: AddedTimeAuthority
    stops: tuple[TableStop, ...]
    key: str = "clocks.added_time_chief_s"
    article: str | None


class MatchClock(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The clock of one match at one table.

    `limit_ms` is 0 if the match has no time limit. `margin_ms`: with this time left or less no deal
    begins. `chief_ms`: only the chief may add more than this in total. `watch` is None before the
    start. `marks` are sorted by remaining time, longest first, and `told` is the number of `marks`
    that were reported. `stops_deals`: the end of time ends a running deal at once (即行结束).
    `area_stop`: the command by which the area is paused now.
    """

    limit_ms: int
    margin_ms: int
    stops_deals: bool
    chief_ms: int
    chief_article: str | None
    marks: tuple[ClockMark, ...]
    watch: Stopwatch | None = None
    added_ms: int = 0
    stops: tuple[TableStop, ...] = ()
    told: int = 0
    area_stop: AreaClockStop | None = None


def new_match_clock(profile: GuandanProfile) -> MatchClock:
    """Return the clock of a match that has not begun."""
    ending = profile.ending
    limit_ms = ending.time_s * 1000 if ending.method in ("timed", "timed_deals") else 0
    marks = [ClockMark(left, kind) for left, kind in ANNOUNCEMENTS]
    if ending.last_start_margin_s:
        key = "ending.last_start_margin_s"
        left = ending.last_start_margin_s * 1000
        marks.append(ClockMark(left, "last_deal", key, profile.article(key)))
    elif ending.at_time == "finish_started":
        marks.append(_mark_at_end(profile, "last_deal"))
    marks.append(_mark_at_end(profile, "time_up"))
    marks.sort(key=lambda mark: -mark.left_ms)
    return MatchClock(
        limit_ms=limit_ms,
        margin_ms=ending.last_start_margin_s * 1000,
        stops_deals=ending.at_time == "stop_now",
        chief_ms=profile.clocks.added_time_chief_s * 1000,
        chief_article=profile.article("clocks.added_time_chief_s"),
        marks=tuple(mark for mark in marks if mark.left_ms < limit_ms),
    )


def start(clock: MatchClock, at_ms: int) -> MatchClock:
    """Start the clock at `at_ms`, together with the clocks of the whole area, and return it.

    A running clock stays unchanged.
    """
    return clock if clock.watch is not None else replace(clock, watch=Stopwatch(at_ms))


def pause(clock: MatchClock, at_ms: int, stop: AreaClockStop = UNKNOWN_AREA_STOP) -> MatchClock:
    """Return the clock, paused at `at_ms` together with the whole area.

    A paused clock stays unchanged.
    """
    if clock.watch is None or clock.watch.is_paused:
        return clock
    return replace(clock, watch=stopwatch.pause(clock.watch, at_ms), area_stop=stop)


def resume(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the clock running again from `at_ms`, because the area continues (继续比赛)."""
    if clock.watch is None:
        return clock
    return replace(clock, watch=stopwatch.resume(clock.watch, at_ms), area_stop=None)


def stopped_since_ms(clock: MatchClock) -> int | None:
    """Return the time at which the whole area was paused, or None if it is not paused."""
    if clock.watch is None or not clock.watch.is_paused:
        return None
    return clock.watch.pauses[-1].from_ms


def left_ms(clock: MatchClock, at_ms: int) -> int | None:
    """Return the time that the match has left at `at_ms`, or None if it has no time limit.

    The result is 0 when time is up (比赛时间到).
    """
    if not clock.limit_ms:
        return None
    return max(0, clock.limit_ms + clock.added_ms - _elapsed_ms(clock, at_ms))


def has_time_for_deal(clock: MatchClock, at_ms: int) -> bool:
    """Return whether enough time is left at `at_ms` to begin a further deal.

    A deal begins with the release of its hands (seed 003 N4.4). No deal may begin with
    `ending.last_start_margin_s` or less to go. An extra deal (加打一副) does not depend on time.
    """
    left = left_ms(clock, at_ms)
    return left is None or left > clock.margin_ms


def is_deal_stopped(clock: MatchClock, at_ms: int) -> bool:
    """Return whether a running deal stops and does not count, because the time of the match is
    over.

    By the text of seed 000 A14.2.3–4 it does (即行结束). With `ending.at_time = "finish_started"` a
    deal that has begun is played to its end (seed 003 N4.4, 004 CN5).
    """
    return clock.stops_deals and left_ms(clock, at_ms) == 0


def next_due_ms(clock: MatchClock) -> int | None:
    """Return when the next announcement is due, or None if there is none or the clock is paused."""
    if clock.watch is None or clock.told >= len(clock.marks):
        return None
    left = clock.marks[clock.told].left_ms
    return stopwatch.moment_of_elapsed(clock.watch, clock.limit_ms + clock.added_ms - left)


def last_announcement(clock: MatchClock) -> ClockReportKind | None:
    """Return the last announcement that is still valid, or None if there is none.

    It concerns no single person. Added time cancels it.
    """
    return clock.marks[clock.told - 1].kind if clock.told else None


def tick(clock: MatchClock, at_ms: int) -> tuple[MatchClock, tuple[ClockReport, ...]]:
    """Return the clock at `at_ms`, and the reports that became due since the last tick, sorted
    by time.

    A late, repeated or unnecessary call makes no difference: each report is returned once.
    """
    dues = []
    while (moment := next_due_ms(clock)) is not None and moment <= at_ms:
        mark = clock.marks[clock.told]
        dues.append(ClockReport(kind=mark.kind, at_ms=moment, key=mark.key, article=mark.article))
        clock = replace(clock, told=clock.told + 1)
    return clock, tuple(dues)


def stop_table(clock: MatchClock, reason: str, at_ms: int) -> MatchClock:
    """Return the clock after its table was stopped at `at_ms`. The area's time continues."""
    if clock.stops and clock.stops[-1].to_ms is None:
        return clock
    return replace(clock, stops=(*clock.stops, TableStop(reason, at_ms)))


def resume_table(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the match clock after the table's interruption ended at `at_ms`.

    The clock is unchanged if the table was not stopped.
    """
    if not clock.stops or clock.stops[-1].to_ms is not None:
        return clock
    *before, last = clock.stops
    return replace(clock, stops=(*before, replace(last, to_ms=at_ms)))


def cost_ms(clock: MatchClock, stop: TableStop, at_ms: int) -> int:
    """Return how much of the match's time an interruption at the table has cost until `at_ms`.

    A stop costs nothing while the area was paused too, or if time was up when it began.
    """
    began = _elapsed_ms(clock, stop.from_ms)
    if began >= clock.limit_ms + clock.added_ms:
        return 0
    return max(0, _elapsed_ms(clock, at_ms if stop.to_ms is None else stop.to_ms) - began)


def added_time_due(clock: MatchClock, at_ms: int) -> AddedTime | None:
    """Return a proposal to add the time that this table lost by interruptions, or None if none
    is missing.

    A match without a time limit never misses any.
    """
    costly = tuple(stop for stop in clock.stops if cost_ms(clock, stop, at_ms))
    missing = sum(cost_ms(clock, stop, at_ms) for stop in costly) - clock.added_ms
    if not clock.limit_ms or missing <= 0:
        return None
    return AddedTime(
        add_ms=missing,
        needs=added_time_authority(clock, missing),
        stops=costly,
        article=clock.chief_article,
    )


def added_time_authority(clock: MatchClock, add_ms: int) -> AddedTimeAuthority:
    """Return the role that may add `add_ms`: the chief if the total exceeds the limit."""
    return "chief" if clock.added_ms + add_ms > clock.chief_ms else "referee"


def add_time(clock: MatchClock, add_ms: int, at_ms: int) -> MatchClock:
    """Return the clock with `add_ms` more time for this table.

    A negative number corrects an earlier grant. Announcements that the new time postpones are
    reported again. Call `tick` first.
    """
    longer = replace(clock, added_ms=max(0, clock.added_ms + add_ms))
    left = left_ms(longer, at_ms) or 0
    passed = sum(mark.left_ms >= left for mark in clock.marks)
    return replace(longer, told=min(clock.told, passed))


def _mark_at_end(profile: GuandanProfile, kind: ClockReportKind) -> ClockMark:
    return ClockMark(0, kind, "ending.at_time", profile.article("ending.at_time"))


def _elapsed_ms(clock: MatchClock, at_ms: int) -> int:
    return 0 if clock.watch is None else stopwatch.elapsed_ms(clock.watch, at_ms)
