"""The gateway's end of the Unix socket between gateway and machine.

It connects, and connects again after an error. It queues no message. The process that listens there
must run as the machine's user, because its messages are published in the table's name.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from controller.gateway_protocol import (
    MAX_MACHINE_LINE_BYTES,
    AskMetricsMessage,
    CommandMessage,
    GatewayMessage,
    GatewayProtocolError,
    HelloMessage,
    LineSplitter,
    MachineMessage,
    decode_machine_line,
    encode_line,
)
from controller.host.loggers import structlog
from controller.host.users import peer_uid

FIRST_RETRY_INTERVAL_S: Final = 0.05
MAX_RETRY_INTERVAL_S: Final = 2.0
MAX_UNSENT_BYTES: Final = 1 << 18
"""Bytes that the machine may leave unread. With more, `send` returns False."""

_log = structlog.get_logger("gateway")


class MachineConnection:
    """The gateway's connection to the machine of `table`. The task `run` keeps it open.

    `allowed_uids` are the user ids that the machine's process may have. `on_message` is called with
    each message of the machine, which begins with its HelloMessage. `on_lost` is called when the
    machine is lost: its answers will not come any more.
    """

    def __init__(
        self,
        path: Path,
        table: str,
        allowed_uids: frozenset[int],
        on_message: Callable[[MachineMessage], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._path, self._table, self._allowed_uids = path, table, allowed_uids
        self._on_message, self._on_lost = on_message, on_lost
        self._protocol: _MachineProtocol | None = None

    @property
    def is_up(self) -> bool:
        """True while the machine is connected and has identified itself."""
        return self._protocol is not None and self._protocol.hello_received

    def send(self, message: CommandMessage) -> bool:
        """Send `message` and return True, or return False if no machine can receive it now."""
        return self._protocol is not None and self._protocol.send(message)

    def ask_metrics(self) -> bool:
        """Request the machine's metrics and return True. Return False if no machine can answer."""
        line = self._protocol
        return line is not None and line.answers_metrics and line.send(AskMetricsMessage())

    async def run(self) -> None:
        """Connect to the machine, and connect again after each loss, until this task is cancelled.

        The pause between tries grows from 50 ms to 2 s.
        """
        retry_s, said = FIRST_RETRY_INTERVAL_S, ""
        while True:
            line = _MachineProtocol(self._table, self._allowed_uids, self._on_message)
            why = await self._connect_until_closed(line)
            if line.hello_received:
                retry_s, said = FIRST_RETRY_INTERVAL_S, ""
                self._on_lost()
            if why != said:
                _log.warning("machine away", socket=str(self._path), why=why)
                said = why
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, MAX_RETRY_INTERVAL_S)

    async def _connect_until_closed(self, protocol: "_MachineProtocol") -> str:
        """Connect to the machine and wait until the connection ends or fails. Return the reason."""
        try:
            await asyncio.get_running_loop().create_unix_connection(
                lambda: protocol, str(self._path)
            )
            self._protocol = protocol
            return await protocol.closed
        except OSError as error:
            return error.strerror or str(error)
        finally:
            self._protocol = None
            protocol.close()


class _MachineProtocol(asyncio.Protocol):
    """One connection to the machine. `closed` receives the reason when the connection ends."""

    def __init__(
        self, table: str, allowed_uids: frozenset[int], on_message: Callable[[MachineMessage], None]
    ) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.hello_received = self.answers_metrics = False
        self._table, self._allowed_uids, self._on_message = table, allowed_uids, on_message
        self._splitter = LineSplitter(MAX_MACHINE_LINE_BYTES)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        uid = peer_uid(transport.get_extra_info("socket"))
        if uid not in self._allowed_uids:
            self._set_closed(f"it is user {uid}, not the machine's")

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_closed(str(exc or "it closed the socket"))

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._splitter.split(data):
                if self.closed.done():
                    return
                self._handle_line(line)
        except GatewayProtocolError as error:
            self._set_closed(str(error))

    def send(self, message: GatewayMessage) -> bool:
        transport = self._transport
        if transport is None or not self.hello_received or self.closed.done():
            return False
        if transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            return False
        transport.write(encode_line(message))
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _handle_line(self, line: bytes) -> None:
        message = decode_machine_line(line)
        if isinstance(message, HelloMessage):
            if self.hello_received or message.table != self._table:
                raise GatewayProtocolError(
                    f"hello of table {message.table!r}, expected {self._table!r} once"
                )
            self.hello_received, self.answers_metrics = True, message.metrics
        elif not self.hello_received:
            raise GatewayProtocolError("a machine that does not send hello first")
        self._on_message(message)
        if isinstance(message, HelloMessage):
            _log.info("machine here", table=message.table, simulated=message.simulated)

    def _set_closed(self, why: str) -> None:
        if not self.closed.done():
            self.closed.set_result(why)
