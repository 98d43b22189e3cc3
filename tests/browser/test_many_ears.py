"""More pages with sound on than a browser has connections: all hear, one sounds, none hangs.

A browser without a screen takes every page for seen; so the test says which ones are.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, Playwright, expect

from controller.console.console import RefereeConsole
from controller.console.rate_limits import MAX_HIDDEN_STREAMS, MAX_VISIBLE_STREAMS
from controller.messages import RefereeCall, Role
from sim.bench.browser_pages import CHROMIUM, CHROMIUM_OPTIONS
from tests.browser.contexts import new_context
from tests.browser.ears import EARS
from tests.browser.hidden_pages import HIDES, LEFT_S, SEEN
from tests.browser.said import Said
from tests.browser.settled import rests
from tests.console.fake import PIN, Scripted, stamp
from tests.console.web import served, standing

MANY = 8


@pytest_asyncio.fixture(loop_scope="session")
async def browser(playwright: Playwright) -> AsyncIterator[Browser]:
    """Start the system's Chromium as people have it: it keeps pages to come back to."""
    browser = await playwright.chromium.launch(
        executable_path=str(CHROMIUM),
        args=[*CHROMIUM_OPTIONS],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield browser
    await browser.close()


class Desktop:
    """One browser with many pages of the hall, at a console over scripted tables."""

    def __init__(
        self, console: RefereeConsole, tables: Scripted, url: str, context: BrowserContext
    ) -> None:
        self.console, self.tables, self.url = console, tables, url
        self._context = context
        self.pages: list[Page] = []

    async def opens(self) -> Page:
        """Open the hall in a new page; return it once it shows its tables."""
        page = await self._context.new_page()
        await page.clock.install()
        await page.goto(self.url)
        await page.wait_for_selector("#list li")
        self.pages.append(page)
        return page

    async def opens_behind(self, count: int) -> None:
        """Open so many pages, with the sound on, each behind the next."""
        for _ in range(count):
            page = await self.opens()
            off = page.get_by_role("button", name=Said("en")("sound.off"))
            if await off.count():
                await off.click()
                await page.wait_for_function("() => tones > 0")
            await page.evaluate(SEEN, False)
            await page.clock.fast_forward(f"{LEFT_S}")

    def calls(self, table: str, words: str) -> None:
        """Let somebody call at a table."""
        state = self.tables.snapshot(table).state
        assert state is not None
        since = stamp(now_ms=self.tables.clock.ms)
        one = RefereeCall(seat="N", reason="button", since=since, words_en=words, words_zh=words)
        self.tables.say(table, msgspec.structs.replace(state, calls=[one], alerts=[]))

    async def rings(self, table: str, words: str, pages: Sequence[Page]) -> list[Page]:
        """Let somebody call; return which of the pages have sounded, once all have heard of it."""
        before = [int(await page.evaluate("tones")) for page in pages]
        self.calls(table, words)
        for page in pages:
            row = page.locator(f"#list > li[data-table={table}]")
            await expect(row).to_contain_text(words)
        version, _ = self.console.hall.parts_for(Role.REFEREE).changes_since(0)
        for page in pages:
            await rests(page, version)
        return [
            page
            for page, tones in zip(pages, before, strict=True)
            if int(await page.evaluate("tones")) > tones
        ]


@asynccontextmanager
async def desktop(browser: Browser, folder: Path) -> AsyncIterator[Desktop]:
    """Serve a console, and let one person log in there, for the block."""
    context = await new_context(browser, locale="en-GB")
    async with standing(folder) as (console, tables), served(console) as url:
        await context.add_init_script(HIDES)
        await context.add_init_script(EARS)
        told, headers = {"name": "ref2", "pin": PIN}, {"X-Dealtable": "1"}
        assert (await context.request.post(f"{url}/api/login", data=told, headers=headers)).ok
        yield Desktop(console, tables, url, context)
        await context.close()


async def test_eight_pages_are_heard_behind_a_ninth_which_shows_the_hall_as_it_is(
    browser: Browser, tmp_path: Path
) -> None:
    async with desktop(browser, tmp_path) as at:
        await at.opens_behind(MANY)
        ninth = await at.opens()
        at.calls("T05", "a card is torn")
        row = ninth.locator("#list > li[data-table=T05]")
        await expect(row).to_contain_text("a card is torn")
        await expect(ninth.locator("p.stale")).to_be_hidden()
        assert at.console.stream_limits.stream_count <= MAX_VISIBLE_STREAMS + MAX_HIDDEN_STREAMS
        assert len(await at.rings("T01", "a glass fell over", at.pages)) == 1


async def test_whichever_page_sounded_is_gone_another_one_sounds_and_only_one(
    browser: Browser, tmp_path: Path
) -> None:
    """The page is closed, or its browser keeps it for the way back.

    A browser that is driven freezes no page: tests/console/test_page_lines.py has that case.
    """
    async with desktop(browser, tmp_path) as at:
        await at.opens_behind(MANY)
        left = list(at.pages)
        for turn, goes in enumerate((_closes, _leaves, _closes), 1):
            (rang,) = await at.rings(f"T{turn:02}", f"call {turn}", left)
            left.remove(rang)
            await goes(rang, left[0])
        assert len(await at.rings("T07", "the last", left)) == 1


async def test_more_windows_side_by_side_than_lines_all_show_the_hall_as_it_is(
    browser: Browser, tmp_path: Path
) -> None:
    async with desktop(browser, tmp_path) as at:
        for _ in range(MANY):
            await at.opens()
        for turn, table in enumerate(("T01", "T02", "T03"), 1):
            at.calls(table, f"call {turn}")
            for page in at.pages:
                row = page.locator(f"#list > li[data-table={table}]")
                await expect(row).to_contain_text(f"call {turn}")


async def _closes(page: Page, other: Page) -> None:
    await page.close()


async def _leaves(page: Page, other: Page) -> None:
    """Go elsewhere, and wait until the browser has stopped `page` and keeps it for the way back.

    The browser answers before that. Until then the page still receives the next call. `other`
    reads in their shared storage that it has stopped.
    """
    await page.evaluate(
        "addEventListener('pagehide', ({ persisted }) => localStorage.setItem('kept', persisted))"
    )
    await page.goto("about:blank")
    kept = await other.wait_for_function("() => localStorage.getItem('kept')")
    assert await kept.json_value() == "true"
