"""A console over scripted tables, and browsers at it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from playwright.async_api import Browser, Page

from controller.console.console import RefereeConsole
from controller.messages import PublicAreaStop, PublicMatch, PublicState, RefereeCall, Role, Seat
from tests.browser.contexts import new_context
from tests.browser.people import TABLET, Person
from tests.browser.said import BOTH, Said
from tests.browser.settled import rests
from tests.browser.watched import Watched
from tests.console.fake import PEOPLE, PIN, Scripted, stamp
from tests.console.played import PlayedPeople, PlayedTables, console_of
from tests.console.web import served, standing
from tests.match.table import Table

OTHER = "ref2"
"""Who reads the language that the others do not."""


class Hall:
    """A console over scripted tables, and browsers at it.

    `said`: what pages say, in the language of this test; `other`: what they say to OTHER.
    """

    def __init__(
        self,
        url: str,
        console: RefereeConsole,
        tables: Scripted,
        browser: Browser,
        close: AsyncExitStack,
        said: Said,
    ) -> None:
        self.said, self.other = said, Said(BOTH[said.language == "zh"])
        self.url, self.console, self.tables, self.close = url, console, tables, close
        self.watched = Watched()
        self._browser = browser
        self._roles: dict[Page, Role] = {}

    async def page(self, who: str, path: str = "/", size: tuple[int, int] = TABLET) -> Page:
        """Open a page, logged in."""
        language = (self.other if who == OTHER else self.said).language
        context = await new_context(
            self._browser,
            viewport={"width": size[0], "height": size[1]},
            locale="en-GB" if language == "en" else "zh-CN",
            reduced_motion="reduce",
        )
        self.watched.over(context)
        page = await context.new_page()
        self._roles[page] = next(one.role for one in PEOPLE if one.name == who)
        for path_, told in (
            ("/api/login", {"name": who, "pin": PIN}),
            ("/api/me", {"language": language}),
        ):
            url, headers = f"{self.url}{path_}", {"X-Dealtable": "1"}
            assert (await page.request.post(url, data=told, headers=headers)).ok
        await page.goto(self.url + path)
        return page

    async def rests(self, page: Page) -> None:
        """Wait until a page of the hall or of a table has drawn all that is shown to it now."""
        role, path = self._roles[page], urlsplit(page.url).path.split("/")
        if path[1] == "table":
            async with self.console.table_pages.open_page(path[2], role) as (shown, _):
                version, _ = shown.changes_since(0)
        else:
            version, _ = self.console.hall.parts_for(role).changes_since(0)
        await rests(page, version)

    def calls(self, table: str, words: str, seat: Seat = "N", ago_s: float = 0) -> None:
        """Let somebody call at a table."""
        state = self.tables.snapshot(table).state
        assert state is not None
        since = stamp(ago_s, self.tables.clock.ms)
        one = RefereeCall(seat=seat, reason="button", since=since, words_en=words, words_zh=words)
        self.tables.say(table, msgspec.structs.replace(state, calls=[one], alerts=[]))

    def is_timed(self, table: str) -> bool:
        """Tell whether a table has a clock that an area's order can stop."""
        state = self.tables.snapshot(table).state
        return state is not None and state.match.clock is not None

    def stops(self, table: str, why: str) -> None:
        """Let the order for the whole area hold at a table."""
        state = self.tables.snapshot(table).state
        assert state is not None
        match = state.match
        assert match.clock is not None
        stands = msgspec.structs.replace(
            match,
            clock=msgspec.structs.replace(match.clock, running=False, deadline_ms=None),
            area_stop=PublicAreaStop(since_ms=match.at_ms or 0, reason=why, by="chief"),
        )
        self.tables.say(table, msgspec.structs.replace(state, match=stands))

    def goes_on(self, table: str, deal: int) -> None:
        """Let a table come to its next deal."""
        state = self.tables.snapshot(table).state
        assert state is not None
        match = msgspec.structs.replace(state.match, deal=deal)
        self.tables.say(table, msgspec.structs.replace(state, match=match))


class PlayedHall(Hall):
    """A console over tables of which T01 plays a match, by the match's own rules.

    Nothing happens, and no time passes, that a test does not ask for.
    """

    tables: PlayedTables
    screens: Path

    async def comes(self, who: str, *, size: tuple[int, int] = TABLET) -> Person:
        """Let somebody log in, by their name in PEOPLE."""
        page = await self.page(who, "/login", size)
        return Person(who, self._roles[page], page, self.screens, self.url, self.said.language)

    @property
    def people(self) -> PlayedPeople:
        """Who sits at T01."""
        return self.tables.people()

    @property
    def state(self) -> PublicState:
        """What T01 publishes."""
        state = self.tables.snapshot("T01").state
        assert state is not None
        return state

    @property
    def match(self) -> PublicMatch:
        """What T01 publishes of its match."""
        return self.state.match

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return what happened in the match of one kind of event, oldest first."""
        told = self.console.archive.events("T01")
        return [one.data for one in told if one.kind == "match" and one.data["event"] == kind]


@asynccontextmanager
async def played_hall_of(
    folder: Path, browser: Browser, said: Said, script: Table, screens: Path
) -> AsyncIterator[PlayedHall]:
    """Serve a console over tables of which T01 plays `script` and continues from there."""
    running, tables = console_of(folder, matches={"T01": (script, ())})
    await running.start()
    try:
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(served(running))
            found = PlayedHall(url, running, tables, browser, stack, said)
            found.screens = screens
            yield found
            assert found.watched.wrong == []
    finally:
        await running.close()
        running.engine.dispose()


@asynccontextmanager
async def hall_of(
    folder: Path, browser: Browser, said: Said, count: int = 12
) -> AsyncIterator[Hall]:
    """Serve a console over so many tables; at the end no page of its has done wrong."""
    async with standing(folder, count) as (running, tables), AsyncExitStack() as stack:
        url = await stack.enter_async_context(served(running))
        found = Hall(url, running, tables, browser, stack, said)
        yield found
        assert found.watched.wrong == []


async def listed(page: Page) -> list[str]:
    """Return the tables of the list, from above."""
    found = await page.locator("#list > li").evaluate_all(
        "all => all.map(one => one.dataset.table)"
    )
    return [str(table) for table in found]
