"""The machine's Unix socket: public data goes out, commands come in.

It is the only connection of the machine process to other programs. The kernel reports the user of
each client. Only the gateway's user, the machine's own user and root may connect.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from controller.gateway_protocol import (
    MAX_GATEWAY_LINE_BYTES,
    SOCKET_NAME,
    AskMetricsMessage,
    CommandMessage,
    GatewayProtocolError,
    HelloMessage,
    LineSplitter,
    MachineMessage,
    MetricsMessage,
    ReplyMessage,
    decode_gateway_line,
    encode_line,
    feed_message,
)
from controller.host.loggers import structlog
from controller.host.users import allowed_peer_uids, peer_uid
from controller.messages import ClientCommand, CommandReply, PublicEvent, PublicState

MAX_UNSENT_BYTES = 1 << 22
"""Unread bytes that a gateway may leave. A slower gateway is disconnected, and connects again."""

_log = structlog.get_logger("machine")


class GatewaySocket:
    """The Unix socket on which gateways receive a table's public data and send commands.

    `submit` answers commands. `state` returns the whole public state for a new gateway. `metrics`
    returns the machine's numbers, given the bytes that wait for gateways. `allowed_uids` are the
    users that a gateway may have.
    """

    def __init__(
        self,
        hello: HelloMessage,
        *,
        submit: Callable[[ClientCommand], Awaitable[CommandReply]],
        state: Callable[[], PublicState],
        metrics: Callable[[int], MetricsMessage] | None = None,
        allowed_uids: frozenset[int] | None = None,
    ) -> None:
        self._hello = hello
        self._submit = submit
        self._state = state
        self._metrics = metrics
        self.allowed_uids = allowed_peer_uids(None) if allowed_uids is None else allowed_uids
        self.connections: set[_Connection] = set()

    @asynccontextmanager
    async def serve(self, folder: Path, group: int | None = None) -> AsyncIterator[None]:
        """Listen on a socket file in `folder` during the context, and remove the file afterwards.

        If the gateway has another user, `group` is that user's group, which may connect. Raises
        OSError.
        """
        path = folder / SOCKET_NAME
        # A killed machine leaves its socket. The journal's lock ensures that only one machine runs.
        path.unlink(missing_ok=True)
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(lambda: _Connection(self), str(path))
        if group is not None and path.stat().st_gid != group:
            os.chown(path, -1, group)
        path.chmod(0o600 if group is None else 0o660)
        try:
            yield
        finally:
            server.close()
            for gateway in list(self.connections):
                gateway.close()
            path.unlink(missing_ok=True)

    def publish(self, value: PublicState | PublicEvent) -> None:
        """Send public data to every connected gateway."""
        if self.connections:
            line = encode_line(feed_message(value))
            for gateway in list(self.connections):
                gateway.send(line)

    def on_connected(self, gateway: "_Connection") -> None:
        """Send the table's identity and state to a new gateway."""
        self.connections.add(gateway)
        gateway.send(encode_line(self._hello))
        gateway.send(encode_line(feed_message(self._state())))

    def send_metrics(self, gateway: "_Connection") -> None:
        """Send the machine's metrics to a gateway."""
        if self._metrics is not None:
            unsent = sum(each.unsent_bytes for each in self.connections)
            gateway.send(encode_line(self._metrics(unsent)))

    async def answer(self, gateway: "_Connection", message: CommandMessage) -> None:
        """Pass a gateway's command to the machine, and send the machine's answer back."""
        reply = await self._submit(message.body)
        line: MachineMessage = ReplyMessage(message.ref, reply)
        gateway.send(encode_line(line))


class _Connection(asyncio.Protocol):
    """One connection from a gateway."""

    def __init__(self, socket: GatewaySocket) -> None:
        self._socket = socket
        self._lines = LineSplitter(MAX_GATEWAY_LINE_BYTES)
        self._transport: asyncio.Transport | None = None
        self._answers: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        uid = peer_uid(transport.get_extra_info("socket"))
        if uid not in self._socket.allowed_uids:
            _log.warning("stranger at the machine's socket", uid=uid)
            transport.abort()
            return
        self._transport = transport
        self._socket.on_connected(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._socket.connections.discard(self)
        for answer in self._answers:
            answer.cancel()

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.split(data):
                message = decode_gateway_line(line)
                if isinstance(message, AskMetricsMessage):
                    self._socket.send_metrics(self)
                    continue
                task = asyncio.ensure_future(self._socket.answer(self, message))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)
        except GatewayProtocolError as error:
            _log.warning("gateway disconnected", why=str(error))
            self.close()

    @property
    def unsent_bytes(self) -> int:
        """Return the number of bytes that wait until the gateway reads them."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def send(self, line: bytes) -> None:
        """Send a line, or disconnect the gateway if it reads too slowly."""
        if self._transport is None:
            return
        if self._transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            _log.warning("gateway disconnected", why="it does not read its messages")
            self.close()
            return
        self._transport.write(line)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
