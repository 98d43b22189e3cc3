"""A key that is taken away or expires is really put out; nobody else loses anything by it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
import structlog
import zmq

from controller.client.client import Client, NoAnswer, ReceivedMessage
from controller.client.connection import TableConnectionState
from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.gateway import client_sockets
from controller.gateway.feed_socket import FeedSocket
from controller.gateway.gateway import open_gateway
from controller.keys.enrolment import admit_file, revoke_client
from controller.keys.table_keys import create_client_keys
from controller.messages import CommandReply, PublicEvent, PublicState, Role
from controller.roster import parse_moment
from tests.gateway.scripted import Connect, MakeState, Raw, ScriptedMachine, Told, code, identity
from tests.waiting import until

pytestmark = pytest.mark.slow

OTHERS = ("observer", "referee", "table")
NOW = "2027-03-01T12:00:00.000Z"


def put_out(config: TableConfig, name: str) -> None:
    revoke_client(config.table.state_dir, name, "lost", parse_moment(NOW))


async def until_heard(client: Client, body: bytes) -> list[ReceivedMessage]:
    """Everything that a client hears up to a message."""
    heard = [await client.next_message()]
    while heard[-1].body != body:
        heard.append(await client.next_message())
    return heard


async def joined(client: Client) -> Client:
    """A client that has the state."""
    await client.next_message()
    return client


async def test_a_subscriber_whose_key_is_revoked_hears_no_more_and_is_told(
    machine: ScriptedMachine, connect: Connect, config: TableConfig, make_state: MakeState
) -> None:
    told = Told()
    revoked = await joined(connect("technician", on_state=told.note))
    other = await joined(connect("observer"))
    heard: list[bytes] = []

    async def listen() -> None:
        async for message in revoked.feed():
            heard.append(message.body)

    listening = asyncio.ensure_future(listen())
    put_out(config, "technician")
    await told.until(TableConnectionState.KEY_REFUSED)
    machine.publish(last := make_state())
    await until_heard(other, msgspec.json.encode(last))

    listening.cancel()
    assert set(heard) <= {msgspec.json.encode(machine.state)}


async def test_a_client_whose_key_is_revoked_can_send_no_more(
    machine: ScriptedMachine, raw: Raw, connect: Connect, config: TableConfig
) -> None:
    await raw.send(b'{"id": "1", "cmd": "hold"}')
    assert (await raw.receive()).ok

    put_out(config, "table")  # the key that `raw` comes with
    await raw.told.until(TableConnectionState.KEY_REFUSED)
    sending = asyncio.ensure_future(raw.send(b'{"id": "2", "cmd": "hold"}'))
    assert (await connect("referee").ask("hold", command_id="behind it")).ok
    sending.cancel()

    assert "2" not in [message.body.id for message in machine.commands]


@pytest.fixture
def no_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that never looks for revoked keys, so that it cuts no client off."""
    monkeypatch.setattr(client_sockets, "ADMISSION_CHECK_INTERVAL_S", 3600.0)


