"""Views of a hall's areas: each area's tables and clock, and the tables with a different clock.

An area is a group of tables with match clocks that run together. Each moment is sent once, as a
time of the console's clock. Browsers count down to that moment.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median_low
from typing import Final, TypeVar

import msgspec

from controller.console.freshness import MIN_SKEW_MS, Freshness, stamp_to_epoch_ms
from controller.console.table_snapshots import TableSnapshot, natural_sort_key
from controller.console.view import fill_struct
from controller.console.view.wait_reasons import Urgency, list_table_reasons
from controller.messages import MachinePhase, PublicState
from controller.words import reason_words, signer_words


def clock_end_ms(state: PublicState, received_ms: int | None) -> int | None:
    """Return the match clock's end in ms since 1970, or None if no clock with an end runs.

    The moment is in full seconds. The result is the same from state to state, because it uses the
    table's own stamps. It uses the time of receipt (`received_ms`, by the console's clock) only if
    these stamps are far off.
    """
    clock = state.match.clock
    if clock is None or not clock.running or clock.deadline_ms is None:
        return None
    return table_time_to_epoch_ms(state, clock.deadline_ms, received_ms)


def table_time_to_epoch_ms(
    state: PublicState, table_ms: int, received_ms: int | None
) -> int | None:
    """Convert a time of the table's clock to ms since 1970. Return None if `state` has no `at_ms`.

    The result is by the console's clock, in full seconds, like `ends_ms`. `at_ms` is the table's
    own time when it published the state.
    """
    at_ms = state.match.at_ms
    if at_ms is None:
        return None
    stamp_ms = stamp_to_epoch_ms(state.time)
    skew_ms = 0 if received_ms is None else received_ms - stamp_ms
    off_ms = 0 if abs(skew_ms) < MIN_SKEW_MS else round(skew_ms / 1000) * 1000
    return round((stamp_ms + off_ms + table_ms - at_ms) / 1000) * 1000


class AreaStopView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A stop of the area's clocks: when it began, its reason, and the person who ordered it.

    `since_ms` is a time of the console's clock. It is None at a table with an older program, which
    reports only that its clock is stopped. A text is empty if it is unknown.
    """

    since_ms: int | None = None
    why_en: str = ""
    why_zh: str = ""
    by_en: str = ""
    by_zh: str = ""


def area_stop_of(state: PublicState, received_ms: int | None) -> AreaStopView | None:
    """Return the clock stop that a table reports for its area, or None if it reports none.

    Without a match in play the result is None. `received_ms`: when the state was received, by the
    console's clock.
    """
    match = state.match
    if not is_playing(state):
        return None
    told = match.area_stop
    if told is None:
        stands = match.clock is not None and not match.clock.running
        return AreaStopView() if stands else None
    return fill_struct(
        AreaStopView,
        since_ms=table_time_to_epoch_ms(state, told.since_ms, received_ms),
        why=reason_words(told.reason or ""),
        by=signer_words(told.by or ""),
    )


def most_common_stop(stops: Sequence[AreaStopView]) -> AreaStopView | None:
    """Return the most frequent of the clock stops that tables report, or None if `stops` is empty.

    Its start is the earliest that these tables report.
    """
    said = Counter((stop.why_en, stop.why_zh, stop.by_en, stop.by_zh) for stop in stops)
    most = max(said, key=lambda one: (said[one], one), default=None)
    alike = [one for one in stops if (one.why_en, one.why_zh, one.by_en, one.by_zh) == most]
    return min(alike, key=lambda one: (one.since_ms is None, one.since_ms or 0), default=None)


MIN_DIFFERENCE_S: Final = 3
"""A clock differs from its area's clock if it is off by more. No rule text sets this."""
MIN_DEALS_BEHIND: Final = 2
"""A table is slow if it is at least this many deals below its area's median."""
ANNOUNCEMENTS: Final = (None, "announce_15", "announce_5", "announce_1", "last_deal", "time_up")
"""The announcements of a match clock, from the first to the last."""

T = TypeVar("T")


class TableAddedTime(msgspec.Struct, frozen=True, gc=False):
    """A table to whose match a referee has added `seconds` of time (补时)."""

    table: str
    seconds: int


class SlowTable(msgspec.Struct, frozen=True, gc=False):
    """A table that has begun `deals` deals fewer than the median table of its area."""

    table: str
    deals: int


class DifferingClock(msgspec.Struct, frozen=True, gc=False):
    """A table whose match clock, minus added time, differs from its area's clock.

    `by_s`: seconds by which the table's time ends later than the area's. It is None if only one of
    the two clocks runs. `running`: True if the table's clock runs.
    """

    table: str
    running: bool
    by_s: int | None


class AreaView(msgspec.Struct, frozen=True, kw_only=True):
    """One area as its page shows it.

    A tuple lists tables, and an int without a unit is a number of tables.

    `running`: True if more than half of the clocks run. `ends_ms`: the median end of the running
    clocks, in milliseconds since 1970 by the console's clock. `left_s`: the median seconds left on
    stopped clocks. At least one of the two is None, and both are before the first match starts.
    Neither contains added time. `stop`: the stop in force at the tables `held`. `announced`: the
    most common last announcement. `event`, `round`: the tournament and the round of most matches.
    """

    area: str
    tables: tuple[str, ...]
    event: str | None = None
    round: int | None = None
    live: int = 0
    waiting: int = 0
    not_started: int = 0
    playing: int = 0
    over: int = 0
    stopped: int = 0
    last_deal: int = 0
    suspended: tuple[str, ...] = ()
    running: bool = False
    ends_ms: int | None = None
    left_s: int | None = None
    stop: AreaStopView | None = None
    held: tuple[str, ...] = ()
    announced: str | None = None
    added: tuple[TableAddedTime, ...] = ()
    differs: tuple[DifferingClock, ...] = ()
    behind: tuple[SlowTable, ...] = ()


