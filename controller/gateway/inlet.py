"""The gateway's end of the machine's Unix socket: connects, connects again, never queues.

Whoever listens there must be the machine's user: what it says goes out in the table's name.
"""

import asyncio
from pathlib import Path
from typing import Final, Protocol

from controller.bridge import (
    MACHINE_LINE,
    AskMetricsMessage,
    BridgeError,
    CommandMessage,
    FeedMessage,
    FromGateway,
    HelloMessage,
    Lines,
    MetricsMessage,
    ReplyMessage,
    from_machine,
    to_line,
)
from controller.loggers import structlog
from controller.users import peer_uid, peers_of

FIRST_RETRY_S: Final = 0.05
LAST_RETRY_S: Final = 2.0
MOST_UNSENT: Final = 1 << 18
"""Bytes the machine may leave unread before it counts as away."""

_log = structlog.get_logger("gateway")


class Owner(Protocol):
    """Whom the inlet tells. All are plain functions, called from the loop."""

    def on_feed(self, message: FeedMessage) -> None:
        """Something to publish."""

    def on_reply(self, message: ReplyMessage) -> None:
        """The answer to a command sent on this connection."""

    def on_metrics(self, message: MetricsMessage) -> None:
        """The machine's numbers, asked for on this connection."""

    def on_here(self, hello: HelloMessage) -> None:
        """The machine is there, and says who it is."""

    def on_away(self) -> None:
        """The machine is gone; its answers will not come any more."""


class Inlet:
    """One connection to the machine of `table` at a time, for as long as `run` runs.

    `peers` are the uids that a machine may have: this process's own and root's, if not said.
    """

    def __init__(
        self, path: Path, table: str, owner: Owner, peers: frozenset[int] | None = None
    ) -> None:
        self._path = path
        self._table = table
        self._owner = owner
        self._peers = peers_of(None) if peers is None else peers
        self._line: _MachineLine | None = None

    @property
    def is_up(self) -> bool:
        """Whether the machine has said who it is and is still there."""
        return self._line is not None and self._line.greeted

    def send(self, message: CommandMessage) -> bool:
        """Hand `message` to the machine. Returns False while the machine is away."""
        return self._line is not None and self._line.send(message)

    def ask_metrics(self) -> bool:
        """Ask the machine for its numbers. Returns False where no answer will come."""
        line = self._line
        return line is not None and line.has_metrics and line.send(AskMetricsMessage())

    async def run(self) -> None:
        """Keep connected until cancelled: first retry after 50 ms, doubling to 2 s."""
        retry_s, said = FIRST_RETRY_S, ""
        while True:
            line = _MachineLine(self._table, self._owner, self._peers)
            why = await self._stay(line)
            if line.greeted:
                retry_s, said = FIRST_RETRY_S, ""
                self._owner.on_away()
            if why != said:
                _log.warning("machine away", socket=str(self._path), why=why)
                said = why
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, LAST_RETRY_S)

    async def _stay(self, line: "_MachineLine") -> str:
        """Connect, stay until the connection ends, and return why it did."""
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: line, str(self._path))
            self._line = line
            return await line.closed
        except OSError as error:
            return error.strerror or str(error)
        finally:
            self._line = None
            line.close()


class _MachineLine(asyncio.Protocol):
    """One connection. `closed` ends with the reason when it does."""

    def __init__(self, table: str, owner: Owner, peers: frozenset[int]) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.greeted = False
        self.has_metrics = False
        self._table = table
        self._owner = owner
        self._peers = peers
        self._lines = Lines(MACHINE_LINE)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        uid = peer_uid(transport.get_extra_info("socket"))
        if uid not in self._peers:
            self._end(f"it is user {uid}, not the machine's")

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(str(exc or "it closed the socket"))

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.take(data):
                if self.closed.done():
                    return
                self._take(line)
        except BridgeError as error:
            self._end(str(error))

    def send(self, message: FromGateway) -> bool:
        transport = self._transport
        if transport is None or not self.greeted or self.closed.done():
            return False
        if transport.get_write_buffer_size() > MOST_UNSENT:
            return False
        transport.write(to_line(message))
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _take(self, line: bytes) -> None:
        message = from_machine(line)
        if isinstance(message, HelloMessage):
            self._greet(message)
        elif not self.greeted:
            raise BridgeError("a machine that does not say hello first")
        elif isinstance(message, FeedMessage):
            self._owner.on_feed(message)
        elif isinstance(message, MetricsMessage):
            self._owner.on_metrics(message)
        else:
            self._owner.on_reply(message)

    def _greet(self, hello: HelloMessage) -> None:
        if self.greeted or hello.table != self._table:
            raise BridgeError(f"hello of table {hello.table!r}, expected {self._table!r} once")
        self.greeted = True
        self.has_metrics = hello.metrics
        self._owner.on_here(hello)
        _log.info("machine here", table=hello.table, simulated=hello.simulated)

    def _end(self, why: str) -> None:
        if not self.closed.done():
            self.closed.set_result(why)
