"""How many commands a key may send: a burst, and behind it so many a second."""

from typing import Final, NamedTuple

COMMANDS_PER_S: Final = 50.0
"""Commands a second of one key, on and on: far more than hands can give or a console needs.
Provisional."""
COMMAND_BURST: Final = 200.0
"""Commands of one key at once, after a quiet time: a script that catches up. Provisional."""
_MAX_KEYS: Final = 1000
"""Keys that are remembered; more come only where clients are admitted and removed again."""


class ConnectedPeer(NamedTuple):
    """Who is at the other end of a connection: a public CURVE key (Z85), and the address it comes
    from. libzmq does not tell two connections of one key from one address apart."""

    key: str
    address: str


class RateLimiter:
    """A bucket for each key: it holds `burst` commands and fills by `per_s` a second."""

    def __init__(self, per_s: float = COMMANDS_PER_S, burst: float = COMMAND_BURST) -> None:
        self._per_s, self._burst = per_s, burst
        self._left: dict[str | ConnectedPeer, tuple[float, float]] = {}

    def try_take(self, key: str | ConnectedPeer, now_s: float) -> bool:
        """Return whether `key` may send one more now; it is counted if it may."""
        left, since_s = self._left.get(key, (self._burst, now_s))
        left = min(self._burst, left + (now_s - since_s) * self._per_s)
        allowed = left >= 1
        if key not in self._left and len(self._left) >= _MAX_KEYS:
            self._left.pop(next(iter(self._left)))
        self._left[key] = (left - allowed, now_s)
        return allowed
