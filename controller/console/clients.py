"""The console's clients of the tables: one for a table and a role, as long as it is used.

All share one ZeroMQ context. A client that nobody used for some minutes is closed; one that
could not reach its table is not used again, so that a key that was changed meanwhile is read.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import zmq

from controller.client.client import ANSWER_S, Client, Identity, NoAnswer
from controller.console.config import TableLine
from controller.console.keys import identity
from controller.console.lines.asking import endpoints
from controller.messages import Command, Reply, Role

IDLE_S: Final = 300.0
_AGAIN_S: Final = ANSWER_S + 2
"""Whoever waits at a client that is used no more has his answer by then, or has none."""


class Clients:
    """Gives clients. `line` and `keys` return what the configuration says of a table now.

    `ids` names a client's own questions.
    """

    def __init__(
        self,
        context: zmq.Context[Any],
        line: Callable[[str], TableLine],
        keys: Callable[[str], Path],
        ids: Callable[[], str],
    ) -> None:
        self._context, self._ids = context, ids
        self._line, self._keys = line, keys
        self._open: dict[tuple[str, Role], _Kept] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def of(self, table: str, role: Role) -> "_Kept":
        """Return the client for a table and a role. Raises Wrong without a key, KeyError."""
        line = self._line(table)
        key = table, role
        known = self._open.get(key)
        if known is not None and known.line != line:
            self._retire(key, known)
            known = None
        if known is None:
            own: Identity = identity(self._keys(table), role)
            client = Client(endpoints(line), own, self._ids, context=self._context)
            known = self._open[key] = _Kept(client, line, lambda kept: self._retire(key, kept))
        return known

    async def close(self) -> None:
        """Close all."""
        for task in self._closing:
            task.cancel()
        left = [kept.end() for kept in self._open.values()]
        self._open.clear()
        await asyncio.gather(*left, *self._closing, return_exceptions=True)

    def _retire(self, key: tuple[str, Role], kept: "_Kept") -> None:
        """Use a client no more, and close it once nobody waits for it."""
        if self._open.get(key) is kept:
            del self._open[key]
            task = asyncio.create_task(_later(kept))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


async def _later(kept: "_Kept") -> None:
    try:
        await asyncio.sleep(_AGAIN_S)
    finally:
        await kept.end()


class _Kept:
    """A client, and when it was used last."""

    def __init__(self, client: Client, line: TableLine, retire: Callable[["_Kept"], None]) -> None:
        self.line = line
        self._client, self._retire = client, retire
        self._idle = self._rest()

    async def send(self, command: Command) -> Reply:
        """Send a command as it is and return the answer. Raises NoAnswer, BadAddress."""
        self._idle.cancel()
        self._idle = self._rest()
        try:
            return await self._client.send(command)
        except NoAnswer:
            self._retire(self)
            raise

    async def end(self) -> None:
        """Close it."""
        self._idle.cancel()
        await self._client.close()

    def _rest(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(IDLE_S, lambda: self._retire(self))
