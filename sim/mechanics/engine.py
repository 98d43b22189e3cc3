"""The recognition engine behind the reader board: looks into the window when it is told to."""

import random
from collections.abc import Callable

from drivers.firmware.wire import BACK_FOREIGN, FACES, UNREADABLE
from sim.mechanics.book import FaultSchedule
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.clock import MechanicalClock, PendingEvent
from sim.mechanics.faults import SimulatedFault
from sim.mechanics.window import Window

FULL_CONFIDENCE = 255
NO_CONFIDENCE = 0

# face, back, face up, confidence; an answer ends with the number of the shot, as the
# firmware's `answers()` has it.
EngineReading = tuple[int, int, int, int]
EngineAnswer = tuple[int, int, int, int, int]
EMPTY_READING: EngineReading = (UNREADABLE, BACK_FOREIGN, 0, NO_CONFIDENCE)

# The faults of a look, in the order in which they are asked for.
READING_FAULTS = ("unreadable", "misread", "no_answer")


class ReadingEngine:
    """Answers `read_ms` after it was shot with what stood in the window then.

    It sees both sides of the lowest card; a second one stuck to it stays hidden.
    """

    def __init__(
        self,
        clock: MechanicalClock,
        window: Window,
        schedule: FaultSchedule,
        rng: random.Random,
        read_ms: float,
        on_answer: Callable[[EngineAnswer], None],
    ) -> None:
        self._clock = clock
        self._window = window
        self._schedule = schedule
        self._rng = rng
        self._read_ms = read_ms
        self._on_answer = on_answer
        self._pending_reading: PendingEvent | None = None
        self._pending_faults: list[SimulatedFault] = []

    def card_arrived(self, card: PhysicalCard, number: int) -> None:
        """Take notice that arrival `number` stands in the window: what spoils its looks?"""
        struck = (self._schedule.strike(name, number, card=card) for name in READING_FAULTS)
        self._pending_faults = [fault for fault in struck if fault for _ in range(fault.times)]

    def shoot(self, shot: int) -> None:
        """Look at the window for shot number `shot`; breaks off a look that still goes on."""
        if self._pending_reading is not None:
            self._pending_reading.cancel()
            self._pending_reading = None
        seen = self._read_window()
        if seen is not None:
            self._pending_reading = self._clock.after(
                self._read_ms, lambda: self._finish_reading(seen, shot)
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
