"""First set-up: nothing is believed that was not compared, nothing needs a restart."""

import asyncio
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final, cast

import httpx
import msgspec
import pytest
from click import ClickException
from zeroconf import BadTypeInNameException

from controller.cli.console import make_console_keys, make_key_name
from controller.client.discovery import TableAnnouncement
from controller.console.accounts.account_store import INVITATION_MS, Account
from controller.console.console import BackgroundService, RefereeConsole
from controller.console.console_config import load_console_config, read_tables
from controller.console.freshness import Freshness
from controller.console.routing import REQUEST_HEADER
from controller.console.server import make_app, open_console
from controller.console.table_enrolment import TableDiscovery
from controller.keys.enrolment import admit_file
from controller.keys.table_keys import create_table_keys
from controller.messages import Role
from controller.roster import Roster, fingerprint, read_certificate
from tests.console.fake import PIN, Scripted, fake
from tests.console.real_table import RealTable
from tests.gateway.multicast import needs_multicast
from tests.waiting import turn, until

HOST: Final = "127.0.0.1"


class Network(TableDiscovery):
    """A network on which is heard what a test says."""

    def __init__(self, *heard: TableAnnouncement) -> None:
        super().__init__()
        self.heard = heard

    def list_found(self) -> tuple[TableAnnouncement, ...]:
        """Return it."""
        return self.heard


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The keys of a table that is to be taken up."""
    create_table_keys(tmp_path / "T20")
    return tmp_path / "T20" / "keys"


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """A port of this computer at which somebody answers."""

    async def answers(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(answers, HOST, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
def announced(own: Path, port: int) -> TableAnnouncement:
    """What that table says of itself."""
    public = read_certificate(own / "table.key")
    return TableAnnouncement(
        table="T20", key=public.curve, verify=public.verify.hex(),
        feed=port, commands=port + 1, addresses=("127.0.0.9", HOST),
    )  # fmt: skip


@pytest.fixture
def console(tmp_path: Path) -> Iterator[RefereeConsole]:
    """The fake console with its twelve tables, without a network to listen to."""
    folder = tmp_path / "console"
    folder.mkdir()
    there = fake(folder, 0, Scripted())
    there.services.append(Network())
    yield there
    there.engine.dispose()


@asynccontextmanager
async def browser(console: RefereeConsole, name: str = "tech") -> AsyncIterator[httpx.AsyncClient]:
    """Give somebody's browser, logged in."""
    wire = httpx.ASGITransport(make_app(console))
    async with httpx.AsyncClient(
        transport=wire, base_url="http://console.test", headers={REQUEST_HEADER: "1"}
    ) as client:
        await client.post("/api/login", json={"name": name, "pin": PIN})
        yield client


def hear(console: RefereeConsole, *heard: TableAnnouncement) -> None:
    (network,) = (one for one in console.services if isinstance(one, Network))
    network.heard = heard


def last_group(announced: TableAnnouncement) -> str:
    return announced.fingerprint.rpartition("-")[2]


async def handle(client: httpx.AsyncClient) -> str:
    return str((await client.get("/api/setup/found")).json()["found"][0]["handle"])


async def test_a_found_table_is_taken_up_at_the_address_that_answers_and_written_down(
    console: RefereeConsole, announced: TableAnnouncement
) -> None:
    hear(console, announced)
    async with browser(console) as client:
        wish = {"handle": await handle(client), "said": last_group(announced).upper(), "area": "B"}
        answer = await client.post("/api/setup/tables", json=wish)
        assert answer.status_code == 200, answer.text
        assert answer.json() | {"since_ms": 0} == {
            "id": "T20", "area": "B", "feed": f"tcp://{HOST}:{announced.feed}",
            "commands": f"tcp://{HOST}:{announced.commands}", "standing": "connecting",
            "fingerprint": announced.fingerprint, "since_ms": 0, "fixed": False, "hardware": None,
        }  # fmt: skip
        assert "T20" in console.tables.ids
        assert console.configured_table("T20").server_key == announced.key
        assert console.path is not None
        (written,) = read_tables(console.path.parent / "tables.toml")
        assert written == console.configured_table("T20")
        (found,) = (await client.get("/api/setup/found")).json()["found"]
        assert found["like"] == "here"


