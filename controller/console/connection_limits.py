"""Limits on the connections of browsers: their number for each address, and the time for a request.

A program without a login can open connections too. One telephone that opens thousands, never
finishes a TLS handshake or sends a request letter by letter must not block the tablets of a hall.
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
        """Create a connection without a timer."""
        super().__init__(*args, **more)
        self._request_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self.may_continue: Callable[[LimitedConnection], bool] = lambda door: True
        self.on_lost: Callable[[LimitedConnection], None] = lambda door: None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._update_request_timer()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes."""
        super().data_received(data)
        self._update_request_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update_request_timer()
        if not self.may_continue(self):
            self.transport.close()

    def pause_writing(self) -> None:
        """Wait until the browser reads what was sent, but not for ever.

        An answer that waits cannot end in any other way. A page that sleeps with its connection
        would block the other pages of its browser.
        """
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer of the write."""
        self._cancel_write_timer()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        self._cancel_request_timer()
        self._cancel_write_timer()
        super().connection_lost(exc)
        self.on_lost(self)

    def _update_request_timer(self) -> None:
        """Limit the time without a request. Between two requests, uvicorn does so first."""
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
    """Accepts connections from a socket, up to a number for each address.

    A connection counts from the first moment, even before its handshake. A client that sends
    requests as fast as it can is not limited here.
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
        """Accept connections until this is cancelled.

        Connections in their handshake are dropped then.
        """
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            while True:
                try:
                    line, address = await loop.sock_accept(self._listening)
                except OSError as error:  # It is gone again, or no resources are left.
                    _log.warning("a connection was not taken", why=error.strerror)
                    await asyncio.sleep(_ACCEPT_RETRY_S)
                    continue
                self._accept(line, limited_address(address[0]))
        finally:
            await asyncio.sleep(0)  # Closed connections are removed first.
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
        """Pass a connection to its protocol, after the TLS handshake if there is TLS."""
        late_s = None if self._tls is None else REQUEST_TIMEOUT_S
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, line, ssl=self._tls, ssl_handshake_timeout=late_s
            )
        except OSError:  # The client uses no TLS, has left, or is too slow.
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
    """Return the address whose connections are counted, or "" for this computer's own."""
    return "" if ipaddress.ip_address(host.partition("%")[0]).is_loopback else host
