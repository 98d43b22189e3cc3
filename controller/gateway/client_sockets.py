"""The two sockets for clients, and how clients that are no longer admitted are disconnected.

ZeroMQ cannot end the connection of a single peer. Therefore both sockets are closed and bound again
at their addresses. All clients reconnect within a fraction of a second, and a client that is not
admitted any more is refused. Public messages are postponed until the clients are back. If an
answer was lost, the client sends the command again with the same id.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

import zmq
import zmq.asyncio

from controller.gateway.admission import AdmittedKeys, Authenticator
from controller.gateway.command_socket import CommandSocket
from controller.gateway.feed_socket import FeedSocket
from controller.host.loggers import structlog

ADMISSION_CHECK_INTERVAL_S: Final = 0.5
"""Seconds between two checks whether all connected keys are still admitted."""
DRAIN_TIMEOUT_S: Final = 0.5
"""Seconds in which pending answers may still be sent before the sockets are closed."""
FLUSH_DELAY_S: Final = 0.1
"""Seconds for sent data to leave this process."""
RECONNECT_TIME_S: Final = 1.0
"""Seconds for which feed messages are postponed, so that all clients are back (an estimate)."""
_RETRY_INTERVAL_S: Final = 0.01
"""libzmq frees an address some time after its socket was closed."""
_DRAIN_CHECKS: Final = round(DRAIN_TIMEOUT_S / _RETRY_INTERVAL_S)
_TRIES_BEFORE_ERROR: Final = 200
"""After so many tries to bind, another process must have taken the address."""
_log = structlog.get_logger("gateway")


async def wait_for_revocation(admitted: AdmittedKeys, authenticator: Authenticator) -> list[str]:
    """Wait until connected peers are no longer admitted, and return the names of these peers."""
    while True:
        gone = admitted.no_longer_admitted(authenticator.connected_peers)
        if gone:
            return gone
        await asyncio.sleep(ADMISSION_CHECK_INTERVAL_S)


class ClientSockets:
    """The feed socket and the command socket. `reconnect_count` counts calls of reconnect_all."""

    def __init__(
        self, authenticator: Authenticator, secret: str, feed: FeedSocket, commands: CommandSocket
    ) -> None:
        self._authenticator, self._secret = authenticator, secret
        self._feed, self._commands = feed, commands
        self.sockets: tuple[FeedSocket | CommandSocket, ...] = (feed, commands)
        self._addresses: list[str] = []
        self.reconnect_count = 0

    def bind(self, part: FeedSocket | CommandSocket, address: str) -> str:
        """Encrypt the socket of `part`, bind it, and return its full address. Raises ZMQError."""
        self._authenticator.secure_socket(part.socket, self._secret)
        part.socket.bind(address)
        self._addresses.append(part.socket.getsockopt_string(zmq.LAST_ENDPOINT))
        return self._addresses[-1]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve both sockets while the block runs. An error in one of them cancels the block."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part.serve()) for part in self.sockets]
            yield
            for task in tasks:
                task.cancel()

    async def drain(self) -> None:
        """Postpone new feed messages, and wait at most 0.6 s until pending answers are sent."""
        self._feed.hold_back()
        for _ in range(_DRAIN_CHECKS):
            if not self._commands.pending_count:
                break
            await asyncio.sleep(_RETRY_INTERVAL_S)
        await asyncio.sleep(FLUSH_DELAY_S)

    async def reconnect_all(self) -> None:
        """Disconnect every client: close both sockets and bind new ones at the same addresses."""
        self.reconnect_count += 1
        self._authenticator.connected_peers.clear()
        bound, self._addresses = self._addresses, []
        for part, address in zip(self.sockets, bound, strict=True):
            part.reopen()
            await self._rebind(part, address)
        self._feed.resume_in(RECONNECT_TIME_S)

    async def _rebind(self, part: FeedSocket | CommandSocket, address: str) -> None:
        """Bind the new socket of `part` to `address`, and try again while this address is in use.

        libzmq may not have freed the address yet, or another process may have taken it.
        """
        for tries in count(1):
            try:
                self.bind(part, address)
                return
            except zmq.ZMQError as error:
                if error.errno != zmq.EADDRINUSE:
                    raise
            if tries == _TRIES_BEFORE_ERROR:
                _log.error("address taken by somebody else", address=address)
            await asyncio.sleep(_RETRY_INTERVAL_S)
