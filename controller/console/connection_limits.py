"""Limits on browsers' connections: their number from one address, and the time for a request.

A program can open connections without a login. One telephone must not block the tablets of a hall
when it opens thousands of connections, never finishes a TLS handshake, or sends a request byte by
byte.
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
"""The maximum of open connections from one address (provisional). A browser opens six, and a few
dozen browsers may share the address of one router. Connections from this computer are not counted,
because a proxy on it passes on the connections of many browsers."""
REQUEST_TIMEOUT_S: Final = 15.0
"""Seconds within which the first request of a connection must arrive. A later request must arrive
within the same time after its first byte. A TLS handshake has the same limit."""
REQUEST_BURST: Final = 3_000
REQUESTS_PER_SECOND: Final = 100.0
"""Limits of the requests and new connections of one address: their number at once, and their number
per second after that (provisional). After a restart of the console, forty tablets with one router
load a page of about forty files each."""
WRITE_TIMEOUT_S: Final = 20.0
"""Seconds for which a browser may read nothing while the send buffer is full."""
_ACCEPT_RETRY_S: Final = 0.5
"""Seconds until the next try after this computer could not accept a connection."""
_log = structlog.get_logger("console")


class LimitedConnection(H11Protocol):
    """One connection of a browser, with time limits for sending a request and reading an answer.

    `may_continue` is called after each answer, and returns whether the connection may stay open.
    `on_lost` is called at the end of the connection.
    """

    def __init__(self, *args: Any, **more: Any) -> None:
        """Create a connection that has no timer yet."""
        super().__init__(*args, **more)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.may_continue: Callable[[LimitedConnection], bool] = lambda door: True
        self.on_lost: Callable[[LimitedConnection], None] = lambda door: None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._update_request_timer()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes, and update the timer of the request."""
        super().data_received(data)
        self._update_request_timer()

    def on_response_complete(self) -> None:
        """Update the request's timer, and close the connection if `may_continue` returns False."""
        super().on_response_complete()
        self._update_request_timer()
        if not self.may_continue(self):
            self.transport.close()

    def pause_writing(self) -> None:
        """Stop writing until the browser reads, and start the timer that aborts the connection.

        Without the timer, a sleeping page could keep its connection and block the other pages of
        its browser.
        """
        super().pause_writing()
        if "write" not in self._timers:
            abort = self.transport.abort
            self._timers["write"] = self.loop.call_later(WRITE_TIMEOUT_S, abort)

    def resume_writing(self) -> None:
        """Cancel the timer that aborts the connection, and continue to write."""
        self._cancel_timer("write")
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of the closed connection, and call `on_lost`."""
        self._cancel_timer("request")
        self._cancel_timer("write")
        super().connection_lost(exc)
        self.on_lost(self)

    def _update_request_timer(self) -> None:
        """Start or cancel the timer that closes the connection if a request arrives too slowly.

        The timer is cancelled during an answer, and while uvicorn's own, shorter timer runs.
        """
        asked = self.cycle is not None and not self.cycle.response_complete
        if asked or self.timeout_keep_alive_task is not None:
            self._cancel_timer("request")
        elif "request" not in self._timers:
            close = self.transport.close
            self._timers["request"] = self.loop.call_later(REQUEST_TIMEOUT_S, close)

    def _cancel_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()


class ConnectionLimiter:
    """A service that accepts browsers' connections on a socket, with limits for each address.

    A connection counts from the moment of its acceptance, even before its handshake. An address
    that sends requests too fast loses the connection after its next answer.
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
        """Accept connections until the task is cancelled.

        Then unfinished handshakes are cancelled too.
        """
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            while True:
                try:
                    line, address = await loop.sock_accept(self._listening)
                except OSError as error:  # The client has left, or no resources are free.
                    _log.warning("connection not accepted", why=error.strerror)
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
        """Attach a socket to its connection object, after the TLS handshake if TLS is used."""
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
    """Return `host`, or "" (an address without limits) if `host` is a loopback address."""
    return "" if ipaddress.ip_address(host.partition("%")[0]).is_loopback else host
