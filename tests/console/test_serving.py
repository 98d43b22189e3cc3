"""A console that serves over real connections: its streams, its end, its port, its database."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.utils import random as entropy

from controller.config import ConfigError
from controller.console.accounts.account_store import Account
from controller.console.console_config import ConsoleConfig, ConsoleSettings
from controller.console.feed.event_intake import EventIntake
from controller.console.server import ConsoleFailed, open_console, serve
from controller.console.store.archive import StoredEvent
from controller.messages import Role
from controller.service.wall_clock import read_wall_clock_ms
from tests.console.fake import PIN
from tests.console.journal import Journal
from tests.console.postgres import Cluster, new_database
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
            assert console.stream_limits.stream_count == 1
        await until(lambda: console.stream_limits.stream_count == 0)


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
            monkeypatch.setattr(console.hall, "_publish", lambda: 1 / 0)
            state = tables.snapshot("T01").state
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


async def test_a_console_whose_writing_fails_by_a_fault_of_its_own_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'console.db'}"
    own = ConsoleSettings(name="Hall", listen="127.0.0.1:0", keys=tmp_path / "keys", store=url)
    async with open_console(
        ConsoleConfig(own, ()), None, now_ms=read_wall_clock_ms, entropy=entropy
    ) as console:
        up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(serve(console, asyncio.Event(), up.set_result))
        await up
        monkeypatch.setattr(EventIntake, "note_written", lambda *_: 1 // 0)
        event = Journal().happens()
        tables: Any = console.tables
        tables._writer.add([StoredEvent(event, msgspec.json.encode(event))])
        with pytest.raises(ConsoleFailed) as failed:
            await serving
        assert isinstance(failed.value.__cause__, ZeroDivisionError)
        assert console.tables.store_status.away_since_ms is not None
        await console.read_after_flush(lambda: None)  # no request waits for it


async def test_a_quiet_hall_whose_database_goes_away_says_so_and_its_pages_go_on(
    tmp_path: Path, postgres: Cluster
) -> None:
    """The whole console over a PostgreSQL that is stopped under it, and no table says a word."""
    own = ConsoleSettings(
        name="Hall",
        listen="127.0.0.1:0",
        keys=tmp_path / "keys",
        store=new_database(postgres, "quiet"),
    )
    config = ConsoleConfig(own, ())
    async with open_console(config, None, now_ms=read_wall_clock_ms, entropy=entropy) as console:
        code = await console.sessions.invite(Account(name="chief", role=Role.CHIEF))
        await console.sessions.accept_invitation(code, PIN)
        async with (
            served(console) as url,
            visitor(url, "chief") as client,
            listening(client, "/stream/hall") as events,
        ):
            assert (await events.until("all")).get("store") is None
            postgres.stop()
            try:
                said = await events.part("store")
                assert said["since_ms"] <= console.now_ms()
                for _ in range(4):  # longer than anybody is known without being asked for
                    await events.until("beat")
                assert (await client.get("/api/me")).json()["name"] == "chief"
            finally:
                postgres.start()
            await events.part("store", lambda store: store is None)
