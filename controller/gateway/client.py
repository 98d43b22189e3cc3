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

from controller import signing
from controller.commands import COMMANDS
from controller.gateway.endpoints import Endpoints
from controller.gateway.line import RETRY_S, Keys, Line, LineState
from controller.gateway.requests import HARD_LARGEST, LARGEST, refusal
from controller.gateway.sockets import post
from controller.messages import Command, Reply

ANSWER_S: Final = 8.0
"""Longer than the gateway itself waits for the machine, so that its word is heard."""

_HOPELESS: Final = frozenset({LineState.KEY_REFUSED, LineState.OTHER_KEY})


class NoAnswer(Exception):
    """Nothing came back. Whether the command acted is not known: the same id asks again safely."""


@dataclass(frozen=True)
class Identity:
    """Who asks: a CURVE pair in Z85 and the 32-byte Ed25519 seed of its commands, if it has one."""

    name: str
    public: str
    secret: str = field(repr=False)
    seed: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Heard:
    """One message of the feed as it came: its topic and its JSON."""

    topic: str
    body: bytes


@dataclass(frozen=True)
class _Asked:
    """A command that waits for its answer, as it was sent."""

    answer: asyncio.Future[Reply]
    body: bytes


class Client:
    """One table's feed and commands. Sockets open with their first use.

    `ids` gives a fresh command id at each call (two commands of one key must never
    share one); `on_line` is told how the feed's line stands whenever that changes;
    `topics` are the beginnings of the topics to hear.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        identity: Identity,
        ids: Callable[[], str],
        on_line: Callable[[LineState], None] = lambda _: None,
        topics: Sequence[str] = ("",),
        retry_s: float = RETRY_S,
    ) -> None:
        self._endpoints = endpoints
        self._identity = identity
        self._ids = ids
        self._on_line = on_line
        self._topics = topics
        self._retry_s = retry_s
        self._context = zmq.asyncio.Context()
        self._feed: Line | None = None
        self._commands: Line | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._asked: dict[str, _Asked] = {}
        self._lost_line = False

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
        for line in (self._feed, self._commands):
            if line is not None:
                line.close()
        self._context.destroy()  # not term, which would wait for a socket left open

    async def hear(self) -> Heard:
        """Return the next message of the feed, whenever it comes; cancelling loses none.

        Raises BadAddress at the first call.
        """
        if self._feed is None:
            self._feed = self._open(zmq.SUB, self._endpoints.feed, self._on_line)
            for topic in self._topics:
                self._feed.socket.subscribe(topic)
        name, body = await self._feed.socket.recv_multipart()
        return Heard(name.decode(), body)

    async def feed(self) -> AsyncIterator[Heard]:
        """Yield all that comes, without end."""
        while True:
            yield await self.hear()

    async def ask(
        self,
        cmd: str,
        args: Mapping[str, Any] | None = None,
        *,
        deal: int | None = None,
        attempt: int | None = None,
        command_id: str | None = None,
        answer_s: float = ANSWER_S,
    ) -> Reply:
        """Send a command, signed unless it only reads, and return the table's reply.

        Raises NoAnswer when none came in `answer_s`, or the key is refused there; BadAddress.
        """
        command = Command(
            id=command_id or self._ids(), cmd=cmd, deal=deal, attempt=attempt, args=dict(args or {})
        )
        size = len(msgspec.json.encode(command))
        if size > HARD_LARGEST:
            return _too_large(command.id, size)  # it has no signature: fields are bounded, too
        if self._identity.seed is not None and _is_signed(cmd):
            command = signing.sign(command, self._endpoints.server_key, self._identity.seed)
        return await self.send(command, answer_s)

    async def send(self, command: Command, answer_s: float = ANSWER_S) -> Reply:
        """Send `command` as it is and return the table's reply. Raises NoAnswer, BadAddress.

        It is sent again, under its id, when the line was lost meanwhile and is there again: the
        answer may have been on its way. One so large that the gateway would hang up unread is
        refused here, in its words.
        """
        body = msgspec.json.encode(command)
        if len(body) > HARD_LARGEST:
            return _too_large(command.id, len(body))
        line = self._command_line()
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asked[command.id] = _Asked(answer, body)
        try:
            async with asyncio.timeout(answer_s):
                if line.state in _HOPELESS:
                    raise NoAnswer(self._where(line.state))
                await line.socket.send(body)
                return await answer
        except TimeoutError:
            raise NoAnswer(self._where(line.state, f"no answer in {answer_s:g} s")) from None
        finally:
            self._asked.pop(command.id, None)

    def _command_line(self) -> Line:
        if self._commands is None:
            self._commands = self._open(zmq.DEALER, self._endpoints.commands, self._on_commands)
            self._tasks.append(asyncio.create_task(self._take_replies(self._commands)))
        return self._commands

    def _open(
        self, kind: zmq.SocketType, address: str, on_change: Callable[[LineState], None]
    ) -> Line:
        me = self._identity
        keys = Keys(self._endpoints.server_key, me.public, me.secret)
        line = Line(self._context, kind, address, keys, on_change, self._retry_s)
        self._tasks.append(asyncio.create_task(line.watch_over()))
        return line

    def _on_commands(self, state: LineState) -> None:
        open_ = [asked for asked in self._asked.values() if not asked.answer.done()]
        if state in _HOPELESS:
            for asked in open_:
                asked.answer.set_exception(NoAnswer(self._where(state)))
        elif state is LineState.OPEN and self._lost_line and self._commands is not None:
            for asked in open_:
                post(self._commands.socket, [asked.body])
        self._lost_line = state is LineState.DOWN

    async def _take_replies(self, line: Line) -> None:
        while True:
            body = await line.socket.recv()
            try:
                reply = _REPLY.decode(body)
            except msgspec.MsgspecError:  # of another version: who asked hears that none came
                continue
            asked = self._asked.get(reply.id)
            if asked is not None and not asked.answer.done():
                asked.answer.set_result(reply)

    def _where(self, state: LineState, what: str = "") -> str:
        said = ", ".join(filter(None, (what, str(state))))
        return f"{self._endpoints.commands}: {said} (as {self._identity.name})"


def _too_large(command_id: str, size: int) -> Reply:
    found, most = f"{size} bytes", f"at most {LARGEST}"
    return refusal(command_id, "BAD_COMMAND", found=found, expected=most)


def _is_signed(cmd: str) -> bool:
    """What is not known here may change something there."""
    return cmd not in COMMANDS or COMMANDS[cmd].signed


_REPLY: Final = msgspec.json.Decoder(Reply)
