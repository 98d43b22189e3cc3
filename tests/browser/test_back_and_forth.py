"""Pages that a browser keeps to come back to, as people's browsers do and the others' here do not.

A browser has six connections to one address. A page that is kept and goes on listening has one.
"""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Playwright, expect

from controller.messages import Role
from sim.bench.browser_pages import CHROMIUM, CHROMIUM_OPTIONS
from sim.tables.table_processes import TableProcess
from tests.browser.pages import before_table
from tests.browser.people import People

TIMES = 8


@pytest_asyncio.fixture(loop_scope="session")
async def browser(playwright: Playwright) -> AsyncIterator[Browser]:
    """Start the system's Chromium as people have it."""
    browser = await playwright.chromium.launch(
        executable_path=str(CHROMIUM),
        args=[*CHROMIUM_OPTIONS],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield browser
    await browser.close()


async def test_whoever_goes_from_page_to_page_is_never_kept_waiting(
    people: People, tables: list[TableProcess]
) -> None:
    person = await people.comes("Li Na", Role.REFEREE)
    for _ in range(TIMES):
        await person.opens("/")
        await expect(person.page.locator("#tiles a")).to_have_count(1)
        await before_table(person, tables[0].id)


async def test_a_page_that_is_come_back_to_hears_the_table_again(
    people: People, tables: list[TableProcess]
) -> None:
    person = await people.comes("Li Na", Role.REFEREE)
    await before_table(person, tables[0].id)
    await person.page.evaluate("window.kept = true")
    await person.opens("/")
    await expect(person.page.locator("#tiles a")).to_have_count(1)
    listens = person.page.expect_request(lambda request: "/stream/table/" in request.url)
    async with listens:
        await person.page.evaluate("history.back()")
    assert await person.page.evaluate("window.kept")  # it is the same page, not a new one
    await expect(person.page.locator("#main")).to_have_attribute("data-standing", "live")
