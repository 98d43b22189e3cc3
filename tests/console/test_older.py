"""What happened at a table, in plain words, page by page to its beginning."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.console.store.archive import StoredEvent
from tests.console.fake import an_event
from tests.console.web import logged_in, refused, standing

LINES = 1_050


async def test_older_pages_lead_to_the_beginning_without_a_gap(tmp_path: Path) -> None:
    async with standing(tmp_path) as (console, _):
        archive = console.archive
        have = archive.last_number("T01")
        events = [
            an_event("T01", n, "match", {"event": "Counted", "seat": "N", "at_ms": n})
            for n in range(have + 1, have + LINES)
        ]
        archive.keep([StoredEvent(event, msgspec.json.encode(event)) for event in events])
        async with logged_in(console, "ref") as client:
            seen: list[int] = []
            before = ""
            while True:
                page = (await client.get(f"/api/tables/T01/told{before}")).json()
                numbers = [line["n"] for line in page["told"]]
                assert numbers == sorted(numbers)
                assert len(numbers) <= 100
                seen = numbers + seen
                if not page["more"]:
                    break
                before = f"?before={page['before']}"
    assert seen == [event.n for event in archive.events("T01")]


@pytest.mark.parametrize(("asked", "status"), [("T99/told", 404), ("T01/told?before=x", 400)])
async def test_what_is_no_page_is_refused(tmp_path: Path, asked: str, status: int) -> None:
    async with standing(tmp_path) as (console, _), logged_in(console, "ref") as client:
        assert refused(await client.get(f"/api/tables/{asked}"))[0] == status


async def test_places_are_told_though_the_deal_began_on_an_older_page(tmp_path: Path) -> None:
    async with standing(tmp_path) as (console, _):
        first = console.archive.last_number("T01") + 1
        said: list[tuple[str, dict[str, Any]]] = [("released", {"at_ms": 1})]
        said += [("match", {"event": "Counted", "seat": "N", "at_ms": 1})] * 150
        said += [("match", {"event": "Out", "seat": "E", "at_ms": 1})]
        events = [an_event("T01", first + at, *one) for at, one in enumerate(said)]
        console.archive.keep([StoredEvent(event, msgspec.json.encode(event)) for event in events])
        async with logged_in(console, "ref") as client:
            page = (await client.get("/api/tables/T01/told")).json()
    assert page["told"][-1]["en"] == "East is out, UP"
