"""Connections of browsers: how many one address may have, and how long it may take to ask.

Who is not logged in can open connections, too. One telephone that opens thousands, or asks for
something letter by letter, must not keep the tablets of a hall out.
"""

import asyncio
import ipaddress
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_OF_ONE: Final = 256
"""Connections of one address; a browser has six, and a router may stand before a few dozen of them
(provisional). This computer's own are not counted: a proxy would be one of them."""
HEAD_S: Final = 15.0
"""How long a connection may be open before it has asked for something, and between two requests
from the first letter of the second."""


class Door(H11Protocol):
    """One connection; at most so many of one address."""

    def __init__(self, *args: Any, **more: Any) -> None:
        """Know no address yet."""
        super().__init__(*args, **more)
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or hang up."""
        super().connection_made(transport)
        host = _host(self)
        if host and sum(_host(one) == host for one in self.connections) > MOST_OF_ONE:
            transport.abort()
            return
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take what comes."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave no timer."""
        self._stop()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Count the time while nothing is asked; between two requests uvicorn does, at first."""
        asked = self.cycle is not None and not self.cycle.response_complete
        if asked or self.timeout_keep_alive_task is not None:
            self._stop()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_S, self.transport.close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def counted(host: str) -> str:
    """Return an address of which it is counted what it does; "" for this computer's own."""
    return "" if ipaddress.ip_address(host.partition("%")[0]).is_loopback else host


def _host(one: object) -> str:
    client = one.client if isinstance(one, H11Protocol) else None
    return "" if client is None else counted(client[0])
