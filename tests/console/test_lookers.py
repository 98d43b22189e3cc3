"""More pages than a browser has lines: they take turns, and one of them sounds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest

from controller.console.console import RefereeConsole
from controller.console.live_pages.table_page import EXPIRY_S
from controller.console.rate_limits import (
    MAX_HIDDEN_STREAMS,
    MAX_SOUNDS_PER_BROWSER,
    MAX_STREAMS_PER_PERSON,
    MAX_VISIBLE_STREAMS,
    REMEMBERED_S,
    AlertSounds,
    StreamLimits,
)
from controller.messages import Role
from tests.console.web import Events, listening, logged_in, standing

pytestmark = pytest.mark.virtual

BROWSERS_SIX = 6


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[RefereeConsole]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, _):
        yield console


def test_the_lines_of_a_browser_leave_one_connection_for_all_else() -> None:
    assert MAX_VISIBLE_STREAMS + MAX_HIDDEN_STREAMS < BROWSERS_SIX
    lookers = StreamLimits()
    with ExitStack() as open_:
        lines = [
            open_.enter_context(lookers.open_stream("ref", "tablet", hidden=behind))
            for behind in [True, False] * 10
        ]
        assert sum(not line.is_set() for line in lines) == MAX_VISIBLE_STREAMS + MAX_HIDDEN_STREAMS
        assert not lines[-1].is_set()  # the newest have theirs
        assert not lines[-2].is_set()
    assert lookers.stream_count == 0


def test_pages_that_nobody_sees_take_no_line_of_one_that_somebody_sees() -> None:
    lookers = StreamLimits()
    with lookers.open_stream("ref", "tablet") as seen, ExitStack() as open_:
        for _ in range(2 * MAX_STREAMS_PER_PERSON // 3):
            open_.enter_context(lookers.open_stream("ref", "tablet", hidden=True))
        assert not seen.is_set()


def test_another_browser_has_lines_of_its_own() -> None:
    lookers = StreamLimits(visible=1)
    with (
        lookers.open_stream("ref", "tablet") as one,
        lookers.open_stream("ref", "telephone") as other,
    ):
        assert not one.is_set()
        assert not other.is_set()
        with lookers.open_stream("ref", "tablet"):
            assert one.is_set()
        assert not other.is_set()


async def test_a_page_whose_turn_is_over_takes_up_where_it_was_and_says_something_each_time(
    console: RefereeConsole,
) -> None:
    async with logged_in(console, "ref") as client:
        path = "/stream/hall?behind"
        async with listening(client, path) as first:
            kind, _ = await first.next()
            assert kind == "all"
            async with listening(client, path) as second:
                await second.next()
                await first.end()  # another one's turn
        parts = console.hall.parts_for(Role.REFEREE)
        parts.put("more", 1)
        known = {"Last-Event-ID": first.known}
        async with client.stream("GET", path, headers=known) as answer:
            kind, said = await Events(answer).next()
        assert (kind, said["more"]) == ("some", 1)
        assert "me" not in said
    assert console.stream_limits.stream_count == 0


async def test_forty_pages_of_one_session_leave_no_line_and_no_page_behind(
    console: RefereeConsole,
) -> None:
    async with logged_in(console, "ref") as client:
        async with AsyncExitStack() as stack:
            streams = [
                await stack.enter_async_context(listening(client, f"/stream/table/T{n % 3 + 1:02}"))
                for n in range(40)
            ]
            for events in streams:  # each had its turn, however short
                assert (await events.next())[0] == "all"
            for events in streams[:-MAX_VISIBLE_STREAMS]:
                await events.end()
            assert console.stream_limits.stream_count == MAX_VISIBLE_STREAMS
            await streams[-1].until("beat")
        await asyncio.sleep(EXPIRY_S + 0.1)
        assert console.stream_limits.stream_count == console.table_pages.page_count == 0


def test_of_a_browsers_pages_the_first_that_learns_of_something_sounds() -> None:
    rings = AlertSounds()
    assert rings.claim("tablet", ["T01 call 1"], 0.0)
    assert not rings.claim("tablet", ["T01 call 1"], 1.0)
    assert rings.claim("telephone", ["T01 call 1"], 1.0)
    assert rings.claim("tablet", ["T01 call 1", "T02 call 2"], 2.0)  # something of it is new
    assert not rings.claim("tablet", ["T02 call 2"], 3.0)
    assert rings.claim("tablet", ["T01 call 1"], REMEMBERED_S + 0.5)


def test_what_was_sounded_for_is_not_kept_without_bounds() -> None:
    rings = AlertSounds()
    for n in range(3 * MAX_SOUNDS_PER_BROWSER):
        rings.claim("tablet", [f"T{n}"], 0.0)
    assert sum(map(len, rings._sounded.values())) == MAX_SOUNDS_PER_BROWSER
    assert not rings.claim("tablet", [f"T{3 * MAX_SOUNDS_PER_BROWSER - 1}"], 0.0)


async def test_pages_ask_the_console_which_of_them_sounds(console: RefereeConsole) -> None:
    async with logged_in(console, "ref") as client, logged_in(console, "ref") as other:
        told = {"of": ["T02 button 1"]}
        asked = [client, client, other]
        found = [(await one.post("/api/ring", json=told)).json()["ring"] for one in asked]
        assert found == [True, False, True]  # the other is another browser
        for of in ([], ["x" * 201], ["x"] * (MAX_SOUNDS_PER_BROWSER + 1)):
            assert (await client.post("/api/ring", json={"of": of})).status_code == 400
