"""Attackers: a taken-over gateway at the machine's socket, and men in the middle."""

import asyncio
import itertools
from contextlib import suppress
from pathlib import Path
from typing import Self

import zmq
import zmq.asyncio

from controller import gateway_protocol
from controller.gateway_protocol import (
    CommandMessage,
    FeedMessage,
    HelloMessage,
    LineSplitter,
    ReplyMessage,
)
from controller.messages import ClientCommand, CommandReply


class TakenOver:
    """A gateway that is somebody else's now: it speaks the bridge protocol and says what it likes.

    For the block. `hello` is what the machine told it.
    """

    def __init__(self, socket: Path) -> None:
        self._path = socket
        self._refs = itertools.count(1)
        self._lines = LineSplitter(gateway_protocol.MAX_MACHINE_LINE_BYTES)
        self._messages: list[gateway_protocol.MachineMessage] = []
        self.hello: HelloMessage | None = None

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_unix_connection(self._path)
        first = await self._next()
        assert isinstance(first, HelloMessage)
        self.hello = first
        return self

    async def __aexit__(self, *why: object) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def say(self, command: ClientCommand, peer: str = "0" * 40) -> CommandReply:
        """Hand the machine a command, as coming from the CURVE key `peer`; return its answer."""
        ref = next(self._refs)
        self._writer.write(gateway_protocol.encode_line(CommandMessage(ref, peer, command)))
        while True:
            message = await self._next()
            if isinstance(message, ReplyMessage) and message.ref == ref:
                return message.body

    async def heard(self) -> FeedMessage:
        """Return the next thing that the machine says to all."""
        while True:
            message = await self._next()
            if isinstance(message, FeedMessage):
                return message

    async def _next(self) -> gateway_protocol.MachineMessage:
        while not self._messages:
            data = await self._reader.read(65536)
            assert data, "the machine hung up"
            self._messages += map(gateway_protocol.decode_machine_line, self._lines.split(data))
        return self._messages.pop(0)


class Impostor:
    """A man in the middle with a table key of his own, who lets everybody in. For the block.

    `got` is all that clients told him, `addresses` his sockets': feed and commands.
    """

    def __init__(self) -> None:
        self.got: list[list[bytes]] = []
        self.addresses: list[str] = []

    async def __aenter__(self) -> Self:
        self._context = zmq.asyncio.Context()
        public, secret = zmq.curve_keypair()
        self.key = public.decode()
        self._reading = []
        for kind in (zmq.XPUB, zmq.ROUTER):
            socket = self._context.socket(kind)
            socket.linger = 0
            socket.curve_server, socket.curve_secretkey = True, secret
            socket.bind("tcp://127.0.0.1:*")
            self.addresses.append(socket.getsockopt_string(zmq.LAST_ENDPOINT))
            self._reading.append(asyncio.ensure_future(self._read(socket)))
        return self

    async def __aexit__(self, *why: object) -> None:
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)
        self._context.destroy()

    async def _read(self, socket: zmq.asyncio.Socket) -> None:
        while True:
            self.got.append(await socket.recv_multipart())


class Relay:
    """A man in the middle who passes every byte on, and keeps it. For the block."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.removeprefix("tcp://").rpartition(":")
        self._port = int(port)
        self.kept = bytearray()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *why: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to = await asyncio.open_connection(self._host, self._port)
        self._writers += [writer, to]
        for source, target in ((reader, to), (there, writer)):
            task = asyncio.ensure_future(self._pump(source, target))
            self._tasks.add(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                self.kept += data
                writer.write(data)
