"""The time of a match: one clock for all tables of an area, and time added for one table (补时).

All tables of an area start, pause and continue at the same times (seed 000 A14.2.3–4, 003 N4.3–4,
004 CN5). The clock of a match without a time limit also runs, but it reports nothing.
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
    """An interruption at one table only, which does not stop the clock of the whole area.

    `to_ms` is None while the interruption continues. `reason` is the name of a fault, or a word for
    a count or a long ruling.
    """

    reason: str
    from_ms: int
    to_ms: int | None = None


class AreaClockStop(msgspec.Struct, frozen=True, gc=False):
    """A pause of the clock of the whole area (全区停表): the reason, and who ordered the pause."""

    reason: str | None = None
    by: str | None = None


UNKNOWN_AREA_STOP = AreaClockStop()
"""A pause of the area without details, as an older program recorded it."""


class AddedTime(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A proposal to add `add_ms` to this table's time, because of the interruptions `stops`.

    A person with the role `needs` must decide about it.
    """

    add_ms: int
    needs: AddedTimeAuthority
    stops: tuple[TableStop, ...]
    key: str = "clocks.added_time_chief_s"
    article: str | None


class MatchClock(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The clock of one match at one table: its time limit, its pauses and its added time.

    `limit_ms` is 0 if the match has no time limit. No deal begins if only `margin_ms` or less is
    left. Only the chief may add more than `chief_ms` in total. `watch` is None before the start.
    `marks` are sorted by remaining time, longest first, and `told` is the number of `marks` that
    were reported. `stops_deals`: the end of time ends a running deal immediately (即行结束).
    `area_stop` has the reason and the person of the present pause of the area, if it is paused.
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
    """Return the clock, started at `at_ms` together with the whole area.

    A clock that was started before stays unchanged.
    """
    return clock if clock.watch is not None else replace(clock, watch=Stopwatch(at_ms))


def pause(clock: MatchClock, at_ms: int, stop: AreaClockStop = UNKNOWN_AREA_STOP) -> MatchClock:
    """Return the clock, paused at `at_ms` together with the whole area.

    A clock that is paused or not started stays unchanged.
    """
    if clock.watch is None or clock.watch.is_paused:
        return clock
    return replace(clock, watch=stopwatch.pause(clock.watch, at_ms), area_stop=stop)


def resume(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the clock, running again from `at_ms` on with the whole area (继续比赛)."""
    if clock.watch is None:
        return clock
    return replace(clock, watch=stopwatch.resume(clock.watch, at_ms), area_stop=None)


def stopped_since_ms(clock: MatchClock) -> int | None:
    """Return the time at which the present pause of the area began, or None without a pause."""
    if clock.watch is None or not clock.watch.is_paused:
        return None
    return clock.watch.pauses[-1].from_ms


def left_ms(clock: MatchClock, at_ms: int) -> int | None:
    """Return the ms that the match has left at `at_ms`, or None if it has no time limit.

    The result is 0 when time is up (比赛时间到).
    """
    if not clock.limit_ms:
        return None
    return max(0, clock.limit_ms + clock.added_ms - _elapsed_ms(clock, at_ms))


def has_time_for_deal(clock: MatchClock, at_ms: int) -> bool:
    """Return whether a deal may begin: more than `clock.margin_ms` is left at `at_ms`.

    A deal begins with the release of its hands (seed 003 N4.4). The result is True without a time
    limit. The caller must except an extra deal (加打一副), which does not depend on time.
    """
    left = left_ms(clock, at_ms)
    return left is None or left > clock.margin_ms


def is_deal_stopped(clock: MatchClock, at_ms: int) -> bool:
    """Return whether time is up at `at_ms` and the rulebook stops even a deal in progress.

    By the text of seed 000 A14.2.3–4 the deal must stop (即行结束) and does not count. With
    `ending.at_time = "finish_started"` a deal that has begun is played to its end (seed 003 N4.4,
    004 CN5).
    """
    return clock.stops_deals and left_ms(clock, at_ms) == 0


def next_due_ms(clock: MatchClock) -> int | None:
    """Return the time of the next announcement, or None if none is left or the clock is stopped."""
    if clock.watch is None or clock.told >= len(clock.marks):
        return None
    left = clock.marks[clock.told].left_ms
    return stopwatch.moment_of_elapsed(clock.watch, clock.limit_ms + clock.added_ms - left)


def last_announcement(clock: MatchClock) -> ClockReportKind | None:
    """Return the last announcement about the time left, or None before the first announcement.

    An announcement that added time has postponed does not count.
    """
    return clock.marks[clock.told - 1].kind if clock.told else None


def tick(clock: MatchClock, at_ms: int) -> tuple[MatchClock, tuple[ClockReport, ...]]:
    """Return the clock at `at_ms` and the reports due since the last tick, the oldest first.

    A late or repeated call makes no difference: each report is returned once, with its own time.
    """
    dues = []
    while (moment := next_due_ms(clock)) is not None and moment <= at_ms:
        mark = clock.marks[clock.told]
        dues.append(ClockReport(kind=mark.kind, at_ms=moment, key=mark.key, article=mark.article))
        clock = replace(clock, told=clock.told + 1)
    return clock, tuple(dues)


def stop_table(clock: MatchClock, reason: str, at_ms: int) -> MatchClock:
    """Return the clock with an interruption of this table from `at_ms` on.

    The clock is unchanged if the table is already stopped.
    """
    if clock.stops and clock.stops[-1].to_ms is None:
        return clock
    return replace(clock, stops=(*clock.stops, TableStop(reason, at_ms)))


def resume_table(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the clock after the present interruption of this table has ended at `at_ms`.

    The clock is unchanged if the table is not stopped.
    """
    if not clock.stops or clock.stops[-1].to_ms is not None:
        return clock
    *before, last = clock.stops
    return replace(clock, stops=(*before, replace(last, to_ms=at_ms)))


def cost_ms(clock: MatchClock, stop: TableStop, at_ms: int) -> int:
    """Return how many ms of the match's time passed in the interruption `stop` until `at_ms`.

    The time while the area was paused does not count. If time was up before the interruption began,
    the result is 0.
    """
    began = _elapsed_ms(clock, stop.from_ms)
    if began >= clock.limit_ms + clock.added_ms:
        return 0
    return max(0, _elapsed_ms(clock, at_ms if stop.to_ms is None else stop.to_ms) - began)


def added_time_due(clock: MatchClock, at_ms: int) -> AddedTime | None:
    """Return a proposal to add the time lost by interruptions, or None if no time must be added.

    The result is None if all lost time was added before, or if the match has no time limit.
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
    """Return who may add `add_ms`: "chief" if the total exceeds `chief_ms`, else "referee"."""
    return "chief" if clock.added_ms + add_ms > clock.chief_ms else "referee"


def add_time(clock: MatchClock, add_ms: int, at_ms: int) -> MatchClock:
    """Return the clock with `add_ms` more time for this table.

    A negative number corrects time that was added before. Announcements that the added time
    postpones will be reported again. Call `tick` first.
    """
    longer = replace(clock, added_ms=max(0, clock.added_ms + add_ms))
    left = left_ms(longer, at_ms) or 0
    passed = sum(mark.left_ms >= left for mark in clock.marks)
    return replace(longer, told=min(clock.told, passed))


def _mark_at_end(profile: GuandanProfile, kind: ClockReportKind) -> ClockMark:
    return ClockMark(0, kind, "ending.at_time", profile.article("ending.at_time"))


def _elapsed_ms(clock: MatchClock, at_ms: int) -> int:
    return 0 if clock.watch is None else stopwatch.elapsed_ms(clock.watch, at_ms)
