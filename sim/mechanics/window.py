"""The window, where a card stands to be read, and the rollers that pass it to the gate."""

from collections.abc import Callable

from sim.mechanics.book import FaultSchedule
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.clock import MechanicalClock
from sim.mechanics.gate import Gate
from sim.mechanics.jam import CardJam
from sim.mechanics.sensors import OUTLETS, Sensors
from sim.mechanics.travel import Travel

FORWARD, REVERSE = 1, 2
# On the way out the head of the card reaches the gate, and its beam, after this much of the pass.
GATE_AT = 0.5

# Takes what left the window: the chute it went into, the cards, the number of their arrival.
Launch = Callable[[int, Cards, int], None]


class Window:
    """Holds what stands before the reader, and lets it out through the gate.

    Where a card goes is decided by where the gate is when the card's head comes to
    it: a gate that moves, or is moved under a card, pinches it.
    """

    def __init__(
        self,
        clock: MechanicalClock,
        sensors: Sensors,
        gate: Gate,
        schedule: FaultSchedule,
        pass_ms: float,
        launch: Launch,
    ) -> None:
        self.cards: Cards = ()
        self._sensors = sensors
        self._gate = gate
        self._schedule = schedule
        self._travel = Travel(clock)
        self._gate_at, self._end = pass_ms * GATE_AT, pass_ms
        self._launch = launch
        self._arrival_number = 0
        self._jam: CardJam | None = None
        self._in_gate = False
        self._chute = 0
        self._drive: int | None = None
        self.on_entered: Callable[[PhysicalCard, int], None] = lambda card, number: None
        gate.on_move = self._pinch

    @property
    def is_occupied(self) -> bool:
        """Whether anything stands in the window."""
        return bool(self.cards)

    def accept(self, cards: Cards, number: int) -> None:
        """Take what the feeder brings; raises ValueError while something stands here."""
        if self.cards:
            raise ValueError("two cards in one place")
        self.cards = cards
        self._arrival_number = number
        self._travel.set_position(0.0)
        jam = self._schedule.strike("jam", number, card=cards[0], place="window")
        self._jam = CardJam(jam.clears_after) if jam else None
        self.on_entered(cards[0], number)
        self._sensors.set_physical("double", int(len(cards) > 1))
        self._sensors.set_physical("window", 1)
        self.drive(self._drive)

    def place_by_hand(self, cards: Cards, *, in_gate: bool) -> None:
        """Let `cards` lie here, or in the gate, out of a hand: nobody is told to read them."""
        self.cards = cards
        self._arrival_number = 0
        self._travel.set_position(self._gate_at if in_gate else 0.0)
        self._chute = self._gate.position or 0
        self._in_gate = in_gate
        self._sensors.set_physical("window", 1)
        self._sensors.set_physical("exit", int(in_gate))

    def drive(self, value: int | None) -> None:
        """Turn the rollers forward (1), backward (2) or not at all."""
        self._drive = value
        self._travel.stop()
        if not self.cards:
            return
        if value == FORWARD:
            self._forward()
        elif value == REVERSE:
            self._backward()

    def block(self) -> None:
        """Something ran into the card: it moves no more until a hand takes it out."""
        self._travel.stop()
        self._jam = CardJam(None)

    def empty(self) -> Cards:
        """Take whatever stands here out, with a hand; frees a jam."""
        cards, self.cards = self.cards, ()
        self._travel.set_position(0.0)
        self._jam = None
        self._clear_sensors()
        return cards

    def _forward(self) -> None:
        if self._jam is not None:
            # What sticks in the gate may be pushed on; what sticks before it only backs out.
            if not (self._in_gate and self._jam.try_to_free()):
                return
            self._jam = None
        if self._in_gate:
            self._travel.move_to(self._end, self._leave_window)
        else:
            self._travel.move_to(self._gate_at, self._reach_gate)

    def _reach_gate(self) -> None:
        position = self._gate.position
        if position is None:
            self._jam = CardJam(1)
            return
        flipped = self._schedule.strike("wrong_pocket", self._arrival_number, card=self.cards[0])
        self._chute = (position + 1) % OUTLETS if flipped else position
        self._in_gate = True
        jam = self._schedule.strike("jam", self._arrival_number, card=self.cards[0], place="gate")
        if jam:
            self._jam = CardJam(jam.clears_after)
        else:
            self._travel.move_to(self._end, self._leave_window)
        self._sensors.set_physical("exit", 1)

    def _leave_window(self) -> None:
        cards, self.cards = self.cards, ()
        self._travel.set_position(0.0)
        self._launch(self._chute, cards, self._arrival_number)
        self._clear_sensors()

    def _backward(self) -> None:
        if self._jam is not None:
            if not self._jam.try_to_free():
                return
            self._jam = None
        if self._in_gate:
            self._travel.move_to(self._gate_at, self._leave_gate)
        else:
            self._travel.move_to(0.0, lambda: None)

    def _leave_gate(self) -> None:
        self._in_gate = False
        self._travel.move_to(0.0, lambda: None)
        self._sensors.set_physical("exit", 0)

    def _pinch(self) -> None:
        if self._in_gate:
            self._travel.stop()
            self._jam = CardJam(1)

    def _clear_sensors(self) -> None:
        self._in_gate = False
        self._sensors.set_physical("window", 0)
        self._sensors.set_physical("double", 0)
        self._sensors.set_physical("exit", 0)
