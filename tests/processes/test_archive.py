"""A hall's archive in PostgreSQL is what the tables' journals say, whatever the console missed."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from controller.console.store.archive import Archive
from controller.console.store.database import open_engine
from controller.journal.entries import decode
from controller.journal.store import STORE_NAME, open_read_only
from sim.people.practice_players import PracticePlayers, seat_players
from sim.tables.console_process import run_console
from sim.tables.table_processes import HallPlan, TableProcess, run_hall
from tests.console.journal import contradicting_numbers
from tests.console.postgres import Cluster, cluster
from tests.waiting import until

pytestmark = pytest.mark.postgres

SPEED = 50.0
Told = list[tuple[int, str]]
"""Numbers and heads of entries."""


@pytest.fixture
def postgres() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


async def test_the_archive_equals_the_journals_after_an_outage_of_the_console(
    tmp_path: Path, postgres: Cluster, scale: Callable[[int], int]
) -> None:
    engine = open_engine(postgres.url)
    plan = HallPlan(tmp_path / "hall", tables=max(3, scale(20)), speed=SPEED)
    deals = max(1, scale(200) // 4)
    async with (
        run_hall(plan) as tables,
        run_console(tables, tmp_path / "console", store=postgres.url) as running,
        AsyncExitStack() as sitting,
    ):
        people = [await sitting.enter_async_context(seat_players(table)) for table in tables]

        async def deal() -> None:
            await asyncio.gather(*(_deal(each, deals) for each in people))

        await deal()
        dealing = asyncio.ensure_future(deal())
        await running.kill()
        await dealing
        await deal()
        dealing = asyncio.ensure_future(deal())
        await running.start()
        await dealing
        archive = Archive(engine)
        due = {table.id: _journal(table) for table in tables}
        await until(lambda: {table: _archived(archive, table) for table in due} == due)
    assert all(len(told) > 4 * deals for told in due.values())
    assert not any(contradicting_numbers(engine, table) for table in due)
    engine.dispose()


async def _deal(people: PracticePlayers, deals: int) -> None:
    for _ in range(deals):
        await people.play_deal()


def _journal(table: TableProcess) -> Told:
    with open_read_only(table.state_dir / STORE_NAME) as rows:
        return [(row.n, row.head.hex()) for row in rows if decode(row.body).public]


def _archived(archive: Archive, table: str) -> Told:
    return [(event.n, event.head) for event in archive.events(table)]
