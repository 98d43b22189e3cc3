"""What a socket's monitor tells of its line: open, nobody there, key refused. Pure.

ZeroMQ connects, and connects again, without a word; a refused key shows only on the monitor.
"""

from enum import StrEnum
from typing import Final

import msgspec
import zmq


class TableConnectionState(StrEnum):
    """How a line stands. The text is for people."""

    CONNECTING = "connecting"
    OPEN = "connected"
    DOWN = "nobody answers there"
    KEY_REFUSED = "key refused: not admitted there, revoked or expired"
    OTHER_KEY = "different key: what answers there has not the table's key; nothing is sent"


class MonitoredConnection(msgspec.Struct, frozen=True, gc=False):
    """A line, as its monitor tells it. `unexplained`: handshakes in a row that merely ended."""

    state: TableConnectionState = TableConnectionState.CONNECTING
    unexplained: int = 0


HANDSHAKE_FAILURES: Final = frozenset(
    {zmq.Event.HANDSHAKE_FAILED_NO_DETAIL, zmq.Event.HANDSHAKE_FAILED_PROTOCOL}
)
STATE_EVENTS: Final[int] = (
    zmq.Event.HANDSHAKE_SUCCEEDED
    | zmq.Event.HANDSHAKE_FAILED_AUTH
    | zmq.Event.HANDSHAKE_FAILED_NO_DETAIL
    | zmq.Event.HANDSHAKE_FAILED_PROTOCOL
    | zmq.Event.CLOSED
    | zmq.Event.DISCONNECTED
)
"""All that changes how a line stands."""


def next_state(line: MonitoredConnection, event: int) -> MonitoredConnection:
    """Return how a line stands behind an event of its monitor."""
    if event == zmq.Event.HANDSHAKE_SUCCEEDED:
        return MonitoredConnection(TableConnectionState.OPEN)
    if event == zmq.Event.HANDSHAKE_FAILED_AUTH:
        return MonitoredConnection(TableConnectionState.KEY_REFUSED, line.unexplained)
    if event in HANDSHAKE_FAILURES:
        unexplained = line.unexplained + 1
        # once may be a gateway that just went
        return MonitoredConnection(
            TableConnectionState.OTHER_KEY if unexplained > 1 else line.state, unexplained
        )
    lost = event == zmq.Event.DISCONNECTED and line.state is TableConnectionState.OPEN
    if lost or event == zmq.Event.CLOSED:
        return MonitoredConnection(TableConnectionState.DOWN, line.unexplained)
    return line


def needs_retry(event: int) -> bool:
    """Tell whether libzmq tries that address no more by itself: a refused key ends it for good."""
    return event == zmq.Event.HANDSHAKE_FAILED_AUTH
