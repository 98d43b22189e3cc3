"""Where cards landed: each landing is matched with the gate event it belongs to.

Pure bookkeeping over edges: a landing inside the window after its own gate event
is that card's; any other is a stray; a gate event whose card never lands is a jam.
"""

from . import protocol
from .event_memory import NEVER_MS


class Landings:
    """The cards in flight of one attempt, and how many landed in each outlet."""

    def __init__(self) -> None:
        self.landed = [0] * protocol.OUTLETS
        self.strays = 0
        self._flying: list[tuple[int, int, int]] = []  # index, outlet, until when
        self._second_until = -1  # until when a doubled card's second may land in the tray

    def clear(self) -> None:
        """Begin an attempt."""
        self.landed = [0] * protocol.OUTLETS
        self.strays = 0
        self._flying = []
        self._second_until = -1

    def total(self) -> int:
        """Return how many cards landed, the tray's included."""
        return sum(self.landed)

    def has_flying(self) -> bool:
        """Return whether a card has passed the gate and not landed."""
        return bool(self._flying)

    def is_awaited_at(self, outlet: int) -> bool:
        """Return whether a card is on its way to `outlet`."""
        return any(place == outlet for _, place, _ in self._flying)

    def on_passed(self, index: int, outlet: int) -> None:
        """Card `index` is in the gate on its way to `outlet`: it may land from now on."""
        self._flying.append((index, outlet, NEVER_MS))

    def on_left_gate(self, index: int, until_ms: int) -> None:
        """Card `index` has left the gate: it lands by `until_ms`, or not at all."""
        for at, (flying, outlet, until) in enumerate(self._flying):
            if flying == index and until == NEVER_MS:
                self._flying[at] = (index, outlet, until_ms)

    def remove(self, index: int) -> None:
        """Card `index` is stuck and expected nowhere."""
        self._flying = [card for card in self._flying if card[0] != index]

    def match_landing(self, outlet: int) -> int | None:
        """Take a landing; return the index of the card that has landed, or None: nobody's.

        The earliest card on its way to this outlet is meant. Those whose time is over
        were taken out by `overdue` before.
        """
        for at, (index, place, _) in enumerate(self._flying):
            if place == outlet:
                del self._flying[at]
                self.landed[outlet] += 1
                return index
        return None

    def expect_second(self, until_ms: int) -> None:
        """A doubled card landed in the tray: the second of the two may follow."""
        self._second_until = until_ms

    def is_second_card(self, at_ms: int) -> bool:
        """Return whether a landing in the tray at `at_ms` is that second card; once."""
        follows = at_ms <= self._second_until
        self._second_until = -1
        return follows

    def pop_overdue(self, until_ms: int) -> list[int]:
        """Take out and return the cards that should have landed at or before `until_ms`."""
        late = [index for index, _, until in self._flying if until <= until_ms]
        if late:
            self._flying = [card for card in self._flying if card[2] > until_ms]
        return late

    def next_ms(self) -> int:
        """Return when the next card is overdue, or NEVER."""
        return min([until for _, _, until in self._flying]) if self._flying else NEVER_MS
