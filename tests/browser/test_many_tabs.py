"""More tabs of one browser than it has connections to one address: no page keeps another waiting.

A browser without a screen takes every tab for seen; so the test says which ones are.
"""

from playwright.async_api import Browser, Page, expect

from controller.messages import Role
from tests.browser.contexts import new_context
from tests.browser.hidden_pages import HIDES, LEFT_S, SEEN
from tests.browser.said import Said
from tests.browser.scripted import WHO, scripted
from tests.console.fake import PIN

TABS = 8


async def test_eight_tabs_come_and_whoever_returns_to_the_first_sees_it_fresh(
    browser: Browser,
) -> None:
    said = Said("en")
    async with scripted() as url:
        context = await new_context(browser, locale="en-GB")
        await context.add_init_script(HIDES)
        who = {"name": WHO[Role.REFEREE], "pin": PIN}
        headers = {"X-Dealtable": "1"}
        assert (await context.request.post(f"{url}/api/login", data=who, headers=headers)).ok
        tabs: list[Page] = []
        for _ in range(TABS):
            page = await context.new_page()
            await page.clock.install()
            await page.goto(url)
            await page.wait_for_selector("#list li")
            tabs.append(page)
            await page.evaluate(SEEN, False)
            await page.clock.fast_forward(f"{LEFT_S}")
            await page.wait_for_selector("body[data-stale]")
        first = tabs[0]
        banner = first.locator("p.stale")
        connecting, _ = said("shell.connecting").split("{time}")
        await expect(banner).to_contain_text(connecting)
        await first.evaluate(SEEN, True)
        await expect(banner).to_be_hidden()
        await expect(first.locator("#list li").first).to_be_visible()
        await context.close()
