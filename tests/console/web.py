"""A browser without a screen, at a console over scripted tables."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from httpx import ASGITransport, AsyncClient, Response

from controller.console.app import make_app
from controller.console.console import Console
from controller.console.routing import HEADER
from controller.console.serving import serve
from tests.console.fake import PIN, Scripted, fake

BASE = "http://console"


@asynccontextmanager
async def standing(folder: Path, count: int = 12) -> AsyncIterator[tuple[Console, Scripted]]:
    """Give a console that was started, and the tables that it sees, so many."""
    tables = Scripted(count)
    console = fake(folder, tables=tables)
    await console.start()
    try:
        yield console, tables
    finally:
        await console.close()
        console.engine.dispose()


def browser(console: Console) -> AsyncClient:
    """Return a browser that sends what the console's own pages send."""
    return AsyncClient(
        transport=ASGITransport(app=make_app(console)), base_url=BASE, headers={HEADER: "1"}
    )


@asynccontextmanager
async def logged_in(console: Console, name: str) -> AsyncIterator[AsyncClient]:
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
async def served(console: Console) -> AsyncIterator[str]:
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
    """Give a logged-in browser at a console that serves."""
    patience = httpx.Timeout(30)
    async with AsyncClient(base_url=url, headers={HEADER: "1"}, timeout=patience) as client:
        answer = await client.post("/api/login", json={"name": name, "pin": pin})
        assert answer.status_code == 200
        yield client
