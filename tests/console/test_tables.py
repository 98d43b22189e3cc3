"""Many simulated tables: opened cheaply, drained whole, kept whole whatever the store does."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
import zmq
import zmq.asyncio

from controller.client.client import ClientIdentity
from controller.console.console_config import ConfiguredTable
from controller.console.feed import backfill
from controller.console.feed.table_feeds import TableFeeds
from controller.console.freshness import ContactTimes, Freshness
from controller.console.store.archive import Archive
from controller.console.store.database import WorkerThread, open_engine
from sim.bench.simulated_feeds import SimulatedFeed, StateTemplate
from tests.console.journal import Journal, contradicting_numbers
from tests.console.postgres import Cluster, new_database
from tests.console.states import state
from tests.waiting import until

pytestmark = pytest.mark.slow

PUBLIC, SECRET = (key.decode() for key in zmq.curve_keypair())
ME = ClientIdentity("observer", PUBLIC, SECRET)
Feeds = Callable[[int], "list[Sim]"]


@asynccontextmanager
async def opened(url: str, **more: Any) -> AsyncIterator[TableFeeds]:
    """A console's tables over a database."""
    engine, writing = open_engine(url), WorkerThread("writing")
    numbers, loop = itertools.count(), asyncio.get_running_loop()
    settings: dict[str, Any] = {"store_retry_s": 0.05} | more

    def ids() -> str:
        return f"id-{next(numbers)}"

    with patch.multiple(backfill, SETTLE_DELAY_S=0.02, AUDIT_DELAY_S=0.05):
        async with TableFeeds(
            lambda line: ME,
            Archive(engine),
            writing.run,
            lambda: int(loop.time() * 1000),
            ids,
            **settings,
        ) as tables:
            yield tables
    writing.close()
    engine.dispose()


class Sim:
    """A simulated feed with a journal."""

    def __init__(self, context: zmq.asyncio.Context, name: str) -> None:
        self.journal = Journal(name)
        self.feed = SimulatedFeed(context, state(table=name, head=self.journal.head, signed=None))
        self.feed.head = lambda: self.journal.head
        self.feed.events = lambda since: self.journal.events(since, most=50)
        self.line = ConfiguredTable(**msgspec.structs.asdict(self.feed.address))

    def happens(self, **data: Any) -> None:
        self.feed.publish_event(self.journal.happens(**data))

    def say(self) -> None:
        self.feed.publish_state("2027-01-01T00:00:00.000Z")


@pytest.fixture
async def feeds() -> AsyncIterator[Feeds]:
    """Makes simulated tables that say their state all the time."""
    context = zmq.asyncio.Context()
    context.set(zmq.MAX_SOCKETS, 4_096)
    made: list[Sim] = []
    tasks: list[asyncio.Task[None]] = []

    loop = asyncio.get_running_loop()
    due_s = loop.time()

    def talk() -> None:
        """Let all publish their state, five times a second."""
        nonlocal due_s
        if loop.time() >= due_s:
            due_s = loop.time() + 0.2
            for sim in made:
                sim.say()

    def make(count: int) -> list[Sim]:
        new = [Sim(context, f"T{number:03}") for number in range(len(made), len(made) + count)]
        made.extend(new)
        tasks.extend(asyncio.create_task(sim.feed.answer_commands()) for sim in new)
        return new

    tasks.append(asyncio.create_task(until(talk)))
    yield make
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for sim in made:
        sim.feed.close()
    context.destroy(linger=0)


def truth(sim: Sim) -> list[tuple[int, str]]:
    return [(event.n, event.head) for event in sim.journal.public]


async def kept(tables: TableFeeds, sim: Sim) -> list[tuple[int, str]]:
    events = await tables._write(lambda: list(tables._archive.events(sim.journal.table)))
    return [(event.n, event.head) for event in events]


async def all_kept(tables: TableFeeds, sims: list[Sim]) -> None:
    """Return when the archive has all of the tables' present journals."""
    for sim in sims:
        while await kept(tables, sim) != truth(sim):
            await until(lambda: not tables.incomplete_tables)


