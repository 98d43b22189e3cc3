"""A key that is taken away or expires is really put out; nobody else loses anything by it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
import structlog
import zmq

from controller.client.client import Client, Heard, NoAnswer
from controller.client.endpoints import Endpoints
from controller.client.line import LineState
from controller.config import TableConfig
from controller.gateway.certificates import create_client
from controller.gateway.enrolment import admit, revoke
from controller.gateway.gateway import open_gateway
from controller.messages import Event, Reply, Role
from controller.roster import moment
from tests.gateway.scripted import Connect, MakeState, Raw, ScriptedMachine, Told, code, identity

pytestmark = pytest.mark.slow

PATIENCE_S = 10.0
OTHERS = ("observer", "referee", "table")
NOW = "2027-03-01T12:00:00.000Z"


def put_out(config: TableConfig, name: str) -> None:
    revoke(config.table.state_dir, name, "lost", moment(NOW))


async def until_heard(client: Client, body: bytes) -> list[Heard]:
    """Everything that a client hears up to a message."""
    heard = [await client.hear()]
    while heard[-1].body != body:
        heard.append(await client.hear())
    return heard


async def joined(client: Client) -> Client:
    """A client that has the state."""
    await client.hear()
    return client


async def test_a_subscriber_whose_key_is_revoked_hears_no_more_and_is_told(
    machine: ScriptedMachine, connect: Connect, config: TableConfig, make_state: MakeState
) -> None:
    told = Told()
    revoked = await joined(connect("technician", on_line=told.note))
    other = await joined(connect("observer"))
    heard: list[bytes] = []

    async def listen() -> None:
        async for message in revoked.feed():
            heard.append(message.body)

    listening = asyncio.ensure_future(listen())
    async with asyncio.timeout(PATIENCE_S):
        put_out(config, "technician")
        await told.until(LineState.KEY_REFUSED)
        machine.publish(last := make_state())
        await until_heard(other, msgspec.json.encode(last))

    listening.cancel()
    assert set(heard) <= {msgspec.json.encode(machine.state)}


async def test_a_client_whose_key_is_revoked_can_send_no_more(
    machine: ScriptedMachine, raw: Raw, config: TableConfig
) -> None:
    await raw.send(b'{"id": "1", "cmd": "hold"}')
    assert (await raw.receive()).ok

    async with asyncio.timeout(PATIENCE_S):
        put_out(config, "table")  # the key that `raw` comes with
        await raw.told.until(LineState.KEY_REFUSED)
    with suppress(TimeoutError):  # there is nowhere to send it to
        async with asyncio.timeout(0.3):
            await raw.send(b'{"id": "2", "cmd": "hold"}')

    assert [message.body.id for message in machine.commands] == ["1"]


async def test_between_revocation_and_the_cut_its_commands_are_refused_with_the_reason(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    client = connect("referee")
    assert (await client.ask("hold")).ok

    put_out(config, "referee")
    reply = await client.ask("hold")

    assert code(reply) == "KEY_REVOKED"
    assert reply.error is not None
    assert reply.error.message == "The key was revoked: 2027-03-01 12:00 UTC, lost"
    assert len(machine.commands) == 1


async def test_the_others_miss_nothing_and_hear_nothing_twice(
    machine: ScriptedMachine,
    connect: Connect,
    config: TableConfig,
    make_event: Callable[[int], Event],
) -> None:
    others = [await joined(connect(role)) for role in OTHERS]
    await joined(connect("technician"))
    hearing = [
        asyncio.ensure_future(until_heard(each, msgspec.json.encode(make_event(200))))
        for each in others
    ]

    async with asyncio.timeout(PATIENCE_S):
        for n in range(1, 201):
            machine.publish(make_event(n))
            if n == 20:
                put_out(config, "technician")
            await asyncio.sleep(0.01)  # two seconds: before, during and after the cut
        everything = await asyncio.gather(*hearing)

    for heard in everything:
        events = [each.body for each in heard if each.topic.startswith("event/")]
        assert [msgspec.json.decode(body)["n"] for body in events] == list(range(1, 201))


async def test_states_never_go_back_while_all_connect_anew(
    machine: ScriptedMachine, connect: Connect, config: TableConfig, make_state: MakeState
) -> None:
    other = await joined(connect("observer"))
    await joined(connect("technician"))

    async with asyncio.timeout(PATIENCE_S):
        for n in range(200):
            machine.publish(last := make_state())
            if n == 20:
                put_out(config, "technician")
            await asyncio.sleep(0.01)
        heard = await until_heard(other, msgspec.json.encode(last))

    numbers = [msgspec.json.decode(each.body)["seq"] for each in heard]
    assert numbers == sorted(numbers)


async def test_who_joins_behind_the_cut_has_the_state_at_once(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    told = Told()
    await joined(connect("technician", on_line=told.note))

    async with asyncio.timeout(PATIENCE_S):
        put_out(config, "technician")
        await told.until(LineState.KEY_REFUSED)
        first = await connect("observer").hear()

    assert first.body == msgspec.json.encode(machine.state)


async def test_an_answer_that_was_on_its_way_is_asked_again_by_its_id(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    machine.script = lambda message: []  # slow: longer than anybody waits for it
    await joined(connect("technician"))
    told = Told()
    await joined(connect("observer", on_line=told.note))
    asking = asyncio.ensure_future(connect("referee").ask("hold", command_id="once"))

    async with asyncio.timeout(PATIENCE_S):
        await machine.got_command.wait()
        put_out(config, "technician")
        await told.until(LineState.DOWN)
        machine.script = machine.agree
        machine.reply(1, Reply(id="once", ok=True))  # nobody is there to take it
        reply = await asking

    assert reply.ok
    assert {message.body.id for message in machine.commands} == {"once"}


async def test_a_key_that_expires_is_put_out_like_one_that_is_revoked(
    machine: ScriptedMachine, state_dir: Path, config: TableConfig
) -> None:
    admit(state_dir, create_client(state_dir, "guest", Role.OBSERVER), moment("2027-03-01"))
    now, told = [NOW], Told()
    with structlog.testing.capture_logs() as logs:
        async with open_gateway(config, lambda: now[0]) as endpoints:
            await machine.connected.wait()
            async with Client(
                endpoints, identity(state_dir, "guest"), lambda: "x", told.note
            ) as guest:
                async with asyncio.timeout(PATIENCE_S):
                    await guest.hear()
                    now[0] = "2027-03-02T00:00:00.000Z"
                    await told.until(LineState.KEY_REFUSED)
                with pytest.raises(NoAnswer, match="revoked or expired"):
                    await guest.ask("snapshot")
    refused = [log for log in logs if log["event"] == "key refused"]
    assert {(log["why"], log["name"]) for log in refused} == {("KEY_EXPIRED", "guest")}


async def test_both_addresses_stay_as_they_were(
    connect: Connect, config: TableConfig, endpoints: Endpoints
) -> None:
    told = Told()
    await joined(connect("technician", on_line=told.note))
    for name in ("technician", "chief"):
        other = await joined(connect("observer"))
        put_out(config, name)
        assert (await other.ask("snapshot")).ok
    async with asyncio.timeout(PATIENCE_S):
        await told.until(LineState.KEY_REFUSED)
        assert (await connect("observer").ask("snapshot")).ok


async def test_whose_key_never_came_in_disturbs_nobody_by_being_revoked(
    connect: Connect, config: TableConfig
) -> None:
    told = Told()
    await joined(connect("observer"))
    await joined(connect("referee", on_line=told.note))

    with structlog.testing.capture_logs() as logs:
        async with asyncio.timeout(PATIENCE_S):
            put_out(config, "technician")
            while "allow-list changed" not in [log["event"] for log in logs]:  # noqa: ASYNC110 - a log
                await asyncio.sleep(0.01)
            put_out(config, "referee")
            await told.until(LineState.KEY_REFUSED)

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
    async with asyncio.timeout(PATIENCE_S):
        while not monitor.poll(0):  # noqa: ASYNC110 - it is libzmq's thread that tells
            await asyncio.sleep(0.01)
    return int.from_bytes(monitor.recv_multipart()[0][:2], "little")
