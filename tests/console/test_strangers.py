"""Who has a browser and means harm: without a login, and with less of one than he would like."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from argon2 import PasswordHasher
from httpx import AsyncClient
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from controller.cli.console_keys import make_keys
from controller.console import doors, routing, sessions
from controller.console.app import all_routes
from controller.console.console import Console
from controller.console.people import FREE_GUESSES, NotAllowed, People, Person
from controller.console.routing import COOKIE, HEADER
from controller.console.sessions import Sessions
from controller.console.store.archive import StoreError, open_engine
from controller.messages import Role
from tests.console.fake import PIN, now
from tests.console.web import browser, logged_in, refused, served, standing

LI = Person(name="Li Na", role=Role.REFEREE)
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
def people(tmp_path: Path, hasher: Counting) -> Iterator[People]:
    """A console at which Li Na has a PIN."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    numbers = iter(range(1, 1 << 20))
    people = People(engine, lambda: 0, lambda size: next(numbers).to_bytes(size, "big"), hasher)
    people.accept(people.invite(LI), OLD)
    yield people
    engine.dispose()


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, _):
        yield console


# PINs and sessions.


def test_a_code_that_is_none_costs_no_hash(people: People, hasher: Counting) -> None:
    before = hasher.hashed
    with pytest.raises(NotAllowed, match="ask for a new one"):
        people.accept("ABCDEFGHJK", OLD)
    assert hasher.hashed == before


async def test_who_chooses_a_new_pin_ends_the_sessions_of_the_old_one(people: People) -> None:
    known = Sessions(people, now, lambda: 0)
    _, stolen = await known.log_in("Li Na", OLD)
    code = await known.invite(LI)
    assert await known.whose(stolen) == LI
    await known.accept(code, NEW)
    assert await known.whose(stolen) is None


@pytest.mark.timeout(300)
def test_made_up_names_make_nobody_forget_who_was_guessed(
    people: People, scale: Callable[[int], int]
) -> None:
    for _ in range(FREE_GUESSES):
        with pytest.raises(NotAllowed, match="wrong"):
            people.log_in("Li Na", WRONG)
    for number in range(scale(20_000)):
        with pytest.raises(NotAllowed):
            people.log_in(f"nobody {number}", WRONG)
    assert len(people._guesses) <= 1 + 16**3
    assert not any(name.startswith("nobody") for name in people._guesses)
    with pytest.raises(NotAllowed, match="wait"):
        people.log_in("Li Na", OLD)


async def test_who_guesses_leaves_room_for_others_to_log_in(people: People) -> None:
    may = asyncio.Event()

    async def slow(call: object) -> object:
        await may.wait()
        return call()  # type: ignore[operator]

    known = Sessions(people, slow, lambda: 0)  # type: ignore[arg-type]
    tries = [
        asyncio.ensure_future(known.log_in("Li Na", WRONG, "10.0.0.66"))
        for _ in range(sessions.MOST_CHECKING)
    ]
    own = asyncio.ensure_future(known.log_in("Li Na", OLD, "10.0.0.7"))
    await asyncio.sleep(0)
    may.set()
    said = [str(one) for one in await asyncio.gather(*tries, return_exceptions=True)]
    assert said.count("name or PIN is wrong") == sessions.MOST_OF_ONE
    assert (await own)[0] == LI


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
    "GET /api/tables/{id}/events": "people",
    "POST /api/tables/{id}/foresee": "referees",
    "POST /api/tables/{id}/leave": "staff",
    "GET /api/tables/{id}/lost_time": "referees",
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


async def test_every_route_lets_in_its_own_roles_and_no_other(console: Console) -> None:
    found: dict[str, set[str]] = {asked: set() for asked in WHO}
    async with served(console) as url:
        for name in sorted(MAY["everybody"]):
            async with AsyncClient(base_url=url, headers={HEADER: "1"}, timeout=20) as client:
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
async def test_where_he_came_from_is_one_word_of_an_address(console: Console, path: str) -> None:
    async with browser(console) as client:
        location = urlsplit((await client.get(path)).headers["location"])
    assert location.fragment == ""
    assert parse_qs(location.query) == {"next": [unquote(path)]}


@pytest.mark.parametrize("host", ["[", "a b", "x" * 5000, "evil.example:99999999", "::1]"])
async def test_a_host_that_is_none_breaks_nothing(console: Console, host: str) -> None:
    async with browser(console) as client:
        for path in ("/", "/table/T01"):
            assert (await client.get(path, headers={"Host": host})).status_code == 303
        said = {"name": "ref", "pin": PIN}
        answer = await client.post("/api/login", json=said, headers={"Host": host})
        assert answer.status_code == 200
        assert host not in answer.headers["set-cookie"]


async def test_the_keys_of_a_console_with_a_chinese_name_are_given_out(console: Console) -> None:
    folder = console.config.console.keys
    for file in folder.glob("*.key*"):
        file.unlink()
    make_keys(folder, "一号厅")
    async with logged_in(console, "tech") as client:
        answer = await client.get("/api/setup/keys/referee")
    assert answer.status_code == 200
    name = answer.headers["content-disposition"].partition("''")[2]
    assert unquote(name) == "一号厅-referee.key"


async def test_what_the_database_says_is_for_the_log_alone(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(token: str) -> Person | None:
        raise StoreError('connection to server at "10.0.0.5" failed for user "hall"')

    monkeypatch.setattr(console.sessions, "whose", failing)
    async with browser(console) as client:
        answer = await client.get("/api/me", headers={"Cookie": f"{COOKIE}=x"})
    assert refused(answer)[0] == 503
    assert "10.0.0.5" not in answer.text
    assert "hall" not in answer.text


async def test_a_body_that_does_not_end_is_given_up(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "PATIENCE_S", 0.05)

    async def drops() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(20)

    async with served(console) as url, AsyncClient(base_url=url, headers={HEADER: "1"}) as client:
        answer = await client.post("/api/login", content=drops())
    assert refused(answer)[0] == 408


# Connections.


@pytest.mark.parametrize(
    ("host", "is_counted"),
    [("10.0.0.7", True), ("fe80::1%eth0", True), ("127.0.0.1", False), ("::1", False)],
)
def test_this_computers_own_connections_are_not_counted(host: str, is_counted: bool) -> None:
    """A proxy would be one of them, and all tablets behind it one address."""
    assert doors.counted(host) == (host if is_counted else "")


async def _asked(url: str, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection and say something; whoever reads closes it."""
    where = httpx.URL(url)
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def test_one_address_has_so_many_connections_and_others_have_theirs(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = iter(["10.0.0.66"] * 5 + ["10.0.0.7"])
    known: dict[int, str] = {}

    def host(one: H11Protocol) -> str:
        return known.setdefault(id(one), next(hosts) if id(one) not in known else "")

    monkeypatch.setattr(doors, "MOST_OF_ONE", 3)
    monkeypatch.setattr(doors, "_host", host)
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


@pytest.mark.parametrize("first", [b"", b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n"])
async def test_who_asks_letter_by_letter_is_left(
    console: Console, monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    monkeypatch.setattr(doors, "HEAD_S", 0.3)
    async with served(console) as url:
        reader, writer = await _asked(url, first)

        async def letters() -> None:
            for letter in b"GET /login HTTP/1.1\r\nHost: " + b"x" * 1000:
                writer.write(bytes([letter]))
                await asyncio.sleep(0.02)

        sending = asyncio.ensure_future(letters())
        async with asyncio.timeout(3):
            while await reader.read(4096):
                pass
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()
