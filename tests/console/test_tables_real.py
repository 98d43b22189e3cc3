"""A console and a real gateway: what is heard, what is kept, how the line stands."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from unittest.mock import patch

import msgspec
import pytest
import zmq

from controller.client.client import ClientIdentity
from controller.client.connection import BadAddress
from controller.console.console_config import ConfiguredTable
from controller.console.feed import backfill, feed_sockets
from controller.console.feed.feed_sockets import READ_INTERVAL_S
from controller.console.feed.table_feeds import TableFeeds
from controller.console.freshness import Freshness
from controller.console.store.archive import Archive
from controller.console.store.database import WorkerThread, open_engine
from controller.keys.enrolment import enrol_client
from controller.messages import Role
from controller.roster import KEYS_FOLDER, Certificate, read_sign_file
from controller.roster.certificate import SIGN_FILE
from controller.signing import signed_heads
from tests.console.real_table import RealTable
from tests.console.states import state
from tests.waiting import until

Open = Callable[..., AbstractAsyncContextManager[TableFeeds]]


@pytest.fixture
def table(tmp_path: Path, runtime_dir: Path) -> RealTable:
    """A table that does not serve yet."""
    folder = tmp_path / "T01"
    folder.mkdir()
    return RealTable(folder, runtime_dir)


@pytest.fixture
async def machine(table: RealTable) -> AsyncIterator[None]:
    """Its machine runs."""
    await table.machine.start()
    yield
    await table.machine.stop()


@pytest.fixture
def open_tables(table: RealTable, tmp_path: Path) -> Open:
    """Opens a console's tables over one database, again and again."""
    numbers = itertools.count()

    @asynccontextmanager
    async def open_(
        who: ClientIdentity | None = None, audit_s: float = 0.05
    ) -> AsyncIterator[TableFeeds]:
        engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
        writing = WorkerThread("writing")
        loop = asyncio.get_running_loop()
        with (
            patch.object(feed_sockets, "RETRY_INTERVAL_S", 0.1),
            patch.multiple(backfill, SETTLE_DELAY_S=0.02, AUDIT_DELAY_S=audit_s),
        ):
            async with TableFeeds(
                lambda line: who or table.observer(),
                Archive(engine),
                writing.run,
                lambda: int(loop.time() * 1000),
                lambda: f"id-{next(numbers)}",
            ) as tables:
                yield tables
        writing.close()
        engine.dispose()

    return open_


def archived(tmp_path: Path, table: str = "T01") -> list[msgspec.Raw]:
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    events = list(Archive(engine).events(table))
    engine.dispose()
    return [msgspec.Raw(msgspec.json.encode(event)) for event in events]


def complete(tables: TableFeeds, table: RealTable, tmp_path: Path) -> bool:
    """Whether nothing is missing, by the console's own word and in truth."""
    told = [msgspec.Raw(msgspec.json.encode(event)) for event in table.journal.public]
    return not tables.incomplete_tables and archived(tmp_path) == told


pytestmark = pytest.mark.usefixtures("machine")


async def test_the_last_state_is_shown_as_it_was_published_and_is_live(
    table: RealTable, open_tables: Open
) -> None:
    async with table.open() as line, open_tables() as tables:
        tables.add(line)
        assert tables.freshness("T01")[0] is Freshness.CONNECTING
        await until(lambda: tables.snapshot("T01").state)
        said = table.say()
        await until(lambda: tables.snapshot("T01").state == said)
        assert tables.snapshot("T01").body == msgspec.json.encode(said)
        assert tables.freshness("T01")[0] is Freshness.LIVE


async def test_changes_are_told_and_come_together_where_they_come_fast(
    table: RealTable, open_tables: Open
) -> None:
    async with table.open() as line, open_tables() as tables:
        told: list[str] = []
        undo = tables.on_change(told.append)
        tables.add(line)
        await until(lambda: tables.freshness("T01")[0] is Freshness.LIVE)
        told.clear()
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        for _ in range(200):
            last = table.say()
        await until(lambda: tables.snapshot("T01").state == last)
        most = 2 + (loop.time() - begun_s) / READ_INTERVAL_S
        assert 1 <= len(told) <= most
        undo()
        undo()
        told.clear()
        last = table.say()
        await until(lambda: tables.snapshot("T01").state == last)
        assert told == []