async def test_another_fingerprint_changes_nothing(
    console: RefereeConsole, announced: TableAnnouncement
) -> None:
    hear(console, announced)
    wrong = "0000" if last_group(announced) != "0000" else "0001"
    async with browser(console) as client:
        wish = {"handle": await handle(client), "said": wrong, "area": "A"}
        answer = await client.post("/api/setup/tables", json=wish)
    assert answer.status_code == 409
    assert "fingerprint" in answer.json()["error"]["en"]
    assert "指纹不符" in answer.json()["error"]["zh"]
    assert "T20" not in console.tables.ids
    assert console.path is not None
    assert not (console.path.parent / "tables.toml").exists()


@pytest.mark.parametrize("said", ["", "-", "????", "0123-4567-89ab-????"])
async def test_no_group_is_no_comparison(
    console: RefereeConsole, announced: TableAnnouncement, said: str
) -> None:
    hear(console, announced)
    async with browser(console) as client:
        wish = {"handle": await handle(client), "said": said, "area": "A"}
        assert (await client.post("/api/setup/tables", json=wish)).status_code == 409


async def test_the_browser_is_never_told_the_group_that_it_asks_for(
    console: RefereeConsole, announced: TableAnnouncement
) -> None:
    hear(console, announced)
    async with browser(console) as client:
        told = (await client.get("/api/setup/found")).text
    assert announced.fingerprint.rpartition("-")[0] in told
    assert announced.fingerprint not in told
    assert announced.key not in told
    assert announced.verify not in told


async def test_a_table_at_which_nobody_answers_is_not_taken_up(
    console: RefereeConsole, announced: TableAnnouncement
) -> None:
    hear(console, msgspec.structs.replace(announced, feed=1))
    async with browser(console) as client:
        wish = {"handle": await handle(client), "said": last_group(announced), "area": "A"}
        answer = await client.post("/api/setup/tables", json=wish)
    assert answer.status_code == 409
    assert "no answer from tcp://127.0.0.9:1" in answer.json()["error"]["en"]


async def test_a_table_that_is_gone_meanwhile_is_looked_for_again(
    console: RefereeConsole, announced: TableAnnouncement
) -> None:
    async with browser(console) as client:
        wish = {"handle": "T20:x", "said": last_group(announced), "area": "A"}
        answer = await client.post("/api/setup/tables", json=wish)
    assert answer.status_code == 409
    assert "search again" in answer.json()["error"]["en"]


async def test_a_known_name_with_another_key_or_address_is_told_as_such(
    console: RefereeConsole, announced: TableAnnouncement
) -> None:
    hear(console, announced)
    async with browser(console) as client:
        wish = {"handle": await handle(client), "said": last_group(announced), "area": "A"}
        await client.post("/api/setup/tables", json=wish)
        likes = []
        for other in (
            announced,
            msgspec.structs.replace(announced, addresses=("10.0.0.1",)),
            msgspec.structs.replace(announced, key="b" * 40),
            msgspec.structs.replace(announced, table="T21"),
        ):
            hear(console, other)
            likes.append((await client.get("/api/setup/found")).json()["found"][0]["like"])
    assert likes == ["here", "moved", "other_key", "new"]


async def by_hand(client: httpx.AsyncClient, own: Path, port: int, **more: Any) -> httpx.Response:
    public = read_certificate(own / "table.key")
    wish = {
        "id": "T20", "host": HOST, "feed": port, "commands": port, "area": "贵宾厅",
        "certificate": (own / "table.key").read_text(), "said": fingerprint(public),
    }  # fmt: skip
    return await client.post("/api/setup/tables", json=wish | more)


async def test_a_table_is_added_by_hand_with_its_public_certificate(
    console: RefereeConsole, own: Path, port: int
) -> None:
    async with browser(console) as client:
        answer = await by_hand(client, own, port)
        assert answer.status_code == 200, answer.text
    assert console.configured_table("T20").area == "贵宾厅"
    assert console.path is not None
    (written,) = read_tables(console.path.parent / "tables.toml")
    assert written.area == "贵宾厅"


