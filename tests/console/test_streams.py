"""The streams of the pages: all first, then what changes, and their end."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.requests import Request

from controller.console.accounts.account_store import Account
from controller.console.console import RefereeConsole
from controller.console.live_pages import table_page
from controller.console.live_pages.page_parts import BEAT_INTERVAL_S, PageParts, event_stream
from controller.console.live_pages.table_page import EXPIRY_S
from controller.console.request_error import RequestError
from controller.console.routes import stream_routes as streams
from controller.console.routing import ConsoleRequest
from controller.console.store.database import StoreError
from controller.messages import CommandReply, PublicEvent, PublicState, Role
from tests.console.fake import Scripted
from tests.console.web import Events, listening, logged_in, standing

pytestmark = pytest.mark.virtual

REF = Account(name="ref", role=Role.REFEREE)
HOLD = {"id": "order-0001", "cmd": "hold", "args": {"reason": "smoke"}}


Hall = tuple[RefereeConsole, Scripted]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    """A console, and its tables."""
    async with standing(tmp_path) as both:
        yield both


async def test_the_hall_is_told_whole_and_then_what_changes(hall: Hall) -> None:
    console, tables = hall
    async with logged_in(console, "ref") as client, listening(client, "/stream/hall") as events:
        kind, said = await events.next()
        assert kind == "all"
        assert said["me"]["name"] == "ref"
        assert abs(said["now_ms"] - console.now_ms()) < 60_000
        assert {f"row/{table}" for table in tables.ids} <= said.keys()
        assert [wait["table"] for wait in said["waits"]][:2] == ["T02", "T09"]
        assert said["areas"]
        assert "chief" not in said
        state = tables.snapshot("T02").state
        assert state is not None
        tables.say("T02", msgspec.structs.replace(state, calls=[]))
        changed = await events.until("some", "waits")
        assert "T02" not in [wait["table"] for wait in changed["waits"]]


async def test_what_is_the_chiefs_only_the_chief_is_told(hall: Hall) -> None:
    console, _ = hall
    async with logged_in(console, "chief") as client, listening(client, "/stream/hall") as events:
        _, said = await events.next()
        assert "chief" in said


async def test_who_takes_a_table_is_shown_to_all_and_gone_with_what_it_waited_for(
    hall: Hall,
) -> None:
    console, tables = hall
    async with logged_in(console, "ref") as client, listening(client, "/stream/hall") as events:
        await events.next()
        await client.post("/api/tables/T02/take", json={})
        taken = await events.until("some", "row/T02")
        assert taken["row/T02"]["taken_by"] == "ref"
        state = tables.snapshot("T02").state
        assert state is not None
        tables.say("T02", msgspec.structs.replace(state, calls=[]))
        while taken["row/T02"]["taken_by"] is not None:
            taken = await events.until("some", "row/T02")
        assert console.call_assignments.assigned_to("T02") is None


async def test_a_stream_beats_so_that_a_page_knows_that_it_lives(hall: Hall) -> None:
    console, _ = hall
    console.now_ms = lambda: int(asyncio.get_running_loop().time() * 1000)
    async with logged_in(console, "obs") as client, listening(client, "/stream/hall") as events:
        first = (await events.next())[1]["now_ms"]
        assert (await events.until("beat"))["now_ms"] == first + BEAT_INTERVAL_S * 1000


async def test_a_table_is_told_as_it_published_itself_with_orders_and_words(hall: Hall) -> None:
    console, tables = hall
    async with (
        logged_in(console, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
        _, said = await events.next()
        body = tables.snapshot("T01").body
        assert body is not None
        assert said["state"] == msgspec.json.decode(body)
        assert said["table"]["standing"] == "live"
        assert [line["n"] for line in await events.part("told")] == [1, 2, 3]
        assert await events.part("offers")
        await client.post("/api/tables/T01/do", json=HOLD)
        (order,) = await events.part("orders", lambda orders: orders and orders[0]["seen"])
        assert (order["id"], order["fate"], order["person"]) == (HOLD["id"], "done", "ref")


async def test_a_display_is_told_of_its_table_and_nothing_else(hall: Hall) -> None:
    console, _ = hall
    async with (
        logged_in(console, "t01") as client,
        listening(client, "/stream/display/T01") as events,
    ):
        _, said = await events.next()
        assert said.keys() == {"now_ms", "me", "display"}


@pytest.mark.parametrize("how", ["log out", "removed", "another role"])
async def test_the_stream_of_a_session_that_is_over_ends(hall: Hall, how: str) -> None:
    console, _ = hall
    async with logged_in(console, "ref") as client, listening(client, "/stream/hall") as events:
        await events.next()
        if how == "log out":
            async with logged_in(console, "ref") as same:
                same.cookies = client.cookies
                await same.post("/api/logout")
        elif how == "removed":
            await console.sessions.remove("ref")
        else:
            (ref,) = [one for one in await console.sessions.list_accounts() if one.name == "ref"]
            await console.sessions.invite(msgspec.structs.replace(ref, role=Role.OBSERVER))
        await events.until("gone")
        await events.end()


async def test_nobody_is_shown_what_nobody_looks_at(hall: Hall) -> None:
    console, _ = hall
    async with logged_in(console, "ref") as client:
        async with listening(client, "/stream/table/T01") as events:
            await events.next()
        await asyncio.sleep(EXPIRY_S - 0.1)
        assert console.table_pages.page_count == 1
        await asyncio.sleep(0.2)
        assert console.table_pages.page_count == 0


async def test_who_loads_a_tables_page_anew_is_shown_what_changed_and_the_table_asked_nothing_anew(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    asked: list[str] = []
    read = console.dispatcher.query

    async def counted(table: str, *more: Any) -> CommandReply:
        asked.append(table)
        return await read(table, *more)

    monkeypatch.setattr(console.dispatcher, "query", counted)
    async with logged_in(console, "ref") as client:
        async with listening(client, "/stream/table/T01") as events:
            await events.part("offers")
            known = {"Last-Event-ID": events.known}
        assert console.stream_limits.stream_count == 0
        async with client.stream("GET", "/stream/table/T01", headers=known) as answer:
            assert (await Events(answer).next())[0] == "some"
        async with listening(client, "/stream/table/T01") as events:
            assert (await events.next())[1]["offers"]
    assert asked == ["T01"]


async def test_a_table_that_did_not_say_what_may_be_ordered_is_asked_again(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    read, silent = console.dispatcher.query, [True, True]

    async def once_silent(*args: Any) -> Any:
        if silent:
            silent.pop()
            raise RequestError(504, "no answer", "没有回答")
        return await read(*args)

    monkeypatch.setattr(table_page, "OFFERS_INTERVAL_S", 0.0)
    monkeypatch.setattr(console.dispatcher, "query", once_silent)
    async with (
        logged_in(console, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
        assert await events.part("offers", bool)
    assert silent == []


async def test_a_page_that_failed_when_nobody_looked_is_made_anew(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, tables = hall
    async with logged_in(console, "ref") as client:
        async with listening(client, "/stream/table/T01") as events:
            await events.part("offers")
        assert console.stream_limits.stream_count == 0
        with monkeypatch.context() as broken_:
            broken_.setattr(table_page, "describe_events", broken)
            tables.tell("T01", "out", seat="N")
            (page,) = console.table_pages._pages.values()
            await page.failed.wait()
        async with listening(client, "/stream/table/T01") as events:
            await events.until("beat")


@pytest.mark.parametrize("times", [0, 1, 20])
async def test_a_page_that_is_left_leaves_nothing_that_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Also where whoever reads is told to end again and again, as a server does; 0: he left."""
    made: list[Any] = []

    def kept(*args: Any, **more: Any) -> AsyncGenerator[bytes, None]:
        events = event_stream(*args, **more)
        made.append(events)
        return events

    monkeypatch.setattr(streams, "event_stream", kept)
    async with standing(tmp_path) as (console, _):
        asked = ConsoleRequest(
            Request({"type": "http", "headers": [], "query_string": b""}), console, REF
        )
        told = streams._viewer_events(asked, PageParts())
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
        await asyncio.sleep(BEAT_INTERVAL_S / 2)
        assert made[0].ag_running  # it waits for what comes next
        for _ in range(times):
            reading.cancel()
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert reading.cancelled()
        assert asyncio.all_tasks() <= before
        assert made[0].ag_frame is None


