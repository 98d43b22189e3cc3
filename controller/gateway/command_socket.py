"""The command socket: it checks commands from clients, forwards them and returns the answers."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
import zmq
import zmq.asyncio

from controller.client.connection import open_socket, send_or_drop
from controller.commands.registry import (
    COMMANDS,
    MAX_COMMAND_BYTES,
    MAX_MESSAGE_BYTES,
    refusal_reply,
)
from controller.gateway.admission import COMMAND_BURST, COMMANDS_PER_S, ConnectedPeer, RateLimiter
from controller.gateway_protocol import (
    MAX_ARGUMENT_DEPTH,
    CommandMessage,
    Histogram,
    ReplyMessage,
    is_too_deep,
)
from controller.host.loggers import RefusalLogLimiter, structlog
from controller.messages import ClientCommand, CommandReply
from controller.roster import NotAdmitted
from controller.words import Words

MAX_ID_CHARACTERS: Final = 128


class BadCommand(Exception):
    """An error for received data that is no valid command: what was found, and what is expected.

    `id` is the sender's command id, if it could be read.
    """

    def __init__(self, found: Words, expected: Words, command_id: str = "") -> None:
        super().__init__(f"{found.en}, expected {expected.en}")
        self.found, self.expected, self.id = found, expected, command_id


def parse_command(payload: bytes) -> ClientCommand:
    """Return the command in the JSON text `payload`. Raises BadCommand for any other text."""
    if (size := len(payload)) > MAX_COMMAND_BYTES:
        found = Words(f"{size} bytes", f"{size}字节")
        most = Words(f"at most {MAX_COMMAND_BYTES}", f"至多{MAX_COMMAND_BYTES}字节")
        raise BadCommand(found, most, _read_id(payload))
    try:
        command = _COMMAND_DECODER.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        found, expected = Words(str(wrong), "无法读出命令"), Words("a command in JSON", "一条命令")
        raise BadCommand(found, expected, _read_id(payload)) from wrong
    if not 0 < (size := len(command.id)) <= MAX_ID_CHARACTERS:
        found = Words(f"an id of {size} characters", f"id 为{size}个字符")
        raise BadCommand(found, Words(f"1 to {MAX_ID_CHARACTERS}", f"1至{MAX_ID_CHARACTERS}个"))
    if is_too_deep(command.args):
        found = Words("arguments nested too deeply", "参数嵌套过深")
        most = Words(f"at most {MAX_ARGUMENT_DEPTH}", f"至多{MAX_ARGUMENT_DEPTH}层")
        raise BadCommand(found, most, command.id)
    return command


class _CommandId(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(max_length=MAX_ID_CHARACTERS)]


_COMMAND_DECODER: Final = msgspec.json.Decoder(ClientCommand)
_ID_DECODER: Final = msgspec.json.Decoder(_CommandId)


def _read_id(payload: bytes) -> str:
    try:
        return _ID_DECODER.decode(payload).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


MACHINE_REPLY_TIMEOUT_S: Final = 5.0
"""Seconds for which the gateway waits for the machine's answer."""
MAX_PENDING_PER_KEY: Final = 16
"""The most commands of one key that may wait for their answers."""
REPLY_TIME_BOUNDS_S: Final = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

_OPTIONS: Final[dict[int, int]] = {
    zmq.RCVHWM: 100,
    zmq.SNDHWM: 100,
    zmq.MAXMSGSIZE: MAX_MESSAGE_BYTES,
}
_log = structlog.get_logger("gateway")


@dataclass(frozen=True)
class _PendingCommand:
    """A command that the machine has not answered yet, with its sender."""

    envelope: list[bytes]
    peer: str
    command_id: str
    cmd: str
    since_s: float
    timer: asyncio.TimerHandle


