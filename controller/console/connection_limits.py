"""Connections of browsers: how many one address may have, and how long it may take to ask.

Who is not logged in can open connections, too. One telephone that opens thousands, that greets for
ever (TLS), or asks for something letter by letter, must not keep the tablets of a hall out.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from controller.console.rate_limits import TokenBuckets
from controller.host.loggers import structlog

MAX_CONNECTIONS_PER_ADDRESS: Final = 256
"""Connections of one address; a browser has six, and a router may stand before a few dozen of them
(provisional). This computer's own are not counted: a proxy would be one of them."""
REQUEST_TIMEOUT_S: Final = 15.0
"""How long a connection may be open before it has asked for something, and between two requests
from the first letter of the second; with TLS so long for the greeting before that, too."""
REQUEST_BURST: Final = 3_000
REQUESTS_PER_SECOND: Final = 100.0
"""Questions of one address: so many at once, and so many a second on and on (provisional). Forty
tablets behind one router load a page of some forty files each after a restart."""
WRITE_TIMEOUT_S: Final = 20.0
"""How long somebody may take nothing of what he is sent, once no more of it fits on the way."""
_ACCEPT_RETRY_S: Final = 0.5
"""Where this computer can take no more."""
_log = structlog.get_logger("console")


class LimitedConnection(H11Protocol):
    """One connection. `may_continue` returns after each answer whether it may stay open, and
    `on_lost` is called at its end.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        """Have no timer yet."""
        super().__init__(*args, **more)
        self._request_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self.may_continue: Callable[[LimitedConnection], bool] = lambda door: True
        self.on_lost: Callable[[LimitedConnection], None] = lambda door: None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to hear somebody."""
        super().connection_made(transport)
        self._update_request_timer()

    def data_received(self, data: bytes) -> None:
        """Take what comes."""
        super().data_received(data)
        self._update_request_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update_request_timer()
        if not self.may_continue(self):
            self.transport.close()

    def pause_writing(self) -> None:
        """Wait until he takes what he was sent, but not for ever.

        An answer that waits for that hears nothing else, not even that it has to end: a page that
        sleeps with its line would keep it from the others of its browser.
        """
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        self._cancel_write_timer()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave no timer."""
        self._cancel_request_timer()
        self._cancel_write_timer()
        super().connection_lost(exc)
        self.on_lost(self)

    def _update_request_timer(self) -> None:
        """Count the time while nothing is asked; between two requests uvicorn does, at first."""
        asked = self.cycle is not None and not self.cycle.response_complete
        if asked or self.timeout_keep_alive_task is not None:
            self._cancel_request_timer()
        elif self._request_timer is None:
            self._request_timer = self.loop.call_later(REQUEST_TIMEOUT_S, self.transport.close)

    def _cancel_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


class ConnectionLimiter:
    """Takes connections off a socket and gives each its door: so many of one address.

    They count from the first moment, also those that have not greeted yet. Who asks on and on as
    fast as he can is left.
    """

    def __init__(
        self,
        listening: socket.socket,
        make_connection: Callable[[], LimitedConnection],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._listening, self._make_connection, self._tls = listening, make_connection, tls
        self._address_of: dict[LimitedConnection, str] = {}
        self._open_by_address: Counter[str] = Counter()
        self._request_buckets = TokenBuckets(REQUEST_BURST, REQUESTS_PER_SECOND)
        self._handshakes: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Take connections until this is cancelled; whoever is still greeting is left then."""
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            while True:
                try:
                    line, address = await loop.sock_accept(self._listening)
                except OSError as error:  # gone again, or this computer is full
                    _log.warning("a connection was not taken", why=error.strerror)
                    await asyncio.sleep(_ACCEPT_RETRY_S)
                    continue
                self._accept(line, limited_address(address[0]))
        finally:
            await asyncio.sleep(0)  # who was taken last greets by now, and closes what it has
            for task in self._handshakes:
                task.cancel()
            await asyncio.gather(*self._handshakes, return_exceptions=True)

    def _accept(self, line: socket.socket, host: str) -> None:
        if host and (
            self._open_by_address[host] >= MAX_CONNECTIONS_PER_ADDRESS
            or not self._may_request(host)
        ):
            line.close()
            return
        door = self._make_connection()
        door.may_continue, door.on_lost = self._may_continue, self._forget
        self._address_of[door] = host
        self._open_by_address[host] += 1
        task = asyncio.ensure_future(self._shake_hands(line, door))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _shake_hands(self, line: socket.socket, connection: LimitedConnection) -> None:
        """Let a door hear a connection, once it is sealed where it has to be."""
        late_s = None if self._tls is None else REQUEST_TIMEOUT_S
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, line, ssl=self._tls, ssl_handshake_timeout=late_s
            )
        except OSError:  # it speaks no TLS, or left, or took too long
            self._forget(connection)

    def _may_request(self, host: str) -> bool:
        return self._request_buckets.allow(host, asyncio.get_running_loop().time())

    def _may_continue(self, connection: LimitedConnection) -> bool:
        host = self._address_of.get(connection)
        return not host or self._may_request(host)

    def _forget(self, connection: LimitedConnection) -> None:
        host = self._address_of.pop(connection, None)
        if host is None:
            return
        self._open_by_address[host] -= 1
        if not self._open_by_address[host]:
            del self._open_by_address[host]


def limited_address(host: str) -> str:
    """Return an address of which it is counted what it does; "" for this computer's own."""
    return "" if ipaddress.ip_address(host.partition("%")[0]).is_loopback else host
