"""The time of a match: the area's clock, and what was added to it for this table (补时).

All tables of an area start, stand still and go on together, by the same stamps; seed 000
A14.2.3–4, 003 N4.3–4, 004 CN5. The clock of a match without a time limit runs as well,
and has nothing to say.
"""

from typing import Any, Literal

import msgspec

from controller.match.clocks import stopwatch
from controller.match.clocks.stopwatch import ClockReport, ClockReportKind, Stopwatch
from controller.rules.profile import GuandanProfile

AddedTimeAuthority = Literal["referee", "chief"]
"""Whose word added time needs."""

ANNOUNCEMENTS: tuple[tuple[int, ClockReportKind], ...] = (
    (15 * 60_000, "announce_15"),
    (5 * 60_000, "announce_5"),
    (60_000, "announce_1"),
)
"""Time left, in ms, and what is announced then: a custom of halls, in no rulebook."""


class ClockMark(msgspec.Struct, frozen=True, gc=False):
    """With `left_ms` to go something is said."""

    left_ms: int
    kind: ClockReportKind
    key: str | None = None
    article: str | None = None


class TableStop(msgspec.Struct, frozen=True, gc=False):
    """This table stood still while the area's clock ran, or still does (`to_ms` None).

    `reason`: a fault's name, a count, a long ruling: what its journal says.
    """

    reason: str
    from_ms: int
    to_ms: int | None = None


class AreaClockStop(msgspec.Struct, frozen=True, gc=False):
    """The clock of the whole area stands still (全区停表): why, and who stopped it."""

    reason: str | None = None
    by: str | None = None


UNKNOWN_AREA_STOP = AreaClockStop()
"""Of a stop that an older program wrote down."""