async def test_between_revocation_and_the_cut_its_commands_are_refused_with_the_reason(
    no_cut: None, machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    client = connect("referee")
    assert (await client.ask("hold")).ok

    put_out(config, "referee")
    reply = await client.ask("hold")

    assert code(reply) == "KEY_REVOKED"
    assert reply.error is not None
    assert reply.error.message == "The key was revoked: 2027-03-01 12:00 UTC, lost"
    assert len(machine.commands) == 1


async def heard_around_a_cut(
    machine: ScriptedMachine,
    connect: Connect,
    config: TableConfig,
    monkeypatch: pytest.MonkeyPatch,
    values: Sequence[PublicState | PublicEvent],
) -> list[list[ReceivedMessage]]:
    """Return what the other clients receive of `values` while the technician's key is revoked.

    20 values are published before the cut, 100 while the feed is held back for it, and the rest
    behind it. The feed continues when every other client has connected again: the gateway then
    repeats its state to the client.
    """
    held: list[FeedSocket] = []
    go_on_in = FeedSocket.resume_in
    monkeypatch.setattr(FeedSocket, "resume_in", lambda feed, after_s: held.append(feed))
    everything: list[list[ReceivedMessage]] = [[] for _ in OTHERS]

    async def listen(client: Client, heard: list[ReceivedMessage]) -> None:
        async for message in client.feed():
            heard.append(message)

    def all_heard(value: PublicState | PublicEvent) -> bool:
        body = msgspec.json.encode(value)
        return all(body in [each.body for each in heard] for heard in everything)

    listening = [
        asyncio.ensure_future(listen(connect(name), heard))
        for name, heard in zip(OTHERS, everything, strict=True)
    ]
    await joined(connect("technician"))
    await until(lambda: all(everything))
    for value in values[:20]:
        machine.publish(value)
    await until(lambda: all_heard(values[19]))
    before = [len(heard) for heard in everything]

    with structlog.testing.capture_logs() as logs:
        put_out(config, "technician")
        event = "keys revoked or expired, all clients connect again"
        await until(lambda: event in [log["event"] for log in logs])
    for value in values[20:120]:
        machine.publish(value)
    await until(
        lambda: held and all(len(heard) > n for heard, n in zip(everything, before, strict=True))
    )
    go_on_in(held[0], 0)
    for value in values[120:]:
        machine.publish(value)
    await until(lambda: all_heard(values[-1]))
    for task in listening:
        task.cancel()
    return everything


async def test_the_others_miss_nothing_and_hear_nothing_twice(
    machine: ScriptedMachine,
    connect: Connect,
    config: TableConfig,
    make_event: Callable[[int], PublicEvent],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = [make_event(n) for n in range(1, 201)]

    everything = await heard_around_a_cut(machine, connect, config, monkeypatch, values)

    for heard in everything:
        events = [each.body for each in heard if each.topic.startswith("event/")]
        assert events == [msgspec.json.encode(event) for event in values]


async def test_states_never_go_back_while_all_connect_anew(
    machine: ScriptedMachine,
    connect: Connect,
    config: TableConfig,
    make_state: MakeState,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = [make_state() for _ in range(200)]

    for heard in await heard_around_a_cut(machine, connect, config, monkeypatch, values):
        numbers = [msgspec.json.decode(each.body)["seq"] for each in heard]
        assert numbers == sorted(numbers)


async def test_who_joins_behind_the_cut_has_the_state_at_once(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    told = Told()
    await joined(connect("technician", on_state=told.note))

    put_out(config, "technician")
    await told.until(TableConnectionState.KEY_REFUSED)
    first = await connect("observer").next_message()

    assert first.body == msgspec.json.encode(machine.state)


async def test_an_answer_that_was_on_its_way_is_asked_again_by_its_id(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    machine.script = lambda message: []  # slow: longer than anybody waits for it
    await joined(connect("technician"))
    told = Told()
    await joined(connect("observer", on_state=told.note))
    asking = asyncio.ensure_future(connect("referee").ask("hold", command_id="once"))

    await machine.got_command.wait()
    put_out(config, "technician")
    await told.until(TableConnectionState.DOWN)
    machine.script = machine.agree
    machine.reply(1, CommandReply(id="once", ok=True))  # nobody is there to take it
    reply = await asking

    assert reply.ok
    assert {message.body.id for message in machine.commands} == {"once"}


async def test_a_key_that_expires_is_put_out_like_one_that_is_revoked(
    machine: ScriptedMachine, state_dir: Path, config: TableConfig
) -> None:
    admit_file(
        state_dir, create_client_keys(state_dir, "guest", Role.OBSERVER), parse_moment("2027-03-01")
    )
    now, told = [NOW], Told()
    with structlog.testing.capture_logs() as logs:
        async with open_gateway(config, lambda: now[0]) as endpoints:
            await machine.connected.wait()
            async with Client(
                endpoints, identity(state_dir, "guest"), lambda: "x", told.note
            ) as guest:
                await guest.next_message()
                now[0] = "2027-03-02T00:00:00.000Z"
                await told.until(TableConnectionState.KEY_REFUSED)
                with pytest.raises(NoAnswer, match="revoked or expired"):
                    await guest.ask("snapshot")
    refused = [log for log in logs if log["event"] == "key refused"]
    assert {(log["why"], log["name"]) for log in refused} == {("KEY_EXPIRED", "guest")}


async def test_both_addresses_stay_as_they_were(
    connect: Connect, config: TableConfig, endpoints: Endpoints
) -> None:
    told = Told()
    await joined(connect("technician", on_state=told.note))
    for name in ("technician", "chief"):
        other = await joined(connect("observer"))
        put_out(config, name)
        assert (await other.ask("snapshot")).ok
    await told.until(TableConnectionState.KEY_REFUSED)
    assert (await connect("observer").ask("snapshot")).ok


async def test_whose_key_never_came_in_disturbs_nobody_by_being_revoked(
    connect: Connect, config: TableConfig
) -> None:
    told = Told()
    await joined(connect("observer"))
    await joined(connect("referee", on_state=told.note))

    with structlog.testing.capture_logs() as logs:
        put_out(config, "technician")
        await until(lambda: "allow-list changed" in [log["event"] for log in logs])
        put_out(config, "referee")
        await told.until(TableConnectionState.KEY_REFUSED)

    assert [log["whose"] for log in logs if "whose" in log] == [["referee"]]


async def test_connections_of_a_revoked_key_are_gone_from_the_kernel_too(
    endpoints: Endpoints, config: TableConfig, state_dir: Path
) -> None:
    """Also one that never said a word: neither subscribed nor commanded."""
    me = identity(state_dir, "technician")
    context = zmq.Context()
    socket = context.socket(zmq.SUB)
    socket.linger = 0
    socket.curve_serverkey = endpoints.server_key.encode()
    socket.curve_publickey, socket.curve_secretkey = me.public.encode(), me.secret.encode()
    monitor = socket.get_monitor_socket(zmq.Event.HANDSHAKE_SUCCEEDED | zmq.Event.DISCONNECTED)
    socket.connect(endpoints.feed)
    try:
        assert await _seen(monitor) == zmq.Event.HANDSHAKE_SUCCEEDED
        put_out(config, "technician")
        assert await _seen(monitor) == zmq.Event.DISCONNECTED
    finally:
        socket.disable_monitor()
        monitor.close()
        context.destroy()


async def _seen(monitor: zmq.Socket[bytes]) -> int:
    await until(lambda: monitor.poll(0))  # libzmq's thread writes it
    return int.from_bytes(monitor.recv_multipart()[0][:2], "little")