async def live(tables: TableFeeds) -> None:
    await until(lambda: all(tables.freshness(one)[0] is Freshness.LIVE for one in tables.ids))


async def test_four_hundred_lines_need_no_thread_of_their_own_and_leave_nothing(
    feeds: Feeds, tmp_path: Path
) -> None:
    sims = feeds(400)
    files = len(os.listdir("/proc/self/fd"))
    async with opened(f"sqlite:///{tmp_path / 'c.db'}") as tables:
        tables.add(sims[0].line)  # with the first one ZeroMQ starts its own
        await live(tables)
        threads = len(os.listdir("/proc/self/task"))
        for sim in sims[1:]:
            tables.add(sim.line)
        await live(tables)
        await until(lambda: not tables.incomplete_tables)
        assert len(os.listdir("/proc/self/task")) == threads
        for sim in sims:
            sim.happens()
        await all_kept(tables, sims)
    await until(lambda: len(os.listdir("/proc/self/fd")) <= files)


async def test_a_burst_of_one_table_is_taken_whole_and_the_others_are_heard_meanwhile(
    feeds: Feeds, tmp_path: Path
) -> None:
    loud, *quiet = sims = feeds(4)
    async with opened(f"sqlite:///{tmp_path / 'c.db'}") as tables:
        for sim in sims:
            tables.add(sim.line)
        await live(tables)
        for _ in range(450):
            loud.happens()
        for sim in quiet:
            sim.happens()
        await all_kept(tables, sims)


async def test_junk_is_counted_and_the_table_goes_on(feeds: Feeds, tmp_path: Path) -> None:
    (sim,) = feeds(1)
    async with opened(f"sqlite:///{tmp_path / 'c.db'}") as tables:
        tables.add(sim.line)
        await live(tables)
        name = sim.journal.table.encode()
        sim.feed.send_frames(b"event/" + name, b"{}")
        sim.feed.send_frames(b"event/" + name, b"\xff")
        sim.feed.send_frames(b"event/" + name)
        sim.feed.send_frames(b"event/" + name, b"{}", b"{}")
        sim.feed.send_frames(b"event/T99", msgspec.json.encode(Journal("T99").happens()))
        other = msgspec.json.encode(msgspec.structs.replace(sim.journal.happens(), schema=9))
        sim.feed.send_frames(b"event/" + name, other)
        await until(lambda: tables.rejections(sim.journal.table).other_version)
        counts = tables.rejections(sim.journal.table)
        assert (counts.junk, counts.other_tables, counts.other_table) == (4, 1, "T99")
        sim.feed.send_frames(b"state/" + name, b"[]")
        await until(lambda: tables.rejections(sim.journal.table).junk == 5)
        await live(tables)
        sim.happens()  # behind the one that was not taken: there is a hole
        await all_kept(tables, [sim])


async def test_a_table_with_another_past_has_both_kept_and_the_present_one_shown(
    feeds: Feeds, tmp_path: Path
) -> None:
    (sim,) = feeds(1)
    url = f"sqlite:///{tmp_path / 'c.db'}"
    async with opened(url) as tables:
        tables.add(sim.line)
        await live(tables)
        for _ in range(20):
            sim.happens()
        await all_kept(tables, [sim])
    sim.journal = Journal(sim.journal.table, past="another")
    for _ in range(8):
        sim.journal.happens()
    async with opened(url) as tables:
        tables.add(sim.line)
        await live(tables)
        sim.happens()
        await all_kept(tables, [sim])
        assert contradicting_numbers(tables._archive._engine, sim.journal.table) == list(
            range(1, 10)
        )
    sim.journal = Journal(sim.journal.table, past="a third")
    async with opened(url) as tables:
        tables.add(sim.line)
        await live(tables)
        sim.happens()  # heard before anybody knows that it begins a journal
        await all_kept(tables, [sim])
        sim.happens()  # and on with the new one
        await all_kept(tables, [sim])
        assert tables._archive.marks()[sim.journal.table].journal == 3


