"""Sockets of the tables' feeds. Each table has a socket for messages and a connection monitor.

asyncio's own ZeroMQ sockets cost several times as much for each message. Here one selector watches
all sockets, the event loop watches the selector, and all waiting messages are read at once, about
twenty times a second. A socket's descriptor signals a new message only if the socket was read until
it was empty. So each socket is read until it is empty, and a socket that was left earlier is read
again the next time.
"""

import asyncio
import selectors
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import zmq

from controller.client.connection import (
    MAX_RECEIVED_BYTES,
    RETRY_INTERVAL_S,
    SOCKET_OPTIONS,
    STATE_EVENTS,
    SUBSCRIBER_OPTIONS,
    BadAddress,
    CurveKeys,
    MonitoredConnection,
    TableConnectionState,
    needs_retry,
    next_state,
    raise_open_file_limit,
)
from controller.host.loggers import structlog

READ_INTERVAL_S: Final = 0.05
"""The shortest interval between reads of the sockets."""
MAX_MESSAGES_AT_ONCE: Final = 64
"""The most messages of one table that are read before the other tables have their turn."""
MAX_BYTES_AT_ONCE: Final = 1 << 18
"""The most bytes of one table that are read before the other tables have their turn.

Decoding so many takes some milliseconds (provisional).
"""
TOPICS: Final = (b"state/", b"event/")
_FRAME_COUNT: Final = 2
_MAX_SOCKETS: Final = 8_192
_SOCKET_OPTIONS: Final[dict[int, int]] = {
    zmq.MAXMSGSIZE: MAX_RECEIVED_BYTES,
    # Above this, the table's own queue fills and the table drops events, which are then requested.
    zmq.RCVHWM: 300,
    zmq.RECONNECT_IVL: 200,
    zmq.RECONNECT_IVL_MAX: 2_000,
    zmq.CONNECT_TIMEOUT: 3_000,
}
_EVENTS, _POLLIN, _NOBLOCK = int(zmq.EVENTS), int(zmq.POLLIN), int(zmq.NOBLOCK)
"""Plain numbers, because enum flags cost half as much as a message."""
_EVENT: Final = struct.Struct("=hi")
_log = structlog.get_logger("console")

OnMessage = Callable[[str, bytes, bytes], None]
"""A function that receives the table, the topic and the body of a message."""


class FeedSockets:
    """The feed sockets of many tables.

    They are created, used and closed in one running event loop. `on_message` receives each message
    of a table. `on_malformed` receives the name of a table that sent something other than two
    frames. `on_line_state` receives each change of a table's connection state. `on_read` is called
    once after all messages that were read together.
    """

    def __init__(
        self,
        on_message: OnMessage,
        on_malformed: Callable[[str], None],
        on_line_state: Callable[[str, TableConnectionState], None],
        on_read: Callable[[], None],
    ) -> None:
        self._on_message, self._on_malformed = on_message, on_malformed
        self._on_line_state, self._on_read = on_line_state, on_read
        self._loop = asyncio.get_running_loop()
        raise_open_file_limit()
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.context.set(zmq.MAX_SOCKETS, _MAX_SOCKETS)
        self._selector = selectors.DefaultSelector()
        self._connections: dict[str, _TableConnection] = {}
        self._unread: set[_TableConnection] = set()
        self._read_timer: asyncio.TimerHandle | None = None
        self._watch()

    def open(self, table: str, address: str, keys: CurveKeys) -> None:
        """Connect to a table, which must not be connected yet. Raises BadAddress."""
        line = _TableConnection(self, table, address, keys)
        self._connections[table] = line
        self._selector.register(line.socket.fileno(), selectors.EVENT_READ, line.read)
        self._selector.register(line.monitor.fileno(), selectors.EVENT_READ, line.read_monitor)
        self._read_soon(line)

    def close_table(self, table: str) -> None:
        """Disconnect from a table. A table that is not connected is ignored."""
        line = self._connections.pop(table, None)
        if line is not None:
            self._selector.unregister(line.socket.fileno())
            self._selector.unregister(line.monitor.fileno())
            self._unread.discard(line)
            line.close()

    def close(self) -> None:
        """Disconnect from all tables, and close the ZeroMQ context. No timer remains."""
        for table in list(self._connections):
            self.close_table(table)
        self._loop.remove_reader(self._selector)
        if self._read_timer is not None:
            self._read_timer.cancel()
        self._selector.close()
        self.context.destroy(linger=0)

    def _watch(self) -> None:
        self._read_timer = None
        if self._unread:
            self._read_ready()
        else:
            self._loop.add_reader(self._selector, self._read_ready)

    def _read_ready(self) -> None:
        self._loop.remove_reader(self._selector)
        self._read_timer = self._loop.call_later(READ_INTERVAL_S, self._watch)
        unfinished, self._unread = self._unread, set()
        for key, _ in self._selector.select(0):
            key.data()
        for line in unfinished:
            line.read_monitor()
            line.read()
        self._on_read()

    def _read_soon(self, line: "_TableConnection") -> None:
        """Schedule a read of a connection that may already have messages."""
        self._unread.add(line)
        if self._read_timer is None:
            self._loop.remove_reader(self._selector)
            self._read_timer = self._loop.call_later(0, self._watch)


