"""Who comes in: admitted keys alone, over CURVE alone, and a refusal is told on both sides."""

import asyncio

import msgspec
import pytest
import structlog
import zmq
import zmq.asyncio

from controller.client.client import ClientIdentity, NoAnswer
from controller.client.connection import TableConnectionState
from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.host.loggers import MAX_REFUSED_KEYS, REFUSAL_LOG_INTERVAL_S, RefusalLogLimiter
from controller.keys.enrolment import admit_file
from controller.keys.table_keys import create_client_keys
from controller.messages import Role
from controller.roster import ADMITTED_FOLDER
from tests.gateway.scripted import Connect, ScriptedMachine, Told, code


async def test_a_strangers_feed_is_refused_and_both_sides_are_told(
    connect: Connect, stranger: ClientIdentity
) -> None:
    told = Told()
    client = connect(stranger, on_state=told.note)

    with structlog.testing.capture_logs() as logs:
        hearing = asyncio.ensure_future(client.next_message())
        await told.until(TableConnectionState.KEY_REFUSED)

    assert told == [TableConnectionState.KEY_REFUSED]
    assert not hearing.done()
    assert [log for log in logs if log["log_level"] == "warning"] == [
        {
            "event": "key refused",
            "key": stranger.public,
            "peer": "127.0.0.1",
            "why": "UNKNOWN_KEY",
            "log_level": "warning",
        }
    ]
    hearing.cancel()


async def test_a_strangers_command_is_refused_and_never_reaches_the_machine(
    machine: ScriptedMachine, connect: Connect, stranger: ClientIdentity
) -> None:
    with pytest.raises(NoAnswer, match="key refused"):
        await connect(stranger).ask("snapshot")

    assert machine.commands == []


async def test_a_key_that_is_admitted_meanwhile_comes_in(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    state_dir = config.table.state_dir
    public_file = create_client_keys(state_dir, "guest", Role.OBSERVER)
    told = Told()
    client = connect("guest", on_state=told.note, retry_interval_s=0.01)
    hearing = asyncio.ensure_future(client.next_message())
    await told.until(TableConnectionState.KEY_REFUSED)

    admit_file(state_dir, public_file)

    assert (await hearing).body == msgspec.json.encode(machine.state)
    assert told == [TableConnectionState.KEY_REFUSED, TableConnectionState.OPEN]


async def test_a_certificate_that_is_taken_away_ends_its_commands_at_once(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    client = connect("referee")
    assert (await client.ask("hold")).ok

    (config.table.state_dir / ADMITTED_FOLDER / "referee.key").unlink()

    assert code(await client.ask("hold")) == "UNKNOWN_KEY"
    assert len(machine.commands) == 1


async def test_a_certificate_that_cannot_be_read_leaves_the_list_as_it_was(
    connect: Connect, config: TableConfig, stranger: ClientIdentity
) -> None:
    with structlog.testing.capture_logs() as logs:
        (config.table.state_dir / ADMITTED_FOLDER / "odd.key").write_text("odd")

        assert (await connect("referee").ask("snapshot")).ok
        with pytest.raises(NoAnswer, match="key refused"):
            await connect(stranger).ask("snapshot")

    assert [log["event"] for log in logs].count("a key file that cannot be used") == 1


async def test_another_table_in_its_place_is_seen_as_a_different_key(
    connect: Connect, endpoints: Endpoints, stranger: ClientIdentity
) -> None:
    told = Told()
    other = msgspec.structs.replace(endpoints, server_key=stranger.public)
    hearing = asyncio.ensure_future(connect("observer", other, on_state=told.note).next_message())

    await told.until(TableConnectionState.OTHER_KEY)

    assert not hearing.done()
    hearing.cancel()
    with pytest.raises(NoAnswer, match="different key"):
        await connect("observer", other).ask("snapshot")


async def test_nobody_there_is_told(connect: Connect, endpoints: Endpoints) -> None:
    told = Told()
    nowhere = msgspec.structs.replace(endpoints, feed="tcp://127.0.0.1:1")
    hearing = asyncio.ensure_future(connect("observer", nowhere, on_state=told.note).next_message())

    await told.until(TableConnectionState.DOWN)

    hearing.cancel()


@pytest.mark.parametrize("address", ["feed", "commands"])
async def test_without_curve_nobody_comes_in(endpoints: Endpoints, address: str) -> None:
    context = zmq.asyncio.Context()
    socket = context.socket(zmq.SUB if address == "feed" else zmq.DEALER)
    socket.linger = 0
    monitor = socket.get_monitor_socket(
        zmq.Event.HANDSHAKE_FAILED_PROTOCOL | zmq.Event.DISCONNECTED
    )
    socket.connect(getattr(endpoints, address))

    await monitor.recv_multipart()

    socket.disable_monitor()
    monitor.close()
    context.destroy()


def test_a_key_that_knocks_and_knocks_is_told_once_a_minute() -> None:
    refusals = RefusalLogLimiter()

    assert [refusals.allow_line("k", now_s) for now_s in (1.0, 1.1, 30.0)] == [0, None, None]
    assert refusals.allow_line("k", 1.0 + REFUSAL_LOG_INTERVAL_S) == 2


def test_ever_new_keys_are_told_of_up_to_a_bound_and_then_counted() -> None:
    refusals = RefusalLogLimiter()

    told = [refusals.allow_line(str(number), 1.0) for number in range(1000)]

    assert told.count(0) == MAX_REFUSED_KEYS
    assert refusals.allow_line("later", 2.0 + REFUSAL_LOG_INTERVAL_S) == 1000 - MAX_REFUSED_KEYS
