"""Connections that hold the console up: each limit with its real time, in virtual time.

The loop's two calls that need a socket are scripted: to accept a connection, and to greet it.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from controller.console import connection_limits
from controller.console.connection_limits import (
    REQUEST_TIMEOUT_S,
    REQUESTS_PER_SECOND,
    WRITE_TIMEOUT_S,
    ConnectionLimiter,
    LimitedConnection,
)
from controller.console.console import RefereeConsole
from controller.console.routing import SESSION_COOKIE
from controller.console.server import make_app
from controller.messages import Role
from tests.console.web import logged_in, standing

pytestmark = pytest.mark.virtual

ASKED = b"GET /api/me HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = 1 << 16
"""Bytes that a connection takes before it stops its writer, as asyncio's own does."""


class Connection(asyncio.Transport):
    """One connection from `host`. `heard`: what it was sent; `lost`: it has ended.

    `greets`: it begins TLS as it should. `takes`: it takes what it is sent.
    """

    def __init__(self, host: str, *, greets: bool = True, takes: bool = True) -> None:
        super().__init__({"peername": (host, 40_000), "sockname": ("127.0.0.1", 80)})
        self.host, self.greets, self.takes = host, greets, takes
        self.heard = bytearray()
        self.lost = asyncio.Event()
        self._closing = False
        self._held = 0
        self._protocol: asyncio.Protocol | None = None

    def connect(self, protocol: asyncio.Protocol) -> None:
        """Begin."""
        self._protocol = protocol
        protocol.connection_made(self)

    def send(self, said: bytes) -> None:
        """Let the browser send something."""
        if said and self._protocol is not None and not self._closing:
            self._protocol.data_received(said)

    def take(self) -> None:
        """Take all that was held up, and what comes from now on."""
        self.takes, self._held = True, 0
        assert self._protocol is not None
        self._protocol.resume_writing()

    def write(self, data: Any) -> None:
        """Send to the browser; what is written behind the end is lost, as with a socket."""
        if self._closing:
            return
        self.heard += data
        if not self.takes:
            before, self._held = self._held, self._held + len(data)
            if before <= LARGE < self._held:
                assert self._protocol is not None
                self._protocol.pause_writing()

    def is_closing(self) -> bool:
        """Return whether the console has ended it."""
        return self._closing

    def close(self) -> None:
        """End it, once all is sent."""
        if not self._held:
            self.abort()

    def abort(self) -> None:
        """End it at once."""
        if not self._closing:
            self._closing = True
            asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self.lost.set()
        if self._protocol is not None:
            self._protocol.connection_lost(None)

    def pause_reading(self) -> None:
        """Continue: nothing here sends too much."""

    def resume_reading(self) -> None:
        """Go on."""


class Network:
    """Connections that come to the entrance of a console."""

    def __init__(self) -> None:
        self._coming = asyncio.Queue[Connection]()

    async def comes(self, connection: Connection) -> Connection:
        """Let a connection come; return it once the console has taken or refused it."""
        await self._coming.put(connection)
        await asyncio.sleep(0.001)
        return connection

    async def accept(self, _: object) -> tuple[Connection, tuple[str, int]]:
        """Do what the loop's `sock_accept` does."""
        connection = await self._coming.get()
        return connection, (connection.host, 40_000)

    async def greet(
        self,
        door: Callable[[], asyncio.Protocol],
        connection: Connection,
        *,
        ssl: ssl.SSLContext | None,
        ssl_handshake_timeout: float | None,
    ) -> None:
        """Do what the loop's `connect_accepted_socket` does, with its own error."""
        if ssl is not None and not connection.greets:
            assert ssl_handshake_timeout is not None
            await asyncio.sleep(ssl_handshake_timeout)
            connection.abort()
            raise ConnectionAbortedError("SSL handshake is taking too long")
        connection.connect(door())


class Listening:
    """A socket that listens, as far as an entrance asks it."""

    def setblocking(self, flag: bool) -> None:
        """Block no sender."""

    def close(self) -> None:
        """End."""


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[RefereeConsole]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, _):
        yield console


Enter = Callable[..., Network]


