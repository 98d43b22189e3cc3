"""A stopwatch that stores its pauses, and the type of the reports that all clocks return."""

from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.messages import Seat, Side


class WatchPause(msgspec.Struct, frozen=True, gc=False):
    """A pause of a stopwatch, from `from_ms` to `to_ms`. `to_ms` is None until the pause ends."""

    from_ms: int
    to_ms: int | None = None


class Stopwatch(msgspec.Struct, frozen=True, gc=False):
    """A stopwatch that starts at `starts_ms`, perhaps in the future, and stops in its pauses."""

    starts_ms: int
    pauses: tuple[WatchPause, ...] = ()

    @property
    def is_paused(self) -> bool:
        """Return whether the stopwatch is paused: its last pause has not ended."""
        return bool(self.pauses) and self.pauses[-1].to_ms is None


def pause(watch: Stopwatch, at_ms: int) -> Stopwatch:
    """Return the stopwatch, paused from `at_ms` on. A paused stopwatch stays unchanged."""
    if watch.is_paused:
        return watch
    ended_ms = (watch.pauses[-1].to_ms or 0) if watch.pauses else at_ms
    return replace(watch, pauses=(*watch.pauses, WatchPause(max(at_ms, ended_ms))))


def resume(watch: Stopwatch, at_ms: int) -> Stopwatch:
    """Return the stopwatch, running again from `at_ms` on. A running stopwatch stays unchanged."""
    if not watch.is_paused:
        return watch
    *before, last = watch.pauses
    ended = WatchPause(last.from_ms, max(at_ms, last.from_ms))
    return replace(watch, pauses=(*before, ended))


def elapsed_ms(stopwatch: Stopwatch, at_ms: int) -> int:
    """Return how many ms the stopwatch has run until `at_ms`. Pauses do not count.

    The result is 0 before the start of the stopwatch.
    """
    stood = 0
    for pause in stopwatch.pauses:
        from_ms = max(pause.from_ms, stopwatch.starts_ms)
        to_ms = at_ms if pause.to_ms is None else min(pause.to_ms, at_ms)
        stood += max(0, to_ms - from_ms)
    return max(0, at_ms - stopwatch.starts_ms - stood)


def moment_of_elapsed(watch: Stopwatch, duration_ms: int) -> int | None:
    """Return when `watch` has run for `duration_ms`, or None if a pause without end comes first."""
    moment = watch.starts_ms + duration_ms
    for pause in watch.pauses:
        from_ms = max(pause.from_ms, watch.starts_ms)
        if from_ms >= moment:
            break
        if pause.to_ms is None:
            return None
        moment += max(0, pause.to_ms - from_ms)
    return moment


OverrunReason = Literal[
    "play_warning",
    "play_violation",
    "tribute_warning",
    "tribute_violation",
    "return_warning",
    "return_violation",
    "opening_over",
    "late_regulations",
    "late_default",
]
"""The kinds of clock reports that ask a referee to examine an offence.

The other kinds only inform the hall.
"""

ClockReportKind = Literal[
    OverrunReason, "sort_over", "announce_15", "announce_5", "announce_1", "last_deal", "time_up"
]
"""The kinds of clock reports.

`last_deal`: no new deal begins any more (不再开新副), and a deal that has begun is the last.
`late_regulations`: a side is late, and the tournament's regulations decide what follows.
"""

ClockOffence = Literal["delay_play", "delay_tribute", "delay_return", "late"]
"""The offences that a clock can propose, by their id in offences.toml."""


class ClockReport(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The report of a clock: at `at_ms` a time limit ended, or an announcement was due.

    `tick` may return the report later. `seat` and `side` are those concerned, or None for all four.
    `offence` is the offence that a referee should check, or None if the report names none. `step`
    is the number of this overrun of the same clock (1, 2, …), as a charge requires it. `key` is the
    rule of the profile, and `article` its article, or None for a provisional value. A report
    without `key` follows a custom of halls that no rulebook has.
    """

    kind: ClockReportKind
    at_ms: int
    seat: Seat | None = None
    side: Side | None = None
    offence: ClockOffence | None = None
    step: int | None = None
    key: str | None = None
    article: str | None = None
