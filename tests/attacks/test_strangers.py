"""Who may not come in does not: refused at the handshake, logged with the reason, shown."""

import asyncio
import re
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog
import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from controller.client.client import ClientIdentity, NoAnswer
from controller.client.connection import TableConnectionState
from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.host.loggers import MAX_REFUSED_KEYS
from controller.keys.enrolment import admit_file, revoke_client
from controller.keys.table_keys import create_client_keys
from controller.messages import Role
from controller.roster import parse_moment
from tests.attacks.attackers import Impostor, Relay
from tests.gateway.metrics_requests import scrape
from tests.gateway.scripted import Connect, ScriptedMachine, Told, identity
from tests.waiting import until

LONG_AGO = parse_moment("2020-01-01")
HUNG_UP = {
    zmq.EVENT_DISCONNECTED,
    zmq.EVENT_HANDSHAKE_FAILED_AUTH,
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL,
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL,
}
"""What a socket's monitor reports of a gateway that admits no client there."""


def unlisted(folder: Path) -> ClientIdentity:
    """A pair of the right form that nobody admitted."""
    create_client_keys(folder, "guest", Role.CHIEF)
    return identity(folder, "guest")


def revoked(folder: Path) -> ClientIdentity:
    admit_file(folder, create_client_keys(folder, "guest", Role.CHIEF))
    revoke_client(folder, "guest", "laptop lost", LONG_AGO)
    return identity(folder, "guest")


def put_back(folder: Path) -> ClientIdentity:
    """A revoked key whose file somebody copied back into admitted/."""
    public = create_client_keys(folder, "guest", Role.CHIEF)
    place = admit_file(folder, public)
    revoke_client(folder, "guest", "laptop lost", LONG_AGO)
    place.write_text(public.read_text())
    return identity(folder, "guest")


def expired(folder: Path) -> ClientIdentity:
    admit_file(folder, create_client_keys(folder, "guest", Role.CHIEF), LONG_AGO)
    return identity(folder, "guest")


def half_a_pair(folder: Path) -> ClientIdentity:
    """The chief's public key, as anybody has it, with another secret."""
    chief, (_, secret) = identity(folder, "chief"), zmq.curve_keypair()
    return ClientIdentity("guest", chief.public, secret.decode())


