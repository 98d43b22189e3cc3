"""People with tablets: each a browser of his own, logged in at the console."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from controller.faults import Language
from controller.messages import Role
from sim.tables.console_process import ConsoleProcess
from tests.browser.contexts import new_context
from tests.browser.watched import Watched

PIN = "2468"
SCREENS = Path(__file__).parents[2] / ".screens"
"""Where the pictures of the last run lie."""
PHONE, TABLET, WALL = (390, 844), (1024, 768), (1920, 1080)


@dataclass
class Person:
    """Somebody at his tablet."""

    name: str
    role: Role
    page: Page
    screens: Path
    url: str
    language: Language

    async def opens(self, path: str) -> None:
        """Open a page of the console."""
        await self.page.goto(self.url + path)

    async def sees(self, text: str) -> Locator:
        """Wait until a text stands on the page."""
        found = self.page.get_by_text(text).first
        await expect(found).to_be_visible()
        return found

    async def shot(self, name: str) -> None:
        """Keep what he sees."""
        self.screens.mkdir(parents=True, exist_ok=True)
        await self.page.screenshot(path=self.screens / f"{name}-{self.language}.png")


class People:
    """All who are logged in at one console."""

    def __init__(
        self,
        console: ConsoleProcess,
        browser: Browser,
        screens: Path,
        watched: Watched,
        language: Language = "zh",
    ) -> None:
        self._console, self._browser = console, browser
        self._screens, self.watched, self._language = screens, watched, language

    async def comes(
        self,
        name: str,
        role: Role,
        *,
        language: Language | None = None,
        size: tuple[int, int] = TABLET,
        table: str | None = None,
        dark: bool = False,
    ) -> Person:
        """Let a person who has his PIN log in by the login page; he speaks the test's language."""
        language = language or self._language
        await self._console.add_account(name, role, PIN, table=table, language=language)
        person = await self.stranger(name, role, size=size, dark=dark, language=language)
        await person.opens("/login")
        await person.page.locator("input[name=name]").fill(name)
        await person.page.locator("input[name=pin]").fill(PIN)
        await person.page.locator("#enter").click()
        await person.page.wait_for_url(lambda url: "/login" not in url)
        return person

    async def stranger(
        self,
        name: str = "stranger",
        role: Role = Role.OBSERVER,
        *,
        size: tuple[int, int] = TABLET,
        dark: bool = False,
        language: Language | None = None,
    ) -> Person:
        """Open a browser in which nobody is logged in; it is made for the test's language."""
        language = language or self._language
        context = await new_context(
            self._browser,
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            locale="zh-CN" if language == "zh" else "en-GB",
        )
        self.watched.over(context)
        page = await context.new_page()
        return Person(name, role, page, self._screens, self._console.url, language)


def screens_of(request: pytest.FixtureRequest) -> Path:
    """Return the folder for the pictures of a test."""
    return SCREENS / str(request.node.originalname).removeprefix("test_")[:60]


@asynccontextmanager
async def people_at(
    running: ConsoleProcess, browser: Browser, request: pytest.FixtureRequest
) -> AsyncIterator[People]:
    """Let people come to a console for the block; at its end no page of theirs has done wrong."""
    watched = Watched()
    screens = screens_of(request)
    speaks = "language" in request.fixturenames
    language: Language = request.getfixturevalue("language") if speaks else "zh"
    yield People(running, browser, screens, watched, language)
    assert watched.wrong == []
