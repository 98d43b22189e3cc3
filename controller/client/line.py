"""A client's socket to one address, and how it stands: open, nobody there, key refused.

libzmq gives a refused address up for good, so that the line itself tries again: the key may be
admitted meanwhile. What the monitor's events mean stands in monitored.py.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from controller.bridge import MAX_MACHINE_LINE_BYTES
from controller.client.monitored import MonitoredConnection, needs_retry, next_state
from controller.client.monitored import TableConnectionState as TableConnectionState
from controller.client.sockets import SUBSCRIBER_OPTIONS, open_socket

RETRY_INTERVAL_S: Final = 5.0
MAX_RECEIVED_BYTES: Final = 2 * MAX_MACHINE_LINE_BYTES
"""Bytes of a message; whoever has the gateway may send larger ones, and is hung up on."""


class BadAddress(Exception):
    """An address or key that ZeroMQ cannot take."""


@dataclass(frozen=True)
class CurveKeys:
    """CURVE keys in Z85: the table's public one, and the client's pair."""

    server: str
    public: str
    secret: str = field(repr=False)


class TableConnection:
    """One connecting socket with CURVE. `watch_over` must run for `state` to be true."""

    def __init__(
        self,
        context: zmq.asyncio.Context,
        kind: zmq.SocketType,
        address: str,
        keys: CurveKeys,
        on_change: Callable[[TableConnectionState], None],
        retry_interval_s: float = RETRY_INTERVAL_S,
    ) -> None:
        """Connect. Raises BadAddress."""
        self._monitored = MonitoredConnection()
        self._address = address
        self._on_change = on_change
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
        """How it stands."""
        return self._monitored.state

    async def follow_monitor(self) -> None:
        """Follow the socket's monitor until cancelled."""
        while True:
            seen = await recv_monitor_message(self._monitor)
            self._on_event(seen["event"])

    def close(self) -> None:
        """Close socket and monitor and leave no timer."""
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        self.socket.disable_monitor()
        self._monitor.close()
        self.socket.close()

    def _on_event(self, event: int) -> None:
        before, self._monitored = self._monitored, next_state(self._monitored, event)
        if self.state is not before.state:
            self._on_change(self.state)
        if needs_retry(event):
            self._schedule_retry()

    def _schedule_retry(self) -> None:
        if self._retry_timer is None:
            loop = asyncio.get_running_loop()
            self._retry_timer = loop.call_later(self._retry_interval_s, self._reconnect)

    def _reconnect(self) -> None:
        self._retry_timer = None
        with suppress(zmq.ZMQError):  # it may have forgotten the address, or not yet
            self.socket.disconnect(self._address)
        self.socket.connect(self._address)
