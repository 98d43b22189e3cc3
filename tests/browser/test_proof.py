"""A telephone in the hall checks a deal: nothing before its end, all of it after, and no cheat."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Route, expect

from controller.messages import Role
from sim.tables.table_processes import HallPlan, TableProcess
from tests.browser.people import PHONE, WALL, People, Person
from tests.browser.said import Said
from tests.browser.short_match import script, short_plan
from tests.matches import people as players
from tests.matches.at_hall import AtHall


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """One table whose matches are short."""
    return short_plan(tmp_path)


async def is_scanned(person: Person) -> None:
    """The code to scan is drawn."""
    image = person.page.locator("#code img")
    await expect(image).to_be_visible()
    assert await image.evaluate("async (one) => { await one.decode(); return one.naturalWidth }")


def altered(change: dict[str, Any]) -> Any:
    """Return what serves the events with another reveal: what a dishonest console would do."""

    async def serve(route: Route) -> None:
        answer = await route.fetch()
        view = await answer.json()
        steps = (one for one in view["events"] if one["attempt"] == view["attempt"])
        next(one for one in steps if one["kind"] == "revealed")["data"] |= change
        await route.fulfill(response=answer, body=json.dumps(view))

    return serve


async def test_a_stranger_checks_a_deal_once_it_is_over(
    people: People, tables: list[TableProcess], plan: HallPlan, said: Said
) -> None:
    (table,) = tables
    place = f"/proof/{table.id}/1"
    stranger = await people.stranger(size=PHONE)
    page = stranger.page
    async with AtHall(table) as hall:
        playing = players.People(hall, script(plan))
        await playing.play_until(lambda match: match.phase == "play")
        await stranger.opens(place)
        await stranger.sees(said("proof.later"))
        await expect(page.locator("#code img")).to_have_count(0)
        people.watched.expected |= {404}
        assert (await page.request.get(f"{stranger.url}/qr.svg?text={place}")).status == 404
        people.watched.expected.clear()
        await stranger.shot("later")
        await playing.play_until(lambda match: match.deal == 2)
        await stranger.sees(said("proof.good"))  # by itself: the page looks again
        await stranger.sees(said("proof.grade.sequence"))
        await stranger.sees(said("proof.after-play"))
        await playing.play_until(lambda match: match.phase == "over")
    await stranger.opens(place)
    await stranger.sees(said("proof.good"))
    await stranger.sees(said("proof.grade.hands"))
    await is_scanned(stranger)
    await page.locator("#opened summary").click()
    await expect(page.locator("#hands .face")).to_have_count(108)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await stranger.shot("holds")
    await page.locator("#language").click()
    await stranger.sees(said.either("The check is passed", "核验一致"))  # the other language
    await page.locator("#language").click()
    await stranger.sees(said("proof.good"))

    hall_screen = await people.stranger(size=WALL)
    await hall_screen.opens(f"{place}?large")
    await hall_screen.sees(said("proof.good"))
    await is_scanned(hall_screen)
    await hall_screen.shot("large")

    for change, found in (({"seed": "00" * 32}, "seed"), ({"cut": 50}, "cut")):
        await page.route("**/api/tables/*/proof/*", altered(change))
        await page.reload()
        await stranger.sees(said("proof.bad"))
        await expect(page.locator("#found")).to_contain_text(said(f"proof.found.{found}"))
        await expect(page.locator("body")).to_have_attribute("data-verdict", "bad")
        await page.unroute("**/api/tables/*/proof/*")
    await stranger.shot("tampered")
    observer = await people.comes("Wu Jun", Role.OBSERVER)
    await observer.opens(place)
    await observer.sees(said("proof.good"))  # in the language that he logged in with
