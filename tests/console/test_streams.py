"""The streams of the pages, over a real server: all first, then what changes, and their end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.requests import Request

from controller.config import ConfigError
from controller.console import one_table
from controller.console.console import Console
from controller.console.people import Person
from controller.console.routes import stream as streams
from controller.console.routing import Asked
from controller.console.serving import ConsoleFailed, serve
from controller.console.shown import Shown, stream
from controller.console.store.archive import StoreError
from controller.messages import Event, Reply, Role, State
from tests.console.fake import Scripted
from tests.console.web import Events, listening, served, standing, visitor
from tests.waiting import until

REF = Person(name="ref", role=Role.REFEREE)
HOLD = {"id": "order-0001", "cmd": "hold", "args": {"reason": "smoke"}}


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[tuple[Console, Scripted, str]]:
    """A console that serves, its tables, and its address."""
    async with standing(tmp_path) as (console, tables), served(console) as url:
        yield console, tables, url


Hall = tuple[Console, Scripted, str]


async def test_the_hall_is_told_whole_and_then_what_changes(hall: Hall) -> None:
    console, tables, url = hall
    async with visitor(url, "ref") as client, listening(client, "/stream/hall") as events:
        kind, said = await events.next()
        assert kind == "all"
        assert said["me"]["name"] == "ref"
        assert abs(said["now_ms"] - console.now_ms()) < 60_000
        assert {f"row/{table}" for table in tables.ids} <= said.keys()
        assert [wait["table"] for wait in said["waits"]][:2] == ["T02", "T09"]
        assert said["areas"]
        assert "chief" not in said
        state = tables.seen("T02").state
        assert state is not None
        tables.say("T02", msgspec.structs.replace(state, calls=[]))
        changed = await events.until("some", "waits")
        assert "T02" not in [wait["table"] for wait in changed["waits"]]


async def test_what_is_the_chiefs_only_the_chief_is_told(hall: Hall) -> None:
    _, _, url = hall
    async with visitor(url, "chief") as client, listening(client, "/stream/hall") as events:
        _, said = await events.next()
        assert "chief" in said


async def test_who_takes_a_table_is_shown_to_all_and_gone_with_what_it_waited_for(
    hall: Hall,
) -> None:
    console, tables, url = hall
    async with visitor(url, "ref") as client, listening(client, "/stream/hall") as events:
        await events.next()
        await client.post("/api/tables/T02/take", json={})
        taken = await events.until("some", "row/T02")
        assert taken["row/T02"]["taken_by"] == "ref"
        state = tables.seen("T02").state
        assert state is not None
        tables.say("T02", msgspec.structs.replace(state, calls=[]))
        while taken["row/T02"]["taken_by"] is not None:
            taken = await events.until("some", "row/T02")
        assert console.takes.who("T02") is None


async def test_a_stream_beats_so_that_a_page_knows_that_it_lives(hall: Hall) -> None:
    _, _, url = hall
    async with visitor(url, "obs") as client, listening(client, "/stream/hall") as events:
        first = (await events.next())[1]["now_ms"]
        assert (await events.until("beat"))["now_ms"] > first


async def test_a_table_is_told_as_it_published_itself_with_orders_and_words(hall: Hall) -> None:
    _, tables, url = hall
    async with visitor(url, "ref") as client, listening(client, "/stream/table/T01") as events:
        _, said = await events.next()
        body = tables.seen("T01").body
        assert body is not None
        assert said["state"] == msgspec.json.decode(body)
        assert said["table"]["standing"] == "live"
        assert [line["n"] for line in await events.part("told")] == [1, 2, 3]
        assert await events.part("offers")
        await client.post("/api/tables/T01/do", json=HOLD)
        (order,) = await events.part("orders", lambda orders: orders and orders[0]["seen"])
        assert (order["id"], order["fate"], order["person"]) == (HOLD["id"], "done", "ref")


async def test_a_display_is_told_of_its_table_and_nothing_else(hall: Hall) -> None:
    _, _, url = hall
    async with visitor(url, "t01") as client, listening(client, "/stream/display/T01") as events:
        _, said = await events.next()
        assert said.keys() == {"now_ms", "me", "display"}


@pytest.mark.parametrize("how", ["log out", "removed", "another role"])
async def test_the_stream_of_a_session_that_is_over_ends(hall: Hall, how: str) -> None:
    console, _, url = hall
    async with visitor(url, "ref") as client, listening(client, "/stream/hall") as events:
        await events.next()
        if how == "log out":
            async with visitor(url, "ref") as same:
                same.cookies = client.cookies
                await same.post("/api/logout")
        elif how == "removed":
            await console.sessions.remove("ref")
        else:
            (ref,) = [one for one in await console.sessions.all() if one.name == "ref"]
            await console.sessions.invite(msgspec.structs.replace(ref, role=Role.OBSERVER))
        await events.until("gone")
        await events.end()


async def test_nobody_is_shown_what_nobody_looks_at(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_table, "LINGER_S", 0.05)
    console, _, url = hall
    async with visitor(url, "ref") as client:
        async with listening(client, "/stream/table/T01") as events:
            await events.next()
            assert console.pages.open == 1
        async with asyncio.timeout(10):
            left = console.pages.open
            while left:
                await asyncio.sleep(0.02)
                left = console.pages.open


async def test_who_loads_a_tables_page_anew_is_shown_what_changed_and_the_table_asked_nothing_anew(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _, url = hall
    asked: list[str] = []
    read = console.desk.read

    async def counted(table: str, *more: Any) -> Reply:
        asked.append(table)
        return await read(table, *more)

    monkeypatch.setattr(console.desk, "read", counted)
    async with visitor(url, "ref") as client:
        async with listening(client, "/stream/table/T01") as events:
            await events.part("offers")
            known = {"Last-Event-ID": events.known}
        await until(lambda: console.lookers.open == 0)
        async with client.stream("GET", "/stream/table/T01", headers=known) as answer:
            assert (await Events(answer).next())[0] == "some"
        async with listening(client, "/stream/table/T01") as events:
            assert (await events.next())[1]["offers"]
    assert asked == ["T01"]


async def test_a_page_that_failed_when_nobody_looked_is_made_anew(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, tables, url = hall
    async with visitor(url, "ref") as client:
        async with listening(client, "/stream/table/T01") as events:
            await events.part("offers")
        await until(lambda: console.lookers.open == 0)
        with monkeypatch.context() as broken_:
            broken_.setattr(one_table, "tell", broken)
            tables.tell("T01", "out", seat="N")
            (page,) = console.pages._pages.values()
            await until(page.failed.is_set)
        async with listening(client, "/stream/table/T01") as events:
            await events.until("beat")


@pytest.mark.parametrize("times", [0, 1, 20])
async def test_a_page_that_is_left_leaves_nothing_that_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Also where whoever reads is told to end again and again, as a server does; 0: he left."""
    made: list[Any] = []

    def kept(*args: Any, **more: Any) -> AsyncGenerator[bytes, None]:
        events = stream(*args, **more)
        made.append(events)
        return events

    monkeypatch.setattr(streams, "stream", kept)
    async with standing(tmp_path) as (console, _):
        asked = Asked(Request({"type": "http", "headers": [], "query_string": b""}), console, REF)
        told = streams._told(asked, Shown())
        before = asyncio.all_tasks()

        async def read() -> None:
            async for _ in told:
                pass

        if not times:
            await anext(told)
            await told.aclose()  # type: ignore[attr-defined]  # it is a generator
            assert made[0].ag_frame is None
            return
        reading = asyncio.ensure_future(read())
        await until(lambda: made and made[0].ag_running)
        await asyncio.sleep(0.1)  # it waits for what comes next
        for _ in range(times):
            reading.cancel()
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert reading.cancelled()
        assert asyncio.all_tasks() == before
        assert made[0].ag_frame is None


