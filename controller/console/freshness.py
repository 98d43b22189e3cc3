"""The freshness of a table: whether the console shows its present state.

A console that shows an hour-old state as the present one is worse than no console. So the console
shows every table's freshness, and the time at which this freshness began.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.client.connection import TableConnectionState
from controller.messages import PublicState


def stamp_to_epoch_ms(stamp: str) -> int:
    """Return a table's time stamp (UTC, ISO text) in milliseconds since 1970."""
    return int(datetime.fromisoformat(stamp).timestamp() * 1000)


SILENT_AFTER_MS: Final = 3_000
"""A table publishes its state once a second. After three missing states it is silent."""
STALE_AFTER_MS: Final = 5_000
"""A table is stale if it publishes one and the same state for this long."""

MIN_SKEW_MS: Final = 2_000
"""Clocks that differ by less than this count as equal, because a state needs time to arrive."""


class Freshness(StrEnum):
    """A label for a table's shown state: present (live), or the reason why it may be old."""

    LIVE = "live"
    STALE = "stale"
    SILENT = "silent"
    KEY_REFUSED = "key_refused"
    OTHER_KEY = "other_key"
    CONNECTING = "connecting"


class ContactTimes(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The console's times of a table's last message, last new state and last connection change.

    `link_since_ms` is the time of the last change of the connection's state. `received_ms` is the
    time of the last message. `changed_ms` is the time of the last state with another boot or number
    than the state before. Both are None before the first message. `skew_ms` is how far the
    console's clock is ahead of the table's clock, or 0 if they are about equal.
    `listening_since_ms` is the time since when the console has received without a gap. If no
    message came before that time, only the console may be the cause.
    """

    link: TableConnectionState = TableConnectionState.CONNECTING
    link_since_ms: int = 0
    received_ms: int | None = None
    changed_ms: int | None = None
    skew_ms: int = 0
    listening_since_ms: int = 0


def after_console_stall(times: ContactTimes, stalled_at_ms: int, now_ms: int) -> ContactTimes:
    """Return `times`, in which a pause of the console's process does not count as silence.

    The process did not run from `stalled_at_ms` to `now_ms`. A table that was silent before
    the pause remains silent.
    """
    was_silent = freshness_of(times, stalled_at_ms)[0] is Freshness.SILENT
    return times if was_silent else msgspec.structs.replace(times, listening_since_ms=now_ms)


def shift_contact_times(times: ContactTimes, by_ms: int) -> ContactTimes:
    """Return `times` moved by `by_ms`, because the console's clock was set by that amount."""
    return msgspec.structs.replace(
        times,
        link_since_ms=times.link_since_ms + by_ms,
        received_ms=None if times.received_ms is None else times.received_ms + by_ms,
        changed_ms=None if times.changed_ms is None else times.changed_ms + by_ms,
        listening_since_ms=times.listening_since_ms + by_ms,
        skew_ms=times.skew_ms + by_ms if abs(times.skew_ms + by_ms) >= MIN_SKEW_MS else 0,
    )


_FRESHNESS_BY_LINK: Final = {
    TableConnectionState.KEY_REFUSED: Freshness.KEY_REFUSED,
    TableConnectionState.OTHER_KEY: Freshness.OTHER_KEY,
}


def freshness_of(times: ContactTimes, now_ms: int) -> tuple[Freshness, int]:
    """Return a table's freshness and a time: when its last message arrived if the table is live,
    otherwise when the table ceased to be live.

    The time is by the console's clock. A state from before the connection opened is not the present
    state, even after a short interruption. After a pause of the console's own process, a table is
    connecting until its next message, because only the console may have been late.
    """
    if times.link in _FRESHNESS_BY_LINK:
        return _FRESHNESS_BY_LINK[times.link], times.link_since_ms
    has_listened = now_ms - times.listening_since_ms > SILENT_AFTER_MS
    if times.received_ms is None or times.changed_ms is None:
        waited = has_listened and now_ms - times.link_since_ms > SILENT_AFTER_MS
        return (Freshness.SILENT if waited else Freshness.CONNECTING), times.link_since_ms
    lost = times.link is TableConnectionState.DOWN or times.received_ms < times.link_since_ms
    if (
        lost
        or times.received_ms < times.listening_since_ms
        or now_ms - times.received_ms > SILENT_AFTER_MS
    ):
        return (Freshness.SILENT if has_listened else Freshness.CONNECTING), times.received_ms
    if now_ms - max(times.changed_ms, times.listening_since_ms) > STALE_AFTER_MS:
        return Freshness.STALE, times.changed_ms
    return Freshness.LIVE, times.received_ms


def with_line_state(times: ContactTimes, line: TableConnectionState, now_ms: int) -> ContactTimes:
    """Return `times` with the connection state `line`. A new state began at `now_ms`."""
    return times if line is times.link else replace(times, link=line, link_since_ms=now_ms)


def with_state(
    times: ContactTimes, before: PublicState | None, state: PublicState, now_ms: int
) -> ContactTimes:
    """Return `times` updated with `state`, which the console received at `now_ms`.

    `before` is the table's previous state, or None.
    """
    if before is not None and (before.boot, before.seq) == (state.boot, state.seq):
        return replace(times, received_ms=now_ms)
    skew_ms, found_ms = times.skew_ms, now_ms - stamp_to_epoch_ms(state.time)
    # A small difference does not count, so that the skew does not change with each state.
    if abs(found_ms - skew_ms) >= MIN_SKEW_MS:
        skew_ms = round(found_ms / 1000) * 1000
    return replace(times, received_ms=now_ms, changed_ms=now_ms, skew_ms=skew_ms)
