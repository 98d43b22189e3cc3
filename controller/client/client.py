"""The client of a table's feed and commands, for `watch`, `send`, `demo` and similar programs.

Example:

async with Client(read_endpoints(state_dir), identity, new_id) as client:
    reply = await client.ask("snapshot")
    async for message in client.feed():
        ...
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Self

import msgspec
import zmq
import zmq.asyncio

from controller.client.connection import (
    RETRY_INTERVAL_S,
    CurveKeys,
    TableConnection,
    TableConnectionState,
    send_or_drop,
)
from controller.client.discovery import Endpoints
from controller.commands.registry import (
    COMMANDS,
    MAX_COMMAND_BYTES,
    MAX_MESSAGE_BYTES,
    refusal_reply,
)
from controller.gateway_protocol import is_too_deep
from controller.messages import ClientCommand, CommandReply
from controller.signing import signed_commands
from controller.words import Words

REPLY_TIMEOUT_S: Final = 8.0
"""Seconds to wait for an answer. The gateway waits less, so that its refusal arrives in time."""

_FRAMES_PER_MESSAGE: Final = 2
_MAX_REPLY_DEPTH: Final = 64
_FINAL_STATES: Final = frozenset({TableConnectionState.KEY_REFUSED, TableConnectionState.OTHER_KEY})


class BadMessage(Exception):
    """The error for an invalid message of the feed. A compromised gateway can send anything."""


class NoAnswer(Exception):
    """The error for a command that received no answer.

    The command may have been executed; asking again with the same id is safe. `state` is the state
    of the connection, or None if the answer could not be used.
    """

    def __init__(self, why: str, state: TableConnectionState | None = None) -> None:
        """Store `why` (a reason on one line) as the error's text, and the connection's `state`."""
        super().__init__(why)
        self.state = state


@dataclass(frozen=True)
class ClientIdentity:
    """A client's name and keys: a CURVE key pair (Z85), and `seed` (32 bytes) to sign commands."""

    name: str
    public: str
    secret: str = field(repr=False)
    seed: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ReceivedMessage:
    """One message of the feed, with its topic and its JSON text."""

    topic: str
    body: bytes


