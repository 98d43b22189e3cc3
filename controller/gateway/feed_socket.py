"""The feed socket, and the limits on the subscriptions of its clients.

libzmq keeps every topic of a subscription until its connection ends, even if the topic cannot match
(with XPUB_MANUAL, too). Each letter of a topic costs some fifty bytes of memory, and libzmq cannot
end a single connection. Therefore `TopicLimits` counts the subscriptions to topics that the feed
does not have, and the rate of all subscriptions.
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
"""The most bytes of topics that the feed does not have, for one peer.

A console that follows a hundred tables with one socket subscribes to all their topics here. The
number is an estimate.
"""
BYTES_PER_TOPIC: Final = 32
"""Bytes that each topic counts in addition to its letters."""
SUBSCRIPTIONS_PER_S: Final = 50.0
"""The messages a second that one peer may send continuously. The number is an estimate."""
SUBSCRIPTION_BURST: Final = 2_000.0
"""The messages that one peer may send at once, as after a new connection (an estimate)."""

NO_PEER: Final = ConnectedPeer("", "")
"""The sender of the messages that libzmq itself creates after a connection has ended."""
_SUBSCRIBE, _UNSUBSCRIBE = b"\x01", b"\x00"


class TopicLimits:
    """Limits on each client's subscriptions: their rate, and the bytes of topics not in the feed.

    `served` are the topics of the feed. Any other topic is unserved, but libzmq stores it.
    """

    def __init__(self, served: Iterable[str]) -> None:
        self._served = tuple(topic.encode() for topic in served)
        self._unserved: dict[bytes, ConnectedPeer] = {}
        self._bytes_by_peer: Counter[ConnectedPeer] = Counter()
        self._rate_limiter = RateLimiter(SUBSCRIPTIONS_PER_S, SUBSCRIPTION_BURST)

    def accept(self, peer: ConnectedPeer, frames: Iterable[bytes], now_s: float) -> bool:
        """Count the subscriptions in a message, and return whether `peer` is within its limits.

        Every frame of a message can be a subscription, as in libzmq. `peer` is NO_PEER after a
        connection has ended: libzmq then reports the topics that have no subscriber left.
        """
        for frame in frames:
            sign, topic = frame[:1], frame[1:]
            is_served = any(served.startswith(topic) for served in self._served)
            # A client may unsubscribe a topic that another client keeps.
            if sign == _UNSUBSCRIBE and peer == NO_PEER:
                owner = self._unserved.pop(topic, None)
                if owner is not None:
                    self._bytes_by_peer[owner] -= len(topic) + BYTES_PER_TOPIC
            elif sign == _SUBSCRIBE and not is_served and topic not in self._unserved:
                self._unserved[topic] = peer
                self._bytes_by_peer[peer] += len(topic) + BYTES_PER_TOPIC
        return peer == NO_PEER or (
            self._rate_limiter.try_take(peer, now_s)
            and self._bytes_by_peer[peer] <= MAX_TOPIC_BYTES
        )

    def clear(self) -> None:
        """Delete all counted topics, because the connections of all clients have ended."""
        self._unserved.clear()
        self._bytes_by_peer.clear()


JOIN_DELAY_S: Final = 0.02
"""Seconds in which new subscriptions are collected. Then the state is sent once for all of them."""
MAX_HELD_BACK: Final = 400
"""The most messages to postpone while subscribers reconnect. With more, all are sent at once."""

_OPTIONS: Final[dict[int, int]] = {
    zmq.XPUB_VERBOSE: 1,  # Report the second and third subscriber of a topic, too.
    zmq.SNDHWM: 500,  # Messages for one slow subscriber, who misses later ones.
    zmq.RCVHWM: 100,
    zmq.MAXMSGSIZE: 512,  # Subscriptions are short.
}


class FeedSocket:
    """The socket that publishes the feed. After new subscriptions, it sends the last state again.

    `sent_by_kind` counts messages by the kind of their topic. `on_flood` is called with a peer that
    exceeds its limits. The socket is then closed, and messages are postponed until it is open
    again.
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
        """Send `message` to the subscribers, or store it if messages are postponed at present.

        Raises GatewayProtocolError for another table's topic.
        """
        if message.topic not in self._topics:
            raise GatewayProtocolError(
                f"topic {message.topic[:80]!r}: expected {sorted(self._topics)}"
            )
        frames = [message.topic.encode(), bytes(message.body)]
        if self._held_back is None:
            self._send(frames)
            return
        self._held_back.append(frames)
        if len(self._held_back) >= MAX_HELD_BACK:
            self._send_held_back()

    def hold_back(self) -> None:
        """Postpone all messages that are published from now on. They keep their order."""
        if self._held_back is None:
            self._held_back = []

    def reopen(self) -> None:
        """Disconnect every subscriber and open a new socket. The caller must secure and bind it."""
        self.socket.close()
        self._topic_limits.clear()
        self.socket = open_socket(self._context, zmq.XPUB, _OPTIONS)

    def resume_in(self, after_s: float) -> None:
        """Send the postponed messages in `after_s` seconds, and then stop postponing."""
        self._cancel_resume()
        self._resume_timer = asyncio.get_running_loop().call_later(after_s, self._send_held_back)

    @property
    def state(self) -> bytes | None:
        """The last public state of the connected machine in JSON, or None if there is none."""
        return None if self._state is None else self._state[1]

    def forget_state(self) -> None:
        """Send or drop the postponed messages, then delete the state of the lost machine."""
        if self._held_back is not None:
            self._send_held_back()
        if self._held_back is not None:
            self._held_back.clear()
        self._state = None

    async def serve(self) -> None:
        """Handle subscriptions until cancelled. Return if a client exceeds its limits."""
        loop = asyncio.get_running_loop()
        while True:
            frames = await self.socket.recv_multipart(copy=False)
            try:
                peer = ConnectedPeer(str(frames[0]["User-Id"]), str(frames[0]["Peer-Address"]))
            except zmq.ZMQError:
                peer = NO_PEER
            asked = [frame.bytes for frame in frames]
            if not self._topic_limits.accept(peer, asked, loop.time()):
                self.hold_back()
                self.socket.close()  # This also drops everything that its clients had queued.
                self._on_flood(peer)
                return
            state_topic = self._state_topic.encode()
            wanted = any(
                frame[:1] == _SUBSCRIBE and state_topic.startswith(frame[1:]) for frame in asked
            )
            if wanted and self._repeat_timer is None:
                self._repeat_timer = loop.call_later(JOIN_DELAY_S, self._repeat_state)
            await asyncio.sleep(0)  # A flood of subscriptions must not block the loop.

    def close(self) -> None:
        """Close the socket and cancel all timers."""
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
        if self.socket.closed:  # The messages wait until it is open again.
            return
        held, self._held_back = self._held_back or [], None
        for frames in held:
            self._send(frames)

    def _cancel_resume(self) -> None:
        if self._resume_timer is not None:
            self._resume_timer.cancel()
            self._resume_timer = None

    def _repeat_state(self) -> None:
        self._repeat_timer = None
        if self._state is not None and not self.socket.closed:
            send_or_drop(self.socket, self._state)
