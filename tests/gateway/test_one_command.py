"""One command, whatever it is made of, ends neither the gateway nor its line to the machine."""

import json
from typing import Any

import msgspec
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from controller import gateway_protocol
from controller.commands.registry import MAX_COMMAND_BYTES
from controller.gateway.admission import ConnectedPeer
from controller.gateway.command_socket import BadCommand, CommandSocket, parse_command
from controller.gateway_protocol import MAX_ARGUMENT_DEPTH, CommandMessage, is_too_deep
from controller.messages import ClientCommand
from tests.gateway.scripted import Connect, Raw, ScriptedMachine, code


def nested(depth: int) -> bytes:
    """A command whose arguments stand so deep within each other."""
    return b'{"id":"deep","cmd":"hold","args":%s%s}' % (
        b'{"a":' + b"[" * (depth - 1),
        b"]" * (depth - 1) + b"}",
    )


@pytest.mark.parametrize("depth", [MAX_ARGUMENT_DEPTH + 1, 900, 972, 990, 1001, 8000])
async def test_deep_arguments_are_refused_and_the_table_serves_on(
    machine: ScriptedMachine, connect: Connect, raw: Raw, depth: int
) -> None:
    await raw.send(nested(depth))

    assert code(await raw.receive()) == "BAD_COMMAND"
    assert (await connect("referee").ask("hold")).ok
    assert [message.body.id for message in machine.commands] == ["id-1"]
    assert not machine.left.is_set()


async def test_arguments_as_deep_as_may_be_go_to_the_machine(
    machine: ScriptedMachine, raw: Raw
) -> None:
    await raw.send(nested(MAX_ARGUMENT_DEPTH))

    assert (await raw.receive()).ok


async def test_a_command_that_leads_to_an_error_is_dropped_and_the_next_is_answered(
    machine: ScriptedMachine, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = CommandSocket._refusal_before_machine

    def planted(self: CommandSocket, peer: ConnectedPeer, command: ClientCommand) -> Any:
        if command.cmd == "trap":
            raise ZeroDivisionError
        return refused(self, peer, command)

    monkeypatch.setattr(CommandSocket, "_refusal_before_machine", planted)
    client = connect("referee")
    assert (await client.ask("hold")).ok
    with structlog.testing.capture_logs() as logs:
        for number in range(3):
            await client._open_commands().socket.send(b'{"id":"%d","cmd":"trap"}' % number)
        assert (await client.ask("hold")).ok

    assert [log["event"] for log in logs if log["log_level"] == "error"] == ["command dropped"]
    assert not machine.left.is_set()


def test_the_machine_refuses_what_only_a_taken_over_gateway_passes_on() -> None:
    command = msgspec.json.decode(nested(MAX_ARGUMENT_DEPTH + 1), type=ClientCommand)

    with pytest.raises(gateway_protocol.GatewayProtocolError, match="deep"):
        gateway_protocol.decode_gateway_line(
            gateway_protocol.encode_line(CommandMessage(1, "key", command))
        )


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), ANYTHING, max_size=4), st.integers() | st.none())
def test_what_the_gateway_takes_the_machine_takes_too(args: dict[str, Any], deal: int) -> None:
    text = json.dumps({"id": "1", "cmd": "x", "deal": deal, "args": args}, ensure_ascii=False)
    try:
        command = parse_command(text.encode(errors="surrogatepass"))
    except BadCommand:
        return
    message = CommandMessage(1, "p" * 40, command)
    line = gateway_protocol.encode_line(message)
    assert len(line) <= gateway_protocol.MAX_GATEWAY_LINE_BYTES
    assert gateway_protocol.decode_gateway_line(line) == message


@pytest.mark.parametrize("item", ["1e15", "-1e15", '"\\n"', '"掼"', "1e-5", "{}"])
def test_no_command_grows_beyond_a_line_on_its_way_to_the_machine(item: str) -> None:
    room = MAX_COMMAND_BYTES - 50
    items = ",".join([item] * (room // (len(item.encode()) + 1)))
    command = parse_command(b'{"id":"1","cmd":"x","args":{"a":[%s]}}' % items.encode())

    assert (
        len(gateway_protocol.encode_line(CommandMessage(1 << 53, "p" * 40, command)))
        <= gateway_protocol.MAX_GATEWAY_LINE_BYTES
    )


@given(ANYTHING, st.integers(0, 5))
def test_how_deep_a_value_is(value: object, deepest: int) -> None:
    def depth(value: object) -> int:
        if not isinstance(value, (dict, list)):
            return 0
        held = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, held), default=0)

    assert is_too_deep(value, deepest) == (depth(value) > deepest)
