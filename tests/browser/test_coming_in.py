"""Who comes in, and who does not."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from controller.cli.console import make_console_keys
from controller.faults import Language
from controller.messages import Role
from controller.roster import CLIENTS_FOLDER
from sim.tables.console_process import run_console
from tests.browser.people import PIN, People, people_at
from tests.browser.plans import TWO_TABLES
from tests.console.fake import QUICK

ELSEWHERE = ("/.//127.0.0.2:9/", "//127.0.0.2:9/", "/\\127.0.0.2:9/", "javascript:1")
GREETED: tuple[tuple[str, Language, str], ...] = (
    ("李娜", "zh", "无人等待"),
    ("Li Na", "en", "Nobody is waiting"),
)


@pytest_asyncio.fixture(loop_scope="session")
async def at_door(
    browser: Browser, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[People]:
    """Let people come to a console that has no table: they come no further than its door."""
    folder = tmp_path / "console"
    make_console_keys(folder / CLIENTS_FOLDER, "Hall 1")
    async with (
        run_console([], folder, hasher=QUICK) as running,
        people_at(running, browser, request) as people,
    ):
        yield people


@TWO_TABLES
async def test_a_referee_logs_in_and_sees_the_hall_in_his_language(people: People) -> None:
    for name, language, heading in GREETED:
        referee = await people.comes(name, Role.REFEREE, language=language)
        await referee.sees(heading)
        await referee.sees("T01-01")
        await referee.sees("T01-02")
        await expect(referee.page.locator("html")).to_have_attribute(
            "lang", "zh-CN" if language == "zh" else "en"
        )
        await referee.shot("hall")


async def test_the_language_that_somebody_chooses_before_he_logs_in_holds(at_door: People) -> None:
    """He is known as a reader of Chinese, and his browser is Chinese, too."""
    at_door.watched.expected |= {401}
    person = await at_door.comes("Li Na", Role.REFEREE, language="zh")
    await person.page.context.clear_cookies()
    await person.opens("/login")
    await person.page.locator("#language").click()
    await expect(person.page.locator("#enter")).to_have_text("Log in")
    await person.page.locator("input[name=pin]").fill(PIN)
    await person.page.locator("#enter").click()
    for path in ("/", "/history"):
        await person.page.wait_for_url(lambda url: "/login" not in url)
        await expect(person.page.locator(".me")).to_have_text("Li Na · referee")
        await expect(person.page.locator("html")).to_have_attribute("lang", "en")
        await person.opens(path)


async def test_a_wrong_pin_lets_nobody_in(at_door: People) -> None:
    at_door.watched.expected |= {401, 403}
    stranger = await at_door.stranger()
    await stranger.opens("/")
    await stranger.page.wait_for_url("**/login**")
    await stranger.page.locator("input[name=name]").fill("Li Na")
    await stranger.page.locator("input[name=pin]").fill("0000")
    await stranger.page.locator("#enter").click()
    await expect(stranger.page.get_by_role("alert")).not_to_be_empty()


async def test_who_has_logged_in_is_led_to_this_console_and_nowhere_else(at_door: People) -> None:
    at_door.watched.expected |= {401, 404}
    person = await at_door.comes("Li Na", Role.REFEREE)
    for wanted in ELSEWHERE:
        await person.page.context.clear_cookies()
        await person.opens(f"/login?next={quote(wanted)}")
        await person.page.locator("input[name=name]").fill("Li Na")
        await person.page.locator("input[name=pin]").fill(PIN)
        await person.page.locator("#enter").click()
        await person.page.wait_for_url(lambda url: "/login" not in url)
        assert person.page.url.startswith(f"{person.url}/"), wanted