def _has_message(socket: "zmq.Socket[bytes]") -> bool:
    """Return whether a socket has a message that was not read yet.

    If not, the socket's descriptor will signal the next message.
    """
    return bool(int(socket.getsockopt(_EVENTS)) & _POLLIN)


class _TableConnection:
    """The two ZeroMQ sockets of one table: the feed, and the monitor of its connection."""

    def __init__(self, feed: FeedSockets, table: str, address: str, keys: CurveKeys) -> None:
        self._feed, self._table, self._address = feed, table, address
        self._line = MonitoredConnection()
        self._retry_timer: asyncio.TimerHandle | None = None
        self.socket: zmq.Socket[bytes] = feed.context.socket(zmq.SUB)
        for option, value in (SOCKET_OPTIONS | SUBSCRIBER_OPTIONS | _SOCKET_OPTIONS).items():
            self.socket.setsockopt(option, value)
        self.monitor: Any = self.socket.get_monitor_socket(STATE_EVENTS)
        try:
            self.socket.curve_serverkey = keys.server.encode()
            self.socket.curve_publickey = keys.public.encode()
            self.socket.curve_secretkey = keys.secret.encode()
            for topic in TOPICS:
                self.socket.subscribe(topic)
            self.socket.connect(address)
        except zmq.ZMQError as error:
            self.close()
            raise BadAddress(f"{address} or its key cannot be used: {error}") from error

    def read(self) -> None:
        """Read waiting messages of the feed, up to the limits of number and size for one call.

        The first message is read without a check, because usually one is there, and a check costs a
        quarter of a message.
        """
        socket, size = self.socket, 0
        for _ in range(MAX_MESSAGES_AT_ONCE):
            try:
                frames = socket.recv_multipart(_NOBLOCK)
            except zmq.Again:
                return
            # An exception must not prevent reading the next message or other tables: a socket that
            # is not read until it is empty signals no further messages.
            try:
                if len(frames) == _FRAME_COUNT:
                    self._feed._on_message(self._table, *frames)
                else:
                    self._feed._on_malformed(self._table)
            except Exception:
                _log.exception("a message is not taken", table=self._table)
            size += sum(map(len, frames))
            if size > MAX_BYTES_AT_ONCE:
                break
            if not _has_message(socket):
                return
        self._feed._unread.add(self)

    def read_monitor(self) -> None:
        """Read the monitor, and report changes of the connection's state."""
        while _has_message(self.monitor):
            event, _ = _EVENT.unpack(self.monitor.recv_multipart(_NOBLOCK)[0])
            before, self._line = self._line, next_state(self._line, event)
            if self._line.state is not before.state:
                self._feed._on_line_state(self._table, self._line.state)
            if needs_retry(event) and self._retry_timer is None:
                self._retry_timer = self._feed._loop.call_later(RETRY_INTERVAL_S, self._reconnect)

    def close(self) -> None:
        """Close both sockets and cancel the timer."""
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        self.socket.disable_monitor()
        self.monitor.close()
        self.socket.close()

    def _reconnect(self) -> None:
        self._retry_timer = None
        with suppress(zmq.ZMQError):  # The socket may have no such address at this moment.
            self.socket.disconnect(self._address)
        self.socket.connect(self._address)
        self._feed._read_soon(self)
