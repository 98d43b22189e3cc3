"""When a table was heard, as its line and its states tell it. Pure."""

from typing import Final

from msgspec.structs import replace

from controller.client.monitored import LineState
from controller.console.standing import MIN_SKEW_MS, Heard, TableLinkState
from controller.console.view.waits import stamp_to_epoch_ms
from controller.messages import State

CONTACTS: Final = {
    LineState.CONNECTING: TableLinkState.CONNECTING,
    LineState.OPEN: TableLinkState.OPEN,
    LineState.DOWN: TableLinkState.DOWN,
    LineState.KEY_REFUSED: TableLinkState.KEY_REFUSED,
    LineState.OTHER_KEY: TableLinkState.OTHER_KEY,
}
"""What a line's state is to who looks at the table."""


def on_line(heard: Heard, line: LineState, now_ms: int) -> Heard:
    """Return what is heard of a table whose line now stands so."""
    contact = CONTACTS[line]
    return (
        heard if contact is heard.contact else replace(heard, contact=contact, link_since_ms=now_ms)
    )


def on_state(heard: Heard, before: State | None, state: State, now_ms: int) -> Heard:
    """Return what is heard of a table that said `state` at `now_ms`, and `before` before that."""
    is_news = before is None or (before.boot, before.seq) != (state.boot, state.seq)
    if not is_news:
        return replace(heard, heard_ms=now_ms)
    skew_ms = _rounded_skew(heard.skew_ms, now_ms - stamp_to_epoch_ms(state.time))
    return replace(heard, heard_ms=now_ms, changed_ms=now_ms, skew_ms=skew_ms)


def _rounded_skew(known_ms: int, found_ms: int) -> int:
    """Return how far a table's clock is behind, in whole seconds; the same from state to state."""
    return known_ms if abs(found_ms - known_ms) < MIN_SKEW_MS else round(found_ms / 1000) * 1000
