"""What a page shows, and how a browser hears of it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.console.live_pages.page_parts import (
    BEAT_INTERVAL_S,
    FRAME_INTERVAL_S,
    PageParts,
    event_stream,
)

pytestmark = pytest.mark.virtual


async def told(parts: AsyncGenerator[bytes, None]) -> tuple[str, dict[str, Any]]:
    """Read the next event as a browser does."""
    _, kind, said = await told_with_id(parts)
    return kind, said


async def told_with_id(parts: AsyncGenerator[bytes, None]) -> tuple[str, str, dict[str, Any]]:
    """Read the next event as a browser does, with the id by which it asks for what follows."""
    said = (await anext(parts)).decode()
    *known, kind, data, end, last = said.split("\n")
    assert (end, last) == ("", "")
    named = known[0].removeprefix("id: ") if known else ""
    return named, kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def test_a_browser_hears_all_first_then_what_changes() -> None:
    shown = PageParts()
    shown.put("T01", {"deal": 1})
    shown.put("T02", {"deal": 5})
    parts = event_stream(shown)
    assert await told(parts) == ("all", {"T01": {"deal": 1}, "T02": {"deal": 5}})
    shown.put("T02", {"deal": 6})
    assert await told(parts) == ("some", {"T02": {"deal": 6}})
    await parts.aclose()


async def test_what_does_not_change_is_not_told_but_a_beat_is() -> None:
    shown = PageParts()
    shown.put("T01", 1)
    parts = event_stream(shown)
    await told(parts)
    assert not shown.put("T01", 1)
    begun = asyncio.get_running_loop().time()
    assert await told(parts) == ("beat", {})
    assert asyncio.get_running_loop().time() - begun == pytest.approx(BEAT_INTERVAL_S)
    await parts.aclose()


async def test_a_slow_browser_hears_the_present_not_the_past() -> None:
    shown = PageParts()
    parts = event_stream(shown)
    assert await told(parts) == ("all", {})
    for deal in range(1000):
        shown.put("T01", deal)
    assert await told(parts) == ("some", {"T01": 999})
    await parts.aclose()


async def test_changes_of_one_moment_go_out_together() -> None:
    shown = PageParts()
    parts = event_stream(shown)
    await told(parts)
    shown.put("a", 1)
    await told(parts)
    loop = asyncio.get_running_loop()
    loop.call_later(FRAME_INTERVAL_S / 4, shown.put, "a", 2)
    loop.call_later(FRAME_INTERVAL_S / 2, shown.put, "b", 3)
    assert await told(parts) == ("some", {"a": 2, "b": 3})
    await parts.aclose()


async def test_what_is_gone_is_told_as_gone_and_not_to_who_comes_later() -> None:
    shown = PageParts()
    shown.put("T01", 1)
    parts = event_stream(shown)
    await told(parts)
    assert shown.drop("T01")
    assert not shown.drop("T01")
    assert await told(parts) == ("some", {"T01": None})
    assert await told(event_stream(shown)) == ("all", {})
    await parts.aclose()


async def heard_of(shown: PageParts, run: str = "one") -> str:
    """Return the id that a browser knows once it has heard all."""
    parts = event_stream(shown, run_id=run)
    known, _, _ = await told_with_id(parts)
    await parts.aclose()
    return known


async def test_who_comes_again_hears_what_changed_meanwhile_and_not_all_of_it() -> None:
    shown = PageParts()
    shown.put("T01", 1)
    shown.put("T02", 1)
    shown.put("T03", 1)
    known = await heard_of(shown)
    shown.put("T02", 2)
    shown.drop("T03")
    parts = event_stream(shown, lambda: 7, {"me": "ref"}, run_id="one", last_event_id=known)
    named, kind, said = await told_with_id(parts)
    assert (kind, said) == ("some", {"now_ms": 7, "T02": 2, "T03": None})
    await parts.aclose()
    parts = event_stream(shown, lambda: 8, run_id="one", last_event_id=named)
    assert await told(parts) == ("some", {"now_ms": 8})  # a word, where nothing has changed
    shown.put("T01", 2)
    assert await told(parts) == ("some", {"T01": 2})
    await parts.aclose()


@pytest.mark.parametrize(
    "known", ["", "x", "one.", "one.{n}.", "one.{n}.0", "one.{n}.99", "one.{n}.-1", "one.{n}.²"]
)
async def test_who_names_what_nobody_said_hears_all(known: str) -> None:
    shown = PageParts()
    shown.put("T01", 1)
    parts = event_stream(shown, run_id="one", last_event_id=known.replace("{n}", str(shown.number)))
    assert await told(parts) == ("all", {"T01": 1})
    await parts.aclose()


async def test_who_knows_another_page_or_another_run_of_the_console_hears_all() -> None:
    shown, other = PageParts(), PageParts()
    for one in (shown, other):
        one.put("T01", 1)
    for known in (await heard_of(other), await heard_of(shown, "another")):
        parts = event_stream(shown, run_id="one", last_event_id=known)
        assert await told(parts) == ("all", {"T01": 1})
        await parts.aclose()


changes = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3)))


@given(before=changes, behind=changes)
async def test_who_hears_everything_and_who_comes_late_see_the_same(
    before: list[tuple[str, int | None]], behind: list[tuple[str, int | None]]
) -> None:
    shown = PageParts()

    def change(rows: list[tuple[str, int | None]]) -> None:
        for name, value in rows:
            if value is None:
                shown.drop(name)
            else:
                shown.put(name, value)

    change(before)
    version, seen = shown.changes_since(0)
    change(behind)
    seen |= shown.changes_since(version)[1]
    late = shown.changes_since(0)[1]
    assert {name: body for name, body in seen.items() if body is not None} == late
