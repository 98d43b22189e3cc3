"""A table's client: its feed and its commands, for `watch`, `send`, `demo` and programs like them.

async with Client(read_endpoints(state_dir), identity, ids) as client:
    reply = await client.ask("snapshot")
    async for heard in client.feed():
        ...
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
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
"""Longer than the gateway itself waits for the machine, so that its word is heard."""

_FRAMES_PER_MESSAGE: Final = 2
_MAX_REPLY_DEPTH: Final = 64
_FINAL_STATES: Final = frozenset({TableConnectionState.KEY_REFUSED, TableConnectionState.OTHER_KEY})


class BadMessage(Exception):
    """What came on the feed is none of a table's: whoever has its gateway may send anything."""


class NoAnswer(Exception):
    """Nothing came back. Whether the command acted is not known: the same id asks again safely.

    `state`: how the line to the table stood, None where the answer could not be read.
    """

    def __init__(self, why: str, state: TableConnectionState | None = None) -> None:
        """Say in one line what was asked, where, and why nothing came back."""
        super().__init__(why)
        self.state = state


@dataclass(frozen=True)
class ClientIdentity:
    """Who asks: a CURVE pair in Z85 and the 32-byte Ed25519 seed of its commands, if it has one."""

    name: str
    public: str
    secret: str = field(repr=False)
    seed: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ReceivedMessage:
    """One message of the feed as it came: its topic and its JSON."""

    topic: str
    body: bytes


@dataclass(frozen=True)
class _PendingCommand:
    """A command that waits for its answer, as it was sent."""

    answer: asyncio.Future[CommandReply]
    body: bytes


