"""A console that serves over real connections: its streams, its end, its port."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.config import ConfigError
from controller.console.serving import ConsoleFailed, serve
from tests.console.web import listening, served, standing, visitor
from tests.waiting import until


async def test_a_connection_that_is_left_leaves_no_stream(tmp_path: Path) -> None:
    async with (
        standing(tmp_path) as (console, _),
        served(console) as url,
        visitor(url, "ref") as client,
    ):
        async with listening(client, "/stream/table/T01") as events:
            await events.next()
            assert console.lookers.open == 1
        await until(lambda: console.lookers.open == 0)


async def test_a_console_ends_with_its_pages_still_open(tmp_path: Path) -> None:
    async with standing(tmp_path) as (console, _):
        async with served(console) as url:
            client_ended = await _left_open(url)
        await client_ended


async def _left_open(url: str) -> asyncio.Task[Any]:
    """Open two streams and hold them; return what ends with the last of them."""
    opened = asyncio.Event()

    async def hold() -> None:
        async with (
            visitor(url, "ref") as client,
            listening(client, "/stream/hall") as hall,
            listening(client, "/stream/table/T01") as table,
        ):
            await hall.next()
            await table.next()
            opened.set()
            for events in (hall, table):
                await events.end()

    task = asyncio.ensure_future(hold())
    await opened.wait()
    return task


async def test_a_console_whose_hall_cannot_go_on_ends_rather_than_to_stand_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with standing(tmp_path) as (console, tables):
        up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(console, asyncio.Event(), up.set_result))
        async with visitor(await up, "ref") as client, listening(client, "/stream/hall") as events:
            await events.next()
            monkeypatch.setattr(console.hall, "_show", lambda: 1 / 0)
            state = tables.seen("T01").state
            assert state is not None
            tables.say("T01", state)
            await events.end()
        with pytest.raises(ConsoleFailed):
            await serving


async def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    async with standing(tmp_path) as (console, _), served(console) as url:
        own = msgspec.structs.replace(console.config.console, listen=url.removeprefix("http://"))
        console.config = msgspec.structs.replace(console.config, console=own)
        with pytest.raises(ConfigError, match="choose another port") as raised:
            await serve(console, asyncio.Event(), lambda url: None)
    assert "\n" not in str(raised.value)