async def test_a_secret_or_another_clients_key_is_not_taken_for_a_tables(
    console: RefereeConsole, own: Path, port: int
) -> None:
    async with browser(console) as client:
        for text in (
            (own / "table.key_secret").read_text(),
            (own.parent / "clients" / "referee.key").read_text(),
            "what is this",
        ):
            answer = await by_hand(client, own, port, certificate=text)
            assert answer.status_code == 400
            assert "key" in answer.json()["error"]["en"]
    assert "T20" not in console.tables.ids


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"id": "two words"}, "id"),
        ({"area": "a/b"}, "area"),
        ({"area": ""}, "area"),
        ({"host": "a host"}, "feed"),
        ({"host": ""}, "address"),
        ({"feed": 0}, "feed"),
    ],
)
async def test_what_is_filled_in_wrongly_is_named(
    console: RefereeConsole, own: Path, port: int, change: dict[str, Any], named: str
) -> None:
    async with browser(console) as client:
        answer = await by_hand(client, own, port, **change)
    assert answer.status_code == 400
    assert named in answer.json()["error"]["en"]


async def test_a_table_is_let_go_and_one_of_console_toml_is_not(
    console: RefereeConsole, own: Path, port: int
) -> None:
    async with browser(console) as client:
        await by_hand(client, own, port)
        wire = {"id": "T20"}
        assert (await client.request("DELETE", "/api/setup/tables", json=wire)).status_code == 200
        assert "T20" not in console.tables.ids
        fixed = await client.request("DELETE", "/api/setup/tables", json={"id": "T01"})
        assert (fixed.status_code, "console.toml" in fixed.json()["error"]["en"]) == (409, True)
        nobody = await client.request("DELETE", "/api/setup/tables", json={"id": "T99"})
        assert nobody.status_code == 404
    assert "T01" in console.tables.ids


@pytest.mark.parametrize("name", ["ref", "obs", "t01"])
async def test_set_up_is_the_technicians_and_the_chiefs(
    console: RefereeConsole, own: Path, port: int, name: str
) -> None:
    async with browser(console, name) as client:
        for path in ("/api/setup", "/api/setup/found", "/api/setup/keys/referee"):
            assert (await client.get(path)).status_code == 403
        assert (await by_hand(client, own, port)).status_code == 403
        assert (await client.post("/api/setup/qr", json={"code": "ABCDE"})).status_code == 403
        assert (await client.get("/setup")).status_code == 303


async def test_a_file_that_cannot_be_written_is_named_and_the_table_not_taken_up(
    console: RefereeConsole, own: Path, port: int
) -> None:
    assert console.path is not None
    (console.path.parent / "tables.toml").write_text("tables = 5")
    async with browser(console) as client:
        answer = await by_hand(client, own, port)
    assert answer.status_code == 409
    assert "tables.toml" in answer.json()["error"]["en"]
    assert "T20" not in console.tables.ids


# -- the console's own keys and invitations ----------------------------------------


def test_missing_keys_are_made_with_the_consoles_name_and_those_that_are_there_stay(
    tmp_path: Path,
) -> None:
    assert make_console_keys(tmp_path / "keys", "Hall 1") == list(Role)
    before = (tmp_path / "keys" / "chief.key_secret").read_text()
    (tmp_path / "keys" / "referee.key_secret").unlink()
    assert make_console_keys(tmp_path / "keys", "Hall 1") == [Role.REFEREE]
    assert (tmp_path / "keys" / "chief.key_secret").read_text() == before
    secret = (tmp_path / "keys" / "chief.key_secret").stat()
    assert stat.S_IMODE(secret.st_mode) == 0o600
    assert read_certificate(tmp_path / "keys" / "chief.key").name == "Hall-1-chief"


@pytest.mark.parametrize(
    ("console", "name"),
    [("Hall 1", "Hall-1-table"), ("演示 / Fake", "演示-Fake-table"), ("---", "console-table")],
)
def test_a_keys_name_can_be_a_file(console: str, name: str) -> None:
    assert make_key_name(console, Role.TABLE) == name
    assert len(make_key_name("x" * 200, Role.TECHNICIAN)) <= 40


