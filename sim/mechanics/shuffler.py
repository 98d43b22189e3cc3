"""The shuffler, `Shuffler`, which riffles the cards again and again while its motor turns."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.mechanics_settings import MachinePart, SharedParts
from sim.mechanics.motion import Travel

# The cards settle between two passes. The cam at the end of a pass is short.
SETTLE_MS = 250.0
CAM_MS = 10.0

Thing = TypeVar("Thing")


def riffle(cards: Sequence[Thing], rng: random.Random) -> list[Thing]:
    """Return `cards` after one riffle by the Gilbert-Shannon-Reeds model.

    One fair coin for each card decides from which half the card falls. The number of heads is the
    cut. This is the same distribution as "cut by a binomial number, then drop in proportion to what
    is left", in one draw.
    """
    count = len(cards)
    coins = rng.getrandbits(count) if count else 0
    top = iter(cards[: coins.bit_count()])
    bottom = iter(cards[coins.bit_count() :])
    return [next(top) if coins >> place & 1 else next(bottom) for place in range(count)]


class Shuffler(MachinePart):
    """The shuffler. A pass takes all cards of the hopper, riffles them and puts them back."""

    def __init__(
        self, shared: SharedParts, hopper: list[PhysicalCard], hopper_changed: Callable[[], None]
    ) -> None:
        super().__init__(shared)
        self.cards: Cards = ()
        self.passes = 0
        self._hopper, self._hopper_changed = hopper, hopper_changed
        # The initial position is the end of a settling, so that the first pass can start at once.
        self._settle = Travel(shared.clock, SETTLE_MS)
        self._is_turning = False

    def drive(self, value: int | None) -> None:
        """Turn the motor (1) or stop it (any other value)."""
        self._is_turning = value == 1
        self._settle.stop()
        self._travel.stop()
        if self._is_turning:
            self._continue_pass()

    def hopper_filled(self) -> None:
        """Start a pass if the motor turns and no pass runs. Called when the hopper has cards."""
        if self._is_turning and not self.cards and not self._settle.is_moving:
            self._continue_pass()

    def empty(self) -> Cards:
        """Remove by hand the cards in the shuffler and return them."""
        cards, self.cards = self.cards, ()
        self._travel.set_position(0.0)
        self._settle.set_position(SETTLE_MS)
        self._sensors.set_physical("shuffler", 0)
        return cards

    def place_by_hand(self, cards: Cards) -> None:
        """Put `cards` into the shuffler by hand."""
        self.cards = cards
        self._sensors.set_physical("shuffler", 1)

    def _continue_pass(self) -> None:
        if self.cards:
            self._travel.move_to(self._settings.shuffle_ms, self._finish_pass)
        elif self._hopper:
            self._settle.move_to(SETTLE_MS, self._take_in)

    def _take_in(self) -> None:
        if not self._hopper:
            return
        self.cards = tuple(self._hopper)
        self._hopper.clear()
        self._travel.set_position(0.0)
        self._sensors.set_physical("shuffler", 1)
        self._hopper_changed()
        self._continue_pass()

    def _finish_pass(self) -> None:
        self._hopper.extend(riffle(self.cards, self._rng))
        self.cards = ()
        self.passes += 1
        self._settle.set_position(0.0)
        self._hopper_changed()
        self._sensors.set_physical("shuffler", 0)
        self._sensors.set_physical("shuffled", 1)
        self._clock.after(CAM_MS, lambda: self._sensors.set_physical("shuffled", 0))
        if self._is_turning:
            self._continue_pass()