class AddedTime(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Proposed: `add_ms` more for this table, because of `stops`; somebody must grant it."""

    add_ms: int
    needs: AddedTimeAuthority
    stops: tuple[TableStop, ...]
    key: str = "clocks.added_time_chief_s"
    article: str | None


class MatchClock(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The time of one match at one table. `limit_ms` 0: a match that no time ends.

    `margin_ms`: with so much left or less no deal begins. `chief_ms`: what is added beyond
    that in all is the chief's to give. `watch`: None before the start. `told`: how many of
    `marks` were answered for; most time left comes first. `stops_deals`: at time a deal under
    way ends at once (即行结束). `area_stop`: the order for which the area stands still now.
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
    return MatchClock(
        limit_ms=limit_ms,
        margin_ms=ending.last_start_margin_s * 1000,
        stops_deals=ending.at_time == "stop_now",
        chief_ms=profile.clocks.added_time_chief_s * 1000,
        chief_article=profile.article("clocks.added_time_chief_s"),
        marks=tuple(mark for mark in _clock_marks(profile) if mark.left_ms < limit_ms),
    )


def start(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the clock running from `at_ms`, the area's start; unchanged if it ran already."""
    return clock if clock.watch is not None else _replace_in_clock(clock, watch=Stopwatch(at_ms))


def pause(clock: MatchClock, at_ms: int, stop: AreaClockStop = UNKNOWN_AREA_STOP) -> MatchClock:
    """Return the clock standing still: the whole area is stopped; as it is where it was before."""
    if clock.watch is None or clock.watch.is_paused:
        return clock
    return _replace_in_clock(clock, watch=stopwatch.pause(clock.watch, at_ms), area_stop=stop)


def resume(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the clock running again: the area goes on (继续比赛)."""
    if clock.watch is None:
        return clock
    return _replace_in_clock(clock, watch=stopwatch.resume(clock.watch, at_ms), area_stop=None)


def stopped_since_ms(clock: MatchClock) -> int | None:
    """Return since when the whole area stands still; None where it does not."""
    if clock.watch is None or not clock.watch.is_paused:
        return None
    return clock.watch.pauses[-1].from_ms


def left_ms(clock: MatchClock, at_ms: int) -> int | None:
    """Return the time left at `at_ms`, 0 when it is up; None in a match without a limit."""
    if not clock.limit_ms:
        return None
    return max(0, clock.limit_ms + clock.added_ms - _elapsed_ms(clock, at_ms))


def is_expired(clock: MatchClock, at_ms: int) -> bool:
    """Tell whether time is up (比赛时间到)."""
    return left_ms(clock, at_ms) == 0


def has_time_for_deal(clock: MatchClock, at_ms: int) -> bool:
    """Tell whether a further deal may begin, that is its hands be released (seed 003 N4.4).

    Not with `ending.last_start_margin_s` or less to go. An extra deal (加打一副) is beyond time.
    """
    left = left_ms(clock, at_ms)
    return left is None or left > clock.margin_ms


def is_deal_stopped(clock: MatchClock, at_ms: int) -> bool:
    """Tell whether time stops a deal under way, so that it does not count.

    By the letter of seed 000 A14.2.3–4 it does (即行结束); with `ending.at_time =
    "finish_started"` a deal once begun is played out (seed 003 N4.4, 004 CN5).
    """
    return clock.stops_deals and is_expired(clock, at_ms)


def next_due_ms(clock: MatchClock) -> int | None:
    """Return when the next announcement is due; None: there is none, or it stands still."""
    if clock.watch is None or clock.told >= len(clock.marks):
        return None
    left = clock.marks[clock.told].left_ms
    return stopwatch.moment_of_elapsed(clock.watch, clock.limit_ms + clock.added_ms - left)


def last_announcement(clock: MatchClock) -> ClockReportKind | None:
    """Return what the area's clock said last and still holds; None: nothing.

    It concerns nobody in particular. Time that was added takes it back.
    """
    return clock.marks[clock.told - 1].kind if clock.told else None


def tick(clock: MatchClock, at_ms: int) -> tuple[MatchClock, tuple[ClockReport, ...]]:
    """Return the clock at `at_ms` and what fell due since it was last asked, oldest first.

    Asked late, twice or for nothing it says the same things, each once.
    """
    dues = []
    while (moment := next_due_ms(clock)) is not None and moment <= at_ms:
        mark = clock.marks[clock.told]
        dues.append(ClockReport(kind=mark.kind, at_ms=moment, key=mark.key, article=mark.article))
        clock = _replace_in_clock(clock, told=clock.told + 1)
    return clock, tuple(dues)


def stop_table(clock: MatchClock, reason: str, at_ms: int) -> MatchClock:
    """Return the clock of a table that stands still from `at_ms`; the area's time runs on."""
    if clock.stops and clock.stops[-1].to_ms is None:
        return clock
    return _replace_in_clock(clock, stops=(*clock.stops, TableStop(reason, at_ms)))


def resume_table(clock: MatchClock, at_ms: int) -> MatchClock:
    """Return the clock of a table that goes on at `at_ms`; unchanged if it was not stopped."""
    if not clock.stops or clock.stops[-1].to_ms is not None:
        return clock
    *before, last = clock.stops
    return _replace_in_clock(clock, stops=(*before, msgspec.structs.replace(last, to_ms=at_ms)))


def cost_ms(clock: MatchClock, stop: TableStop, at_ms: int) -> int:
    """Return how much of the match a stop has cost until `at_ms`.

    Nothing while the area stood still too, nor where time was up when it began.
    """
    began = _elapsed_ms(clock, stop.from_ms)
    if began >= clock.limit_ms + clock.added_ms:
        return 0
    return max(0, _elapsed_ms(clock, at_ms if stop.to_ms is None else stop.to_ms) - began)


def added_time_due(clock: MatchClock, at_ms: int) -> AddedTime | None:
    """Return what should be added for the time this table lost; None: nothing is open."""
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


def has_unanswered_stop(clock: MatchClock, settled: int, at_ms: int) -> bool:
    """Tell whether one of the stops after the first `settled` has cost time not given back."""
    costly = any(cost_ms(clock, stop, at_ms) for stop in clock.stops[settled:])
    return costly and added_time_due(clock, at_ms) is not None


def added_time_authority(clock: MatchClock, add_ms: int) -> AddedTimeAuthority:
    """Return who may add `add_ms`: the chief, once it is more than the limit in all."""
    return "chief" if clock.added_ms + add_ms > clock.chief_ms else "referee"


def add_time(clock: MatchClock, add_ms: int, at_ms: int) -> MatchClock:
    """Return the clock with `add_ms` more for this table, less where it corrects a grant.

    What the new time puts off again will be told again. Ask `tick` first.
    """
    added = max(0, clock.added_ms + add_ms)
    longer = _replace_in_clock(clock, added_ms=added)
    left = left_ms(longer, at_ms) or 0
    passed = sum(mark.left_ms >= left for mark in clock.marks)
    return _replace_in_clock(longer, told=min(clock.told, passed))


def _clock_marks(profile: GuandanProfile) -> list[ClockMark]:
    """Return what a match's clock says, most time left first."""
    ending = profile.ending
    marks = [ClockMark(left, kind) for left, kind in ANNOUNCEMENTS]
    if ending.last_start_margin_s:
        key = "ending.last_start_margin_s"
        left = ending.last_start_margin_s * 1000
        marks.append(ClockMark(left, "last_deal", key, profile.article(key)))
    elif ending.at_time == "finish_started":
        marks.append(_mark_at_end(profile, "last_deal"))
    marks.append(_mark_at_end(profile, "time_up"))
    return sorted(marks, key=lambda mark: -mark.left_ms)


def _mark_at_end(profile: GuandanProfile, kind: ClockReportKind) -> ClockMark:
    return ClockMark(0, kind, "ending.at_time", profile.article("ending.at_time"))


def _elapsed_ms(clock: MatchClock, at_ms: int) -> int:
    return 0 if clock.watch is None else stopwatch.elapsed_ms(clock.watch, at_ms)


def _replace_in_clock(clock: MatchClock, **changes: Any) -> MatchClock:
    return msgspec.structs.replace(clock, **changes)
