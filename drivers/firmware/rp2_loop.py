"""The main loop of the chip, and the times of its garbage collections."""

import gc
import time

import machine

from .board import BoardCore

# Garbage is collected by the clock, because measuring the free memory takes longer than a turn of
# the loop. A card takes longer than the first interval and leaves little garbage (README.md beside
# this file).
MIN_INTERVAL_MS = 50
IDLE_INTERVAL_MS = 1000


class GarbageSchedule:
    """The times of garbage collections: one when a pause becomes harmless, then one each second."""

    def __init__(self) -> None:
        self._could_pause = False
        self._last_ms = -MIN_INTERVAL_MS

    def is_due(self, now_ms: int, can_pause: bool) -> bool:
        """Return whether garbage must be collected now. This requires `can_pause` (a pause is
        harmless) and a minimum time since the last collection.
        """
        if not can_pause:
            self._could_pause = False
            return False
        if now_ms - self._last_ms < (IDLE_INTERVAL_MS if self._could_pause else MIN_INTERVAL_MS):
            return False
        self._could_pause = True
        self._last_ms = now_ms
        return True


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .rp2_hal import Rp2Hal
    from .runtime import BoardClock, Stream

WATCHDOG_MS = 1000
# A firmware on trial without a HELLO for this time is replaced by the old one.
TRIAL_MS = 60_000
# By then, answers before a restart have left the chip.
FLUSH_MS = 50


class ChipLoop:
    """The main loop of one board on the chip. `trial` is True if no host has used its firmware."""

    def __init__(
        self,
        board: BoardCore,
        hal: "Rp2Hal",
        line: "Stream",
        clock: "BoardClock",
        save: "Callable[[str, bytes], None]",
        trial: bool = False,
    ) -> None:
        self._board = board
        self._hal = hal
        self._line = line
        self._clock = clock
        self._save = save
        self._garbage = GarbageSchedule()
        self._watchdog = machine.WDT(timeout=WATCHDOG_MS)
        self._trial_until = clock.now_ms() + TRIAL_MS if trial else 0
        self._deadline = 0  # Of the core; before it, only an edge or a frame needs a step.
        self._can_pause = False
        board.allow_service()

    def run_once(self) -> None:
        """Read line and pins, run the core if it has work, and collect garbage if that is due."""
        self._watchdog.feed()
        now = self._clock.now_ms()
        rx = self._line.read()
        if self._hal.update(now) or rx or now >= self._deadline:
            self._step(now, rx or b"")
        if self._trial_until:
            self._end_trial(now)
        if self._garbage.is_due(now, self._can_pause):
            gc.collect()

    def _step(self, now: int, rx: bytes) -> None:
        board = self._board
        tx = board.step(now, rx)
        if tx:
            self._line.write(tx)
        self._deadline = board.deadline()
        self._can_pause = board.can_pause()
        if self._can_pause:
            self._store()
        if board.service_requested:
            self._enter_service()

    def _store(self) -> None:
        stored = self._board.to_store()
        if stored:
            self._save("store", stored)

    def _end_trial(self, now: int) -> None:
        if self._board.session:
            self._trial_until = 0
        elif now >= self._trial_until:
            machine.reset()

    def _enter_service(self) -> None:
        """Stop the motors, and restart the chip at MicroPython's prompt for a technician."""
        self._hal.stop()
        self._save("service", b"1")
        time.sleep_ms(FLUSH_MS)
        machine.reset()


def run(loop: ChipLoop) -> None:
    """Repeat `loop.run_once` forever. The watchdog resets a hung loop."""
    gc.collect()
    while True:
        loop.run_once()
        machine.idle()