class Client:
    """A client for one table's feed and commands. Sockets open at their first use.

    Signed commands are for the run of the table that the client saw last, on the feed or in a
    snapshot (`boot`). A program that receives the feed elsewhere may set `boot`. After a restart
    the table refuses such a command, and a person must give it again.

    `new_id` returns a new command id at each call (two commands of one key must never share an id).
    `on_state` is called when the state of the feed's connection changes. `topics` are the prefixes
    of the topics to receive. `context` is a ZeroMQ context shared with other clients, which the
    caller closes; each context has threads of its own.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        identity: ClientIdentity,
        new_id: Callable[[], str],
        on_state: Callable[[TableConnectionState], None] = lambda _: None,
        topics: Sequence[str] = ("",),
        retry_interval_s: float = RETRY_INTERVAL_S,
        context: zmq.Context[Any] | None = None,
    ) -> None:
        self._endpoints, self._identity, self._new_id = endpoints, identity, new_id
        self._on_state, self._topics = on_state, topics
        self._retry_interval_s = retry_interval_s
        self._shared_context = context
        self._context = (
            zmq.asyncio.Context()
            if context is None
            else zmq.asyncio.Context.shadow(context.underlying)
        )
        self._feed_connection: TableConnection | None = None
        self._command_connection: TableConnection | None = None
        self._tasks: list[asyncio.Task[None]] = []
        # Each command that waits for its answer, with the bytes that were sent.
        self._pending: dict[str, tuple[asyncio.Future[CommandReply], bytes]] = {}
        self._was_down = False
        self.boot: str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all sockets of the client, and cancel its tasks and timers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for line in (self._feed_connection, self._command_connection):
            if line is not None:
                line.close()
        if self._shared_context is None:
            self._context.destroy()  # Unlike term, destroy does not wait for open sockets.

    async def next_message(self) -> ReceivedMessage:
        """Wait for the next message of the feed and return it.

        Cancelling loses no message. Raises BadAddress at the first call. Raises BadMessage for an
        invalid message; the next call continues with the next message.
        """
        if self._feed_connection is None:
            self._feed_connection = self._connect(zmq.SUB, self._endpoints.feed, self._on_state)
            for topic in self._topics:
                self._feed_connection.socket.subscribe(topic)
        frames = await self._feed_connection.socket.recv_multipart()
        if len(frames) != _FRAMES_PER_MESSAGE:
            raise BadMessage(f"{len(frames)} frames, expected {_FRAMES_PER_MESSAGE}")
        try:
            heard = ReceivedMessage(frames[0].decode(), frames[1])
        except UnicodeDecodeError:
            raise BadMessage("a topic that is no text") from None
        with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self.boot = _BOOT_DECODER.decode(heard.body).boot or self.boot
        return heard

    async def feed(self) -> AsyncIterator[ReceivedMessage]:
        """Yield the messages of the feed as they arrive, without end."""
        while True:
            yield await self.next_message()

    async def ask(
        self,
        cmd: str,
        args: Mapping[str, Any] | None = None,
        *,
        deal: int | None = None,
        attempt: int | None = None,
        person: str | None = None,
        command_id: str | None = None,
        timeout_s: float = REPLY_TIMEOUT_S,
    ) -> CommandReply:
        """Send a command and return the table's reply.

        The command is signed unless it only reads or the client has no seed. `person` is the person
        who gives the command with the key of this client. If no feed was received, a snapshot is
        requested before the first signed command, because the signature covers the run of the
        table. Raises NoAnswer if no reply came in `timeout_s` seconds, or if the key is refused.
        Raises BadAddress.
        """
        command = ClientCommand(
            id=command_id or self._new_id(),
            cmd=cmd,
            deal=deal,
            attempt=attempt,
            person=person,
            args=dict(args or {}),
        )
        size = len(msgspec.json.encode(command))
        if size > MAX_MESSAGE_BYTES:
            # It is not signed, because signed fields are bounded, too.
            return _refuse_too_large(command.id, size)
        reads = cmd in COMMANDS and not COMMANDS[cmd].signed  # An unknown one may change things.
        if self._identity.seed is None or reads:
            return await self.send(command, timeout_s)
        return await self._ask_signed(command, self._identity.seed, timeout_s)

    async def _ask_signed(
        self, command: ClientCommand, seed: bytes, timeout_s: float
    ) -> CommandReply:
        """Sign a command for the run `self.boot` of the machine process, and send the command.

        If `self.boot` is None, a snapshot is requested first. A refused snapshot is returned.
        """
        if self.boot is None:
            seen = await self.send(ClientCommand(id=self._new_id(), cmd="snapshot"), timeout_s)
            if seen.error is not None:
                return msgspec.structs.replace(seen, id=command.id)
        command = msgspec.structs.replace(command, boot=self.boot)
        command = signed_commands.sign_command(command, self._endpoints.server_key, seed)
        reply = await self.send(command, timeout_s)
        if reply.error is not None and reply.error.code == _OTHER_RUN:
            # This command is not signed again. The next one requests the run first.
            self.boot = None
        return reply

    async def send(
        self, command: ClientCommand, timeout_s: float = REPLY_TIMEOUT_S
    ) -> CommandReply:
        """Send `command` unchanged and return the table's reply. Raises NoAnswer, BadAddress.

        After a lost connection the command is sent again with the same id, because the answer may
        have been lost. A command that is too large, for which the gateway would close the
        connection, is refused here with the gateway's text.
        """
        body = msgspec.json.encode(command)
        if len(body) > MAX_MESSAGE_BYTES:
            return _refuse_too_large(command.id, len(body))
        line = self._open_commands()
        answer: asyncio.Future[CommandReply] = asyncio.get_running_loop().create_future()
        self._pending[command.id] = answer, body
        try:
            async with asyncio.timeout(timeout_s):
                if line.state in _FINAL_STATES:
                    raise NoAnswer(self._failure_text(line.state), line.state)
                await line.socket.send(body)
                reply = await answer
        except TimeoutError:
            where = self._failure_text(line.state, f"no answer in {timeout_s:g} s")
            raise NoAnswer(where, line.state) from None
        finally:
            self._pending.pop(command.id, None)
        boot = reply.result.get("boot") if command.cmd == "snapshot" and reply.result else None
        if isinstance(boot, str):
            self.boot = boot
        return reply

    def _open_commands(self) -> TableConnection:
        if self._command_connection is None:
            self._command_connection = self._connect(
                zmq.DEALER, self._endpoints.commands, self._on_command_state
            )
            self._tasks.append(asyncio.create_task(self._take_replies(self._command_connection)))
        return self._command_connection

    def _connect(
        self, kind: zmq.SocketType, address: str, on_change: Callable[[TableConnectionState], None]
    ) -> TableConnection:
        me = self._identity
        keys = CurveKeys(self._endpoints.server_key, me.public, me.secret)
        line = TableConnection(
            self._context, kind, address, keys, on_change, self._retry_interval_s
        )
        self._tasks.append(asyncio.create_task(line.follow_monitor()))
        return line

    def _on_command_state(self, state: TableConnectionState) -> None:
        line, is_open = self._command_connection, state is TableConnectionState.OPEN
        for answer, body in [asked for asked in self._pending.values() if not asked[0].done()]:
            if state in _FINAL_STATES:
                answer.set_exception(NoAnswer(self._failure_text(state), state))
            elif is_open and self._was_down and line is not None:
                send_or_drop(line.socket, [body])
        self._was_down = state is TableConnectionState.DOWN

    async def _take_replies(self, line: TableConnection) -> None:
        while True:
            body = await line.socket.recv()
            try:
                reply = _REPLY_DECODER.decode(body)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue  # Another version or another sender. The command will time out.
            if is_too_deep(reply.result, _MAX_REPLY_DEPTH):  # No table sends such an answer.
                continue
            asked = self._pending.get(reply.id)
            if asked is not None and not asked[0].done():
                asked[0].set_result(reply)

    def _failure_text(self, state: TableConnectionState, what: str = "") -> str:
        said = ", ".join(filter(None, (what, str(state))))
        return f"{self._endpoints.commands}: {said} (as {self._identity.name})"


def _refuse_too_large(command_id: str, size: int) -> CommandReply:
    found = Words(f"{size} bytes", f"{size}字节")
    most = Words(f"at most {MAX_COMMAND_BYTES}", f"至多{MAX_COMMAND_BYTES}字节")
    return refusal_reply(command_id, "BAD_COMMAND", found=found, expected=most)


class _HasBoot(msgspec.Struct):
    """The field `boot` of a feed message, which names the run of the machine process."""

    boot: str


_OTHER_RUN: Final = "OTHER_RUN"
_BOOT_DECODER: Final = msgspec.json.Decoder(_HasBoot)
_REPLY_DECODER: Final = msgspec.json.Decoder(CommandReply)
