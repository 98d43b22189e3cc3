"""A board in process: the firmware's core, stepped when something happens to it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from sim.hal import SimulatedHal

# A deadline this far away (35 years) is none: a timer for it would only keep the loop from
# noticing that nothing is left to wait for.
NEVER_MS = 1 << 40


class FirmwareCore(Protocol):
    """What drivers/firmware/dealer.py and reader.py are: pure, in whole milliseconds."""

    def step(self, now_ms: int, rx: bytes) -> bytes:
        """Take the time and what the host sent; return what goes to the host."""

    def deadline(self) -> int:
        """Return the time by which it wants to be stepped again, in the same milliseconds."""

    def to_store(self) -> bytes:
        """Return what the board's flash should hold, b"" for nothing new."""


class BoardLineEnd(Protocol):
    """The board's end of a line; sim/pipe.py has one in process."""

    def listen(self, receive: Callable[[bytes], None] | None) -> None:
        """Give the host's bytes to `receive`; None: to nobody."""

    def write(self, data: bytes) -> None:
        """Send bytes to the host."""


class BoardStepper:
    """Steps a core when bytes arrive, at every edge of its pins, and at its deadline.

    Everything of one instant is one step, as it is for a board that polls. `close()`
    is the board losing its power: no timer of it is left on the loop.
    """

    def __init__(self, core: FirmwareCore, end: BoardLineEnd, hal: SimulatedHal) -> None:
        self.core = core
        self.hal = hal
        self._line_end = end
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._step_handle: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._deadline_ms = 0
        self._is_hung = False
        hal.wake = self.wake
        end.listen(self._receive)
        self.wake()

    def wake(self) -> None:
        """Step the core soon, still in this instant."""
        if self._step_handle is None and not self._is_hung:
            self._step_handle = self._loop.call_soon(self._step)

    def hang(self) -> None:
        """Step the core no more, its outputs as they are, until `go_on`."""
        self._is_hung = True
        self._cancel_timers()

    def resume(self) -> None:
        """Step the core again: what came in meanwhile waits for it."""
        self._is_hung = False
        self.wake()

    def close(self) -> None:
        """Switch the board off."""
        self._line_end.listen(None)
        self.hal.close()
        self.hal.wake = lambda: None
        self._cancel_timers()

    def _cancel_timers(self) -> None:
        for handle in (self._step_handle, self._timer):
            if handle is not None:
                handle.cancel()
        self._step_handle = self._timer = None

    def _receive(self, data: bytes) -> None:
        self._received += data
        self.wake()

    def _step(self) -> None:
        self._step_handle = None
        rx, self._received = self._received, b""
        now_ms = self.hal.now_ms()
        tx = self.core.step(now_ms, rx)
        if tx:
            self._line_end.write(tx)
        self._deadline_ms = self.core.deadline()
        if self._timer is None or self._timer_ms > self._deadline_ms:
            self._arm_timer()

    def _arm_timer(self) -> None:
        """Have a timer at the core's deadline.

        A deadline moves on with nearly every step: a timer that fires too early now and then, to
        be set anew, is cheaper than one that is set anew each time.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._deadline_ms < NEVER_MS:
            self._timer_ms = max(self._deadline_ms, self.hal.now_ms() + 1)
            self._timer = self._loop.call_at(self.hal.at_s(self._timer_ms), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._step_handle is not None:
            return
        if self._deadline_ms <= self.hal.now_ms():
            self._step()
        else:
            self._arm_timer()
