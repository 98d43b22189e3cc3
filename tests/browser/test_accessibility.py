"""No page has a serious fault for who sees, hears or moves otherwise: axe-core finds none."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page

from controller.messages import Role
from tests.browser.contexts import new_context
from tests.browser.people import PHONE, TABLET
from tests.browser.reading import too_small
from tests.browser.scripted import WHO, scripted
from tests.browser.settled import rests
from tests.console.fake import PIN

PAGES = {
    "/": Role.REFEREE,
    "/wall": Role.REFEREE,
    "/chief": Role.CHIEF,
    "/table/T03": Role.REFEREE,
    "/table/T04": Role.TECHNICIAN,
    "/table/T07": Role.CHIEF,
    "/table/T07/rulings": Role.CHIEF,
    "/table/T07/sheet": Role.REFEREE,
    "/history": Role.CHIEF,
    "/draw": Role.CHIEF,
    "/proof/T01/1": None,
    "/display/T06": Role.CHIEF,
    "/setup": Role.TECHNICIAN,
    "/login": None,
    "/invited": None,
}
UNSTREAMED = frozenset(
    {"/table/T07/sheet", "/history", "/draw", "/proof/T01/1", "/setup", "/login", "/invited"}
)
_UNFOLDED = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
GRAVE = frozenset({"serious", "critical"})


@pytest_asyncio.fixture(loop_scope="session")
async def url() -> AsyncIterator[str]:
    async with scripted() as url:
        yield url


@pytest.mark.parametrize(("dark", "size"), [(False, TABLET), (True, PHONE)], ids=["light", "dark"])
async def test_axe_finds_no_serious_fault_on_any_page(
    url: str, browser: Browser, dark: bool, size: tuple[int, int]
) -> None:
    faults: list[str] = []
    async for path, page in _each_page(browser, url, dark, size):
        found = await Axe().run(page)
        faults += [
            f"{path}: {one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}"
            for one in found.response["violations"]
            if one["impact"] in GRAVE
        ]
    assert faults == []


@pytest.mark.parametrize("size", [TABLET, PHONE], ids=["tablet", "phone"])
async def test_whatever_is_to_be_touched_is_large_enough(
    url: str, browser: Browser, size: tuple[int, int]
) -> None:
    small: list[str] = []
    async for path, page in _each_page(browser, url, False, size):
        if path in UNSTREAMED:
            await page.wait_for_load_state("networkidle")
        await page.evaluate(_UNFOLDED)
        small += [f"{path}: {one}" for one in await too_small(page)]
    assert small == []


async def _each_page(
    browser: Browser, url: str, dark: bool, size: tuple[int, int]
) -> AsyncIterator[tuple[str, Page]]:
    """Yield the path of every page, and the page once it has been drawn."""
    pages = {role: await _at_tablet(browser, url, role, dark, size) for role in {*PAGES.values()}}
    for path, role in PAGES.items():
        page = pages[role]
        await page.goto(url + path)
        await page.wait_for_selector("main")
        if path not in UNSTREAMED:
            await rests(page)
        yield path, page


async def _at_tablet(
    browser: Browser, url: str, role: Role | None, dark: bool, size: tuple[int, int]
) -> Page:
    """Open the browser of somebody with a finger; logged in, where that has to be."""
    context = await new_context(
        browser,
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        has_touch=True,
    )
    page = await context.new_page()
    if role is not None:
        said = {"name": WHO[role], "pin": PIN}
        answer = await page.request.post(
            f"{url}/api/login", data=said, headers={"X-Dealtable": "1"}
        )
        assert answer.ok
    return page