@pytest.mark.parametrize("what", ["describe_events", "recent_commands"])
async def test_a_tables_page_that_cannot_be_kept_ends_rather_than_to_stand_still(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    console, _ = hall
    if what == "describe_events":
        monkeypatch.setattr(table_page, "describe_events", broken)
    else:
        monkeypatch.setattr(console.dispatcher, "recent_commands", broken)
    async with (
        logged_in(console, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
        await events.end()
    async with logged_in(console, "ref") as client, listening(client, "/stream/hall") as others:
        assert (await others.next())[0] == "all"


async def test_a_page_that_cannot_be_brought_up_to_date_ends_rather_than_to_stand_still(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was told could not be read, and is read again: then it fails otherwise."""
    console, _ = hall
    newest, failure = console.archive.newest, list[Exception]([StoreError("no such disk")])

    def fails(table: str, count: int, kind: str | None = None) -> list[PublicEvent]:
        if kind is None:
            raise failure[-1]
        return newest(table, count, kind)

    monkeypatch.setattr(console.archive, "newest", fails)
    async with (
        logged_in(console, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
        await events.part("orders", lambda orders: orders == [])
        failure.append(ZeroDivisionError())
        await events.end()


async def test_a_console_that_ends_ends_what_is_being_shown(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    begun, never = asyncio.Event(), asyncio.Event()

    async def for_ever(table: str) -> None:
        begun.set()
        await never.wait()

    async with (
        logged_in(console, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
        await events.part("orders", lambda orders: orders == [])
        monkeypatch.setattr(console.dispatcher, "recent_commands", for_ever)
        console.dispatcher.on_commands_changed("T01")
        await begun.wait()
        monkeypatch.setattr(
            console.table_pages, "_unsubscribe", []
        )  # it is closed once more, at the end
        await console.table_pages.close()
        assert console.table_pages._refresh_tasks == set()


async def test_what_a_table_says_late_is_told_at_its_place(hall: Hall) -> None:
    console, tables = hall
    async with (
        logged_in(console, "ref") as client,
        listening(client, "/stream/table/T01") as events,
    ):
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


def seen_state(tables: Scripted, table: str) -> PublicState:
    found = tables.snapshot(table).state
    assert found is not None
    return found
