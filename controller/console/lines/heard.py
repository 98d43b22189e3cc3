"""When a table was heard, as its line and its states tell it. Pure."""

from typing import Final

from msgspec.structs import replace

from controller.client.monitored import TableConnectionState
from controller.console.standing import MIN_SKEW_MS, ContactTimes, TableLinkState
from controller.console.view.reasons import stamp_to_epoch_ms
from controller.messages import PublicState

LINK_BY_LINE_STATE: Final = {
    TableConnectionState.CONNECTING: TableLinkState.CONNECTING,
    TableConnectionState.OPEN: TableLinkState.OPEN,
    TableConnectionState.DOWN: TableLinkState.DOWN,
    TableConnectionState.KEY_REFUSED: TableLinkState.KEY_REFUSED,
    TableConnectionState.OTHER_KEY: TableLinkState.OTHER_KEY,
}
"""What a line's state is to who looks at the table."""


def with_line_state(times: ContactTimes, line: TableConnectionState, now_ms: int) -> ContactTimes:
    """Return what is heard of a table whose line now stands so."""
    contact = LINK_BY_LINE_STATE[line]
    return times if contact is times.link else replace(times, link=contact, link_since_ms=now_ms)


def with_state(
    times: ContactTimes, before: PublicState | None, state: PublicState, now_ms: int
) -> ContactTimes:
    """Return what is heard of a table that said `state` at `now_ms`, and `before` before that."""
    is_news = before is None or (before.boot, before.seq) != (state.boot, state.seq)
    if not is_news:
        return replace(times, received_ms=now_ms)
    skew_ms = _rounded_skew(times.skew_ms, now_ms - stamp_to_epoch_ms(state.time))
    return replace(times, received_ms=now_ms, changed_ms=now_ms, skew_ms=skew_ms)


def _rounded_skew(known_ms: int, found_ms: int) -> int:
    """Return how far a table's clock is behind, in whole seconds; the same from state to state."""
    return known_ms if abs(found_ms - known_ms) < MIN_SKEW_MS else round(found_ms / 1000) * 1000
