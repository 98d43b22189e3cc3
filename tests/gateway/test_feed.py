"""The feed: who joins gets the whole state at once, and what the machine says goes out."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from controller import gateway_protocol
from controller.client.client import ReceivedMessage
from controller.client.discovery import Endpoints
from controller.config import TableConfig
from controller.gateway.gateway import open_gateway
from controller.gateway_protocol import FeedMessage, HelloMessage
from controller.messages import PublicEvent, PublicState
from controller.service.wall_clock import read_wall_clock
from tests.gateway.scripted import Connect, MakeState, ScriptedMachine
from tests.waiting import until


async def test_the_first_second_and_third_subscriber_get_the_whole_state_at_once(
    machine: ScriptedMachine, connect: Connect
) -> None:
    for _ in range(3):
        assert await connect("observer").next_message() == heard(machine.state)


async def test_joins_at_the_same_time_are_answered_once(
    machine: ScriptedMachine, connect: Connect, make_state: MakeState
) -> None:
    client = connect("observer", topics=("", "state/", "state/T01", "st"))

    joined = await client.next_message()
    machine.publish(later := make_state())

    assert joined == heard(machine.state)
    assert await client.next_message() == heard(later)


async def test_who_wants_events_alone_is_sent_no_state(
    machine: ScriptedMachine, connect: Connect, make_event: Callable[[int], PublicEvent]
) -> None:
    client = connect("observer", topics=("event/",))
    hearing = asyncio.ensure_future(client.next_message())

    def published_and_heard() -> bool:
        """Publish the event; a subscription is not acknowledged, so this is done repeatedly."""
        machine.publish(make_event(1))
        return hearing.done()

    await until(published_and_heard)

    assert (await hearing).topic == "event/T01"


async def test_states_and_events_go_out_as_the_machine_said_them_and_in_order(
    machine: ScriptedMachine,
    connect: Connect,
    make_state: MakeState,
    make_event: Callable[[int], PublicEvent],
) -> None:
    client = connect("observer")
    await client.next_message()
    said: list[PublicState | PublicEvent] = [
        make_event(1),
        make_state(),
        make_event(2),
        make_event(3),
        make_state(),
    ]

    for value in said:
        machine.publish(value)

    assert [await client.next_message() for _ in said] == [heard(value) for value in said]


async def test_a_message_longer_than_one_read_arrives_whole(
    machine: ScriptedMachine, connect: Connect, make_event: Callable[[int], PublicEvent]
) -> None:
    client = connect("observer")
    await client.next_message()
    record = msgspec.structs.replace(make_event(1), data={"record": "ab" * 200_000})

    machine.publish(record)

    assert await client.next_message() == heard(record)


async def test_a_machine_that_comes_back_is_heard_again_and_its_old_state_never(
    machine: ScriptedMachine, connect: Connect, make_state: MakeState
) -> None:
    early = connect("observer")
    await early.next_message()

    await machine.stop()
    late = asyncio.ensure_future(connect("referee").next_message())
    machine.state = make_state()
    await machine.start()

    assert await early.next_message() == heard(machine.state)
    assert await late == heard(machine.state)


async def test_the_gateway_waits_for_a_machine_that_starts_later(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    await machine.stop()
    async with open_gateway(config, read_wall_clock):
        await machine.start()
        await machine.connected.wait()


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\n",
        b"{}\n",
        b'{"to":"command","ref":1,"peer":"","body":{"id":"1","cmd":"x"}}\n',
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        b"x" * (gateway_protocol.MAX_MACHINE_LINE_BYTES + 1),
        gateway_protocol.encode_line(HelloMessage("T01", simulated=True)),
        gateway_protocol.encode_line(FeedMessage("state/T02", msgspec.Raw(b"{}"))),
    ],
    ids=["empty", "no kind", "a command", "no text", "deep", "endless", "hello twice", "topic"],
)
async def test_a_machine_that_talks_nonsense_is_left_and_met_again(
    machine: ScriptedMachine, connect: Connect, make_state: MakeState, nonsense: bytes
) -> None:
    client = connect("observer")
    await client.next_message()

    machine.state = make_state()
    machine.say(nonsense)

    assert await client.next_message() == heard(machine.state)


async def test_another_tables_machine_is_not_published(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    machine.hello = HelloMessage("T02", simulated=True)
    async with open_gateway(config, read_wall_clock):
        await machine.connected.wait()
        await machine.left.wait()


async def test_endpoints_name_the_real_ports_as_long_as_the_gateway_is_open(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    file = config.table.state_dir / "endpoints.json"

    async with open_gateway(config, read_wall_clock) as endpoints:
        written = msgspec.json.decode(file.read_bytes(), type=Endpoints)
        assert written == endpoints
        assert not endpoints.feed.endswith((":0", ":*"))
        assert endpoints.feed != endpoints.commands

    assert not file.exists()


def heard(value: PublicState | PublicEvent) -> ReceivedMessage:
    kind = "state" if isinstance(value, PublicState) else "event"
    return ReceivedMessage(f"{kind}/{value.table}", msgspec.json.encode(value))
