"""While the console's database takes nothing down: it is said, and nothing else stands still."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from controller.console.accounts import sessions as leaving
from controller.console.accounts.account_store import Account
from controller.console.accounts.sessions import (
    CACHE_MS,
    LOOKUP_TIMEOUT_S,
    RETRY_INTERVAL_S,
    Sessions,
)
from controller.console.commands.command_log import CommandLog
from controller.console.console import RefereeConsole
from controller.console.store.archive import Archive
from controller.console.store.database import StoreError
from controller.console.table_snapshots import Result, StoreStatus
from controller.messages import Role
from tests.console.fake import Scripted
from tests.console.web import listening, logged_in, refused, standing

AWAY = StoreStatus(away_since_ms=1_800_000_000_000, why="no such disk", waiting=7, refused=2)


pytestmark = pytest.mark.virtual

Hall = tuple[RefereeConsole, Scripted]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    """A console, and its tables."""
    async with standing(tmp_path) as both:
        yield both


def away(*_: object, **__: object) -> Any:
    raise StoreError("no such disk")


async def away_now(call: Callable[[], Result], /) -> Result:
    raise StoreError("no such disk")


@pytest.mark.parametrize("name", ["chief", "tech", "ref"])
async def test_whoever_orders_is_told_since_when_and_that_it_is_back(hall: Hall, name: str) -> None:
    console, tables = hall
    async with logged_in(console, name) as client, listening(client, "/stream/hall") as events:
        first = await events.until("all")
        assert first.get("store") is None
        tables.store = AWAY
        said = await events.part("store")
        assert said == {"since_ms": AWAY.away_since_ms, "waiting": 7, "refused": 2}
        tables.store = StoreStatus()
        await events.part("store", lambda store: store is None)


async def test_who_only_looks_on_is_not_told(hall: Hall) -> None:
    console, tables = hall
    tables.store = AWAY
    async with logged_in(console, "obs") as client, listening(client, "/stream/hall") as events:
        assert "store" not in await events.until("all")


async def test_what_could_not_be_written_down_was_not_sent_and_is_shown_so(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    monkeypatch.setattr(CommandLog, "write", away)
    async with logged_in(console, "ref") as client:
        said = {"id": "order-0001", "cmd": "hold", "args": {"reason": "smoke"}}
        answer = await client.post("/api/tables/T01/do", json=said)
    assert refused(answer)[0] == 503
    assert "nothing was sent" in refused(answer)[1]


@pytest.mark.parametrize("path", ["/", "/wall", "/chief", "/api/me"])
async def test_whoever_is_not_known_yet_is_told_that_the_database_cannot_be_used(
    hall: Hall, path: str
) -> None:
    console, _ = hall
    async with logged_in(console, "chief") as client:
        console.sessions._clear_cache()
        console.sessions._run_blocking = away_now
        answer = await client.get(path)
    assert refused(answer) == (503, "the console's database cannot be used: see its log")


async def test_a_table_page_reads_again_what_could_not_be_read(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    async with logged_in(console, "ref") as client:
        with monkeypatch.context() as patch:
            for where, call in ((CommandLog, "newest"), (Archive, "newest")):
                patch.setattr(where, call, away)
            async with listening(client, "/stream/table/T01") as events:
                assert await events.part("told", lambda told: told == []) == []
                assert "orders" not in events.parts
                patch.undo()
                await events.part("told")
                assert await events.part("orders", lambda orders: orders == []) == []


# Who is logged in stays so.


class Slow:
    """A database that answers when it is told to. `fails`: not at all."""

    def __init__(self) -> None:
        self.asked = 0
        self.takes_s = 0.0
        self.fails = False

    async def __call__(self, call: Callable[[], Result], /) -> Result:
        self.asked += 1
        await asyncio.sleep(self.takes_s)
        if self.fails:
            raise StoreError("no such disk")
        return call()


class Known:
    """People of whom one is there until he is let go, or goes."""

    def __init__(self) -> None:
        self.person: Account | None = Account(name="Chen", role=Role.CHIEF)

    def session_owner(self, token: str) -> Account | None:
        return self.person if token == "his" else None

    def log_out(self, token: str) -> None:
        assert token == "his"
        self.person = None


@pytest.fixture
def slow() -> Slow:
    """A database that answers at once, at first."""
    return Slow()


@pytest.fixture
def known() -> Known:
    """One person."""
    return Known()


@pytest.fixture
def sessions(slow: Slow, known: Known) -> Sessions:
    """Who is logged in there."""
    people: Any = known
    return Sessions(people, slow, lambda: int(asyncio.get_running_loop().time() * 1000))


async def test_who_is_known_looks_on_while_the_database_is_away_or_hangs(
    sessions: Sessions, slow: Slow, known: Known
) -> None:
    chief = known.person
    assert await sessions.session_owner("his") == chief
    slow.fails = True
    await asyncio.sleep(CACHE_MS / 1000)
    assert await sessions.session_owner("his") == chief
    slow.takes_s = 600.0
    before, asked = asyncio.get_running_loop().time(), slow.asked
    for _ in range(50):
        assert await sessions.session_owner("his") == chief
    assert asyncio.get_running_loop().time() - before <= 50 * LOOKUP_TIMEOUT_S
    assert slow.asked == asked + 1  # they wait for one answer, and fill no queue
    with pytest.raises(StoreError):
        await sessions.session_owner("hers")


async def test_who_was_let_go_is_out_as_soon_as_the_database_says_so(
    sessions: Sessions, slow: Slow, known: Known
) -> None:
    assert await sessions.session_owner("his") is not None
    known.person, slow.takes_s = None, 3 * LOOKUP_TIMEOUT_S
    await asyncio.sleep(CACHE_MS / 1000)
    assert await sessions.session_owner("his") is not None
    await asyncio.sleep(3 * LOOKUP_TIMEOUT_S)
    assert await sessions.session_owner("his") is None


@pytest.mark.parametrize("is_known", [True, False], ids=["was asked for before", "was not"])
async def test_who_logs_out_while_the_database_is_away_is_out_here_at_once_and_later_there(
    sessions: Sessions, slow: Slow, known: Known, is_known: bool
) -> None:
    if is_known:
        await sessions.session_owner("his")
    slow.fails = True
    await asyncio.wait_for(sessions.log_out("his"), LOOKUP_TIMEOUT_S)
    assert await sessions.session_owner("his") is None
    await asyncio.sleep(60)
    assert known.person is not None
    assert await sessions.session_owner("his") is None
    slow.fails = False
    await asyncio.sleep(RETRY_INTERVAL_S)
    assert known.person is None
    assert await sessions.session_owner("his") is None
    asked = slow.asked
    await asyncio.sleep(60)
    assert slow.asked == asked  # there is nothing more to end
    await sessions.close()


async def test_who_logs_out_of_a_database_that_hangs_does_not_wait_for_it(
    sessions: Sessions, slow: Slow, known: Known
) -> None:
    await sessions.session_owner("his")
    slow.takes_s = 3 * LOOKUP_TIMEOUT_S
    await asyncio.wait_for(sessions.log_out("his"), 2 * LOOKUP_TIMEOUT_S)
    assert await sessions.session_owner("his") is None
    await asyncio.sleep(3 * LOOKUP_TIMEOUT_S)
    assert known.person is None
    await sessions.close()


async def test_who_logged_out_is_out_in_a_database_that_is_back_when_the_console_ends(
    sessions: Sessions, slow: Slow, known: Known
) -> None:
    await sessions.session_owner("his")
    slow.fails = True
    await sessions.log_out("his")
    slow.fails = False
    await sessions.close()
    assert known.person is None


async def test_tokens_that_somebody_makes_up_meanwhile_fill_no_more_than_a_room(
    slow: Slow, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "MAX_PENDING_LOGOUTS", 3)
    slow.fails = True
    for n in range(20):
        await sessions.log_out(f"made-up-{n}")
    assert sum(f"made-up-{n}" in sessions._pending_logouts for n in range(20)) == 3


async def test_a_browser_loses_its_cookie_although_the_database_is_away(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, _ = hall
    async with logged_in(console, "chief") as client:
        console.sessions._clear_cache()
        for run in (console.sessions, console.sessions._pending_logouts):
            monkeypatch.setattr(run, "_run_blocking", away_now)
        answer = await client.post("/api/logout")
        assert answer.status_code == 200
        assert not client.cookies
