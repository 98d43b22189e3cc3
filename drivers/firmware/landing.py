"""The matching of each detected landing with a card that has passed the gate.

This module has no I/O. A landing belongs to the earliest card that is on its way to the same outlet
and is not overdue. Any other landing is a stray. An overdue card is a jam.
"""

from . import protocol
from .event_memory import NEVER_MS


class Landings:
    """The cards of one attempt that are falling, and the number of landings at each outlet."""

    def __init__(self) -> None:
        self.landed = [0] * protocol.OUTLETS
        self.strays = 0
        self._flying: list[tuple[int, int, int]] = []  # Index, outlet, deadline.
        self._second_until = -1  # Deadline for a doubled card's second landing in the tray.

    def clear(self) -> None:
        """Delete all falling cards and counts, because a new attempt begins."""
        self.landed = [0] * protocol.OUTLETS
        self.strays = 0
        self._flying = []
        self._second_until = -1

    def total(self) -> int:
        """Return the number of cards that have landed, the tray included."""
        return sum(self.landed)

    def has_flying(self) -> bool:
        """Return whether a card is on its way from the gate to an outlet."""
        return bool(self._flying)

    def is_awaited_at(self, outlet: int) -> bool:
        """Return whether a card is on its way from the gate to `outlet`."""
        return any(place == outlet for _, place, _ in self._flying)

    def on_passed(self, index: int, outlet: int) -> None:
        """Record that card `index` reached the beam after the gate, on its way to `outlet`.

        It may land from now on.
        """
        self._flying.append((index, outlet, NEVER_MS))

    def on_left_gate(self, index: int, until_ms: int) -> None:
        """Record that card `index` has left the gate, and that it must land by `until_ms`."""
        for at, (flying, outlet, until) in enumerate(self._flying):
            if flying == index and until == NEVER_MS:
                self._flying[at] = (index, outlet, until_ms)

    def remove(self, index: int) -> None:
        """Remove card `index` from the falling cards, because it is stuck and will not land."""
        self._flying = [card for card in self._flying if card[0] != index]

    def match_landing(self, outlet: int) -> int | None:
        """Match a landing at `outlet` with a falling card. Return its index, or None for a stray.

        The card is the earliest one on its way to this outlet; its landing is counted. Overdue
        cards were already removed by `pop_overdue`.
        """
        for at, (index, place, _) in enumerate(self._flying):
            if place == outlet:
                del self._flying[at]
                self.landed[outlet] += 1
                return index
        return None

    def expect_second(self, until_ms: int) -> None:
        """Expect that the second card of a double feed lands in the tray by `until_ms`.

        The first card of the double feed has landed there.
        """
        self._second_until = until_ms

    def is_second_card(self, at_ms: int) -> bool:
        """Return whether a landing in the tray at `at_ms` is the second card of a double feed.

        After this call no second card is expected.
        """
        follows = at_ms <= self._second_until
        self._second_until = -1
        return follows

    def pop_overdue(self, until_ms: int) -> list[int]:
        """Remove the cards that should have landed by `until_ms`, and return their indexes."""
        late = [index for index, _, until in self._flying if until <= until_ms]
        if late:
            self._flying = [card for card in self._flying if card[2] > until_ms]
        return late

    def next_ms(self) -> int:
        """Return the time when the next falling card is overdue, or NEVER_MS if no card falls."""
        return min([until for _, _, until in self._flying]) if self._flying else NEVER_MS
