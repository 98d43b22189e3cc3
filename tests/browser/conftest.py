"""Simulated tables, their console as a process of its own, and people with real browsers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from controller.trials.hall import HallPlan, RunningTable, hall
from controller.trials.hall_console import RunningConsole, console
from controller.trials.pixels import CHROMIUM, QUIET
from tests.browser.people import People
from tests.browser.watched import Watched
from tests.processes.conftest import mark as mark

SCREENS = Path(__file__).parents[2] / ".screens"
"""Where the pictures of the last run lie."""
SPEED = 20.0


@pytest.fixture
def plan(tmp_path: Path) -> HallPlan:
    """Two tables; a test that needs another hall has a plan of its own."""
    return HallPlan(tmp_path / "hall", tables=2, speed=SPEED)


@pytest.fixture
async def tables(plan: HallPlan) -> AsyncIterator[list[RunningTable]]:
    """Run the tables of the plan."""
    async with hall(plan) as tables:
        yield tables


@pytest.fixture
async def at_console(tables: list[RunningTable], tmp_path: Path) -> AsyncIterator[RunningConsole]:
    """Run a console over them."""
    async with console(tables, tmp_path / "console") as running:
        yield running


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Start the system's Chromium."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*QUIET])
        yield browser
        await browser.close()


@pytest.fixture
async def people(
    at_console: RunningConsole, browser: Browser, request: pytest.FixtureRequest
) -> AsyncIterator[People]:
    """Let people come to the console; at the end no page of theirs has done wrong."""
    watched = Watched()
    screens = SCREENS / str(request.node.originalname).removeprefix("test_")[:60]
    yield People(at_console, browser, screens, watched)
    assert watched.wrong == []
