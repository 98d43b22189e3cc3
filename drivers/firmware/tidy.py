"""When to collect garbage: as a card comes to stand before the reader. Pure."""

# Asking how much room is left takes longer than a turn of the loop; the clock is free. A card
# takes longer than the first, and leaves little enough behind (README.md beside this file).
LEAST_MS = 50
IDLE_MS = 1000


class Tidy:
    """Decides when to collect, by the loop's milliseconds: as a calm begins, then once a second."""

    def __init__(self) -> None:
        self._was_calm = False
        self._last = -LEAST_MS

    def is_due(self, now_ms: int, calm: bool) -> bool:
        """Return whether to collect now; `calm`: the core says that a pause costs nothing."""
        if not calm:
            self._was_calm = False
            return False
        if now_ms - self._last < (IDLE_MS if self._was_calm else LEAST_MS):
            return False
        self._was_calm = True
        self._last = now_ms
        return True