async def test_every_event_is_kept_as_it_came_and_told_once(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with table.open() as line, open_tables() as tables:
        told: list[int] = []
        tables.on_event(lambda event: told.append(event.n))
        tables.add(line)
        await until(lambda: tables.snapshot("T01").state)
        for number in range(30):
            if number % 4 == 0:
                table.journal.private()
            table.happens(match="M1")
        table.say()
        await until(lambda: complete(tables, table, tmp_path))
    assert sorted(told) == [event.n for event in table.journal.public]


async def test_what_nobody_told_is_asked_for_until_nothing_is_missing(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with table.open() as line, open_tables() as tables:
        told: list[int] = []
        tables.on_event(lambda event: told.append(event.n))
        for _ in range(10):  # before anybody heard
            table.happens()
        tables.add(line)
        await until(lambda: complete(tables, table, tmp_path))
        for number in range(40):  # every third one gets lost on the way
            table.happens((lambda event: None) if number % 3 == 0 else None)
        await until(lambda: complete(tables, table, tmp_path))
        last = table.say()
        await until(lambda: tables.snapshot("T01").state == last and not tables.incomplete_tables)
        table.happens(lambda event: None)  # and the last one, which only the state shows
        table.say()
        await until(lambda: complete(tables, table, tmp_path))
    assert sorted(told) == [event.n for event in table.journal.public]


async def test_a_console_that_starts_again_asks_behind_what_it_has(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with table.open() as line:
        async with open_tables() as tables:
            tables.add(line)
            for _ in range(12):
                table.happens()
            await until(lambda: complete(tables, table, tmp_path))
        for _ in range(12):
            table.happens()
        table.journal.asked.clear()
        async with open_tables() as tables:
            tables.add(line)
            await until(lambda: complete(tables, table, tmp_path))
        assert min(table.journal.asked) == 11


async def test_a_console_that_was_stopped_with_a_hole_fills_it_when_it_starts_again(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with table.open() as line:
        async with open_tables() as tables:
            tables.add(line)
            await until(lambda: tables.snapshot("T01").state and not tables.incomplete_tables)
            script, table.machine.script = table.machine.script, lambda message: []
            for number in range(9):
                table.happens((lambda event: None) if number in (0, 4) else None)
            await until(lambda: len(archived(tmp_path)) == 7)
        table.machine.script = script
        async with open_tables() as tables:
            tables.add(line)
            await until(lambda: complete(tables, table, tmp_path))


async def test_a_table_that_is_unplugged_is_silent_and_what_it_did_meanwhile_is_kept(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with open_tables(audit_s=3_600) as tables:
        async with table.open() as line:
            tables.add(line)
            await until(lambda: tables.freshness("T01")[0] is Freshness.LIVE)
            await until(lambda: not tables.incomplete_tables)
            table.happens()
        await until(lambda: tables.freshness("T01")[0] is Freshness.SILENT)
        shown = tables.snapshot("T01").state
        for _ in range(15):
            table.journal.happens()
        table.machine.state = table.state()
        async with table.open():
            await until(lambda: tables.freshness("T01")[0] is Freshness.LIVE)
            assert tables.snapshot("T01").state != shown
            await until(lambda: complete(tables, table, tmp_path))


async def test_a_key_that_is_not_admitted_is_said_so_until_it_is(
    table: RealTable, open_tables: Open
) -> None:
    public, secret = (key.decode() for key in zmq.curve_keypair())
    stranger = ClientIdentity("hall", public, secret)
    hall = Certificate(name="hall", role=Role.OBSERVER, curve=public, verify=bytes(32), seal=None)
    async with table.open() as line, open_tables(stranger) as tables:
        tables.add(line)
        await until(lambda: tables.freshness("T01")[0] is Freshness.KEY_REFUSED)
        enrol_client(table.folder, hall)
        await until(lambda: tables.freshness("T01")[0] is Freshness.LIVE)


async def test_a_table_with_another_key_is_said_so_and_not_shown(
    table: RealTable, open_tables: Open
) -> None:
    other, _ = zmq.curve_keypair()
    async with table.open() as line, open_tables() as tables:
        tables.add(msgspec.structs.replace(line, server_key=other.decode()))
        await until(lambda: tables.freshness("T01")[0] is Freshness.OTHER_KEY)
        assert tables.snapshot("T01").state is None
        tables.add(line)  # the right one, at set-up
        await until(lambda: tables.freshness("T01")[0] is Freshness.LIVE)


async def test_another_tables_word_is_counted_and_never_taken(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with table.open() as line, open_tables() as tables:
        tables.add(msgspec.structs.replace(line, id="T09"))
        await until(lambda: tables.rejections("T09").other_tables)
        table.happens()
        await until(lambda: tables.rejections("T09").other_tables > 1)
        assert tables.rejections("T09").other_table == "T01"
        assert tables.snapshot("T09").state is None
    assert archived(tmp_path) == archived(tmp_path, "T09") == []


async def test_a_table_that_is_taken_out_is_heard_no_more_and_may_come_again(
    table: RealTable, open_tables: Open
) -> None:
    async with table.open() as line, open_tables() as tables:
        tables.add(line)
        await until(lambda: tables.snapshot("T01").state)
        tables.remove("T01")
        assert tables.ids == ()
        with pytest.raises(KeyError):
            tables.snapshot("T01")
        table.say()
        tables.add(line)
        await until(lambda: tables.freshness("T01")[0] is Freshness.LIVE)


async def test_tables_stand_in_the_order_of_their_numbers_whichever_was_added_first(
    open_tables: Open,
) -> None:
    feed, commands = "tcp://127.0.0.1:1", "tcp://127.0.0.1:2"
    async with open_tables() as tables:
        for name in ("T10", "T2", "T1"):
            tables.add(ConfiguredTable(id=name, feed=feed, commands=commands, server_key="k" * 40))
        assert tables.ids == ("T1", "T2", "T10")


async def test_heads_that_the_table_signed_are_kept_and_others_counted(
    table: RealTable, open_tables: Open, tmp_path: Path
) -> None:
    async with table.open() as line, open_tables() as tables:
        tables.add(line)
        secret = read_sign_file(table.folder / KEYS_FOLDER / SIGN_FILE)
        good = signed_heads.sign_head(line.server_key, 4, bytes(32), secret)
        table.say(signed=good)
        table.say(signed=good)
        bad = signed_heads.sign_head(line.server_key, 5, bytes(32), bytes(32))
        table.say(signed=good)
        await until(lambda: tables.snapshot("T01").state)
        last = table.say(signed=bad)
        await until(lambda: tables.snapshot("T01").state == last)
        assert tables.rejections("T01").unsigned_heads == 1
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    assert [one.signed_head for one in Archive(engine).heads("T01")] == [good]
    engine.dispose()


async def test_an_address_that_is_none_is_refused_and_leaves_nothing(open_tables: Open) -> None:
    line = ConfiguredTable(id="T01", feed="nowhere", commands="tcp://x:2", server_key="0" * 40)
    async with open_tables() as tables:
        with pytest.raises(BadAddress):
            tables.add(line)
        assert tables.ids == ()


async def test_since_when_a_deal_is_due_and_not_begun_is_counted_until_it_begins(
    table: RealTable, open_tables: Open
) -> None:
    due = {"started": True, "phase": "cut", "suspended": None}

    def waits() -> None:
        own = {"table": "T01", "head": table.journal.head, "signed": None}
        table.seq += 1
        said = state({"phase": "empty"}, match=due, seq=table.seq, **own)
        table.machine.state = said
        table.machine.publish(said)

    async with open_tables() as tables, table.open() as line:
        tables.add(line)
        await until(lambda: tables.snapshot("T01").state is not None)
        assert tables.snapshot("T01").deal_due_since_ms is None
        waits()
        await until(lambda: tables.snapshot("T01").deal_due_since_ms is not None)
        first = tables.snapshot("T01")
        waits()
        await until(lambda: tables.snapshot("T01").state != first.state)
        assert tables.snapshot("T01").deal_due_since_ms == first.deal_due_since_ms
        table.say()
        await until(lambda: tables.snapshot("T01").deal_due_since_ms is None)


async def test_a_fault_with_one_state_keeps_nobody_from_what_else_was_told(
    table: RealTable, open_tables: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_tables() as tables, table.open() as line:
        tables.add(line)
        await until(lambda: tables.snapshot("T01").state is not None)
        with monkeypatch.context() as patch:
            patch.setattr(tables, "_accept_state", lambda *_: 1 // 0)
            table.say()
            table.happens()
            await until(lambda: complete(tables, table, tmp_path))
        last = table.say()
        await until(lambda: tables.snapshot("T01").state == last)


async def test_a_fault_with_one_message_leaves_none_behind_it_unread(
    table: RealTable, open_tables: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_tables() as tables, table.open() as line:
        tables.add(line)
        await until(lambda: tables.snapshot("T01").state is not None)
        failed: list[str] = []

        def fail(name: str, *_: bytes) -> None:
            failed.append(name)
            raise ZeroDivisionError

        with monkeypatch.context() as patch:
            patch.setattr(tables._sockets, "_on_message", fail)
            for _ in range(3):
                table.happens()
                table.say()
            await until(lambda: len(failed) == 6)
        table.happens()
        await until(lambda: complete(tables, table, tmp_path))


async def test_a_clock_that_is_set_makes_nothing_older_or_newer(
    table: RealTable, open_tables: Open
) -> None:
    async with open_tables() as tables, table.open() as line:
        tables.add(line)
        await until(lambda: tables.snapshot("T01").state is not None)
        before = tables.snapshot("T01").contact_times
        told: list[str] = []
        tables.on_change(told.append)
        tables.shift_times(3_600_000)
        after = tables.snapshot("T01").contact_times
        assert told == ["T01"]
        assert before.received_ms is not None
        assert after.received_ms == before.received_ms + 3_600_000
        assert after.link_since_ms == before.link_since_ms + 3_600_000
