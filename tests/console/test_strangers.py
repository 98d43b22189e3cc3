"""Who has a browser and means harm: without a login, and with less of one than he would like."""

import asyncio
import threading  # noqa: TID251 - the thread that checks PINs is held up here
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from argon2 import PasswordHasher
from httpx import ASGITransport, AsyncClient
from nacl.utils import random as entropy
from sqlalchemy import select
from starlette.routing import Route

from controller.cli.console import make_console_keys
from controller.console import connection_limits
from controller.console.accounts import sessions
from controller.console.accounts.account_store import Account, Accounts, NotAllowed
from controller.console.accounts.login_throttle import (
    FREE_ATTEMPTS_PER_ADDRESS,
    FREE_ATTEMPTS_PER_NAME,
)
from controller.console.accounts.sessions import Sessions
from controller.console.console import MAX_ANONYMOUS_REQUESTS, RefereeConsole
from controller.console.console_config import load_console_config
from controller.console.rate_limits import StreamLimits, TokenBuckets
from controller.console.routing import (
    BODY_TIMEOUT_S,
    REQUEST_HEADER,
    SESSION_COOKIE,
    ConsoleRequest,
    route,
)
from controller.console.server import all_routes, make_app, open_console
from controller.console.store.database import StoreError, open_engine
from controller.console.store.database_schema import COMMAND_LOG
from controller.messages import Role
from tests.console.fake import PIN, now
from tests.console.web import browser, listening, logged_in, refused, served, standing
from tests.waiting import turn, until

LI = Account(name="Li Na", role=Role.REFEREE)
OLD, NEW, WRONG = "4711", "8822", "0000"


class Counting(PasswordHasher):
    """Counts what it is made to do."""

    hashed = 0

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.hashed += 1
        return super().hash(password, salt=salt)


@pytest.fixture
def hasher() -> Counting:
    """A hasher that is quick."""
    return Counting()