async def test_a_listener_that_fails_keeps_nothing_from_the_others(
    feeds: Feeds, tmp_path: Path
) -> None:
    (sim,) = feeds(1)
    async with opened(f"sqlite:///{tmp_path / 'c.db'}") as tables:
        told: list[object] = []
        tables.on_change(_fails)
        tables.on_event(_fails)
        tables.on_change(told.append)
        tables.on_event(told.append)
        tables.add(sim.line)
        await live(tables)
        sim.happens()
        await until(lambda: any(not isinstance(one, str) for one in told))


@pytest.mark.parametrize(("room", "private"), [(10_000, True), (30, True), (30, False)])
async def test_a_database_that_goes_away_loses_nothing_and_is_said_to_be_away(
    feeds: Feeds, postgres: Cluster, room: int, private: bool
) -> None:
    sims = feeds(3)
    async with opened(
        new_database(postgres, f"away{room}{private}".lower()), max_waiting=room
    ) as tables:
        for sim in sims:
            tables.add(sim.line)
        await live(tables)
        for sim in sims:
            sim.happens()
        await all_kept(tables, sims)
        postgres.stop()
        try:
            for number in range(40):
                for sim in sims:
                    if private and number % 5 == 0:
                        sim.journal.private()
                    sim.happens()
                if number == 0:  # one of each is heard: what follows may come in one heap
                    await until(lambda: tables.store_status.waiting >= 3)
                    await until(lambda: tables.store_status.away_since_ms is not None)
            standing = tables.store_status
            assert standing.why
            assert "\n" not in standing.why
            shown = tables.snapshot(tables.ids[0]).state
            await until(lambda: tables.snapshot(tables.ids[0]).state != shown)  # people see on
            await live(tables)
            assert 3 <= tables.store_status.waiting <= room
        finally:
            postgres.start()
        await all_kept(tables, sims)
        assert tables.store_status.away_since_ms is None
        assert (tables.store_status.refused > 0) == (room == 30)


async def test_a_fault_with_one_table_keeps_no_other_from_being_found_silent(
    feeds: Feeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sims = feeds(2)
    async with opened(f"sqlite:///{tmp_path / 'console.db'}") as tables:
        for sim in sims:
            tables.add(sim.line)
        await live(tables)
        first, second = (tables._feeds[name] for name in tables.ids)
        monkeypatch.setattr(first, "snapshot", None)
        second.snapshot = msgspec.structs.replace(
            second.snapshot, contact_times=ContactTimes(link_since_ms=-10_000_000)
        )
        tables._sockets.close_table(second.configured.id)
        tables._sockets.close_table(first.configured.id)
        await until(lambda: second.freshness is not Freshness.LIVE)
        assert not tables._poll_task.done()
        monkeypatch.undo()


async def test_no_table_is_called_silent_when_the_console_itself_stood_still(
    feeds: Feeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(f"sqlite:///{tmp_path / 'console.db'}") as tables:
        for sim in feeds(3):
            tables.add(sim.line)
        await live(tables)
        shown: list[Freshness] = []
        tables.on_change(lambda table: shown.extend(tables.freshness(one)[0] for one in tables.ids))
        loop = asyncio.get_running_loop()
        steady_s = loop.time
        monkeypatch.setattr(loop, "time", lambda: steady_s() + 16)
        assert {tables.freshness(one)[0] for one in tables.ids} == {Freshness.CONNECTING}
        await live(tables)
        assert Freshness.SILENT not in shown


def _fails(told: object) -> None:
    raise ZeroDivisionError(told)


def test_a_template_says_what_is_set_anew_and_nothing_else_differs() -> None:
    first = state()
    said = msgspec.json.decode(StateTemplate(first).encode(7, "now", 9, "f"), type=type(first))
    machine = msgspec.structs.replace(first.machine, fed=9)
    assert said == msgspec.structs.replace(first, seq=7, time="now", head="f", machine=machine)
