"""Simulated tables, their console as a process of its own, and people with real browsers."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Playwright, async_playwright

from controller.faults import Language
from sim.bench.browser_pages import CHROMIUM, CHROMIUM_OPTIONS
from sim.tables.console_process import ConsoleProcess, run_console
from sim.tables.table_processes import HallPlan, TableProcess
from sim.tables.table_processes import run_hall as real_hall
from tests.browser.answers import Answers, let_answer
from tests.browser.halls import Hall, PlayedHall, hall_of, played_hall_of
from tests.browser.people import People, people_at, screens_of
from tests.browser.plans import SPEED
from tests.browser.said import Said
from tests.console.fake import QUICK
from tests.match.table import Table
from tests.processes.tables import mark as mark

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder on one loop, as the browser that they share lives there."""
    for item in items:
        if item.path.is_relative_to(FOLDER) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture
def language() -> Language:
    """Return the language that people and pages of a test speak; one test has the other, too."""
    return "zh"


@pytest.fixture
def said(language: Language) -> Said:
    """Return what is said in that language."""
    return Said(language)


@pytest.fixture
def how_many() -> int:
    """How many tables the hall has; a test that needs more says so. Each is three processes."""
    return 1


@pytest.fixture
def plan(tmp_path: Path, how_many: int) -> HallPlan:
    """A hall of some tables; a test that needs another hall has a plan of its own."""
    return HallPlan(tmp_path / "hall", tables=how_many, speed=SPEED)


@pytest_asyncio.fixture(loop_scope="session")
async def tables(plan: HallPlan) -> AsyncIterator[list[TableProcess]]:
    """Run the tables of the plan."""
    async with real_hall(plan) as tables:
        yield tables


@pytest_asyncio.fixture(loop_scope="session")
async def at_console(tables: list[TableProcess], tmp_path: Path) -> AsyncIterator[ConsoleProcess]:
    """Run a console over them."""
    async with run_console(tables, tmp_path / "console", hasher=QUICK) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def playwright() -> AsyncIterator[Playwright]:
    """Start what drives browsers."""
    async with async_playwright() as playwright:
        yield playwright


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def chromium(playwright: Playwright) -> AsyncIterator[Browser]:
    """Start the system's Chromium, once: to start it costs as much as a test does in it."""
    browser = await playwright.chromium.launch(
        executable_path=str(CHROMIUM), args=[*CHROMIUM_OPTIONS]
    )
    yield browser
    await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Give a browser in which nothing is open, and which knows nothing of an earlier test."""
    assert not chromium.contexts
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def people(
    at_console: ConsoleProcess, browser: Browser, request: pytest.FixtureRequest
) -> AsyncIterator[People]:
    """Let people come to the console."""
    async with people_at(at_console, browser, request) as people:
        yield people


@pytest_asyncio.fixture(loop_scope="session")
async def hall(tmp_path: Path, browser: Browser, said: Said) -> AsyncIterator[Hall]:
    """Serve a console over twelve scripted tables."""
    async with hall_of(tmp_path, browser, said) as found:
        yield found


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], None]:
    """Let scripted tables answer otherwise."""
    return let_answer(monkeypatch)


@pytest.fixture
def script() -> Table:
    """What has been played at T01 when a test begins; a test that needs another has its own."""
    return Table().started()


@pytest_asyncio.fixture(loop_scope="session")
async def played(
    tmp_path: Path, browser: Browser, said: Said, script: Table, request: pytest.FixtureRequest
) -> AsyncIterator[PlayedHall]:
    """Serve a console over a table whose match the test plays, and whose clock the test turns."""
    screens = screens_of(request)
    async with played_hall_of(tmp_path, browser, said, script, screens) as found:
        yield found