@pytest.fixture
def people(tmp_path: Path, hasher: Counting) -> Iterator[Accounts]:
    """A console at which Li Na has a PIN."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    numbers = iter(range(1, 1 << 20))
    people = Accounts(engine, lambda: 0, lambda size: next(numbers).to_bytes(size, "big"), hasher)
    people.accept_invitation(people.invite(LI), OLD)
    yield people
    engine.dispose()


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[RefereeConsole]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, _):
        yield console


# PINs and sessions.


def test_a_code_that_is_none_costs_no_hash(people: Accounts, hasher: Counting) -> None:
    before = hasher.hashed
    with pytest.raises(NotAllowed, match="ask for a new one"):
        people.accept_invitation("ABCDEFGHJK", OLD)
    assert hasher.hashed == before


async def test_who_chooses_a_new_pin_ends_the_sessions_of_the_old_one(people: Accounts) -> None:
    known = Sessions(people, now, lambda: 0)
    _, stolen = await known.log_in("Li Na", OLD)
    code = await known.invite(LI)
    assert await known.session_owner(stolen) == LI
    await known.accept_invitation(code, NEW)
    assert await known.session_owner(stolen) is None


def test_made_up_names_make_nobody_forget_who_was_guessed(
    people: Accounts, scale: Callable[[int], int]
) -> None:
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        with pytest.raises(NotAllowed, match="wrong"):
            people.log_in("Li Na", WRONG)
    for number in range(scale(20_000)):
        with pytest.raises(NotAllowed):
            people.log_in(f"nobody {number}", WRONG)
    counted = people._throttle._failures
    assert len(counted) <= 1 + 16**3
    assert not any("nobody " in name for _, name, _ in counted)
    with pytest.raises(NotAllowed, match="wait"):
        people.log_in("Li Na", OLD)


async def test_who_guesses_leaves_room_for_others_to_log_in(people: Accounts) -> None:
    may = asyncio.Event()

    async def slow(call: object) -> object:
        await may.wait()
        return call()  # type: ignore[operator]

    known = Sessions(people, slow, lambda: 0)  # type: ignore[arg-type]
    tries = [
        asyncio.ensure_future(known.log_in("Li Na", WRONG, "10.0.0.66"))
        for _ in range(sessions.MAX_PIN_CHECKS)
    ]
    own = asyncio.ensure_future(known.log_in("Li Na", OLD, "10.0.0.7"))
    await turn()
    may.set()
    said = [str(one) for one in await asyncio.gather(*tries, return_exceptions=True)]
    assert said.count("name or PIN is wrong") == sessions.MAX_PIN_CHECKS_PER_ADDRESS
    assert (await own)[0] == LI


async def test_who_waits_for_his_guesses_fills_nobodys_room(people: Accounts) -> None:
    known = Sessions(people, now, lambda: 0)
    hosts = [f"10.0.0.{number}" for number in range(60, 65)]
    for host in hosts:
        for number in range(FREE_ATTEMPTS_PER_ADDRESS):
            with pytest.raises(NotAllowed, match="wrong"):
                await known.log_in(f"somebody {number}", WRONG, host)
    may = asyncio.Event()

    async def slow(call: object) -> object:
        await may.wait()
        return call()  # type: ignore[operator]

    known = Sessions(people, now, lambda: 0, slow)  # type: ignore[arg-type]
    tries = [asyncio.ensure_future(known.log_in("Li Na", WRONG, host)) for host in hosts * 9]
    own = asyncio.ensure_future(known.log_in("Li Na", OLD, "10.0.0.7"))
    await turn()
    may.set()
    said = await asyncio.gather(*tries, return_exceptions=True)
    assert all("wait" in str(one) for one in said)
    assert (await own)[0] == LI


async def test_who_guesses_keeps_nobody_waiting_who_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "console.toml"
    path.write_text('[console]\nlisten = "127.0.0.1:0"\n')
    async with open_console(
        load_console_config(path), path, now_ms=lambda: 0, entropy=entropy
    ) as console:
        begun, may = threading.Event(), threading.Event()

        def checks(name: str, pin: str, host: str) -> None:
            begun.set()
            may.wait()
            raise NotAllowed("wrong", "有误")

        monkeypatch.setattr(console.sessions._accounts, "log_in", checks)
        tries = [
            asyncio.ensure_future(console.sessions.log_in("nobody", WRONG))
            for _ in range(sessions.MAX_PIN_CHECKS)
        ]
        try:
            await until(begun.is_set)
            assert await console.sessions.session_owner("x" * 64) is None
            assert not any(one.done() for one in tries)
        finally:
            may.set()
        await asyncio.gather(*tries, return_exceptions=True)


async def test_to_end_a_session_that_is_nobodys_makes_nobody_ask_anew(
    people: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Sessions(people, now, lambda: 0)
    _, token = await known.log_in("Li Na", OLD)
    assert await known.session_owner(token) == LI
    monkeypatch.setattr(people, "log_out", lambda token: 1 / 0)
    await known.log_out("made up")
    asked: list[str] = []
    monkeypatch.setattr(people, "session_owner", asked.append)
    assert await known.session_owner(token) == LI
    assert asked == []


async def test_who_was_let_go_is_not_let_in_by_what_was_read_before(people: Accounts) -> None:
    has_read, may = asyncio.Event(), asyncio.Event()

    async def late(call: Callable[[], object]) -> object:
        read = call()
        has_read.set()
        await may.wait()
        return read

    known = Sessions(people, late, lambda: 0, now)  # type: ignore[arg-type]
    _, token = await known.log_in("Li Na", OLD)
    before = asyncio.ensure_future(known.session_owner(token))
    await has_read.wait()
    await known.accept_invitation(people.invite(LI), NEW)
    behind = asyncio.ensure_future(known.session_owner(token))
    await turn()
    may.set()
    assert await behind is None
    assert await before == LI
    assert await known.session_owner(token) is None


# Roles.

MAY = {
    "everybody": {"", "obs", "t01", "tech", "ref", "chief"},
    "known": {"obs", "t01", "tech", "ref", "chief"},
    "people": {"obs", "tech", "ref", "chief"},
    "staff": {"tech", "ref", "chief"},
    "doers": {"t01", "tech", "ref", "chief"},
    "referees": {"ref", "chief"},
    "setters": {"tech", "chief"},
    "chief": {"chief"},
}
WHO = {
    "GET /": "people",
    "POST /api/accept": "everybody",
    "GET /api/areas": "people",
    "POST /api/acts/{id}/again": "referees",
    "POST /api/areas/{area}/{act}": "referees",
    "GET /api/commands": "known",
    "GET /api/draw/columns": "referees",
    "GET /api/draw/example.csv": "referees",
    "POST /api/draw/{area}": "referees",
    "GET /api/faults": "known",
    "GET /api/history": "people",
    "POST /api/judge": "people",
    "POST /api/login": "everybody",
    "POST /api/logout": "everybody",
    "GET /api/me": "known",
    "POST /api/me": "known",
    "DELETE /api/people": "setters",
    "GET /api/people": "setters",
    "POST /api/people": "setters",
    "GET /api/proof/rulebooks": "everybody",
    "POST /api/ring": "people",
    "GET /api/rulebooks/{profile}": "people",
    "GET /api/setup": "setters",
    "GET /api/setup/found": "setters",
    "GET /api/setup/keys/{role}": "setters",
    "POST /api/setup/qr": "setters",
    "DELETE /api/setup/tables": "setters",
    "POST /api/setup/tables": "setters",
    "GET /api/sheets/{match:path}": "people",
    "GET /api/tables/{id}/attempts/{match:path}": "people",
    "GET /api/tables/{id}/carry": "referees",
    "POST /api/tables/{id}/carry": "referees",
    "GET /api/tables/{id}/desk": "people",
    "POST /api/tables/{id}/do": "doers",
    "POST /api/tables/{id}/foresee": "referees",
    "POST /api/tables/{id}/leave": "staff",
    "GET /api/tables/{id}/lost_time": "referees",
    "POST /api/tables/{id}/orders/{order}/again": "staff",
    "GET /api/tables/{id}/proof/{attempt}": "everybody",
    "GET /api/tables/{id}/record/{match:path}": "people",
    "GET /api/tables/{id}/rulings": "referees",
    "GET /api/tables/{id}/sheet": "people",
    "GET /api/tables/{id}/sheet.csv": "people",
    "POST /api/tables/{id}/take": "staff",
    "GET /api/tables/{id}/told": "people",
    "GET /chief": "chief",
    "GET /display/{id}": "known",
    "GET /draw": "referees",
    "GET /history": "people",
    "GET /invited": "everybody",
    "GET /login": "everybody",
    "GET /proof/{table}/{attempt}": "everybody",
    "GET /qr.svg": "everybody",
    "GET /setup": "setters",
    "GET /sheets/{match:path}": "people",
    "GET /stream/display/{id}": "doers",
    "GET /stream/hall": "people",
    "GET /stream/table/{id}": "people",
    "GET /table/{id}": "people",
    "GET /table/{id}/rulings": "people",
    "GET /table/{id}/sheet": "people",
    "GET /wall": "people",
}
FILLED = {
    "{id}": "T01",
    "{area}": "A",
    "{act}": "hold",
    "{match:path}": "M1",
    "{order}": "order-0001",
    "{attempt}": "1",
    "{table}": "T01",
    "{profile}": "none",
    "{role}": "referee",
}


def test_every_route_says_here_for_whom_it_is() -> None:
    there = {
        f"{method} {route.path}"
        for route in all_routes()
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert there == WHO.keys()


async def test_every_route_lets_in_its_own_roles_and_no_other(console: RefereeConsole) -> None:
    found: dict[str, set[str]] = {asked: set() for asked in WHO}
    for name in sorted(MAY["everybody"]):
        async with browser(console) as client:
            if name:
                await client.post("/api/login", json={"name": name, "pin": PIN})
            for asked in sorted(WHO, key=lambda one: "logout" in one):
                method, path = asked.split(" ")
                for part, value in FILLED.items():
                    path = path.replace(part, value)
                async with client.stream(method, path) as answer:
                    if answer.status_code not in (303, 401, 403):
                        found[asked].add(name)
    assert found == {asked: MAY[who] for asked, who in WHO.items()}


# What a browser may send.


@pytest.mark.parametrize("path", ["/table/T01%26next=x", "/sheets/M%231", "/table/%0d%0aX:1"])
async def test_where_he_came_from_is_one_word_of_an_address(
    console: RefereeConsole, path: str
) -> None:
    async with browser(console) as client:
        location = urlsplit((await client.get(path)).headers["location"])
    assert location.fragment == ""
    assert parse_qs(location.query) == {"next": [unquote(path)]}


@pytest.mark.parametrize("host", ["[", "a b", "x" * 5000, "evil.example:99999999", "::1]"])
async def test_a_host_that_is_none_breaks_nothing(console: RefereeConsole, host: str) -> None:
    async with browser(console) as client:
        for path in ("/", "/table/T01"):
            assert (await client.get(path, headers={"Host": host})).status_code == 303
        said = {"name": "ref", "pin": PIN}
        answer = await client.post("/api/login", json=said, headers={"Host": host})
        assert answer.status_code == 200
        assert host not in answer.headers["set-cookie"]


async def test_the_keys_of_a_console_with_a_chinese_name_are_given_out(
    console: RefereeConsole,
) -> None:
    folder = console.config.console.keys
    for file in folder.glob("*.key*"):
        file.unlink()
    make_console_keys(folder, "一号厅")
    async with logged_in(console, "tech") as client:
        answer = await client.get("/api/setup/keys/referee")
    assert answer.status_code == 200
    name = answer.headers["content-disposition"].partition("''")[2]
    assert unquote(name) == "一号厅-referee.key"


async def test_what_the_database_says_is_for_the_log_alone(
    console: RefereeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(token: str) -> Account | None:
        raise StoreError('connection to server at "10.0.0.5" failed for user "hall"')

    monkeypatch.setattr(console.sessions, "session_owner", failing)
    async with browser(console) as client:
        answer = await client.get("/api/me", headers={"Cookie": f"{SESSION_COOKIE}=x"})
    assert refused(answer)[0] == 503
    assert "10.0.0.5" not in answer.text
    assert "hall" not in answer.text


async def test_an_order_that_no_table_takes_is_not_kept_either(console: RefereeConsole) -> None:
    said = {"id": "order-0001", "cmd": "call", "args": {"seat": "N", "reason": "x" * 17_000}}
    async with logged_in(console, "t01") as client:
        answer = await client.post("/api/tables/T01/do", json=said)
    assert refused(answer) == (413, "expected at most 16384 bytes")
    with console.engine.connect() as base:
        assert base.execute(select(COMMAND_LOG)).all() == []


async def test_nobody_keeps_the_hall_waiting_with_a_question_on_cards(
    console: RefereeConsole,
) -> None:
    play = {"cards": " ".join(["♠3"] * 1000)}
    async with logged_in(console, "obs") as client:
        wish = {"profile": "international-000", "level": "2", "play": play}
        answer = await client.post("/api/judge", json=wish)
        assert refused(answer)[0] == 400
        assert "1000" in refused(answer)[1]


@pytest.mark.parametrize(
    "path", ["/api/tables/%00/proof/1", "/qr.svg?text=/proof/%00/1", "/static/%00", "/table/%00"]
)
async def test_what_no_database_takes_is_not_there(console: RefereeConsole, path: str) -> None:
    async with browser(console) as client:
        assert refused(await client.get(path))[0] == 404


@pytest.mark.virtual
async def test_a_body_that_does_not_end_is_given_up(console: RefereeConsole) -> None:
    loop, never = asyncio.get_running_loop(), asyncio.Event()

    async def drops() -> AsyncIterator[bytes]:
        yield b"{"
        await never.wait()

    async with browser(console) as client:
        begun = loop.time()
        answer = await client.post("/api/login", content=drops())
    assert refused(answer)[0] == 408
    assert loop.time() - begun == BODY_TIMEOUT_S


async def test_an_upload_that_is_broken_off_is_no_fault_of_the_console(
    console: RefereeConsole, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        f"POST /api/login HTTP/1.1\r\nHost: x\r\n{REQUEST_HEADER}: 1\r\n"
        "Expect: 100-continue\r\nContent-Length: 99\r\n\r\n"
    )
    async with served(console) as url:
        reader, writer = await _asked(url, head.encode())
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"  # the body is waited for
        writer.write(b"{")
        writer.close()
        await writer.wait_closed()
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []


async def test_a_fault_of_its_own_says_nothing_and_is_kept_and_framed_nowhere(
    console: RefereeConsole,
) -> None:
    async def broken(asked: ConsoleRequest) -> None:
        raise ZeroDivisionError("of the vault at /srv/hall")

    app = make_app(console)
    app.router.routes.append(route("/broken", broken, roles=None))
    wire = ASGITransport(app=app, raise_app_exceptions=False)
    async with AsyncClient(transport=wire, base_url="http://console") as client:
        answer = await client.get("/broken")
    assert refused(answer) == (500, "the console failed: see its log")
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.virtual
async def test_strangers_who_ask_for_proofs_wait_for_each_other(
    console: RefereeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, most = 0, 0

    async def slow(call: Callable[[], object]) -> object:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.02)
        at_once -= 1
        return call()

    monkeypatch.setattr(console, "read_after_flush", slow)
    monkeypatch.setattr(console, "read", slow)
    asked = ["/api/tables/T01/proof/1", "/api/proof/rulebooks?hash=0", "/qr.svg?text=/proof/T01/1"]
    async with browser(console) as client:
        answers = await asyncio.gather(*(client.get(path) for path in asked * 4))
    assert {answer.status_code for answer in answers} == {200, 404}
    assert most == MAX_ANONYMOUS_REQUESTS


@pytest.mark.virtual
async def test_one_person_has_so_many_pages_open_and_the_oldest_ends(
    console: RefereeConsole,
) -> None:
    console.stream_limits = StreamLimits(per_person=2)
    async with (
        logged_in(console, "obs") as guest,
        logged_in(console, "ref") as referee,
        listening(referee, "/stream/hall") as others,
        listening(guest, "/stream/hall") as first,
    ):
        await others.next()
        await first.next()
        async with listening(guest, "/stream/table/T01") as second:
            await second.next()
            async with listening(guest, "/stream/hall") as third:
                await third.next()
                await first.end()
                await second.until("beat")
                await third.until("beat")
                await others.until("beat")
    assert console.stream_limits.stream_count == 0


# Connections.


@pytest.mark.parametrize(
    ("host", "is_counted"),
    [("10.0.0.7", True), ("fe80::1%eth0", True), ("127.0.0.1", False), ("::1", False)],
)
def test_this_computers_own_connections_are_not_counted(host: str, is_counted: bool) -> None:
    """A proxy would be one of them, and all tablets behind it one address."""
    assert connection_limits.limited_address(host) == (host if is_counted else "")


async def _asked(url: str, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection and say something; whoever reads closes it."""
    where = httpx.URL(url)
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


def test_who_has_waited_may_ask_again() -> None:
    pace = TokenBuckets(3, 2.0)
    assert [pace.allow("a", 10.0) for _ in range(5)] == [True, True, True, False, False]
    assert pace.allow("b", 10.0)
    assert [pace.allow("a", 10.5), pace.allow("a", 10.5)] == [True, False]
    assert [pace.allow("a", 99.0) for _ in range(4)] == [True, True, True, False]


async def test_one_address_has_so_many_connections_and_others_have_theirs(
    console: RefereeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = iter(["10.0.0.66"] * 5 + ["10.0.0.7"])
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS_PER_ADDRESS", 3)
    monkeypatch.setattr(connection_limits, "limited_address", lambda host: next(hosts))
    async with served(console) as url:
        line = b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n"
        heard, writers = [], []
        for _ in range(6):
            reader, writer = await _asked(url, line)
            writers.append(writer)
            try:
                heard.append((await reader.read(15))[:12])
            except ConnectionResetError:
                heard.append(b"")
        for writer in writers:
            writer.close()
    assert heard == [b"HTTP/1.1 200"] * 3 + [b""] * 2 + [b"HTTP/1.1 200"]
