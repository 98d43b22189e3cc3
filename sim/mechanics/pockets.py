"""The lift of the pockets (`Lift`), and the chutes to four pockets and the tray (`Pockets`)."""

from collections.abc import Callable
from typing import Literal

from drivers.firmware.pins import LIFT_DOWN, LIFT_UP
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.mechanics_settings import MachinePart, SharedParts
from sim.mechanics.motion import CardJam, PendingEvent
from sim.mechanics.sensors import OUTLETS


class Lift(MachinePart):
    """The lift of the pockets, which moves up or down as the board requests.

    It stops without power or at "stay". A sensor at each end detects the lift there. Between the
    ends neither sensor detects it.
    """

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared)
        self._ends = {LIFT_DOWN: 0.0, LIFT_UP: shared.settings.lift_ms}
        self._sense()

    @property
    def is_down(self) -> bool:
        """True if the lift is at the bottom, with the pockets below their chutes."""
        return self._is_at(LIFT_DOWN)

    @property
    def is_up(self) -> bool:
        """True if the lift is at the top, with the pockets open to the players."""
        return self._is_at(LIFT_UP)

    def drive(self, value: int | None) -> None:
        """Move the lift up (LIFT_UP) or down (LIFT_DOWN), or stop it (any other value)."""
        self._travel.stop()
        if value in self._ends and not self._is_at(value):
            self._travel.move_to(self._ends[value], self._sense)
        self._sense()

    def _is_at(self, end: int) -> bool:
        return not self._travel.is_moving and self._travel.position == self._ends[end]

    def _sense(self) -> None:
        self._sensors.set_physical("lift", int(self.is_up))
        self._sensors.set_physical("lift_down", int(self.is_down))


TRAY = 4
# How a card falls: through its beam, undetected by the beam, or past beam and pocket.
FallKind = Literal["seen", "unseen", "past"]
# The time for which a falling card covers the beam.
BEAM_MS = 4.0
# Two cards that left the gate together fall this far apart, or cling together. The beam detects
# clinging cards as one card. A card that lay in the chute is pushed on and falls before the card
# that pushes it.
APART_MS = 12.0
CLING_CHANCE = 0.25


class Pockets(MachinePart):
    """The five chutes of the machine, with a seat's pocket or the tray below each chute.

    N, W, S and E are on the lift, the tray is not. A card in a chute falls by its own weight, with
    or without power. While the lift is not down, no pocket is below the four chutes, and the card
    falls to the floor.
    """

    def __init__(self, shared: SharedParts, lift: Lift) -> None:
        super().__init__(shared)
        self._lift = lift
        self.stacks: tuple[list[PhysicalCard], ...] = tuple([] for _ in range(OUTLETS))
        self.falling: list[Cards] = []
        self.stuck: list[Cards] = [() for _ in range(OUTLETS)]
        self.floor: list[PhysicalCard] = []
        self.tray_changed: Callable[[], None] = lambda: None
        self._jams: list[CardJam | None] = [None] * OUTLETS
        self._beams: list[PendingEvent | None] = [None] * OUTLETS

    def launch(self, outlet: int, cards: Cards, number: int) -> None:
        """Put `cards`, which left the gate, into the chute of `outlet`, where they fall or stick.

        `number` is the number of the cards' arrival in the window.
        """
        jam = self._schedule.strike("jam", number, card=cards[0], place="landing")
        if jam:
            self._jams[outlet] = CardJam(jam.clears_after)
            self.stuck[outlet] += cards
            return
        held = self._jams[outlet]
        if held is not None:
            self.stuck[outlet] += cards
            if not held.try_to_free():
                return
            # The new card pushes the stuck card on: both fall, the older card first.
            cards, self.stuck[outlet] = self.stuck[outlet], ()
            self._jams[outlet] = None
        how: FallKind = "seen"
        if self._schedule.strike("on_the_floor", number, card=cards[0]):
            how = "past"
        elif self._schedule.strike("missed_landing", number, card=cards[0]):
            how = "unseen"
        together = len(cards) > 1 and held is None
        if together and self._rng.random() < CLING_CHANCE:
            self._fall(outlet, cards, 0.0, how)
            return
        for order, card in enumerate(cards):
            self._fall(outlet, (card,), order * APART_MS, how)

    def stick_in_chute(self, outlet: int, cards: Cards) -> None:
        """Put `cards` by hand into the chute of `outlet`, where they stick.

        The next card pushes them on.
        """
        self.stuck[outlet] += cards
        self._jams[outlet] = CardJam(1)

    def empty(self, outlet: int) -> Cards:
        """Remove by hand all cards from the pocket and the chute of `outlet`, and return them."""
        taken = (*self.stacks[outlet], *self.stuck[outlet])
        self.stacks[outlet].clear()
        self.stuck[outlet] = ()
        self._jams[outlet] = None
        self.update_sensor(outlet)
        return taken

    def add_by_hand(self, outlet: int, cards: Cards) -> None:
        """Put `cards` by hand into the pocket of `outlet`. No beam detects them."""
        self.stacks[outlet].extend(cards)
        self.update_sensor(outlet)

    def update_sensor(self, outlet: int) -> None:
        """Set the pocket sensor of `outlet` to 1 if cards are in the pocket, else to 0."""
        if outlet == TRAY:
            self.tray_changed()
        else:
            self._sensors.set_physical(f"pocket_{outlet}", int(bool(self.stacks[outlet])))

    def _fall(self, outlet: int, cards: Cards, behind_ms: float, how: FallKind) -> None:
        settings = self._settings
        spread = self._rng.uniform(-settings.flight_spread_ms, settings.flight_spread_ms)
        self.falling.append(cards)
        delay = max(0.0, settings.flight_ms + spread) + behind_ms
        self._clock.after(delay, lambda: self._land(outlet, cards, how))

    def _land(self, outlet: int, cards: Cards, how: FallKind) -> None:
        self.falling.remove(cards)
        if how == "past" or (outlet != TRAY and not self._lift.is_down):
            self.floor.extend(cards)
            return
        self.stacks[outlet].extend(cards)
        self._tally.landed += len(cards)
        self._tally.last_landing_s = self._clock.now_s()
        if how == "seen":
            covered = self._beams[outlet]
            if covered is not None:
                covered.cancel()
            self._beams[outlet] = self._clock.after(BEAM_MS, lambda: self._uncover_beam(outlet))
            self._sensors.set_physical(f"land_{outlet}", 1)
        self.update_sensor(outlet)

    def _uncover_beam(self, outlet: int) -> None:
        self._beams[outlet] = None
        self._sensors.set_physical(f"land_{outlet}", 0)
