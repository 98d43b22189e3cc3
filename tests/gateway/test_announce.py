"""A table says on the network that it is there, and a console hears it: two real zeroconf ends."""

import asyncio
import builtins
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog
from zeroconf import IPVersion
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from controller.client.discovery import (
    SERVICE_TYPE,
    BadAnnouncement,
    Endpoints,
    TableAnnouncement,
    parse_service,
    service_fields,
    table_fingerprint,
)
from controller.config import TableConfig, load_table
from controller.console.table_enrolment import TableDiscovery
from controller.gateway.announcement import announce
from controller.gateway.gateway import open_gateway
from controller.keys.table_keys import create_table_keys
from controller.roster import fingerprint, read_certificate
from controller.service.wall_clock import read_wall_clock
from tests.gateway.multicast import needs_multicast
from tests.waiting import turn, until

LOOPBACK = ["127.0.0.1"]
SOMEWHERE = Endpoints(
    table="T01", feed="tcp://127.0.0.1:1", commands="tcp://127.0.0.1:2", server_key=""
)
ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def finder() -> AsyncIterator[TableDiscovery]:
    there = TableDiscovery(LOOPBACK)
    try:
        yield there
    finally:
        await there.close()


def by_fingerprint(finder: TableDiscovery) -> dict[str, TableAnnouncement]:
    """Return what `finder` has found. The network may hold tables of other tests, too."""
    return {one.fingerprint: one for one in finder.list_found()}


def announcing(config: TableConfig) -> TableConfig:
    gateway = msgspec.structs.replace(config.gateway, announce=True)
    return msgspec.structs.replace(config, gateway=gateway)


@pytest.mark.slow
@needs_multicast
async def test_a_table_that_announces_itself_is_found_with_its_keys_and_gone_with_it(
    config: TableConfig, state_dir: Path
) -> None:
    own = read_certificate(state_dir / "keys" / "table.key")
    async with finder() as console:
        async with open_gateway(announcing(config), read_wall_clock) as endpoints:
            await until(lambda: fingerprint(own) in by_fingerprint(console))
            found = by_fingerprint(console)[fingerprint(own)]
            assert found.table == "T01"
            assert found.key == own.curve == endpoints.server_key
            assert bytes.fromhex(found.verify) == own.verify
            assert found.addresses == ("127.0.0.1",)
            assert endpoints.feed == f"tcp://127.0.0.1:{found.feed}"
            assert endpoints.commands == f"tcp://127.0.0.1:{found.commands}"
        await until(lambda: fingerprint(own) not in by_fingerprint(console))


@pytest.mark.slow
@needs_multicast
async def test_two_machines_that_say_they_are_one_table_are_both_found(
    config: TableConfig, tmp_path: Path
) -> None:
    create_table_keys(tmp_path / "other")
    gateway = msgspec.structs.replace(config.gateway, dir=tmp_path / "other")
    other = msgspec.structs.replace(config, gateway=gateway)
    marks = {
        fingerprint(read_certificate(one.gateway_dir / "keys" / "table.key"))
        for one in (config, other)
    }
    tasks = [asyncio.create_task(announce(one, SOMEWHERE)) for one in (config, other)]
    async with finder() as console:
        await until(lambda: marks <= by_fingerprint(console).keys())
        assert {by_fingerprint(console)[mark].table for mark in marks} == {"T01"}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.slow
@needs_multicast
async def test_what_is_no_table_is_not_found(config: TableConfig, state_dir: Path) -> None:
    own = read_certificate(state_dir / "keys" / "table.key")
    liar = service_fields("T02", own, 5556, 5557) | {"fingerprint": "0000-0000-0000-0000"}
    network = AsyncZeroconf(LOOPBACK, ip_version=IPVersion.V4Only)
    info = AsyncServiceInfo(
        SERVICE_TYPE, f"liar.{SERVICE_TYPE}", port=5556, properties=liar, server="liar.local.",
        addresses=[socket.inet_aton("127.0.0.1")],
    )  # fmt: skip
    await (await network.async_register_service(info))
    try:
        with structlog.testing.capture_logs() as lines:
            async with finder() as console, open_gateway(announcing(config), read_wall_clock):
                await until(lambda: fingerprint(own) in by_fingerprint(console))
                await until(
                    lambda: [line for line in lines if "invalid announcement" in line["event"]]
                )
                assert "T02" not in [one.table for one in console.list_found()]
    finally:
        await network.async_unregister_all_services()
        await network.async_close()