class CommandSocket:
    """The socket that passes commands to the machine, and the machine's answers to the clients.

    `forward` sends a command to the machine and returns False while the machine is away.
    `refusal_of_peer` returns the reason why a peer is refused now, or None. Each command is checked
    again, because a connection can outlive its certificate for a moment. `reply_counts` counts
    replies by command and result, `reply_times` measures the machine's answers.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        forward: Callable[[CommandMessage], bool],
        refusal_of_peer: Callable[[ConnectedPeer], NotAdmitted | None],
        reply_timeout_s: float = MACHINE_REPLY_TIMEOUT_S,
    ) -> None:
        self._context = context
        self.socket = open_socket(context, zmq.ROUTER, _OPTIONS)
        self._forward, self._refusal_of_peer = forward, refusal_of_peer
        self._reply_timeout_s = reply_timeout_s
        self.reply_counts: Counter[tuple[str, str]] = Counter()
        self.reply_times = Histogram(REPLY_TIME_BOUNDS_S)
        self._rate_limiter = RateLimiter()
        self._log_limiter = RefusalLogLimiter()
        self._pending: dict[int, _PendingCommand] = {}
        self._pending_by_key: Counter[str] = Counter()
        self._last_ref = 0

    @property
    def pending_count(self) -> int:
        """The number of commands that the machine has not answered yet."""
        return len(self._pending)

    async def serve(self) -> None:
        """Receive and handle commands until cancelled. An error in one command is only logged."""
        while True:
            frames = await self.socket.recv_multipart(copy=False)
            try:
                self._handle(frames)
            except Exception:  # Only this command fails, without an answer.
                peer = str(frames[-1]["User-Id"])
                unsaid = self._log_limiter.allow_line(peer, asyncio.get_running_loop().time())
                if unsaid is not None:
                    more = {"dropped_meanwhile": unsaid} if unsaid else {}
                    _log.exception("command dropped", key=peer, **more)
            await asyncio.sleep(0)  # A flood of commands must not block the loop.

    def deliver_reply(self, message: ReplyMessage) -> None:
        """Send the machine's reply to the client, or drop it if the command is not pending."""
        waiting = self._remove_pending(message.ref)
        if waiting is not None:
            self.reply_times.add(asyncio.get_running_loop().time() - waiting.since_s)
            self._reply(waiting.envelope, message.body, waiting.cmd)

    def refuse_all_pending(self) -> None:
        """Send a refusal for each pending command, because the machine will not answer it."""
        for ref in list(self._pending):
            self._refuse_pending(ref, "MACHINE_AWAY")

    def reopen(self) -> None:
        """Disconnect every client and open a new socket.

        Pending answers are dropped, and clients ask again. The caller must secure and bind the new
        socket.
        """
        self.close()
        self.socket = open_socket(self._context, zmq.ROUTER, _OPTIONS)

    def close(self) -> None:
        """Close the socket, and drop all pending commands with their timers."""
        for waiting in self._pending.values():
            waiting.timer.cancel()
        self._pending.clear()
        self._pending_by_key.clear()
        self.socket.close()

    def _handle(self, frames: list[zmq.Frame]) -> None:
        peer = str(frames[-1]["User-Id"])
        *envelope, payload = [frame.bytes for frame in frames]
        try:
            if envelope[1:] not in ([], [b""]):  # A REQ socket adds one empty frame.
                del envelope[1:]
                count = len(frames) - 1
                raise BadCommand(Words(f"{count} frames", f"{count}帧"), Words("one", "一帧"))
            command = parse_command(payload)
        except BadCommand as bad:
            reply = refusal_reply(bad.id, "BAD_COMMAND", found=bad.found, expected=bad.expected)
            self._reply(envelope, reply)
            return
        sender = ConnectedPeer(peer, str(frames[-1]["Peer-Address"]))
        if (refused := self._refusal_before_machine(sender, command)) is not None:
            self._reply(envelope, refused, command.cmd)
            return
        self._last_ref += 1
        if not self._forward(CommandMessage(self._last_ref, peer, command)):
            self._reply(envelope, refusal_reply(command.id, "MACHINE_AWAY"), command.cmd)
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._reply_timeout_s, self._on_timeout, self._last_ref)
        self._pending[self._last_ref] = _PendingCommand(
            envelope, peer, command.id, command.cmd, loop.time(), timer
        )
        self._pending_by_key[peer] += 1

    def _refusal_before_machine(
        self, peer: ConnectedPeer, command: ClientCommand
    ) -> CommandReply | None:
        """Return a refusal if `peer` is not admitted or sends too many commands, otherwise None."""
        if (refused := self._refusal_of_peer(peer)) is not None:
            return refusal_reply(command.id, refused.code, **refused.evidence)
        if self._pending_by_key[peer.key] >= MAX_PENDING_PER_KEY:
            found = Words(
                f"{MAX_PENDING_PER_KEY} wait for their answers",
                f"{MAX_PENDING_PER_KEY}条命令尚待应答",
            )
            most = Words(f"{MAX_PENDING_PER_KEY} at a time", f"同时{MAX_PENDING_PER_KEY}条")
        elif not self._rate_limiter.try_take(peer.key, asyncio.get_running_loop().time()):
            found = Words(f"more than {COMMAND_BURST:g} at once", f"一次超过{COMMAND_BURST:g}条")
            most = Words(f"{COMMANDS_PER_S:g} a second on and on", f"持续每秒{COMMANDS_PER_S:g}条")
        else:
            return None
        return refusal_reply(command.id, "TOO_MANY", found=found, expected=most)

    def _remove_pending(self, ref: int) -> _PendingCommand | None:
        waiting = self._pending.pop(ref, None)
        if waiting is not None:
            waiting.timer.cancel()
            self._pending_by_key[waiting.peer] -= 1
            if not self._pending_by_key[waiting.peer]:
                del self._pending_by_key[waiting.peer]
        return waiting

    def _on_timeout(self, ref: int) -> None:
        _log.warning("machine late", after_s=self._reply_timeout_s)
        self._refuse_pending(ref, "MACHINE_LATE")

    def _refuse_pending(self, ref: int, name: str) -> None:
        waiting = self._remove_pending(ref)
        if waiting is not None:
            self._reply(waiting.envelope, refusal_reply(waiting.command_id, name), waiting.cmd)

    def _reply(self, envelope: list[bytes], reply: CommandReply, cmd: str = "") -> None:
        known = cmd if cmd in COMMANDS else "other"  # A client's text must not become a label.
        said = "ok" if reply.error is None else reply.error.code
        self.reply_counts[known, said] += 1
        _log.debug("command answered", cmd=known, answer=said)
        send_or_drop(self.socket, [*envelope, msgspec.json.encode(reply)])
