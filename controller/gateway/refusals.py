"""When a refused key is worth a line in the log: once a minute, however often it knocks."""

from typing import Final

WINDOW_S: Final = 60.0
KEYS_PER_WINDOW: Final = 20


class Refusals:
    """Counts refusals; remembers no more than `KEYS_PER_WINDOW` keys.

    A stranger may come with a new key every time, so that keys are bounded too.
    """

    def __init__(self) -> None:
        self._since_s = 0.0
        self._keys: set[str] = set()
        self._unsaid = 0

    def note(self, key: str, now_s: float) -> int | None:
        """Return None to keep silent, or how many refusals were kept silent before this one."""
        if not self._keys or now_s - self._since_s >= WINDOW_S:
            self._since_s = now_s
            self._keys.clear()
        if key in self._keys or len(self._keys) >= KEYS_PER_WINDOW:
            self._unsaid += 1
            return None
        self._keys.add(key)
        unsaid, self._unsaid = self._unsaid, 0
        return unsaid
