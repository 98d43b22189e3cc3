"""What clients subscribe to, held in bounds: libzmq keeps every topic it was told, for ever.

It keeps them whether they can match or not (with XPUB_MANUAL, too), as some fifty bytes of memory
for each of their letters, until their connection ends; and it cannot end one connection. So it is
counted here who asks for what the feed does not have, and how fast anybody asks at all.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from controller.gateway.rates import ConnectedPeer, RateLimiter

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