class Client:
    """One table's feed and commands. Sockets open with their first use.

    What it signs is for the run of the table that it saw last, on the feed or in a snapshot
    (`boot`; who hears the feed elsewhere may set it): an order that a restart overtakes is refused
    there, and is given anew by who still means it.

    `ids` gives a fresh command id at each call (two commands of one key must never
    share one); `on_line` is told how the feed's line stands whenever that changes;
    `topics` are the beginnings of the topics to hear; `context` is shared with others, who close
    it: each has threads of its own.
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
        self._endpoints = endpoints
        self._identity = identity
        self._new_id = new_id
        self._on_state = on_state
        self._topics = topics
        self._retry_interval_s = retry_interval_s
        self._shared_context = context
        self._context = zmq.asyncio.Context() if context is None else _asyncio_context(context)
        self._feed_connection: TableConnection | None = None
        self._command_connection: TableConnection | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._pending: dict[str, _PendingCommand] = {}
        self._was_down = False
        self.boot: str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Leave: sockets closed, no task or timer left."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for line in (self._feed_connection, self._command_connection):
            if line is not None:
                line.close()
        if self._shared_context is None:
            self._context.destroy()  # not term, which would wait for a socket left open

    async def next_message(self) -> ReceivedMessage:
        """Return the next message of the feed, whenever it comes; cancelling loses none.

        Raises BadAddress at the first call, BadMessage for one that is none; the next may be one.
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
        self.boot = _read_boot(heard.body) or self.boot
        return heard

    async def feed(self) -> AsyncIterator[ReceivedMessage]:
        """Yield all that comes, without end."""
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
        """Send a command, signed unless it only reads, and return the table's reply.

        `person` gives it, with the key of this client. Before the first that is signed it asks for
        a snapshot, where it has heard no feed: who signs says which run of the table he means.
        Raises NoAnswer when none came in `answer_s`, or the key is refused there; BadAddress.
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
            return _refuse_too_large(
                command.id, size
            )  # it has no signature: fields are bounded, too
        if self._identity.seed is None or not _is_signed(cmd):
            return await self.send(command, timeout_s)
        return await self._ask_signed(command, self._identity.seed, timeout_s)

    async def _ask_signed(
        self, command: ClientCommand, seed: bytes, timeout_s: float
    ) -> CommandReply:
        """Send a command, signed for the run of the table that was seen; ask for that first."""
        if self.boot is None:
            seen = await self.send(ClientCommand(id=self._new_id(), cmd="snapshot"), timeout_s)
            if seen.error is not None:
                return msgspec.structs.replace(seen, id=command.id)
        command = msgspec.structs.replace(command, boot=self.boot)
        command = signed_commands.sign_command(command, self._endpoints.server_key, seed)
        reply = await self.send(command, timeout_s)
        if reply.error is not None and reply.error.code == _OTHER_RUN:
            self.boot = None  # this order is not signed again; before the next it looks anew
        return reply

    async def send(
        self, command: ClientCommand, timeout_s: float = REPLY_TIMEOUT_S
    ) -> CommandReply:
        """Send `command` as it is and return the table's reply. Raises NoAnswer, BadAddress.

        It is sent again, under its id, when the line was lost meanwhile and is there again: the
        answer may have been on its way. One so large that the gateway would hang up unread is
        refused here, in its words.
        """
        body = msgspec.json.encode(command)
        if len(body) > MAX_MESSAGE_BYTES:
            return _refuse_too_large(command.id, len(body))
        line = self._open_commands()
        answer: asyncio.Future[CommandReply] = asyncio.get_running_loop().create_future()
        self._pending[command.id] = _PendingCommand(answer, body)
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
        if command.cmd == "snapshot" and reply.result is not None:
            self._note_boot(reply.result)
        return reply

    def _note_boot(self, state: Mapping[str, Any]) -> None:
        """Take which run of the table somebody who asked has seen."""
        boot = state.get("boot")
        if isinstance(boot, str):
            self.boot = boot

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
        open_ = [asked for asked in self._pending.values() if not asked.answer.done()]
        if state in _FINAL_STATES:
            for asked in open_:
                asked.answer.set_exception(NoAnswer(self._failure_text(state), state))
        elif (
            state is TableConnectionState.OPEN
            and self._was_down
            and self._command_connection is not None
        ):
            for asked in open_:
                send_or_drop(self._command_connection.socket, [asked.body])
        self._was_down = state is TableConnectionState.DOWN

    async def _take_replies(self, line: TableConnection) -> None:
        while True:
            body = await line.socket.recv()
            try:
                reply = _REPLY_DECODER.decode(body)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue  # of another version, or nobody's: who asked hears that none came
            if is_too_deep(reply.result, _MAX_REPLY_DEPTH):  # nothing that any table answers
                continue
            asked = self._pending.get(reply.id)
            if asked is not None and not asked.answer.done():
                asked.answer.set_result(reply)

    def _failure_text(self, state: TableConnectionState, what: str = "") -> str:
        said = ", ".join(filter(None, (what, str(state))))
        return f"{self._endpoints.commands}: {said} (as {self._identity.name})"


def _asyncio_context(context: zmq.Context[Any]) -> zmq.asyncio.Context:
    """Return a context whose sockets are asyncio's, over one that others have."""
    return zmq.asyncio.Context.shadow(context.underlying)


def _refuse_too_large(command_id: str, size: int) -> CommandReply:
    found = Words(f"{size} bytes", f"{size}字节")
    most = Words(f"at most {MAX_COMMAND_BYTES}", f"至多{MAX_COMMAND_BYTES}字节")
    return refusal_reply(command_id, "BAD_COMMAND", found=found, expected=most)


def _is_signed(cmd: str) -> bool:
    """What is not known here may change something there."""
    return cmd not in COMMANDS or COMMANDS[cmd].signed


class _HasBoot(msgspec.Struct):
    """What states and events have alike."""

    boot: str


def _read_boot(body: bytes) -> str | None:
    """Return the run of the table that a message of its feed is of; None for a bad one."""
    try:
        return _BOOT_DECODER.decode(body).boot
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


_OTHER_RUN: Final = "OTHER_RUN"
_BOOT_DECODER: Final = msgspec.json.Decoder(_HasBoot)
_REPLY_DECODER: Final = msgspec.json.Decoder(CommandReply)