class _TableClock(msgspec.Struct, frozen=True, gc=False):
    """A table's match clock, minus the time that a referee added (`added_s`).

    `ends_ms` is 0 for a stopped clock.
    """

    table: str
    running: bool
    ends_ms: int
    left_s: int
    added_s: int


def build_areas(snapshots: Sequence[TableSnapshot], now_ms: int) -> list[AreaView]:
    """Return the view of each area, sorted by the area's name."""
    found: dict[str, list[TableSnapshot]] = {}
    for one in snapshots:
        found.setdefault(one.area, []).append(one)
    return [_build_area(name, found[name], now_ms) for name in sorted(found, key=natural_sort_key)]


def _build_area(name: str, snapshots: Sequence[TableSnapshot], now_ms: int) -> AreaView:
    known = [(one, one.state) for one in snapshots if one.state is not None]
    playing = [(one, state) for one, state in known if is_playing(state)]
    heard = [(one, state) for one, state in playing if _is_live(one, now_ms)] or playing
    clocks = [clock for one, state in heard if (clock := _table_clock(one, state)) is not None]
    running = 2 * sum(clock.running for clock in clocks) > len(clocks)
    alike = [clock for clock in clocks if clock.running is running]
    stops = [
        (one.table, area_stop_of(state, one.contact_times.received_ms)) for one, state in heard
    ]
    said = Counter(state.match.announced for _, state in heard)
    up_ms = median_low([clock.ends_ms for clock in alike]) if running else None
    left_s = median_low([clock.left_s for clock in alike]) if alike and not running else None
    return AreaView(
        area=name,
        tables=tuple(one.table for one in snapshots),
        event=_most_common(state.match.event for _, state in known),
        round=_most_common(state.match.round for _, state in known),
        live=sum(_is_live(one, now_ms) for one in snapshots),
        waiting=sum(
            any(
                reason.rank < Urgency.UNHEARD
                for reason in list_table_reasons(one, one.freshness(now_ms))
            )
            for one in snapshots
        ),
        not_started=sum(is_waiting_to_start(state) for _, state in known),
        playing=len(playing),
        over=sum(is_over(state) for _, state in known),
        stopped=sum(state.machine.phase is MachinePhase.FAULT for _, state in known),
        last_deal=sum(state.match.announced in ("last_deal", "time_up") for _, state in playing),
        suspended=tuple(one.table for one, state in known if state.match.suspended is not None),
        running=running,
        ends_ms=up_ms,
        left_s=left_s,
        stop=most_common_stop([stop for _, stop in stops if stop is not None]),
        held=tuple(table for table, stop in stops if stop is not None),
        announced=max(
            # If two are equally common, the later one is used.
            (one for one in ANNOUNCEMENTS if said[one]),
            key=lambda one: (said[one], ANNOUNCEMENTS.index(one)),
            default=None,
        ),
        added=tuple(TableAddedTime(one.table, one.added_s) for one in clocks if one.added_s),
        differs=tuple(_differing_clocks(clocks, running, up_ms, left_s)),
        behind=tuple(_slow_tables(heard)),
    )


def _is_live(snapshot: TableSnapshot, now_ms: int) -> bool:
    """Return True if a table's last state is recent enough to be its present state.

    A table that is not live does not count for the area's clock, unless none is live.
    """
    return snapshot.freshness(now_ms)[0] is Freshness.LIVE


def is_waiting_to_start(state: PublicState) -> bool:
    """Return True if the table's match is set up but not started."""
    return state.match.match is not None and not state.match.started


def is_playing(state: PublicState) -> bool:
    """Return True if the table's match was started and is not over."""
    return state.match.match is not None and state.match.started and not is_over(state)


def is_over(state: PublicState) -> bool:
    """Return True if the table's match is over. Big Two has no verdict: its phase shows the end."""
    return state.match.verdict is not None or state.match.phase in ("over", "signed")


def _table_clock(snapshot: TableSnapshot, state: PublicState) -> _TableClock | None:
    match = state.match
    if match.clock is None:
        return None
    up_ms, added_s = clock_end_ms(state, snapshot.contact_times.received_ms), match.added_time_s
    left_s, ends_ms = match.clock.left_s - added_s, 0 if up_ms is None else up_ms - added_s * 1000
    return _TableClock(snapshot.table, up_ms is not None, ends_ms, left_s, added_s)


def _differing_clocks(
    clocks: Iterable[_TableClock], running: bool, up_ms: int | None, left_s: int | None
) -> Iterable[DifferingClock]:
    for clock in clocks:
        if clock.running is not running:
            yield DifferingClock(clock.table, clock.running, None)
            continue
        off_s = clock.left_s - (left_s or 0)
        if up_ms is not None:
            off_s = round((clock.ends_ms - up_ms) / 1000)
        if abs(off_s) > MIN_DIFFERENCE_S:
            yield DifferingClock(clock.table, clock.running, off_s)


def _slow_tables(playing: Sequence[tuple[TableSnapshot, PublicState]]) -> Iterable[SlowTable]:
    deals = [state.match.deal or 0 for _, state in playing]
    if not deals:
        return
    middle = median_low(deals)
    for (one, _), deal in zip(playing, deals, strict=True):
        if middle - deal >= MIN_DEALS_BEHIND:
            yield SlowTable(one.table, middle - deal)


def _most_common(values: Iterable[T | None]) -> T | None:
    """Return the most frequent value that is not None, or None if there is no such value."""
    # If two values are equally frequent, the first is returned.
    said = Counter(value for value in values if value is not None)
    return max(said, key=lambda one: said[one], default=None)