@pytest.fixture
async def enter(console: RefereeConsole, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Enter]:
    """Opens the entrance of the console; `tls`: connections have to greet."""
    running: list[asyncio.Task[None]] = []

    def enter(*, tls: bool = False) -> Network:
        network, loop = Network(), asyncio.get_running_loop()
        monkeypatch.setattr(loop, "sock_accept", network.accept)
        monkeypatch.setattr(loop, "connect_accepted_socket", network.greet)
        settings = uvicorn.Config(
            make_app(console), http=LimitedConnection, lifespan="off", ws="none", log_config=None
        )
        settings.load()
        state = ServerState()
        listening: Any = Listening()
        sealed = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if tls else None
        entrance = ConnectionLimiter(
            listening, lambda: LimitedConnection(settings, state, {}), sealed
        )
        running.append(asyncio.ensure_future(entrance.run()))
        return network

    yield enter
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_who_asks_is_answered(enter: Enter) -> None:
    asks = await enter().comes(Connection("10.0.0.7"))
    asks.send(ASKED)
    await asyncio.sleep(0.1)
    assert asks.heard.startswith(b"HTTP/1.1 401")
    assert not asks.lost.is_set()


@pytest.mark.parametrize(
    "first",
    [b"", ASKED, b"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n"],
    ids=["at once", "behind a request", "behind a refusal"],
)
async def test_who_asks_letter_by_letter_is_left(enter: Enter, first: bytes) -> None:
    slow = await enter().comes(Connection("10.0.0.66"))
    slow.send(first)
    await asyncio.sleep(0.001)
    slow.send(b"G")
    for letter in b"ET /login HTTP/1.1\r\nHost:"[: int(REQUEST_TIMEOUT_S) - 1]:
        await asyncio.sleep(1)
        slow.send(bytes([letter]))
    assert not slow.lost.is_set()
    await asyncio.sleep(1.1)
    assert slow.lost.is_set()


async def test_who_says_nothing_behind_an_answer_is_left(enter: Enter) -> None:
    quiet = await enter().comes(Connection("10.0.0.66"))
    quiet.send(ASKED)
    await asyncio.sleep(REQUEST_TIMEOUT_S)
    assert quiet.lost.is_set()


async def test_who_only_knocks_is_counted_and_left(
    enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A telephone that opens connections and greets on none keeps nobody else's place for long."""
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS_PER_ADDRESS", 3)
    network = enter(tls=True)
    held = [await network.comes(Connection("10.0.0.66", greets=False)) for _ in range(3)]
    more = await network.comes(Connection("10.0.0.66"))
    other = await network.comes(Connection("10.0.0.7"))
    other.send(ASKED)
    await asyncio.sleep(REQUEST_TIMEOUT_S - 0.1)
    assert other.heard.startswith(b"HTTP/1.1 401")
    assert more.lost.is_set()
    assert not any(one.lost.is_set() for one in held)
    await asyncio.sleep(0.2)
    assert all(one.lost.is_set() for one in held)
    again = await network.comes(Connection("10.0.0.66"))
    again.send(ASKED)
    await asyncio.sleep(0.1)
    assert again.heard.startswith(b"HTTP/1.1 401")


async def test_who_asks_on_and_on_is_left_and_others_are_answered(
    enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "REQUEST_BURST", 5)
    network = enter()
    flood = await network.comes(Connection("10.0.0.66"))  # it counts as one question
    flood.send(ASKED * 50)
    await flood.lost.wait()
    assert flood.heard.count(b"HTTP/1.1 401") == 5  # the last was answered, and ended it
    more = await network.comes(Connection("10.0.0.66"))
    assert more.lost.is_set()
    other = await network.comes(Connection("10.0.0.7"))
    other.send(ASKED)
    await asyncio.sleep(1 / REQUESTS_PER_SECOND)
    assert other.heard.startswith(b"HTTP/1.1 401")
    again = await network.comes(Connection("10.0.0.66"))
    assert not again.lost.is_set()


@pytest.mark.parametrize("takes_it", [False, True])
async def test_who_takes_nothing_of_what_he_is_sent_loses_his_line(
    enter: Enter, console: RefereeConsole, takes_it: bool
) -> None:
    """A page that sleeps with its line: what is sent there waits, and hears of no end."""
    async with logged_in(console, "ref") as client:
        cookie = f"Cookie: {SESSION_COOKIE}={client.cookies[SESSION_COOKIE]}"
    sleeps = await enter().comes(Connection("10.0.0.7", takes=False))
    sleeps.send(f"GET /stream/hall HTTP/1.1\r\nHost: x\r\n{cookie}\r\n\r\n".encode())
    await asyncio.sleep(1)
    assert b"event: all" in sleeps.heard
    console.hall.parts_for(Role.REFEREE).put("large", "x" * 2 * LARGE)
    await asyncio.sleep(WRITE_TIMEOUT_S - 1)
    assert console.stream_limits.stream_count == 1
    if takes_it:
        sleeps.take()
    await asyncio.sleep(2)
    assert sleeps.lost.is_set() is not takes_it
    assert console.stream_limits.stream_count == takes_it
    sleeps.abort()
    await asyncio.sleep(0.1)
    assert console.stream_limits.stream_count == 0
