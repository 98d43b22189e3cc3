"""The other ends: a machine that follows a script, and what a client was told."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from controller import gateway_protocol
from controller.client.client import Client, ClientIdentity
from controller.client.connection import TableConnection, TableConnectionState
from controller.gateway_protocol import (
    AskMetricsMessage,
    CommandMessage,
    HelloMessage,
    LineSplitter,
    MetricsMessage,
    ReplyMessage,
)
from controller.messages import CommandReply, PublicEvent, PublicState
from controller.roster import CLIENTS_FOLDER, read_certificate

MakeState = Callable[..., PublicState]
Connect = Callable[..., Client]


class ScriptedMachine:
    """The machine's end of the Unix socket. Greets with hello and `state`, answers by `script`.

    `script` turns a command into the replies it gets, none while the machine is slow;
    `metrics` are its numbers, None while it does not say them.
    """

    def __init__(self, path: Path, state: PublicState) -> None:
        self.state = state
        self.hello = HelloMessage("T01", simulated=True)
        self.commands: list[CommandMessage] = []
        self.metrics: MetricsMessage | None = None
        self.asked_metrics = 0
        self.connected = asyncio.Event()
        self.left = asyncio.Event()
        self.got_command = asyncio.Event()
        self.script: Callable[[CommandMessage], list[CommandReply]] = self.agree
        self._path = path
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []

    @staticmethod
    def agree(message: CommandMessage) -> list[CommandReply]:
        return [CommandReply(id=message.body.id, ok=True, result={"did": message.body.cmd})]

    async def start(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, self._path)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            for writer in self._writers:
                writer.close()
            await self._server.wait_closed()
            self._server = None
            self._writers.clear()
            self._path.unlink(missing_ok=True)

    def publish(self, value: PublicState | PublicEvent) -> None:
        self.say(gateway_protocol.encode_line(gateway_protocol.feed_message(value)))

    def reply(self, ref: int, reply: CommandReply) -> None:
        self.say(gateway_protocol.encode_line(ReplyMessage(ref, reply)))

    def say(self, line: bytes) -> None:
        for writer in self._writers:
            writer.write(line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers = [writer]
        self.say(gateway_protocol.encode_line(self.hello))
        self.publish(self.state)
        self.connected.set()
        lines = LineSplitter(gateway_protocol.MAX_GATEWAY_LINE_BYTES)
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                for line in lines.split(data):
                    message = gateway_protocol.decode_gateway_line(line)
                    if isinstance(message, AskMetricsMessage):
                        self._say_metrics()
                    else:
                        self._take(message)
        self.connected.clear()
        self.left.set()
        writer.close()

    def _say_metrics(self) -> None:
        self.asked_metrics += 1
        if self.metrics is not None:
            self.say(gateway_protocol.encode_line(self.metrics))

    def _take(self, message: CommandMessage) -> None:
        self.commands.append(message)
        self.got_command.set()
        for reply in self.script(message):
            self.reply(message.ref, reply)


class Told(list[TableConnectionState]):
    """What a client was told of its line, and a wait for more."""

    def __init__(self) -> None:
        super().__init__()
        self._more = asyncio.Event()

    def note(self, state: TableConnectionState) -> None:
        self.append(state)
        self._more.set()

    async def until(self, state: TableConnectionState) -> None:
        while state not in self:
            self._more.clear()
            await self._more.wait()


class Raw:
    """A client that sends what it likes."""

    def __init__(self, line: TableConnection, told: Told) -> None:
        self.line = line
        self.told = told

    async def send(self, *frames: bytes) -> None:
        await self.line.socket.send_multipart(frames)

    async def receive(self) -> CommandReply:
        *_, body = await self.line.socket.recv_multipart()
        return msgspec.json.decode(body, type=CommandReply)


def code(reply: CommandReply) -> str | None:
    """The error's name, or None."""
    return reply.error.code if reply.error else None


def identity(state_dir: Path, name: str) -> ClientIdentity:
    """A client of the state directory."""
    secret = read_certificate(state_dir / CLIENTS_FOLDER / f"{name}.key_secret")
    assert secret.curve_secret is not None
    return ClientIdentity(name, secret.curve, secret.curve_secret, secret.sign)
