"""The window where a card is read, the gate after it, and the engine that recognises the card.

`Gate` is a flap before five chutes. `Window` contains the card before the reader. `ReadingEngine`
recognises this card.
"""

from collections.abc import Callable

from drivers.firmware.protocol import BACK_FOREIGN, FACES, UNREADABLE
from sim.mechanics.cards import Cards, PhysicalCard
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import MachinePart, SharedParts
from sim.mechanics.motion import CardJam, PendingEvent
from sim.mechanics.sensors import MOVING, OUTLETS

# The part of the full time that every move takes, however short, to start and to settle.
SETTLE_SHARE = 0.2


class Gate(MachinePart):
    """The gate, a flap that leads a card to one of the five outlets.

    A move over all outlets takes `gate_ms`. `position` is the outlet at which the gate is, or None
    between two outlets.
    """

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared)
        gate_ms = shared.settings.gate_ms
        self._settle_ms = gate_ms * SETTLE_SHARE
        self._step_ms = gate_ms * (1 - SETTLE_SHARE) / (OUTLETS - 1)
        self.position: int | None = 0
        self.on_move: Callable[[], None] = lambda: None

    def drive(self, target: int | None) -> None:
        """Move the gate to the outlet `target`, or with None stop the gate where it is."""
        self._travel.stop()
        if target is None or not 0 <= target < OUTLETS or self.position == target:
            return
        if self.position is not None:
            self._start_move(self.position, target)
        self._travel.move_to(target * self._step_ms, lambda: self._arrive(target))

    def _start_move(self, start: int, target: int) -> None:
        settle_ms = self._settle_ms if start > target else -self._settle_ms
        self._travel.set_position(start * self._step_ms + settle_ms)
        self.position = None
        self._sensors.set_physical("gate_at", MOVING)
        self.on_move()

    def _arrive(self, target: int) -> None:
        self.position = target
        self._sensors.set_physical("gate_at", target)


FORWARD, REVERSE = 1, 2
# The leading edge of a card reaches the gate and its beam after this part of the pass.
GATE_AT = 0.5

# A receiver of cards that left the window: the chute, the cards, the number of their arrival.
Launch = Callable[[int, Cards, int], None]


class Window(MachinePart):
    """The window, in which the reader reads a card before the card passes through the gate.

    The position of the gate at the moment when the card's leading edge arrives decides the chute. A
    gate that moves then, or is moved under a card, pinches the card.
    """

    def __init__(self, shared: SharedParts, gate: Gate, launch: Launch) -> None:
        super().__init__(shared)
        self.cards: Cards = ()
        self._gate = gate
        self._end = shared.settings.pass_ms
        self._gate_at = self._end * GATE_AT
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
        """True if a card is in the window."""
        return bool(self.cards)

    def accept(self, cards: Cards, number: int) -> None:
        """Put `cards`, which the feeder brings, into the window.

        `number` counts the arrivals. Raises ValueError if the window is occupied.
        """
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
        """Put `cards` by hand into the window, or into the gate if `in_gate`.

        Their arrival is not counted and has the number 0.
        """
        self.cards = cards
        self._arrival_number = 0
        self._travel.set_position(self._gate_at if in_gate else 0.0)
        self._chute = self._gate.position or 0
        self._in_gate = in_gate
        self._sensors.set_physical("window", 1)
        self._sensors.set_physical("exit", int(in_gate))

    def drive(self, value: int | None) -> None:
        """Turn the window's rollers forward (1) or backward (2), or stop them (other `value`)."""
        self._drive = value
        self._travel.stop()
        if not self.cards:
            return
        if value == FORWARD:
            self._forward()
        elif value == REVERSE:
            if self._jam is not None:
                if not self._jam.try_to_free():
                    return
                self._jam = None
            if self._in_gate:
                self._travel.move_to(self._gate_at, self._leave_gate)
            else:
                self._travel.move_to(0.0, lambda: None)

    def block(self) -> None:
        """Jam the card in the window, because another card hit it. Only a person can free it."""
        self._travel.stop()
        self._jam = CardJam(None)

    def empty(self) -> Cards:
        """Remove by hand all cards in the window, clear a jam, and return the cards."""
        cards, self.cards = self.cards, ()
        self._travel.set_position(0.0)
        self._jam = None
        self._clear_sensors()
        return cards

    def _forward(self) -> None:
        if self._jam is not None:
            # A card that sticks in the gate may be pushed on. A card that sticks before the gate
            # can only be moved back.
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


FULL_CONFIDENCE = 255
NO_CONFIDENCE = 0

# face, back, face up, confidence. An answer ends with the number of the shot, as in the firmware's
# `answers()`.
EngineReading = tuple[int, int, int, int]
EngineAnswer = tuple[int, int, int, int, int]
EMPTY_READING: EngineReading = (UNREADABLE, BACK_FOREIGN, 0, NO_CONFIDENCE)

# The faults of the engine, in the order in which the schedule is queried.
READING_FAULTS = ("unreadable", "misread", "no_answer")


class ReadingEngine(MachinePart):
    """The engine of the reader board, which recognises the card in the window.

    It answers each shot after `read_ms` with the card that was in the window at the shot. It reads
    both sides of the lowest card. A second card stuck to it is not visible.
    """

    def __init__(
        self, shared: SharedParts, window: Window, on_answer: Callable[[EngineAnswer], None]
    ) -> None:
        super().__init__(shared)
        self._window, self._on_answer = window, on_answer
        self._pending_reading: PendingEvent | None = None
        self._pending_faults: list[SimulatedFault] = []

    def card_arrived(self, card: PhysicalCard, number: int) -> None:
        """Choose the faults of the looks at `card`, which arrived as card number `number`."""
        struck = (self._schedule.strike(name, number, card=card) for name in READING_FAULTS)
        self._pending_faults = [fault for fault in struck if fault for _ in range(fault.times)]

    def shoot(self, shot: int) -> None:
        """Carry out shot `shot`: read the card in the window, and answer `read_ms` later.

        An earlier answer that is not published yet is cancelled. A fault can prevent the answer.
        """
        if self._pending_reading is not None:
            self._pending_reading.cancel()
            self._pending_reading = None
        seen = self._read_window()
        if seen is not None:
            self._pending_reading = self._clock.after(
                self._settings.read_ms, lambda: self._finish_reading(seen, shot)
            )

    def _read_window(self) -> EngineReading | None:
        if not self._window.cards:
            return EMPTY_READING
        card = self._window.cards[0]
        spoiled = self._pending_faults.pop(0) if self._pending_faults else None
        up = int(card.face_up)
        if spoiled is None:
            return card.face, card.back, up, FULL_CONFIDENCE
        if spoiled.name == "no_answer":
            return None
        if spoiled.name == "unreadable":
            return UNREADABLE, card.back, up, NO_CONFIDENCE
        wrong = (card.face + 1 + self._rng.randrange(FACES - 1)) % FACES
        return wrong, card.back, up, spoiled.confidence

    def _finish_reading(self, seen: EngineReading, shot: int) -> None:
        self._pending_reading = None
        self._on_answer((*seen, shot))
