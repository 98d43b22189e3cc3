"""The hall's list with more tables than anybody looks at: it grows as somebody goes through it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.halls import Hall, hall_of, listed
from tests.browser.people import PHONE
from tests.browser.said import Said

TABLES, FIRST_ROWS = 130, 40
FAR_PX = 1_000_000
"""A turn of the wheel that comes to the end of the list, however long its rows are."""
ROWS = "#list > li"
_GROWN = """(before) => document.querySelectorAll("#list > li").length > before
  || document.querySelector("#more").hidden"""


@pytest_asyncio.fixture(loop_scope="session")
async def hall(tmp_path: Path, browser: Browser, said: Said) -> AsyncIterator[Hall]:
    """Serve a console over more tables than the list begins with."""
    async with hall_of(tmp_path, browser, said, TABLES) as found:
        yield found


async def _to_the_end(page: Page) -> None:
    """Turn the wheel over the list as far as it goes."""
    await page.locator(ROWS).first.hover()
    while await page.locator("#more").is_visible():
        before = await page.locator(ROWS).count()
        await page.mouse.wheel(0, FAR_PX)
        await page.wait_for_function(_GROWN, arg=before)


async def test_the_list_begins_with_its_first_rows_and_grows_before_its_end_is_seen(
    hall: Hall,
) -> None:
    page = await hall.page("ref")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)
    await expect(page.locator("#more")).to_have_text(hall.said("hall.more", n=TABLES - FIRST_ROWS))
    await expect(page.locator("#tiles a")).to_have_count(TABLES)
    await _to_the_end(page)
    await expect(page.locator(ROWS)).to_have_count(TABLES)
    assert len(set(await listed(page))) == TABLES
    assert "" not in await page.locator(f"{ROWS} .why").all_text_contents()


async def test_who_calls_from_a_table_far_down_comes_to_the_top_of_the_list(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)
    assert "T125" not in await listed(page)
    hall.calls("T125", "125")
    row = page.locator(f"{ROWS}[data-table=T125]")
    await expect(row).to_contain_text("125")
    await expect(row).to_have_attribute("data-rank", "2")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)


async def test_the_keys_go_past_the_first_rows_and_the_row_in_hand_stays(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)
    for _ in range(FIRST_ROWS + 5):
        await page.keyboard.press("ArrowDown")
    in_hand = str(await page.evaluate("document.activeElement.closest('li').dataset.table"))
    at = (await listed(page)).index(in_hand)
    assert at >= FIRST_ROWS
    await page.locator("#state").select_option("busy")
    await page.locator("#state").select_option("all")
    await expect(page.locator(f"{ROWS}[data-table={in_hand}]")).to_have_count(1)
    await page.keyboard.press("Home")
    await expect(page.locator(f"{ROWS}:first-child a")).to_be_focused()


async def test_back_at_the_top_the_list_is_short_again(hall: Hall) -> None:
    page = await hall.page("ref")
    await _to_the_end(page)
    await expect(page.locator(ROWS)).to_have_count(TABLES)
    await page.locator(".queue").evaluate("one => one.scrollTo(0, 0)")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)


async def test_on_a_telephone_the_page_itself_grows(hall: Hall) -> None:
    page = await hall.page("ref", size=PHONE)
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)
    await _to_the_end(page)
    await expect(page.locator(ROWS)).to_have_count(TABLES)


async def test_a_search_finds_a_table_that_the_list_has_not_come_to(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)
    await page.locator("#search").fill("T129")
    await expect(page.locator(ROWS)).to_have_count(1)
    await expect(page.locator(f"{ROWS}[data-table=T129]")).to_be_visible()
    await page.locator("#search").fill("")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)


async def test_a_tile_says_all_to_the_pointer_and_nothing_old_behind_it(hall: Hall) -> None:
    page = await hall.page("ref")
    tile = page.locator('#tiles a[href="/table/T05"]')
    assert await tile.get_attribute("title") is None
    await tile.hover()
    assert "T05" in str(await tile.get_attribute("title"))
    await page.locator("#list-title").hover()
    assert await tile.get_attribute("title") is None


async def test_whoever_asks_for_more_by_the_keys_goes_on_with_the_first_of_them(hall: Hall) -> None:
    page = await hall.page("ref")
    await expect(page.locator(ROWS)).to_have_count(FIRST_ROWS)
    next_one = await page.evaluate(
        """() => {
          const more = document.getElementById("more");
          more.focus({ preventScroll: true });
          more.click();
          return [document.activeElement.closest("li")?.dataset.table,
            document.querySelectorAll("#list > li")[40]?.dataset.table];
        }"""
    )
    assert next_one[0] == next_one[1]
    assert next_one[0] is not None