KINDS: dict[str, Callable[[Path], ClientIdentity]] = {
    "UNKNOWN_KEY": unlisted,
    "KEY_REVOKED": revoked,
    "KEY_REVOKED, put back": put_back,
    "KEY_EXPIRED": expired,
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_key_that_is_not_admitted_hears_nothing_sends_nothing_and_is_told(
    machine: ScriptedMachine, connect: Connect, config: TableConfig, endpoints: Endpoints, kind: str
) -> None:
    who, told = KINDS[kind](config.table.state_dir), Told()
    client = connect(who, on_state=told.note)

    with structlog.testing.capture_logs() as logs:
        hearing = asyncio.ensure_future(client.next_message())
        await told.until(TableConnectionState.KEY_REFUSED)
        with pytest.raises(NoAnswer, match="not admitted there, revoked or expired"):
            await client.ask("redeal", {"reason": "mine"})

    assert not hearing.done()
    hearing.cancel()
    assert machine.commands == []
    refused = [log for log in logs if log["event"] == "key refused"]
    why = kind.partition(",")[0]
    assert [(log["key"], log["why"]) for log in refused] == [(who.public, why)]
    numbers = await scrape(endpoints)
    assert _refused(numbers, why) >= 2  # feed and commands


async def test_the_public_half_of_an_admitted_key_opens_nothing(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    who, told = half_a_pair(config.table.state_dir), Told()
    client = connect(who, on_state=told.note)
    hearing = asyncio.ensure_future(client.next_message())

    with pytest.raises(NoAnswer, match="different key"):
        await client.ask("hold")

    assert not hearing.done()
    hearing.cancel()
    assert TableConnectionState.OPEN not in told
    assert machine.commands == []


def _plain(socket: Any, endpoints: Endpoints) -> None:
    """No security at all."""


def _password(socket: Any, endpoints: Endpoints) -> None:
    socket.plain_username, socket.plain_password = b"chief", b"chief"


@pytest.mark.parametrize("how", [_plain, _password])
@pytest.mark.parametrize("address", ["feed", "commands"])
async def test_without_a_key_nobody_is_let_in(
    machine: ScriptedMachine, endpoints: Endpoints, how: Callable[..., None], address: str
) -> None:
    context = zmq.asyncio.Context()
    with ExitStack() as closing:
        closing.callback(context.destroy)
        socket = context.socket(zmq.SUB if address == "feed" else zmq.DEALER)
        socket.linger = 0
        monitor = socket.get_monitor_socket()
        how(socket, endpoints)
        if address == "feed":
            socket.subscribe("")
        socket.connect(getattr(endpoints, address))
        if address == "commands":
            await socket.send(b'{"id": "1", "cmd": "hold"}')
        while (await recv_monitor_message(monitor))["event"] not in HUNG_UP:
            pass
        assert not await socket.poll(0)
    assert machine.commands == []


# In the middle.


async def test_a_man_in_the_middle_with_his_own_table_key_is_told_nothing(
    connect: Connect, endpoints: Endpoints
) -> None:
    told = Told()
    async with Impostor() as impostor:
        feed, commands = impostor.addresses
        there = msgspec.structs.replace(endpoints, feed=feed, commands=commands)
        client = connect("chief", there, on_state=told.note)
        hearing = asyncio.ensure_future(client.next_message())

        with pytest.raises(NoAnswer, match="different key"):
            await client.ask("redeal", {"reason": "mine"})
        await told.until(TableConnectionState.OTHER_KEY)

        assert not hearing.done()
        hearing.cancel()
        assert impostor.got == []
        # The impostor works: who believes his key tells him everything.
        fooled = msgspec.structs.replace(there, server_key=impostor.key)
        asking = asyncio.ensure_future(connect("chief", fooled).ask("snapshot"))
        await until(lambda: any(b"snapshot" in frame for got in impostor.got for frame in got))
        asking.cancel()


async def test_a_man_in_the_middle_who_passes_all_on_reads_nothing_of_it(
    machine: ScriptedMachine, connect: Connect, endpoints: Endpoints
) -> None:
    async with Relay(endpoints.commands) as commands, Relay(endpoints.feed) as feed:
        there = msgspec.structs.replace(endpoints, feed=feed.address, commands=commands.address)
        client = connect("referee", there)
        heard = await client.next_message()
        assert (await client.ask("hold", {"reason": "a word that is unlikely"})).ok
        kept = bytes(commands.kept + feed.kept)

    assert len(kept) > len(heard.body)
    for word in (b"unlikely", b"hold", b"referee", b"state/T01", heard.body[:40]):
        assert word not in kept


# Floods.


async def test_a_flood_of_handshakes_keeps_nobody_out_and_fills_no_log(
    machine: ScriptedMachine, connect: Connect, endpoints: Endpoints
) -> None:
    many = 150
    admitted = connect("referee")
    assert (await admitted.ask("hold")).ok
    context = zmq.Context()
    context.max_sockets = 2 * many
    sockets = []
    with structlog.testing.capture_logs() as logs, ExitStack() as closing:
        closing.callback(context.destroy, 0)
        for number in range(many):
            public, secret = zmq.curve_keypair()
            socket = context.socket(zmq.DEALER)
            socket.linger = 0
            socket.curve_serverkey = endpoints.server_key.encode()
            socket.curve_publickey, socket.curve_secretkey = public, secret
            socket.connect(endpoints.feed if number % 2 else endpoints.commands)
            sockets.append(socket)
        for _ in range(20):
            assert (await admitted.ask("hold")).ok
        await connect("observer").next_message()
        await _until_refused(endpoints, many)
    assert len([log for log in logs if log["event"] == "key refused"]) <= MAX_REFUSED_KEYS


async def test_connections_that_say_nothing_or_nonsense_keep_nobody_out(
    machine: ScriptedMachine, connect: Connect, endpoints: Endpoints
) -> None:
    host, _, port = endpoints.commands.removeprefix("tcp://").rpartition(":")
    lines = [await asyncio.open_connection(host, int(port)) for _ in range(150)]
    for number, (_, writer) in enumerate(lines):
        if number % 2:
            writer.write(b"GET / HTTP/1.1\r\n\r\n" * 50)
    client = connect("referee")
    for _ in range(20):
        assert (await client.ask("hold")).ok
    for reader, _ in lines:  # the gateway hangs up by itself
        with suppress(ConnectionError):
            await reader.read()
    for _, writer in lines:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _until_refused(endpoints: Endpoints, many: int) -> None:
    while _refused(await scrape(endpoints)) < many:
        pass


def _refused(numbers: str, why: str = "UNKNOWN_KEY") -> float:
    found = re.findall(rf'(?m)^dealtable_keys_refused_total{{.*why="{why}".*}} (\S+)$', numbers)
    return sum(map(float, found))
