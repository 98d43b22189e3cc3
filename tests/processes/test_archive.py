"""A hall's archive in PostgreSQL is what the tables' journals say, whatever the console missed."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controller.console.store.archive import Archive, open_engine
from controller.journal.entries import decode
from controller.journal.store import STORE_NAME, read_rows
from controller.trials.hall import HallPlan, RunningTable, hall
from controller.trials.hall_console import RunningConsole, console
from controller.trials.players import players
from tests.console.postgres import Cluster, cluster

pytestmark = pytest.mark.postgres

SPEED = 50.0
OUTAGE_S = 60
LAST_S = 60.0
"""How long the console may take to fetch what it missed."""
Told = list[tuple[int, str]]
"""Numbers and heads of entries."""


@pytest.fixture
def postgres() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.mark.timeout(3600)
async def test_the_archive_equals_the_journals_after_an_outage_of_the_console(
    tmp_path: Path, postgres: Cluster, scale: Callable[[int], int]
) -> None:
    engine = open_engine(postgres.url)
    plan = HallPlan(tmp_path / "hall", tables=max(3, scale(20)), speed=SPEED)
    deals = max(4, scale(200))
    async with (
        hall(plan) as tables,
        console(tables, tmp_path / "console", store=postgres.url) as running,
    ):
        dealt = asyncio.gather(*(_deals(table, deals) for table in tables))
        away = asyncio.ensure_future(_away(running, max(1, scale(OUTAGE_S)), dealt))
        await dealt
        await away
        archive = Archive(engine)
        due = {table.id: _journal(table) for table in tables}
        kept: dict[str, Told] = {}
        async with asyncio.timeout(LAST_S):
            while kept != due:
                await asyncio.sleep(0.5)
                kept = {table: _archived(archive, table) for table in due}
    assert all(len(told) > deals for told in due.values())
    assert not any(archive.two_pasts(table) for table in due)
    engine.dispose()


async def _deals(table: RunningTable, deals: int) -> None:
    async with players(table) as people:
        for _ in range(deals):
            await people.deal()


async def _away(running: RunningConsole, outage_s: int, dealt: asyncio.Future[list[None]]) -> None:
    """Kill the console while the tables deal, and start it again later."""
    await asyncio.sleep(outage_s)
    assert not dealt.done(), "the outage comes in the middle"
    await running.kill()
    await asyncio.sleep(outage_s)
    await running.start()


def _journal(table: RunningTable) -> Told:
    with read_rows(table.state_dir / STORE_NAME) as rows:
        return [(row.n, row.head.hex()) for row in rows if decode(row.body).public]


def _archived(archive: Archive, table: str) -> Told:
    return [(event.n, event.head) for event in archive.events(table)]
