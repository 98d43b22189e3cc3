"""The two sockets that clients connect to, and how somebody inside is put out.

ZeroMQ knows no way to end one peer's connection. So both sockets are closed and bound anew
at their addresses: everybody connects again by himself within a fraction of a second, and
who is admitted no more is refused at the door. What becomes public meanwhile is held back
until they are there again; a command whose answer got lost is asked again by its id.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import zmq
import zmq.asyncio

from controller.gateway.admission import AdmittedKeys, Authenticator
from controller.gateway.command_socket import CommandSocket
from controller.gateway.feed_socket import FeedSocket
from controller.host.loggers import structlog

ADMISSION_CHECK_INTERVAL_S: Final = 0.5
"""How often it is looked whether a key that is inside is still admitted."""
DRAIN_TIMEOUT_S: Final = 0.5
"""How long answers may still go out before the sockets are closed."""
FLUSH_DELAY_S: Final = 0.1
"""How long what was sent has to leave this process."""
RECONNECT_TIME_S: Final = 1.0
"""How long the feed is held back for everybody to be there again (provisional)."""
_RETRY_INTERVAL_S: Final = 0.01
"""libzmq frees an address some time after its socket was closed."""
_DRAIN_CHECKS: Final = round(DRAIN_TIMEOUT_S / _RETRY_INTERVAL_S)
_TRIES_BEFORE_ERROR: Final = 200
"""Tries after which it is somebody else who has the address."""
_log = structlog.get_logger("gateway")


async def wait_for_revocation(admitted: AdmittedKeys, authenticator: Authenticator) -> list[str]:
    """Wait until peers that came in are admitted no more; return whose they are."""
    while True:
        gone = admitted.no_longer_admitted(authenticator.connected_peers)
        if gone:
            return gone
        await asyncio.sleep(ADMISSION_CHECK_INTERVAL_S)


class ClientSockets:
    """Feed and commands behind one doorkeeper. `renewed` counts how often all were cut off."""

    def __init__(
        self, authenticator: Authenticator, secret: str, feed: FeedSocket, commands: CommandSocket
    ) -> None:
        self._authenticator, self._secret = authenticator, secret
        self._feed, self._commands = feed, commands
        self.sockets: tuple[FeedSocket | CommandSocket, ...] = (feed, commands)
        self._addresses: list[str] = []
        self.reconnect_count = 0

    def bind(self, part: FeedSocket | CommandSocket, address: str) -> str:
        """Bind a socket under guard; return what it is bound to. Raises ZMQError."""
        self._authenticator.secure_socket(part.socket, self._secret)
        part.socket.bind(address)
        self._addresses.append(part.socket.getsockopt_string(zmq.LAST_ENDPOINT))
        return self._addresses[-1]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve both for the block; what ends either ends the block."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part.serve()) for part in self.sockets]
            yield
            for task in tasks:
                task.cancel()

    async def drain(self) -> None:
        """Hold the feed back, and let answers go out that are due within a moment."""
        self._feed.hold_back()
        for _ in range(_DRAIN_CHECKS):
            if not self._commands.pending_count:
                break
            await asyncio.sleep(_RETRY_INTERVAL_S)
        await asyncio.sleep(FLUSH_DELAY_S)

    async def reconnect_all(self) -> None:
        """Put everybody out and let those in again who may."""
        self.reconnect_count += 1
        self._authenticator.connected_peers.clear()
        bound, self._addresses = self._addresses, []
        for part, address in zip(self.sockets, bound, strict=True):
            part.reopen()
            await self._rebind(part, address)
        self._feed.resume_in(RECONNECT_TIME_S)

    async def _rebind(self, part: FeedSocket | CommandSocket, address: str) -> None:
        """Bind at the address that was ours; somebody else may have taken it meanwhile."""
        tries = 0
        while True:
            try:
                self.bind(part, address)
                return
            except zmq.ZMQError as error:
                if error.errno != zmq.EADDRINUSE:
                    raise
            tries += 1
            if tries == _TRIES_BEFORE_ERROR:
                _log.error("address taken by somebody else", address=address)
            await asyncio.sleep(_RETRY_INTERVAL_S)
