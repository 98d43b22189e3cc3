"""What clients subscribe to, held in bounds: libzmq keeps every topic it was told, for ever.

It keeps them whether they can match or not (with XPUB_MANUAL, too), as some fifty bytes of memory
for each of their letters, until their connection ends; and it cannot end one connection. So it is
counted here who asks for what the feed does not have, and how fast anybody asks at all.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from controller.gateway.rates import Rates

MOST_BYTES: Final = 16_384
"""Of topics that the feed does not have, for one key: a console that follows a hundred tables with
one socket subscribes to all their topics here. Provisional."""
PER_TOPIC: Final = 32
"""What a topic counts for beside its letters."""
PER_S: Final = 50.0
"""Messages a second of one key, on and on. Provisional."""
BURST: Final = 2_000.0
"""Messages of one key at once: all its subscriptions, when it connects anew. Provisional."""

_ADDS, _DROPS = b"\x01", b"\x00"


class Topics:
    """The subscriptions of all clients to a feed that has the topics `served`."""

    def __init__(self, served: Iterable[str]) -> None:
        self._served = tuple(topic.encode() for topic in served)
        self._idle: dict[bytes, str] = {}
        self._bytes: Counter[str] = Counter()
        self._rates = Rates(PER_S, BURST)

    def take(self, key: str, frames: Iterable[bytes], now_s: float) -> bool:
        """Note what `key` sent; return False where that is more than one key may have.

        Every frame of a message can be a subscription, for libzmq too. `key` is "" where a
        connection has ended: libzmq says then which topics nobody subscribes to any more.
        """
        for frame in frames:
            sign, topic = frame[:1], frame[1:]
            if sign == _DROPS and not key:  # a client may take back what another keeps
                self._drop(topic)
            elif sign == _ADDS and not self.has(topic) and topic not in self._idle:
                self._idle[topic] = key
                self._bytes[key] += len(topic) + PER_TOPIC
        return not key or (self._rates.take(key, now_s) and self._bytes[key] <= MOST_BYTES)

    def has(self, prefix: bytes) -> bool:
        """Tell whether the feed has a topic that begins so."""
        return any(topic.startswith(prefix) for topic in self._served)

    def clear(self) -> None:
        """Forget all subscriptions: their connections have ended."""
        self._idle.clear()
        self._bytes.clear()

    def _drop(self, topic: bytes) -> None:
        key = self._idle.pop(topic, None)
        if key is not None:
            self._bytes[key] -= len(topic) + PER_TOPIC
