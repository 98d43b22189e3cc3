"""How fast somebody may do something: so many at once, and so many a second on and on."""

import math
from typing import Final

COMMAND_BURST: Final = 20
COMMANDS_PER_SECOND: Final = 5.0
"""Of one person, of all that changes something, whatever it is and wherever he is logged in: more
than hands press, a hundredth of what a script could send (provisional)."""
_MAX_REMEMBERED: Final = 4_096
"""Of whom something is remembered."""


class TokenBuckets:
    """So many at once of everybody, and so many a second after that.

    `now_s` runs on steadily: it is no time of day. What is refused costs nothing: whoever tries
    again too soon does not wait longer by it.
    """

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst, self._per_second = burst, per_second
        self._tokens: dict[str, tuple[float, float]] = {}

    def allow(self, key: str, now_s: float) -> bool:
        """Count one more of somebody; tell whether there was room for it."""
        left, at_s = self._tokens.pop(key, (self._burst, now_s))
        left = min(self._burst, left + (now_s - at_s) * self._per_second)
        there_was = left >= 1
        self._tokens[key] = left - there_was, now_s
        if len(self._tokens) > _MAX_REMEMBERED:
            del self._tokens[next(iter(self._tokens))]  # who has been quiet the longest
        return there_was

    @property
    def wait_s(self) -> int:
        """In how many whole seconds there is room for one more at the latest."""
        return math.ceil(1 / self._per_second)