async def test_a_table_says_nothing_unless_it_is_told_to(
    config: TableConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[object] = []
    monkeypatch.setattr("controller.gateway.announcement.announce", said.append)
    async with open_gateway(config, read_wall_clock):
        await turn()
    assert said == []
    assert not load_table(ROOT / "deploy" / "table.toml").gateway.announce


async def test_without_the_library_one_line_says_so_and_the_table_goes_on(
    config: TableConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = builtins.__import__

    def importing(name: str, *more: Any) -> Any:
        if name == "controller.gateway.announcement":
            raise ModuleNotFoundError("no zeroconf", name="zeroconf")
        return really(name, *more)

    monkeypatch.setattr(builtins, "__import__", importing)
    with structlog.testing.capture_logs() as lines:
        async with open_gateway(announcing(config), read_wall_clock):
            (line,) = await until(lambda: [line for line in lines if "announced" in line["event"]])
    assert line["library"] == "zeroconf"
    assert "pip install" in line["mend"]


@pytest.mark.virtual
async def test_a_network_that_cannot_be_had_is_told_once_and_tried_again(
    config: TableConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, tried = 0, asyncio.Event()

    def no_network(*_: Any, **__: Any) -> None:
        nonlocal tries
        tries += 1
        if tries == 3:
            tried.set()
        raise OSError(19, "No such device")

    monkeypatch.setattr("controller.gateway.announcement.AsyncZeroconf", no_network)
    with structlog.testing.capture_logs() as lines:
        task = asyncio.create_task(announce(config, SOMEWHERE))
        await tried.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [line["why"] for line in lines] == ["No such device"]


@pytest.fixture
def said(state_dir: Path) -> dict[str, str]:
    return service_fields("T01", read_certificate(state_dir / "keys" / "table.key"), 5556, 5557)


def as_heard(said: dict[str, str]) -> dict[bytes, bytes | None]:
    return {name.encode(): value.encode() for name, value in said.items()}


def test_what_a_table_says_is_what_a_console_hears(said: dict[str, str]) -> None:
    found = parse_service(as_heard(said), ["192.168.1.11", "fe80::1"])
    assert (found.table, found.feed, found.commands) == ("T01", 5556, 5557)
    assert found.addresses == ("192.168.1.11",)
    assert found.fingerprint == said["fingerprint"]


def test_nothing_secret_is_said(said: dict[str, str], state_dir: Path) -> None:
    secret = (state_dir / "keys" / "table.key_secret").read_text() + (
        state_dir / "keys" / "table.sign"
    ).read_text()
    public = (state_dir / "keys" / "table.key").read_text()
    for value in said.values():
        assert len(value) < 8 or value in public or value not in secret
    assert all(len(f"{name}={value}") < 256 for name, value in said.items())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"v": "2"}, "version 2"),
        ({"key": "x"}, "40 characters"),
        ({"key": 'a" \n' * 10}, "40 characters"),
        ({"verify": "zz"}, "64 lower-case hex"),
        ({"feed": "0"}, "expected a port"),
        ({"commands": "70000"}, "expected a port"),
        ({"feed": "５"}, "ASCII"),
        ({"fingerprint": "0000-0000-0000-0000"}, "not that of its keys"),
        ({"verify": "00" * 32}, "not that of its keys"),
        ({"table": "T01 (compared)"}, "none that a table can have"),
        ({"table": "<b>T01</b>"}, "none that a table can have"),
        ({"table": "T01\n"}, "none that a table can have"),
        ({"table": "T" * 25}, "none that a table can have"),
    ],
)
def test_what_is_wrong_with_an_announcement_is_said(
    said: dict[str, str], change: dict[str, str], why: str
) -> None:
    with pytest.raises(BadAnnouncement, match=why):
        parse_service(as_heard(said | change), ["192.168.1.11"])


def test_a_table_without_an_address_cannot_be_reached(said: dict[str, str]) -> None:
    with pytest.raises(BadAnnouncement, match="no address"):
        parse_service(as_heard(said), ["fe80::1"])


def test_nobody_is_knocked_at_by_the_hundred_at_a_strangers_word(said: dict[str, str]) -> None:
    found = parse_service(as_heard(said), [f"192.168.1.{number}" for number in range(1, 200)])
    assert found.addresses == tuple(f"192.168.1.{number}" for number in range(1, 9))


def test_a_field_that_is_missing_is_named(said: dict[str, str]) -> None:
    del said["verify"]
    with pytest.raises(BadAnnouncement, match="verify is missing"):
        parse_service(as_heard(said), ["192.168.1.11"])


def test_the_fingerprint_is_the_one_that_keys_prints(state_dir: Path) -> None:
    own = read_certificate(state_dir / "keys" / "table.key")
    assert table_fingerprint(own.curve, own.verify.hex()) == fingerprint(own)
