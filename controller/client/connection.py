"""One connection to a table, and its state: open, no answer, or key refused.

ZeroMQ connects and reconnects silently. Only the socket's monitor reports a refused key.
"""

import asyncio
import resource
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec
import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from controller.gateway_protocol import MAX_MACHINE_LINE_BYTES


class TableConnectionState(StrEnum):
    """The state of a connection to a table. The text is for people."""

    CONNECTING = "connecting"
    OPEN = "connected"
    DOWN = "no answer there"
    KEY_REFUSED = "key refused: not admitted there, revoked or expired"
    OTHER_KEY = "different key: the program there does not have the table's key; nothing is sent"


class MonitoredConnection(msgspec.Struct, frozen=True, gc=False):
    """The state of a connection, computed from the events of ZeroMQ's socket monitor.

    `unexplained` counts failed handshakes in a row without a reason.
    """

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
"""All events of a monitor that can change the state of a connection."""


def next_state(line: MonitoredConnection, event: int) -> MonitoredConnection:
    """Return the new state after an event of the socket's monitor. `line` is the state before."""
    if event == zmq.Event.HANDSHAKE_SUCCEEDED:
        return MonitoredConnection(TableConnectionState.OPEN)
    if event == zmq.Event.HANDSHAKE_FAILED_AUTH:
        return MonitoredConnection(TableConnectionState.KEY_REFUSED, line.unexplained)
    if event in HANDSHAKE_FAILURES:
        unexplained = line.unexplained + 1
        # A single failure may be a gateway that just stopped.
        return MonitoredConnection(
            TableConnectionState.OTHER_KEY if unexplained > 1 else line.state, unexplained
        )
    lost = event == zmq.Event.DISCONNECTED and line.state is TableConnectionState.OPEN
    if lost or event == zmq.Event.CLOSED:
        return MonitoredConnection(TableConnectionState.DOWN, line.unexplained)
    return line


def needs_retry(event: int) -> bool:
    """Return whether this program must reconnect after `event`, because the key was refused."""
    return event == zmq.Event.HANDSHAKE_FAILED_AUTH


HEARTBEAT_INTERVAL_MS: Final = 1_000
HEARTBEAT_TIMEOUT_MS: Final = 3_000
HANDSHAKE_TIMEOUT_MS: Final = 3_000

SOCKET_OPTIONS: Final = {
    zmq.LINGER: 0,
    zmq.HEARTBEAT_IVL: HEARTBEAT_INTERVAL_MS,
    zmq.HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_MS,
    zmq.HEARTBEAT_TTL: HEARTBEAT_TIMEOUT_MS,
    zmq.HANDSHAKE_IVL: HANDSHAKE_TIMEOUT_MS,
}

SUBSCRIBER_OPTIONS: Final[dict[int, int]] = {zmq.IMMEDIATE: 1}
"""Options of a SUB socket that connects. Its queue is dropped with the connection.

If the program does not read until the queue is full, a heartbeat is missed. libzmq 4.3.5 then
aborts the process when it reads on after a new connection
(https://github.com/zeromq/libzmq/issues/3937).
"""


def raise_open_file_limit() -> None:
    """Raise this process's limit of open files to the maximum that the system allows.

    The usual default is some thousand. A connection to a table takes four files. If a process
    has no more files, libzmq aborts it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_socket(
    context: zmq.asyncio.Context, kind: zmq.SocketType, extra_options: dict[int, int] | None = None
) -> zmq.asyncio.Socket:
    """Return a new socket with the options SOCKET_OPTIONS and `extra_options`.

    It disconnects a peer after `HEARTBEAT_TIMEOUT_MS` of silence. `close` drops unsent messages.
    """
    socket = context.socket(kind)
    for option, value in (SOCKET_OPTIONS | (extra_options or {})).items():
        socket.setsockopt(option, value)
    return socket


def send_or_drop(socket: zmq.asyncio.Socket, frames: list[bytes]) -> None:
    """Send a message without waiting, or drop the message if the socket cannot take it now."""
    sent = socket.send_multipart(frames, flags=zmq.NOBLOCK)
    assert isinstance(sent, asyncio.Future)  # NOBLOCK guarantees that it is done.
    if isinstance(sent.exception(), zmq.Again):
        return
    sent.result()


RETRY_INTERVAL_S: Final = 5.0
MAX_RECEIVED_BYTES: Final = 2 * MAX_MACHINE_LINE_BYTES
"""The most bytes of a message. A connection that sends a larger message is closed."""


class BadAddress(Exception):
    """The error for an address or a key that ZeroMQ cannot use."""


@dataclass(frozen=True)
class CurveKeys:
    """The CURVE keys of a connection in Z85: the table's public key, and the client's key pair."""

    server: str
    public: str
    secret: str = field(repr=False)


class TableConnection:
    """One socket to a table, with CURVE encryption. `state` needs a running `follow_monitor`."""

    def __init__(
        self,
        context: zmq.asyncio.Context,
        kind: zmq.SocketType,
        address: str,
        keys: CurveKeys,
        on_change: Callable[[TableConnectionState], None],
        retry_interval_s: float = RETRY_INTERVAL_S,
    ) -> None:
        """Open the socket and connect it to `address`. Raises BadAddress."""
        self._monitored = MonitoredConnection()
        self._address, self._on_change = address, on_change
        self._retry_interval_s = retry_interval_s
        self._retry_timer: asyncio.TimerHandle | None = None
        more = SUBSCRIBER_OPTIONS if kind is zmq.SUB else {}
        self.socket = open_socket(context, kind, more | {zmq.MAXMSGSIZE: MAX_RECEIVED_BYTES})
        self._monitor = self.socket.get_monitor_socket()
        try:
            self.socket.curve_serverkey = keys.server.encode()
            self.socket.curve_publickey = keys.public.encode()
            self.socket.curve_secretkey = keys.secret.encode()
            self.socket.connect(address)
        except zmq.ZMQError as error:
            self.close()
            raise BadAddress(f"{address} or its key cannot be used: {error}") from error

    @property
    def state(self) -> TableConnectionState:
        """The present state of the connection."""
        return self._monitored.state

    async def follow_monitor(self) -> None:
        """Process the events of the socket's monitor until this task is cancelled.

        Update the state, call `on_change` after each change, and reconnect after a refused key.
        """
        while True:
            event = (await recv_monitor_message(self._monitor))["event"]
            before, self._monitored = self._monitored, next_state(self._monitored, event)
            if self.state is not before.state:
                self._on_change(self.state)
            if needs_retry(event) and self._retry_timer is None:
                loop = asyncio.get_running_loop()
                self._retry_timer = loop.call_later(self._retry_interval_s, self._reconnect)

    def close(self) -> None:
        """Close the socket and its monitor, and cancel the timer."""
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        self.socket.disable_monitor()
        self._monitor.close()
        self.socket.close()

    def _reconnect(self) -> None:
        self._retry_timer = None
        with suppress(zmq.ZMQError):  # The socket may have lost the address.
            self.socket.disconnect(self._address)
        self.socket.connect(self._address)
