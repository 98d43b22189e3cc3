"""The machine's one door: who may come in, what goes out, what a bad guest gets."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from controller.gateway_protocol import (
    SOCKET_NAME,
    CommandMessage,
    FeedMessage,
    HelloMessage,
    ReplyMessage,
    decode_machine_line,
    encode_line,
)
from controller.machine.gateway_socket import GatewaySocket
from controller.machine.public.public_state import RunIdentity, public_state
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import TableState
from controller.messages import ClientCommand, CommandReply, MachinePhase, PublicState

ABOUT = RunIdentity(table="T01", boot="00", simulated=True, profile="p", card_set="S1")


def state() -> PublicState:
    return public_state(
        ABOUT,
        TableState(),
        TableMatch(),
        MachinePhase.EMPTY,
        seq=1,
        time="now",
        now_ms=0,
        head=bytes(32),
        fed=0,
        counter=None,
    )


async def answer(command: ClientCommand) -> CommandReply:
    return CommandReply(id=command.id, ok=True, result={"cmd": command.cmd})


@pytest.fixture
async def door(runtime_dir: Path) -> AsyncIterator[GatewaySocket]:
    served = GatewaySocket(HelloMessage("T01", True), submit=answer, state=state)
    async with served.serve(runtime_dir):
        yield served
    assert not (runtime_dir / SOCKET_NAME).exists()


async def come_in(runtime_dir: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_unix_connection(str(runtime_dir / SOCKET_NAME))


async def test_a_gateway_is_greeted_and_told_the_whole_state_at_once(
    door: GatewaySocket, runtime_dir: Path
) -> None:
    reader, writer = await come_in(runtime_dir)
    hello, first = (
        decode_machine_line(await reader.readline()),
        decode_machine_line(await reader.readline()),
    )
    assert hello == HelloMessage("T01", True)
    assert isinstance(first, FeedMessage)
    assert msgspec.json.decode(first.body, type=PublicState) == state()
    writer.close()


async def test_a_command_is_answered_under_its_own_number(
    door: GatewaySocket, runtime_dir: Path
) -> None:
    reader, writer = await come_in(runtime_dir)
    await reader.readline()
    await reader.readline()
    for ref in (7, 3):
        writer.write(
            encode_line(CommandMessage(ref, "peer", ClientCommand(id=f"id{ref}", cmd="snapshot")))
        )
    replies = [decode_machine_line(await reader.readline()) for _ in range(2)]
    assert {(r.ref, r.body.id) for r in replies if isinstance(r, ReplyMessage)} == {
        (7, "id7"),
        (3, "id3"),
    }
    writer.close()


@pytest.mark.parametrize("nonsense", [b"nonsense\n", b"{}\n", b"\xff" * 100_000])
async def test_a_guest_that_does_not_speak_the_protocol_is_let_go_and_others_stay(
    door: GatewaySocket, runtime_dir: Path, nonsense: bytes
) -> None:
    good_reader, good = await come_in(runtime_dir)
    bad_reader, bad = await come_in(runtime_dir)
    bad.write(nonsense)
    while await _read_or_end(bad_reader):
        pass
    good.write(encode_line(CommandMessage(1, "peer", ClientCommand(id="x", cmd="snapshot"))))
    kinds = [type(decode_machine_line(await good_reader.readline())) for _ in range(3)]
    assert kinds[-1] is ReplyMessage
    good.close()
    bad.close()


async def test_what_is_published_reaches_every_gateway(
    door: GatewaySocket, runtime_dir: Path
) -> None:
    guests = [await come_in(runtime_dir) for _ in range(2)]
    for reader, _ in guests:
        await reader.readline()
        await reader.readline()
    door.publish(state())
    for reader, writer in guests:
        assert isinstance(decode_machine_line(await reader.readline()), FeedMessage)
        writer.close()


async def _read_or_end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(1000)
    except ConnectionError:
        return b""
