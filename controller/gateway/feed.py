"""The feed: one XPUB socket, from which the state goes out again for whoever joins late."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

import zmq
import zmq.asyncio

from controller.bridge import FeedMessage, GatewayProtocolError, event_topic, state_topic
from controller.client.sockets import open_socket, send_or_drop
from controller.gateway.rates import ConnectedPeer
from controller.gateway.topics import NO_PEER, TopicLimits

JOIN_DELAY_S: Final = 0.02
"""How long joins are gathered before the state goes out for all of them at once."""
MAX_HELD_BACK: Final = 400
"""Messages held back while subscribers connect anew; with more of them nobody waits longer."""

_OPTIONS: Final[dict[int, int]] = {
    zmq.XPUB_VERBOSE: 1,  # the second and third subscriber are told of, too
    zmq.SNDHWM: 500,  # messages for one slow subscriber, then it misses some
    zmq.RCVHWM: 100,
    zmq.MAXMSGSIZE: 512,  # subscriptions are short
}


class FeedSocket:
    """Publishes what the machine says is public, and repeats its last state to joiners.

    `sent` counts messages by the kind of their topic. `put_out` is told of a peer that asks for
    more than anybody may; the socket is closed then, and the feed held back until it is open again.
    """

    def __init__(
        self,
        context: zmq.asyncio.Context,
        table: str,
        on_flood: Callable[[ConnectedPeer], None] = lambda peer: None,
    ) -> None:
        self._context = context
        self.socket = open_socket(context, zmq.XPUB, _OPTIONS)
        self._state_topic = state_topic(table)
        self._topics = {self._state_topic, event_topic(table)}
        self._topic_limits = TopicLimits(self._topics)
        self._on_flood = on_flood
        self.sent_by_kind: Counter[str] = Counter()
        self._state: list[bytes] | None = None
        self._repeat_timer: asyncio.TimerHandle | None = None
        self._held_back: list[list[bytes]] | None = None
        self._resume_timer: asyncio.TimerHandle | None = None

    def publish(self, message: FeedMessage) -> None:
        """Send `message` to its subscribers. Raises BridgeError for
        a topic that is not its table's."""
        if message.topic not in self._topics:
            raise GatewayProtocolError(
                f"topic {message.topic[:80]!r}: expected {sorted(self._topics)}"
            )
        frames = [message.topic.encode(), bytes(message.body)]
        if self._held_back is None:
            self._send(frames)
        else:
            self._held_back.append(frames)
            if len(self._held_back) >= MAX_HELD_BACK:
                self._send_held_back()

    def hold_back(self) -> None:
        """Keep what is published from now on, in its order."""
        if self._held_back is None:
            self._held_back = []

    def reopen(self) -> None:
        """Put every subscriber out. The new socket is to be guarded and bound."""
        self.socket.close()
        self._topic_limits.clear()
        self.socket = open_socket(self._context, zmq.XPUB, _OPTIONS)

    def resume_in(self, after_s: float) -> None:
        """Send what was held back, and all that comes, after a while."""
        self._cancel_resume()
        self._resume_timer = asyncio.get_running_loop().call_later(after_s, self._send_held_back)

    @property
    def state(self) -> bytes | None:
        """The last state, in JSON; None while there is no machine to have one."""
        return None if self._state is None else self._state[1]

    def forget_state(self) -> None:
        """Repeat the state no more: without its machine it is no longer the table's."""
        if self._held_back is not None:
            self._send_held_back()
        if self._held_back is not None:
            self._held_back.clear()
        self._state = None

    async def serve(self) -> None:
        """Take subscriptions until cancelled, or until one client must be put out."""
        loop = asyncio.get_running_loop()
        while True:
            frames = await self.socket.recv_multipart(copy=False)
            peer, asked = _peer_of(frames[0]), [frame.bytes for frame in frames]
            if not self._topic_limits.accept(peer, asked, loop.time()):
                self.hold_back()
                self.socket.close()  # and all that its client had put into it
                self._on_flood(peer)
                return
            if any(frame[:1] == b"\x01" and self._matches_state(frame[1:]) for frame in asked):
                self._schedule_repeat()
            await asyncio.sleep(0)  # a flood of subscriptions must not keep the loop

    def close(self) -> None:
        """Close the socket and leave no timer."""
        self._cancel_resume()
        if self._repeat_timer is not None:
            self._repeat_timer.cancel()
        self.socket.close()

    def _send(self, frames: list[bytes]) -> None:
        topic = frames[0].decode()
        if topic == self._state_topic:
            self._state = frames
        self.sent_by_kind[topic.partition("/")[0]] += 1
        send_or_drop(self.socket, frames)

    def _send_held_back(self) -> None:
        self._cancel_resume()
        if self.socket.closed:  # until it is open again
            return
        held, self._held_back = self._held_back or [], None
        for frames in held:
            self._send(frames)

    def _cancel_resume(self) -> None:
        if self._resume_timer is not None:
            self._resume_timer.cancel()
            self._resume_timer = None

    def _matches_state(self, prefix: bytes) -> bool:
        return self._state_topic.encode().startswith(prefix)

    def _schedule_repeat(self) -> None:
        if self._repeat_timer is None:
            self._repeat_timer = asyncio.get_running_loop().call_later(
                JOIN_DELAY_S, self._repeat_state
            )

    def _repeat_state(self) -> None:
        self._repeat_timer = None
        if self._state is not None and not self.socket.closed:
            send_or_drop(self.socket, self._state)


def _peer_of(frame: zmq.Frame) -> ConnectedPeer:
    """Return whom a message comes from; NOBODY for libzmq's own."""
    try:
        return ConnectedPeer(str(frame["User-Id"]), str(frame["Peer-Address"]))
    except zmq.ZMQError:
        return NO_PEER
