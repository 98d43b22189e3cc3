"""A console behind TLS: sealed for whom its certificate is known, shut to whoever only knocks."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import msgspec
import pytest
from httpx import AsyncClient

from controller.config import ConfigError
from controller.console import connection_limits
from controller.console.console import RefereeConsole
from controller.console.routing import REQUEST_HEADER, SESSION_COOKIE
from controller.console.server import serve
from tests.console.certificates import Sealed, certificate
from tests.console.fake import PIN
from tests.console.web import listening, served, standing


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    """The certificate of a console on this computer."""
    return certificate(tmp_path_factory.mktemp("tls"), "hall")


@pytest.fixture
async def console(tmp_path: Path, sealed: Sealed) -> AsyncIterator[RefereeConsole]:
    """A console over scripted tables that has a certificate."""
    async with standing(tmp_path) as (console, _):
        with_tls(console, sealed.cert, sealed.key)
        yield console


def with_tls(console: RefereeConsole, cert: Path, key: Path) -> None:
    own = msgspec.structs.replace(console.config.console, tls_cert=cert, tls_key=key)
    console.config = msgspec.structs.replace(console.config, console=own)


def visiting(url: str, trusts: ssl.SSLContext) -> AsyncClient:
    return AsyncClient(base_url=url, headers={REQUEST_HEADER: "1"}, verify=trusts, timeout=None)


async def test_who_logs_in_gets_a_cookie_that_never_goes_out_unsealed(
    console: RefereeConsole, sealed: Sealed
) -> None:
    async with served(console) as url, visiting(url, sealed.trusted()) as client:
        assert url.startswith("https://127.0.0.1:")
        said = await client.post("/api/login", json={"name": "ref", "pin": PIN})
        assert said.status_code == 200
        (cookie,) = [one for one in client.cookies.jar if one.name == SESSION_COOKIE]
        assert cookie.secure
        for word in ("HttpOnly", "SameSite=strict", "Secure", "Path=/"):
            assert word in said.headers["set-cookie"]
        assert (await client.get("/api/me")).json()["name"] == "ref"
        async with listening(client, "/stream/hall") as events:
            assert (await events.next())[0] == "all"
        wish = {"id": "order-0001", "cmd": "hold", "args": {"reason": "smoke"}}
        assert (await client.post("/api/tables/T01/do", json=wish)).json()["reply"]["ok"]
        await client.post("/api/logout")
        assert SESSION_COOKIE not in client.cookies


async def test_a_code_to_scan_leads_to_the_sealed_address(
    console: RefereeConsole, sealed: Sealed
) -> None:
    async with served(console) as url, visiting(url, sealed.trusted()) as client:
        await client.post("/api/login", json={"name": "tech", "pin": PIN})
        drawn = (await client.post("/api/setup/qr", json={"code": "ABCDEFGHJK"})).json()
    assert drawn["address"] == f"{url}/invited#ABCDEFGHJK"


async def test_a_browser_that_does_not_know_the_certificate_says_nothing_to_it(
    console: RefereeConsole, tmp_path: Path
) -> None:
    other = certificate(tmp_path, "other")
    async with served(console) as url:
        for trusts in (ssl.create_default_context(), other.trusted()):
            async with visiting(url, trusts) as client:
                with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                    await client.post("/api/login", json={"name": "ref", "pin": PIN})


async def test_a_certificate_for_another_name_is_refused_by_the_browser(
    console: RefereeConsole, tmp_path: Path
) -> None:
    elsewhere = certificate(tmp_path, "elsewhere", names="console.elsewhere")
    with_tls(console, elsewhere.cert, elsewhere.key)
    async with served(console) as url, visiting(url, elsewhere.trusted()) as client:
        with pytest.raises(httpx.ConnectError, match="IP address mismatch"):
            await client.get("/login")


async def knock(url: str, said: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    where = httpx.URL(url)
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(said)
    await writer.drain()
    return reader, writer


async def left(reader: asyncio.StreamReader) -> bytes:
    """Return all that was said until the console hung up."""
    heard = b""
    with suppress(ConnectionResetError):
        while piece := await reader.read(4096):
            heard += piece
    return heard


async def test_who_speaks_plain_http_to_it_is_told_nothing(console: RefereeConsole) -> None:
    async with served(console) as url:
        reader, writer = await knock(url, b"GET /login HTTP/1.1\r\nHost: x\r\n\r\n")
        heard = await left(reader)
        writer.close()
    assert b"HTTP" not in heard
    assert b"<html" not in heard


async def test_who_knocks_and_leaves_frees_his_place(
    console: RefereeConsole, sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it waits for who stays and does not greet is in test_doors.py."""
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS_PER_ADDRESS", 3)
    monkeypatch.setattr(connection_limits, "limited_address", lambda host: "10.0.0.66")
    async with served(console) as url:
        held = [await knock(url) for _ in range(3)]
        more, writer = await knock(url)
        assert await left(more) == b""
        writer.close()
        for reader, writer in held:
            assert not reader.at_eof()
            writer.write_eof()
            assert await left(reader) == b""
            writer.close()
        async with visiting(url, sealed.trusted()) as client:
            assert (await client.get("/login")).status_code == 200


async def test_it_ends_at_once_though_somebody_knocks(
    console: RefereeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        connection_limits, "REQUEST_TIMEOUT_S", 3_600
    )  # no greeting may take so long
    async with served(console) as url:
        reader, writer = await knock(url)
        async with visiting(url, ssl.create_default_context()) as client:
            with pytest.raises(httpx.ConnectError):  # by then the first one was taken
                await client.get("/login")
    assert await left(reader) == b""
    writer.close()


async def test_what_cannot_seal_is_one_line(console: RefereeConsole, tmp_path: Path) -> None:
    mine, other = certificate(tmp_path, "mine"), certificate(tmp_path, "other")
    locked = certificate(tmp_path, "locked", password="secret words")
    for cert, key, said in (
        (mine.cert, other.key, "tls_key"),
        (mine.cert, tmp_path / "nothing.key", "tls_key"),
        (mine.key, mine.key, "tls_cert"),
        (locked.cert, locked.key, "has a password"),
    ):
        with_tls(console, cert, key)
        with pytest.raises(ConfigError, match=said) as raised:
            await serve(console, asyncio.Event(), lambda url: None)
        assert "\n" not in str(raised.value)
