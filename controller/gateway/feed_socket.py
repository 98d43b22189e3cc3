"""What clients subscribe to, held in bounds: libzmq keeps every topic it was told, for ever.

It keeps them whether they can match or not (with XPUB_MANUAL, too), as some fifty bytes of memory
for each of their letters, until their connection ends; and it cannot end one connection. So it is
counted here who asks for what the feed does not have, and how fast anybody asks at all.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import zmq
import zmq.asyncio

from controller.client.connection import open_socket, send_or_drop
from controller.gateway.admission import ConnectedPeer, RateLimiter
from controller.gateway_protocol import FeedMessage, GatewayProtocolError, event_topic, state_topic

MAX_TOPIC_BYTES: Final = 16_384
"""Of topics that the feed does not have, for one peer: a console that follows a hundred tables with
one socket subscribes to all their topics here. Provisional."""
BYTES_PER_TOPIC: Final = 32
"""What a topic counts for beside its letters."""
SUBSCRIPTIONS_PER_S: Final = 50.0
"""Messages a second of one peer, on and on. Provisional."""
SUBSCRIPTION_BURST: Final = 2_000.0
"""Messages of one peer at once: all its subscriptions, when it connects anew. Provisional."""

NO_PEER: Final = ConnectedPeer("", "")
"""libzmq itself, where a connection has ended."""
_SUBSCRIBE, _UNSUBSCRIBE = b"\x01", b"\x00"


class TopicLimits:
    """The subscriptions of all clients to a feed that has the topics `served`."""

    def __init__(self, served: Iterable[str]) -> None:
        self._served = tuple(topic.encode() for topic in served)
        self._unserved: dict[bytes, ConnectedPeer] = {}
        self._bytes_by_peer: Counter[ConnectedPeer] = Counter()
        self._rate_limiter = RateLimiter(SUBSCRIPTIONS_PER_S, SUBSCRIPTION_BURST)

    def accept(self, peer: ConnectedPeer, frames: Iterable[bytes], now_s: float) -> bool:
        """Note what `peer` sent; return False where that is more than one peer may have.

        Every frame of a message can be a subscription, for libzmq too. `peer` is NOBODY where a
        connection has ended: libzmq says then which topics nobody subscribes to any more.
        """
        for frame in frames:
            sign, topic = frame[:1], frame[1:]
            if (
                sign == _UNSUBSCRIBE and peer == NO_PEER
            ):  # a client may take back what another keeps
                self._forget_topic(topic)
            elif sign == _SUBSCRIBE and not self.is_served(topic) and topic not in self._unserved:
                self._unserved[topic] = peer
                self._bytes_by_peer[peer] += len(topic) + BYTES_PER_TOPIC
        return peer == NO_PEER or (
            self._rate_limiter.try_take(peer, now_s)
            and self._bytes_by_peer[peer] <= MAX_TOPIC_BYTES
        )

    def is_served(self, prefix: bytes) -> bool:
        """Tell whether the feed has a topic that begins so."""
        return any(topic.startswith(prefix) for topic in self._served)

    def clear(self) -> None:
        """Forget all subscriptions: their connections have ended."""
        self._unserved.clear()
        self._bytes_by_peer.clear()

    def _forget_topic(self, topic: bytes) -> None:
        peer = self._unserved.pop(topic, None)
        if peer is not None:
            self._bytes_by_peer[peer] -= len(topic) + BYTES_PER_TOPIC


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