def test_keys_that_cannot_be_made_are_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("no folder")
    with pytest.raises(ClickException, match="keys"):
        make_console_keys(tmp_path / "keys", "Hall 1")


async def test_the_certificates_to_download_are_those_that_a_table_admits(
    console: RefereeConsole, tmp_path: Path
) -> None:
    folder = console.config.console.keys
    for file in folder.glob("*.key*"):
        file.unlink()
    make_console_keys(folder, "Hall 1")
    create_table_keys(tmp_path / "table")
    async with browser(console) as client:
        keys = (await client.get("/api/setup")).json()["keys"]
        assert [one["role"] for one in keys] == [role.value for role in Role]
        for one in keys:
            answer = await client.get(f"/api/setup/keys/{one['role']}")
            assert one["file"] in answer.headers["content-disposition"]
            carried = tmp_path / one["file"]
            carried.write_bytes(answer.content)
            assert not read_certificate(carried).has_secrets
            assert fingerprint(read_certificate(carried)) == one["fingerprint"]
            admit_file(tmp_path / "table", carried)
    admitted = {client.name for client in Roster.load(tmp_path / "table").clients}
    assert {f"Hall-1-{role.value}" for role in Role} <= admitted


async def test_a_key_that_cannot_be_admitted_is_told_with_its_reason(
    console: RefereeConsole,
) -> None:
    folder = console.config.console.keys
    (folder / "chief.key_secret").unlink()
    async with browser(console) as client:
        (chief,) = (
            one for one in (await client.get("/api/setup")).json()["keys"] if one["role"] == "chief"
        )
        assert "chief.key_secret" in chief["why_not"]
        assert (await client.get("/api/setup/keys/chief")).status_code == 409
        assert (await client.get("/api/setup/keys/nobody")).status_code == 404


async def test_an_invitation_is_drawn_with_its_code_behind_the_hash(
    console: RefereeConsole,
) -> None:
    async with browser(console) as client:
        invited = await client.post("/api/people", json={"name": "Li Na", "role": "referee"})
        code, until_ms = invited.json()["code"], invited.json()["until_ms"]
        listed = (await client.get("/api/people")).json()
        (li,) = [one for one in listed["people"] if one["name"] == "Li Na"]
        assert (li["invited_until_ms"], li["has_pin"]) == (until_ms, False)
        assert INVITATION_MS - 60_000 < until_ms - listed["now_ms"] <= INVITATION_MS
        drawn = (await client.post("/api/setup/qr", json={"code": code})).json()
        assert drawn["address"] == f"http://console.test/invited#{code}"
        assert len(drawn["rows"]) == len(drawn["rows"][0]) > 20
        assert set("".join(drawn["rows"])) == {"0", "1"}
        assert (await client.post("/api/setup/qr", json={"code": "a b"})).status_code == 400
        accepted = await client.post("/api/accept", json={"code": code, "pin": "4711"})
        assert accepted.json()["name"] == "Li Na"
    async with browser(console) as client:
        listed = (await client.get("/api/people")).json()["people"]
        (li,) = [one for one in listed if one["name"] == "Li Na"]
        assert (li["invited_until_ms"], li["has_pin"]) == (None, True)


@pytest.mark.parametrize("host", ["x" * 300, "a b", "hall/../x", 'hall"', "evil:999999"])
async def test_what_names_no_host_is_drawn_for_nobody(console: RefereeConsole, host: str) -> None:
    async with browser(console) as client:
        wish = {"code": "ABCDEFGHJK"}
        answer = await client.post("/api/setup/qr", json=wish, headers={"Host": host})
    assert answer.status_code == 400
    assert "Host" in answer.json()["error"]["en"]


# -- its end ---------------------------------------------------------------------------


Ending = Callable[[], Awaitable[None]]


class _Breaks:
    """Something that runs, and fails at its end."""

    async def close(self) -> None:
        raise ZeroDivisionError


async def test_what_fails_at_the_end_keeps_nothing_else_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = fake(tmp_path)
    await console.start()
    closed: list[str] = []
    for name in ("table_pages", "hall", "dispatcher", "call_assignments", "sessions"):
        part: BackgroundService = getattr(console, name)

        async def close(name: str = name, end: Ending = part.close) -> None:
            closed.append(name)
            await end()

        monkeypatch.setattr(part, "close", close)
    console.services.append(_Breaks())
    with pytest.raises(ZeroDivisionError):
        await console.close()
    assert closed == ["table_pages", "hall", "dispatcher", "sessions", "call_assignments"]
    console.engine.dispose()


