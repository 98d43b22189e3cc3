"""The console's clients of the tables: one for a table and a role, as long as it is used.

All share one ZeroMQ context. A client that nobody used for some minutes is closed; one that
could not reach its table is not used again, so that a key that was changed meanwhile is read.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import zmq

from controller.client.client import REPLY_TIMEOUT_S, Client, ClientIdentity, NoAnswer
from controller.console.config import ConfiguredTable
from controller.console.keys import load_identity
from controller.console.lines.asking import endpoints_of
from controller.messages import ClientCommand, CommandReply, Role

IDLE_TIMEOUT_S: Final = 300.0
_CLOSE_DELAY_S: Final = REPLY_TIMEOUT_S + 2
"""Whoever waits at a client that is used no more has his answer by then, or has none."""


class TableClients:
    """Gives clients. `line` and `keys` return what the configuration says of a table now.

    `ids` names a client's own questions.
    """

    def __init__(
        self,
        context: zmq.Context[Any],
        configured_table: Callable[[str], ConfiguredTable],
        key_folder_of: Callable[[str], Path],
        new_id: Callable[[], str],
    ) -> None:
        self._context, self._new_id = context, new_id
        self._configured_table, self._key_folder_of = configured_table, key_folder_of
        self._open: dict[tuple[str, Role], _PooledClient] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def client_for(self, table: str, role: Role) -> "_PooledClient":
        """Return the client for a table and a role. Raises Wrong without a key, KeyError."""
        line = self._configured_table(table)
        key = table, role
        known = self._open.get(key)
        if known is not None and known.configured != line:
            self._retire(key, known)
            known = None
        if known is None:
            own: ClientIdentity = load_identity(self._key_folder_of(table), role)
            client = Client(endpoints_of(line), own, self._new_id, context=self._context)
            known = self._open[key] = _PooledClient(
                client, line, lambda kept: self._retire(key, kept)
            )
        return known

    async def close(self) -> None:
        """Close all."""
        for task in self._closing:
            task.cancel()
        left = [kept.close() for kept in self._open.values()]
        self._open.clear()
        await asyncio.gather(*left, *self._closing, return_exceptions=True)

    def _retire(self, key: tuple[str, Role], kept: "_PooledClient") -> None:
        """Use a client no more, and close it once nobody waits for it."""
        if self._open.get(key) is kept:
            del self._open[key]
            task = asyncio.create_task(_close_later(kept))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


async def _close_later(kept: "_PooledClient") -> None:
    try:
        await asyncio.sleep(_CLOSE_DELAY_S)
    finally:
        await kept.close()


class _PooledClient:
    """A client, and when it was used last."""

    def __init__(
        self, client: Client, line: ConfiguredTable, retire: Callable[["_PooledClient"], None]
    ) -> None:
        self.configured = line
        self._client, self._retire = client, retire
        self._idle_timer = self._start_idle_timer()

    async def send(self, command: ClientCommand) -> CommandReply:
        """Send a command as it is and return the answer. Raises NoAnswer, BadAddress."""
        self._idle_timer.cancel()
        self._idle_timer = self._start_idle_timer()
        try:
            return await self._client.send(command)
        except NoAnswer:
            self._retire(self)
            raise

    async def close(self) -> None:
        """Close it."""
        self._idle_timer.cancel()
        await self._client.close()

    def _start_idle_timer(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(IDLE_TIMEOUT_S, lambda: self._retire(self))
