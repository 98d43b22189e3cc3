"""The lines between machine and gateway: cut right wherever the stream is cut."""

from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import gateway_protocol
from controller.gateway_protocol import (
    CommandMessage,
    FeedMessage,
    GatewayProtocolError,
    HelloMessage,
    LineSplitter,
    MachineMessage,
    ReplyMessage,
)
from controller.messages import ClientCommand, CommandReply, PublicEvent

MESSAGES: list[MachineMessage] = [
    HelloMessage("T01", simulated=True),
    FeedMessage("state/T01", msgspec.Raw(b'{"a":1}')),
    ReplyMessage(7, CommandReply(id="x", ok=True, result={"a": [1, "掼"]})),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_what_the_machine_says_arrives_as_it_was_said(message: MachineMessage) -> None:
    line = gateway_protocol.encode_line(message)

    assert line.count(b"\n") == 1
    assert gateway_protocol.decode_machine_line(line) == message


def test_a_command_arrives_as_it_was_sent() -> None:
    message = CommandMessage(1, "key", ClientCommand(id="x", cmd="call", args={"reason": "a\nb"}))

    assert gateway_protocol.decode_gateway_line(gateway_protocol.encode_line(message)) == message


def test_the_machine_reads_no_machine(make_event: Callable[[int], PublicEvent]) -> None:
    with pytest.raises(GatewayProtocolError):
        gateway_protocol.decode_gateway_line(
            gateway_protocol.encode_line(gateway_protocol.feed_message(make_event(1)))
        )


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b""))), st.data())
def test_lines_come_out_whole_however_the_stream_is_cut(
    said: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(line + b"\n" for line in said)
    cuts = data.draw(st.lists(st.integers(0, len(stream))).map(sorted))
    lines = LineSplitter(20)

    heard = [
        line
        for start, end in pairwise([0, *cuts, len(stream)])
        for line in lines.split(stream[start:end])
    ]

    assert heard == said


@pytest.mark.parametrize("end", [b"", b"\n", b"\nx\n"])
def test_a_line_beyond_the_limit_is_an_error_whether_it_ends_or_not(end: bytes) -> None:
    lines = LineSplitter(20)
    assert lines.split(b"x" * 20) == []

    with pytest.raises(GatewayProtocolError):
        lines.split(b"x" + end)


@given(st.binary(max_size=100))
def test_whatever_comes_is_a_message_or_a_bridge_error(line: bytes) -> None:
    for read in (gateway_protocol.decode_machine_line, gateway_protocol.decode_gateway_line):
        with pytest.raises(GatewayProtocolError):
            read(line)
