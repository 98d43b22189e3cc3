"""The loop of the chip: step the core, feed the watchdog, and tidy up between cards.

It waits for nothing but the next interrupt, a millisecond at most. Garbage is collected
where the core says that a pause costs nothing. The collector would run by itself only
where no room is left, which is still better than to fail.
"""

import gc
import time

import machine

from .board import Board
from .tidy import Tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .hal_rp2 import Rp2Hal
    from .main import Clock
    from .streams import Stream

WATCHDOG_MS = 1000
# A firmware on trial that no host has greeted for so long gives way to the one before.
TRIAL_MS = 60_000
# What was answered before a restart has left the chip by then.
FLUSH_MS = 50


class Loop:
    """One board on the chip; `trial`: its firmware is new and was not found right yet."""

    def __init__(
        self,
        board: Board,
        hal: "Rp2Hal",
        line: "Stream",
        clock: "Clock",
        save: "Callable[[str, bytes], None]",
        trial: bool = False,
    ) -> None:
        self._board = board
        self._hal = hal
        self._line = line
        self._clock = clock
        self._save = save
        self._tidy = Tidy()
        self._watchdog = machine.WDT(timeout=WATCHDOG_MS)
        self._trial_until = clock.now_ms() + TRIAL_MS if trial else 0
        board.offer_service()

    def turn(self) -> None:
        """Do once round what is to be done."""
        board = self._board
        self._watchdog.feed()
        now = self._clock.now_ms()
        self._hal.take(now)
        tx = board.step(now, self._line.read() or b"")
        if tx:
            self._line.write(tx)
        stored = board.to_store()
        if stored:
            self._save("store", stored)
        if board.service:
            self._give_away()
        self._end_trial(now)
        if self._tidy.is_due(now, board.calm()):
            gc.collect()

    def _end_trial(self, now: int) -> None:
        if self._board.session:
            self._trial_until = 0
        elif self._trial_until and now >= self._trial_until:
            machine.reset()

    def _give_away(self) -> None:
        """Restart without the firmware, for a technician at the prompt."""
        self._hal.stop()
        self._save("service", b"1")
        time.sleep_ms(FLUSH_MS)
        machine.reset()


def run(loop: Loop) -> None:
    """Turn for ever; the watchdog resets a loop that hangs."""
    gc.collect()
    while True:
        loop.turn()
        machine.idle()