async def test_a_console_ends_with_its_pages_still_open(tmp_path: Path) -> None:
    async with standing(tmp_path) as (console, _):
        async with served(console) as url:
            client_ended = await _left_open(url)
        await client_ended


async def _left_open(url: str) -> asyncio.Task[Any]:
    """Open three streams and hold them; return what ends with the last of them."""
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
            tables.say("T01", seen_state(tables, "T01"))
            await events.end()
        with pytest.raises(ConsoleFailed):
            await serving


@pytest.mark.parametrize("what", ["tell", "orders"])
async def test_a_tables_page_that_cannot_be_kept_ends_rather_than_to_stand_still(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    console, _, url = hall
    if what == "tell":
        monkeypatch.setattr(one_table, "tell", broken)
    else:
        monkeypatch.setattr(console.desk, "orders", broken)
    async with (
        visitor(url, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
        await events.end()
    async with visitor(url, "ref") as client, listening(client, "/stream/hall") as others:
        assert (await others.next())[0] == "all"


async def test_a_page_that_cannot_be_brought_up_to_date_ends_rather_than_to_stand_still(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was told could not be read, and is read again: then it fails otherwise."""
    console, _, url = hall
    newest, failure = console.archive.newest, list[Exception]([StoreError("no such disk")])

    def fails(table: str, count: int, kind: str | None = None) -> list[Event]:
        if kind is None:
            raise failure[-1]
        return newest(table, count, kind)

    monkeypatch.setattr(console.archive, "newest", fails)
    async with visitor(url, "ref") as client, listening(client, "/stream/table/T01") as events:
        await events.part("orders", lambda orders: orders == [])
        failure.append(ZeroDivisionError())
        await events.end()


async def test_a_console_that_ends_ends_what_is_being_shown(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _, url = hall
    begun, never = asyncio.Event(), asyncio.Event()

    async def for_ever(table: str) -> None:
        begun.set()
        await never.wait()

    async with visitor(url, "ref") as client, listening(client, "/stream/table/T01") as events:
        await events.part("orders", lambda orders: orders == [])
        monkeypatch.setattr(console.desk, "orders", for_ever)
        console.desk.on_orders("T01")
        await begun.wait()
        monkeypatch.setattr(console.pages, "_undo", [])  # it is closed once more, at the end
        await console.pages.close()
        assert console.pages._showing == set()


async def test_what_a_table_says_late_is_told_at_its_place(hall: Hall) -> None:
    _, tables, url = hall
    async with visitor(url, "ref") as client, listening(client, "/stream/table/T01") as events:
        last = await events.part("told", lambda lines: len(lines) >= 3)
        later = tables.tell("T01", "call", seat="N")
        await events.part("told", lambda lines: lines[-1]["n"] == later.n)
        late = msgspec.structs.replace(later, n=500, head="late")
        for told in tables._events[:]:
            told(late)
        lines = await events.part("told", lambda lines: len(lines) == len(last) + 2)
    assert [line["n"] for line in lines[-2:]] == [500, later.n]


def broken(*_: object) -> None:
    raise ZeroDivisionError


def seen_state(tables: Scripted, table: str) -> State:
    found = tables.seen(table).state
    assert found is not None
    return found


async def test_a_port_that_is_taken_is_one_line(hall: Hall) -> None:
    console, _, url = hall
    own = msgspec.structs.replace(console.config.console, listen=url.removeprefix("http://"))
    console.config = msgspec.structs.replace(console.config, console=own)
    with pytest.raises(ConfigError, match="choose another port") as raised:
        await serve(console, asyncio.Event(), lambda url: None)
    assert "\n" not in str(raised.value)
