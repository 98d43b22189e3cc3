"""The class `Feeder`, which draws the top card of a stack and moves it to the window."""

from collections.abc import Callable
from dataclasses import replace

from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.mechanics_settings import MachinePart, SharedParts
from sim.mechanics.motion import CardJam
from sim.mechanics.window import FORWARD, REVERSE, Window

# The part of the way after which a card jams.
JAM_AT = 0.4


class Feeder(MachinePart):
    """A feeder: while its motor turns, it draws the top card of `stack` into the window.

    The end of `stack` is its top. The clutch turns once for each start, so a motor that is stopped
    late brings no second card. The sensor of the stack detects a card until its tail has left the
    throat. At that moment its leading edge is in the window, so a card is never between two
    sensors.
    """

    def __init__(
        self,
        shared: SharedParts,
        name: str,
        stack: list[PhysicalCard],
        window: Window,
        sense: Callable[[], None],
    ) -> None:
        super().__init__(shared)
        self.name = name
        self.path: Cards = ()
        self._stack, self._window, self._sense = stack, window, sense
        self._travel_ms = 0.0
        self._jam: CardJam | None = None
        self._jam_ahead: CardJam | None = None
        self._clutch_spent = False
        self._drive: int | None = None
        self._slips_left = 0
        self._slip_checked_for = (0, 0)

    @property
    def is_occupied(self) -> bool:
        """True if a card is in the stack or in the throat (the path from stack to window)."""
        return bool(self._stack or self.path)

    def drive(self, value: int | None) -> None:
        """Turn the feeder's rollers forward (1) or backward (2), or stop them (other `value`)."""
        self._drive = value
        self._travel.stop()
        self._clutch_spent = False
        if value == FORWARD:
            self._forward()
        elif value == REVERSE:
            if not self.path:
                return
            if self._jam is not None:
                if not self._jam.try_to_free():
                    return
                self._jam = None
            self._travel.move_to(0.0, self._return_to_stack)

    def stack_changed(self) -> None:
        """Update the stack's sensor after a change. Feed a card if the motor turns without one."""
        self._sense()
        if self._drive == FORWARD and not (self.path or self._clutch_spent):
            self._forward()

    def empty(self) -> Cards:
        """Remove by hand the cards between stack and window, clear a jam, and return the cards."""
        cards, self.path = self.path, ()
        self._travel.set_position(0.0)
        self._jam = self._jam_ahead = None
        self._slips_left = 0
        return cards

    def place_by_hand(self, cards: Cards) -> None:
        """Put `cards` between stack and window by hand. The motor's next start moves them on."""
        self.path = cards
        self._travel_ms = self._settings.feed_ms
        self._travel.set_position(self._travel_ms * JAM_AT)
        self._sense()

    def _forward(self) -> None:
        if self._jam is not None:
            return
        if not self.path:
            if not self._stack or self._is_slipping():
                return
            self._pick_card()
        if self._jam_ahead is not None:
            self._travel.move_to(self._travel_ms * JAM_AT, self._jam_card)
        else:
            self._travel.move_to(self._travel_ms, self._arrive)

    def _is_slipping(self) -> bool:
        """Return True if the rollers slip at this start of the motor.

        Count this start. The schedule is queried only at the first start for each card.
        """
        asked = (self._tally.filling, self._tally.arrived + 1)
        if asked != self._slip_checked_for:
            self._slip_checked_for = asked
            slippery = self._schedule.strike("no_feed", asked[1])
            self._slips_left = slippery.times if slippery else 0
        self._slips_left -= 1
        return self._slips_left >= 0

    def _pick_card(self) -> None:
        number = self._tally.arrived + 1
        if self._tally.first_feed_s is None:
            self._tally.first_feed_s = self._clock.now_s()
        card = self._stack.pop()
        if self._schedule.strike("face_up", number, card=card):
            card = replace(card, face_up=True)
        self.path = (card,)
        if self._stack and self._schedule.strike("double_feed", number, card=card):
            self.path = (card, self._stack.pop())
        jam = self._schedule.strike("jam", number, card=card, place=self.name)
        self._jam_ahead = CardJam(jam.clears_after) if jam else None
        settings = self._settings
        spread = self._rng.uniform(-settings.feed_spread_ms, settings.feed_spread_ms)
        self._travel_ms = max(1.0, settings.feed_ms + spread)
        self._tally.feeding_ms += self._travel_ms
        self._travel.set_position(0.0)
        self._sense()

    def _jam_card(self) -> None:
        self._jam, self._jam_ahead = self._jam_ahead, None

    def _arrive(self) -> None:
        if self._window.is_occupied:
            # The card runs into the card in the window. Only a hand can separate them.
            self._jam = CardJam(None)
            self._window.block()
            return
        cards, self.path = self.path, ()
        self._travel.set_position(0.0)
        self._tally.arrived += 1
        self._window.accept(cards, self._tally.arrived)
        self._clutch_spent = True
        self._sense()

    def _return_to_stack(self) -> None:
        self._stack.extend(reversed(self.path))
        self.path = ()
        self._jam_ahead = None
        self._sense()
