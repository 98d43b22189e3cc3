"""When to collect garbage: as a card comes to stand before the reader. Pure."""

# Asking how much room is left takes longer than a turn of the loop; the clock is free. A card
# takes longer than the first, and leaves little enough behind (README.md beside this file).
MIN_INTERVAL_MS = 50
IDLE_INTERVAL_MS = 1000


class GarbageSchedule:
    """Decides when to collect, by the loop's milliseconds: as a calm begins, then once a second."""

    def __init__(self) -> None:
        self._could_pause = False
        self._last_ms = -MIN_INTERVAL_MS

    def is_due(self, now_ms: int, can_pause: bool) -> bool:
        """Return whether to collect now; `calm`: the core says that a pause costs nothing."""
        if not can_pause:
            self._could_pause = False
            return False
        if now_ms - self._last_ms < (IDLE_INTERVAL_MS if self._could_pause else MIN_INTERVAL_MS):
            return False
        self._could_pause = True
        self._last_ms = now_ms
        return True
