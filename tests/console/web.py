"""A browser without a screen, at a console over scripted tables.

`logged_in` reaches the console's application in process: no socket, so virtual time is possible.
`served` and `visitor` go over a real connection.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from httpx import AsyncBaseTransport, AsyncByteStream, AsyncClient, Request, Response
from starlette.types import ASGIApp, Message

from controller.console.console import RefereeConsole
from controller.console.routing import REQUEST_HEADER
from controller.console.server import all_routes, make_app, serve
from tests.console.fake import PIN, Scripted, fake

BASE = "http://console"
# Routes are imported with the first application. They are imported here already, so that no route
# keeps a name which a test has replaced for itself.
all_routes()


@asynccontextmanager
async def standing(folder: Path, count: int = 12) -> AsyncIterator[tuple[RefereeConsole, Scripted]]:
    """Give a console that was started, and the tables that it sees, so many."""
    tables = Scripted(count)
    console = fake(folder, tables=tables)
    await console.start()
    try:
        yield console, tables
    finally:
        await console.close()
        console.engine.dispose()


class InProcess(AsyncBaseTransport):
    """A transport that runs an application in process and streams its answers.

    httpx has one, too, but it returns an answer at its end only: a stream of events has none.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: Request) -> Response:
        """Return an answer as soon as it begins."""
        exchange = _Exchange(request)
        running = asyncio.ensure_future(exchange.run(self._app))
        begun = await exchange.begun(running)
        return Response(begun["status"], headers=begun["headers"], stream=_Body(exchange, running))


class _Exchange:
    """One request to an application, and what it sends back."""

    def __init__(self, request: Request) -> None:
        assert isinstance(request.stream, AsyncByteStream)
        self._request, self._pieces = request, aiter(request.stream)
        self._sent_all, self.left = False, asyncio.Event()
        self.answers = asyncio.Queue[Message]()

    async def run(self, app: ASGIApp) -> None:
        """Run the application for this request."""
        url = self._request.url
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self._request.method,
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.split(b"?")[0],
            "query_string": url.query,
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 123),
            "root_path": "",
        }
        await app(scope, self._receive, self.answers.put)

    async def begun(self, running: asyncio.Future[None]) -> Message:
        """Return the beginning of the answer. Raises what the application raised before it."""
        first = asyncio.ensure_future(self.answers.get())
        either: set[asyncio.Future[Any]] = {first, running}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            first.cancel()
            running.result()
            raise AssertionError("the application answered nothing")
        return first.result()

    async def _receive(self) -> Message:
        if self._sent_all:
            await self.left.wait()
            return {"type": "http.disconnect"}
        piece = await anext(self._pieces, None)
        self._sent_all = piece is None
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}


class _Body(AsyncByteStream):
    """The body of an answer; at its close the application sees that the browser has left."""

    def __init__(self, exchange: _Exchange, running: asyncio.Future[None]) -> None:
        self._exchange, self._running = exchange, running

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            message = await self._exchange.answers.get()
            yield message.get("body", b"")
            if not message.get("more_body"):
                return

    async def aclose(self) -> None:
        self._exchange.left.set()
        await self._running


def browser(console: RefereeConsole) -> AsyncClient:
    """Return a browser that sends what the console's own pages send."""
    return AsyncClient(
        transport=InProcess(make_app(console)), base_url=BASE, headers={REQUEST_HEADER: "1"}
    )


@asynccontextmanager
async def logged_in(console: RefereeConsole, name: str) -> AsyncIterator[AsyncClient]:
    """Give the browser of somebody who has logged in."""
    async with browser(console) as client:
        answer = await client.post("/api/login", json={"name": name, "pin": PIN})
        assert answer.status_code == 200
        yield client


def refused(answer: Response) -> tuple[int, str]:
    """Return a refusal's status and English line; it has a Chinese one, too."""
    said = answer.json()["error"]
    assert said["zh"]
    assert any(char > "\u2fff" for char in said["zh"])
    return answer.status_code, said["en"]


@asynccontextmanager
async def served(console: RefereeConsole) -> AsyncIterator[str]:
    """Serve a console on a free port for the block; give its address."""
    up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    serving = asyncio.ensure_future(serve(console, stop, up.set_result))
    try:
        yield await up
    finally:
        stop.set()
        await serving


class Events:
    """What a stream tells, event by event; `parts` is what a page knows by now.

    `known`: by which id it asks for what follows.
    """

    def __init__(self, answer: Response) -> None:
        self.answer = answer
        self.known = ""
        self.parts: dict[str, Any] = {}
        self._lines = answer.aiter_lines()

    async def next(self) -> tuple[str, dict[str, Any]]:
        """Return the next event: its kind and its data."""
        kind = ""
        async for line in self._lines:
            if line.startswith("id: "):
                self.known = line.removeprefix("id: ")
            elif line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                said = json.loads(line.removeprefix("data: "))
                self.parts |= said
                return kind, said
        raise EOFError

    async def end(self) -> None:
        """Read to the end that the console makes."""
        with suppress(EOFError):
            while True:
                await self.next()

    async def part(self, name: str, fits: Callable[[Any], object] = bool) -> Any:
        """Return a part as soon as the page knows it, and it fits."""
        while not (name in self.parts and fits(self.parts[name])):
            await self.next()
        return self.parts[name]

    async def until(self, kind: str, part: str = "") -> dict[str, Any]:
        """Return the data of the next event of a kind, that has some part."""
        while True:
            found, said = await self.next()
            if found == kind and (not part or part in said):
                return said


@asynccontextmanager
async def listening(client: AsyncClient, path: str) -> AsyncIterator[Events]:
    """Open a stream for the block."""
    async with client.stream("GET", path) as answer:
        assert answer.status_code == 200
        yield Events(answer)


@asynccontextmanager
async def visitor(url: str, name: str, pin: str = PIN) -> AsyncIterator[AsyncClient]:
    """Give a logged-in browser, over a real connection, at a console that serves."""
    async with AsyncClient(base_url=url, headers={REQUEST_HEADER: "1"}, timeout=None) as client:
        answer = await client.post("/api/login", json={"name": name, "pin": pin})
        assert answer.status_code == 200
        yield client
