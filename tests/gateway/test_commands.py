"""The commands: through to the machine and back, whatever clients and machine do."""

import asyncio
import re
from collections import Counter
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import gateway_protocol
from controller.client.client import Client, NoAnswer
from controller.client.connection import TableConnectionState
from controller.client.discovery import Endpoints
from controller.commands.registry import MAX_COMMAND_BYTES, MAX_MESSAGE_BYTES
from controller.config import TableConfig
from controller.gateway.admission import COMMAND_BURST, RateLimiter
from controller.gateway.command_socket import MAX_PENDING_PER_KEY, BadCommand, parse_command
from controller.gateway.gateway import open_gateway
from controller.messages import ClientCommand, CommandReply
from controller.service.wall_clock import read_wall_clock
from controller.signing import signed_commands
from tests.gateway.scripted import Connect, MakeState, Raw, ScriptedMachine, code, identity


async def test_a_command_goes_to_the_machine_and_its_reply_comes_back(
    machine: ScriptedMachine, connect: Connect, endpoints: Endpoints
) -> None:
    client = connect("referee")

    reply = await client.ask("release", {"why": "掼蛋"}, deal=3, attempt=7)

    assert reply == CommandReply(id="id-1", ok=True, result={"did": "release"})
    command = machine.commands[0].body
    assert (command.cmd, command.deal, command.attempt) == ("release", 3, 7)
    signed_commands.check_command(command, endpoints.server_key)


async def test_the_machine_is_told_under_which_key_a_command_came(
    machine: ScriptedMachine, connect: Connect, config: TableConfig
) -> None:
    await connect("table").ask("cut", {"n": 40}, deal=1, attempt=1)

    assert machine.commands[0].peer == identity(config.table.state_dir, "table").public


async def test_what_only_reads_needs_no_signature(
    machine: ScriptedMachine, connect: Connect
) -> None:
    await connect("observer").ask("snapshot")

    assert machine.commands[0].body == ClientCommand(id="id-1", cmd="snapshot")


async def test_the_same_id_twice_reaches_the_machine_twice(
    machine: ScriptedMachine, connect: Connect
) -> None:
    """It is the machine that keeps ids, and answers a repeated one without acting."""
    client = connect("referee")

    for _ in range(2):
        await client.ask("release", command_id="once")

    assert [message.body.id for message in machine.commands] == ["once", "once"]
    assert machine.commands[0].ref != machine.commands[1].ref


async def test_replies_find_who_asked_in_whatever_order_they_come(
    machine: ScriptedMachine, connect: Connect
) -> None:
    held: list[gateway_protocol.CommandMessage] = []

    def in_reverse(message: gateway_protocol.CommandMessage) -> list[CommandReply]:
        held.append(message)
        if len(held) == 3:
            for each in reversed(held):
                machine.reply(each.ref, *machine.agree(each))
        return []

    machine.script = in_reverse
    names = ("referee", "chief", "table")

    replies = await asyncio.gather(*(connect(name).ask(f"{name}'s") for name in names))

    assert [reply.result for reply in replies] == [{"did": f"{name}'s"} for name in names]


async def test_a_reply_that_nobody_waits_for_is_dropped(
    machine: ScriptedMachine, connect: Connect
) -> None:
    machine.script = lambda message: [*machine.agree(message), *machine.agree(message)]
    client = connect("referee")

    assert (await client.ask("hold")).ok
    assert (await client.ask("resume")).ok


async def test_without_its_machine_the_gateway_says_so(
    machine: ScriptedMachine, connect: Connect
) -> None:
    client = connect("observer")
    await client.ask("snapshot")
    await machine.stop()

    reply = await client.ask("snapshot")
    while reply.ok:  # the gateway hears of it as soon as its loop turns
        reply = await client.ask("snapshot")

    assert reply.error is not None
    assert reply.error.code == "MACHINE_AWAY"
    assert reply.error.action


async def test_who_waits_for_a_machine_that_goes_away_is_told(
    machine: ScriptedMachine, connect: Connect
) -> None:
    machine.script = lambda message: []
    asked = asyncio.ensure_future(connect("referee").ask("release"))
    await machine.got_command.wait()

    await machine.stop()

    assert code(await asked) == "MACHINE_AWAY"


async def test_commands_go_through_again_when_the_machine_is_back(
    machine: ScriptedMachine, connect: Connect, make_state: MakeState
) -> None:
    client = connect("observer")
    await client.next_message()
    await machine.stop()
    machine.state = make_state()
    await machine.start()
    assert (await client.next_message()).body == msgspec.json.encode(machine.state)

    assert (await client.ask("snapshot")).result == {"did": "snapshot"}


async def test_a_machine_that_is_late_is_called_late(
    config: TableConfig, machine: ScriptedMachine
) -> None:
    machine.script = lambda message: []
    async with (
        open_gateway(config, read_wall_clock, reply_timeout_s=0.05) as endpoints,
        Client(endpoints, identity(config.table.state_dir, "referee"), lambda: "1") as client,
    ):
        await client.next_message()  # the gateway has read the machine's first message
        reply = await client.ask("release")

    assert code(reply) == "MACHINE_LATE"


async def test_a_client_without_a_gateway_gives_up_and_says_where_it_knocked(
    connect: Connect, endpoints: Endpoints
) -> None:
    nowhere = msgspec.structs.replace(endpoints, commands="tcp://127.0.0.1:1")

    with pytest.raises(NoAnswer, match=r"tcp://127.0.0.1:1: no answer in 0.1 s"):
        await connect("referee", nowhere).ask("snapshot", timeout_s=0.1)