class _Network:
    """What listens on the network; it leaves when it is told to, and not well."""

    def __init__(self) -> None:
        self.left = 0
        self.may, self.has_left = asyncio.Event(), asyncio.Event()

    async def async_cancel(self) -> None:
        raise BadTypeInNameException

    async def async_close(self) -> None:
        await self.may.wait()
        self.left += 1
        self.has_left.set()
        raise BadTypeInNameException


async def test_listening_that_does_not_end_well_ends_and_is_waited_for_each_time() -> None:
    finder, networks = TableDiscovery(), [_Network(), _Network()]
    for network in networks:
        finder._zeroconf, finder._browser = cast("Any", network), cast("Any", network)
        finder._stop()
    closing = asyncio.ensure_future(finder.close())
    networks[1].may.set()
    await networks[1].has_left.wait()
    for _ in range(20):  # all that can continue without the other one does
        await turn()
    assert not closing.done()
    networks[0].may.set()
    await closing
    assert [network.left for network in networks] == [1, 1]


# -- all of it, with a real table ------------------------------------------------------


@pytest.mark.slow
@needs_multicast
async def test_a_table_is_found_compared_taken_up_admits_the_console_and_is_heard(
    tmp_path: Path, runtime_dir: Path
) -> None:
    (tmp_path / "T01").mkdir()
    table = RealTable(tmp_path / "T01", runtime_dir)
    gateway = msgspec.structs.replace(table.config.gateway, announce=True)
    table.config = msgspec.structs.replace(table.config, gateway=gateway)
    keys = tmp_path / "keys"
    make_console_keys(keys, "Hall 1")
    path = tmp_path / "console.toml"
    path.write_text(f'[console]\nstore = "sqlite:///{tmp_path}/console.db"\n')
    loop = asyncio.get_running_loop()
    await table.machine.start()
    try:
        async with (
            table.open(),
            open_console(
                load_console_config(path),
                path,
                now_ms=lambda: int(loop.time() * 1000),
                entropy=_entropy,
            ) as console,
        ):
            finder = TableDiscovery([HOST])
            console.services.append(finder)
            try:
                await _set_up(console, table, keys, finder)
            finally:
                await finder.close()
    finally:
        await table.machine.stop()
    (again,) = load_console_config(path).tables
    assert again.id == "T01"


async def _set_up(
    console: RefereeConsole, table: RealTable, keys: Path, finder: TableDiscovery
) -> None:
    tech = Account(name="tech", role=Role.TECHNICIAN)
    code = await console.sessions.invite(tech)
    await console.sessions.accept_invitation(code, PIN)
    own = read_certificate(table.folder / "keys" / "table.key")
    async with browser(console) as client:
        await until(finder.list_found)
        (one,) = (await client.get("/api/setup/found")).json()["found"]
        wish = {"handle": one["handle"], "said": fingerprint(own)[-4:], "area": "A"}
        answer = await client.post("/api/setup/tables", json=wish)
        assert answer.status_code == 200, answer.text

        await _stands(console, client, Freshness.KEY_REFUSED, table)
        admit_file(table.folder, keys / "observer.key")
        await _stands(console, client, Freshness.LIVE, table)
    state = console.tables.snapshot("T01").state
    assert state is not None
    assert state.table == "T01"


async def _stands(
    console: RefereeConsole, client: httpx.AsyncClient, wanted: Freshness, table: RealTable
) -> None:
    """Return once the one table is shown like this; it publishes its state meanwhile."""

    def stands() -> bool:
        table.say()
        return console.tables.snapshot("T01").freshness(console.now_ms())[0] is wanted

    await until(stands)
    (told,) = (await client.get("/api/setup")).json()["tables"]
    assert told["standing"] == wanted


def _entropy(size: int) -> bytes:
    return next(_NUMBERS).to_bytes(size, "big")


_NUMBERS: Final = count(1)
