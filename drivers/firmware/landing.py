"""The landings of cards.

Each landing is matched with the card that passed the gate before it.

This is pure bookkeeping over edges of sensors. A landing in time after the gate event of a card
belongs to that card. Any other landing is reported as a stray landing. A gate event without a
landing is a jam.
"""

from . import protocol
from .event_memory import NEVER_MS


class Landings:
    """The cards of one attempt that fall, and the number of landings at each outlet."""

    def __init__(self) -> None:
        self.landed = [0] * protocol.OUTLETS
        self.strays = 0
        self._flying: list[tuple[int, int, int]] = []  # Index, outlet, deadline.
        self._second_until = -1  # Deadline for a doubled card's second landing in the tray.

    def clear(self) -> None:
        """Forget everything, because a new attempt begins."""
        self.landed = [0] * protocol.OUTLETS
        self.strays = 0
        self._flying = []
        self._second_until = -1

    def total(self) -> int:
        """Return the number of cards that have landed, the tray included."""
        return sum(self.landed)

    def has_flying(self) -> bool:
        """Return whether a card has passed the gate and not landed."""
        return bool(self._flying)

    def is_awaited_at(self, outlet: int) -> bool:
        """Return whether a card is on its way to `outlet`."""
        return any(place == outlet for _, place, _ in self._flying)

    def on_passed(self, index: int, outlet: int) -> None:
        """Record that card `index` is in the gate, on its way to `outlet`.

        It may land from now on.
        """
        self._flying.append((index, outlet, NEVER_MS))

    def on_left_gate(self, index: int, until_ms: int) -> None:
        """Record that card `index` has left the gate. It must land by `until_ms`."""
        for at, (flying, outlet, until) in enumerate(self._flying):
            if flying == index and until == NEVER_MS:
                self._flying[at] = (index, outlet, until_ms)

    def remove(self, index: int) -> None:
        """Remove card `index`, which is stuck and will not land."""
        self._flying = [card for card in self._flying if card[0] != index]

    def match_landing(self, outlet: int) -> int | None:
        """Handle a landing at `outlet`, and return the index of the card that landed.

        Return None if no card is awaited there: the landing is a stray. The card is the earliest
        one on its way to this outlet. `pop_overdue` has removed the overdue cards before.
        """
        for at, (index, place, _) in enumerate(self._flying):
            if place == outlet:
                del self._flying[at]
                self.landed[outlet] += 1
                return index
        return None

    def expect_second(self, until_ms: int) -> None:
        """Expect another landing in the tray: the second card of a double feed.

        The first card has landed there.
        """
        self._second_until = until_ms

    def is_second_card(self, at_ms: int) -> bool:
        """Return whether a landing in the tray at `at_ms` is the second card of a double feed.

        That card is expected only once.
        """
        follows = at_ms <= self._second_until
        self._second_until = -1
        return follows

    def pop_overdue(self, until_ms: int) -> list[int]:
        """Remove and return the cards that should have landed at or before `until_ms`."""
        late = [index for index, _, until in self._flying if until <= until_ms]
        if late:
            self._flying = [card for card in self._flying if card[2] > until_ms]
        return late

    def next_ms(self) -> int:
        """Return the time at which the next falling card is overdue, or NEVER_MS."""
        return min([until for _, _, until in self._flying]) if self._flying else NEVER_MS