NONSENSE = {
    "nothing": b"",
    "no JSON": b"release!",
    "no text": b"\xff\xff",
    "an array": b"[1,2]",
    "no command": b'{"id":"x"}',
    "a field too many": b'{"id":"x","cmd":"hold","colour":"red"}',
    "a number for an id": b'{"id":7,"cmd":"hold"}',
    "an empty id": b'{"id":"","cmd":"hold"}',
    "an endless id": b'{"id":"' + b"x" * 1000 + b'","cmd":"hold"}',
    "deep": b'{"id":"x","cmd":"hold","args":' + b'{"a":' * 3000,
    "too long": b'{"id":"x","cmd":"hold","args":{"a":"' + b"x" * MAX_COMMAND_BYTES + b'"}}',
}


@pytest.mark.parametrize("payload", NONSENSE.values(), ids=NONSENSE)
async def test_nonsense_is_answered_and_never_reaches_the_machine(
    machine: ScriptedMachine, raw: Raw, payload: bytes
) -> None:
    await raw.send(payload)

    reply = await raw.receive()
    assert code(reply) == "BAD_COMMAND"
    assert reply.error is not None
    assert not re.search("[A-Za-z]{3,}", reply.error.message_zh)
    assert machine.commands == []


async def test_the_answer_to_a_bad_command_has_its_id_where_one_can_be_read(raw: Raw) -> None:
    await raw.send(NONSENSE["a field too many"])
    await raw.send(NONSENSE["too long"])
    await raw.send(NONSENSE["no JSON"])

    assert [(await raw.receive()).id for _ in range(3)] == ["x", "x", ""]


@pytest.mark.parametrize("frames", [[b"", b"", b"{}"], [b"a", b"{}"], [b"{}"] * 40])
async def test_a_command_in_many_frames_is_none(raw: Raw, frames: list[bytes]) -> None:
    await raw.send(*frames)

    reply = await raw.receive()
    assert code(reply) == "BAD_COMMAND"
    assert reply.error is not None
    assert reply.error.message_zh.endswith("帧，应为一帧")


async def test_the_empty_frame_of_a_req_socket_is_understood(raw: Raw) -> None:
    await raw.send(b"", b'{"id": "x",\n "cmd": "snapshot"}\n')

    assert (await raw.receive()).ok


async def test_a_message_beyond_the_hard_limit_ends_its_connection_and_no_other(
    connect: Connect, raw: Raw
) -> None:
    await raw.told.until(TableConnectionState.OPEN)

    await raw.send(b"x" * (MAX_MESSAGE_BYTES + 1))
    await raw.told.until(TableConnectionState.DOWN)

    assert (await connect("observer").ask("snapshot")).ok


async def test_our_own_client_refuses_what_the_gateway_would_hang_up_on(
    machine: ScriptedMachine, connect: Connect
) -> None:
    reply = await connect("referee").ask("hold", {"reason": "x" * 10_000_000})

    assert code(reply) == "BAD_COMMAND"
    assert reply.error is not None
    assert f"at most {MAX_COMMAND_BYTES}" in reply.error.message
    assert f"至多{MAX_COMMAND_BYTES}字节" in reply.error.message_zh
    assert machine.commands == []


async def test_a_flood_is_refused_beyond_what_may_wait_and_the_others_are_served(
    machine: ScriptedMachine, connect: Connect, raw: Raw
) -> None:
    flood = (
        MAX_PENDING_PER_KEY + 80
    )  # refusals of more, unread, would overrun the socket's queue of 100
    machine.script = lambda message: machine.agree(message) if message.body.cmd == "hold" else []

    for number in range(flood):
        await raw.send(msgspec.json.encode(ClientCommand(id=str(number), cmd="snapshot")))
    refused = [await raw.receive() for _ in range(flood - MAX_PENDING_PER_KEY)]

    assert {code(reply) for reply in refused} == {"TOO_MANY"}
    assert len(machine.commands) == MAX_PENDING_PER_KEY
    assert (await connect("referee").ask("hold")).ok

    for message in machine.commands[:MAX_PENDING_PER_KEY]:
        machine.reply(message.ref, *machine.agree(message))
    assert {(await raw.receive()).ok for _ in range(MAX_PENDING_PER_KEY)} == {True}
    await raw.send(msgspec.json.encode(ClientCommand(id="after", cmd="hold")))
    assert (await raw.receive()).ok


@pytest.fixture
def no_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that counts a key's commands and allows no more of them as time passes."""
    monkeypatch.setattr(
        "controller.gateway.command_socket.RateLimiter", lambda: RateLimiter(per_s=0)
    )


async def test_what_a_key_sends_beyond_its_rate_is_refused_and_never_reaches_the_machine(
    no_refill: None, machine: ScriptedMachine, connect: Connect, raw: Raw
) -> None:
    """Answered at once, so that nothing waits: it is the number that is too high."""
    answers: Counter[str | None] = Counter()
    for number in range(int(COMMAND_BURST) + 10):
        await raw.send(msgspec.json.encode(ClientCommand(id=str(number), cmd="snapshot")))
        answers[code(await raw.receive())] += 1

    assert answers == {None: COMMAND_BURST, "TOO_MANY": 10}
    assert len(machine.commands) == COMMAND_BURST
    assert (await connect("referee").ask("hold")).ok


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_comes_is_a_command_or_a_bad_one(payload: bytes) -> None:
    with suppress(BadCommand):
        assert parse_command(payload).id == msgspec.json.decode(payload)["id"]
