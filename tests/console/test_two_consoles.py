"""Two consoles at one PostgreSQL: what both do at once is done one after the other."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count

import pytest
from sqlalchemy import Engine, func, insert, select, text, update

from controller.console.accounts.account_store import SESSION_MS, Account, Accounts, NotAllowed
from controller.console.commands.command_log import CommandLog, LoggedCommand
from controller.console.store.database import StoreError, WorkerThread, open_engine
from controller.console.store.database_schema import ACCOUNTS, COMMAND_LOG, SESSIONS
from controller.messages import ClientCommand, Role
from tests.console.fake import QUICK
from tests.console.postgres import Cluster, new_database
from tests.waiting import until

pytestmark = pytest.mark.postgres

_numbers = count(1)
NOW_MS = 1_000_000
LI = Account(name="Li Na", role=Role.REFEREE, language="zh")


@pytest.fixture
async def engines(postgres: Cluster) -> AsyncIterator[tuple[Engine, Engine]]:
    """The connections of two consoles to one database."""
    url = new_database(postgres, f"two{next(_numbers)}")
    both = open_engine(url), open_engine(url)
    yield both
    for engine in both:
        engine.dispose()


@pytest.fixture
async def other() -> AsyncIterator[WorkerThread]:
    """The thread of the other console's store."""
    thread = WorkerThread("other")
    yield thread
    thread.close()


def people_of(engine: Engine) -> Accounts:
    """Return a console's people; each console has tokens of its own."""
    console = next(_numbers) << 64
    return Accounts(
        engine, lambda: NOW_MS, lambda size: (console + next(_numbers)).to_bytes(size, "big"), QUICK
    )


async def meanwhile(
    engine: Engine, other: WorkerThread, call: Callable[[], object]
) -> "asyncio.Future[object]":
    """Begin a call that has to wait for another transaction; return it once it waits."""
    calling = asyncio.ensure_future(other.run(call))
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )

    def waits() -> bool:
        with engine.connect() as base:
            return bool(base.scalar(waiting))

    await until(lambda: calling.done() or waits())
    assert not calling.done(), "it did not wait"
    return calling


def sessions(engine: Engine) -> int:
    with engine.connect() as base:
        return base.scalar(select(func.count()).select_from(SESSIONS)) or 0


async def test_who_is_removed_at_one_console_is_not_let_in_by_the_other_at_that_moment(
    engines: tuple[Engine, Engine], other: WorkerThread
) -> None:
    here, there = engines
    people_of(here).accept_invitation(people_of(here).invite(LI), "4711")
    with here.begin() as removing:
        removing.execute(update(ACCOUNTS).where(ACCOUNTS.c.name == LI.name).values(active=False))
        entering = await meanwhile(here, other, lambda: people_of(there).start_session(LI.name))
    with pytest.raises(NotAllowed):
        await entering
    assert sessions(here) == 0


async def test_who_is_let_in_at_one_console_while_the_other_removes_him_is_out_again(
    engines: tuple[Engine, Engine], other: WorkerThread
) -> None:
    here, there = engines
    people_of(here).accept_invitation(people_of(here).invite(LI), "4711")
    with here.begin() as entering:
        he = select(ACCOUNTS.c.pin).where(ACCOUNTS.c.name == LI.name).with_for_update()
        entering.execute(he)
        removing = await meanwhile(here, other, lambda: people_of(there).remove(LI.name))
        session = {"token": "t", "person": LI.name, "until_ms": NOW_MS + SESSION_MS}
        entering.execute(insert(SESSIONS).values(session))
    assert await removing
    assert sessions(here) == 0


async def test_an_id_that_two_consoles_give_at_once_is_one_order(
    engines: tuple[Engine, Engine], other: WorkerThread
) -> None:
    here, there = engines
    given = LoggedCommand(
        table="T01",
        person="Li Na",
        role=Role.REFEREE,
        at_ms=NOW_MS,
        command=ClientCommand(id="order-0001", cmd="release"),
    )
    with here.begin() as first:
        said = {"person": given.person, "role": "referee", "at_ms": NOW_MS, "command": b"{}"}
        first.execute(insert(COMMAND_LOG).values(id=given.command.id, table_id="T01", **said))
        second = await meanwhile(here, other, lambda: CommandLog(there).write(given))
    with pytest.raises(StoreError):  # so that nothing is sent a second time
        await second
