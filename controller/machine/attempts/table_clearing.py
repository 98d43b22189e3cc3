"""Between deals: hands are taken, cards cleared away, the lift comes down, a set goes back.

What the machine waits for at its sensors is shown once it has lasted too long.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from controller.machine.boards.board_observations import lift_obstruction, obstruction
from controller.machine.state.fault_meanings import FAULTS_TO_ACKNOWLEDGE, is_attempt_reason
from controller.machine.table_record import TableRecord
from drivers.board_events import BoardActivity
from drivers.errors import DriverError
from drivers.typed_boards import DealerBoard, DealerStatus

POLL_INTERVAL_S = 0.5
"""How often the sensors are asked between attempts: is the set back in the hopper?"""
CARD_FALL_TIMEOUT_S = 0.5
"""How long behind an attempt's end a card of it may still come to rest (provisional)."""
TAKE_TIMEOUT_S = 60.0
"""How long people may take to lift cards out before somebody is called (provisional)."""
_AT_REST = (BoardActivity.IDLE, BoardActivity.STOPPED)


class TableClearing:
    """Waits at the sensors of one table until the machine is as the next step needs it.

    `ready` is set while both boards are there; `on_look` is called with every look while
    cards are cleared up.
    """

    def __init__(
        self,
        record: TableRecord,
        dealer: DealerBoard,
        ready: asyncio.Event,
        on_status: Callable[[], object],
    ) -> None:
        self._record, self._dealer, self._ready = record, dealer, ready
        self._on_status = on_status

    async def wait_lift_down(self, *, set_back: bool) -> None:
        """Wait until the hands were taken, and the set lies in the hopper where that is due.

        What keeps the lift up, or lies where no card may be, for longer than TAKE_S is shown.
        """
        overdue = _OverdueFault(self._record)
        async for status in self.poll_statuses():
            self.show_openings(status)
            overdue.observe(_lasting_obstruction(status))
            back = not set_back or (status.sees_hopper and not status.lid_open)
            if obstruction(status) is None and back and status.doing in _AT_REST:
                return
            await self._raise(status)
            await self._lower(status)

    async def wait_cleared(self, ended_s: float) -> None:
        """Wait until nothing lies where no card may be, and the set is in the hopper.

        `over_s`: when the last attempt ended, by the loop's clock. A card that was on its way then
        may still fall. What is in the way for longer than TAKE_S is shown. A set may lie in the
        shuffler: a board without a line to the host may have drawn it in again.
        """
        await asyncio.sleep(
            max(0.0, ended_s + CARD_FALL_TIMEOUT_S - asyncio.get_running_loop().time())
        )
        overdue = _OverdueFault(self._record)
        async for status in self.poll_statuses():
            drawn_in = status.sees_shuffler and not (status.lid_open or status.estop)
            overdue.observe(
                _lasting_obstruction(status) or ("PATH_NOT_CLEAR" if drawn_in else None)
            )
            self._on_status()
            if status.estop:
                self._record.raise_fault("ESTOP_PRESSED")
            closed = not (status.lid_open or status.estop)
            at_rest = status.doing in _AT_REST and status.lift_down
            seen = not any(name == "ESTOP_PRESSED" for name, _ in self._record.raised_faults)
            if status.is_clear and status.sees_hopper and closed and at_rest and seen:
                break
            await self._lower(status)
        for name, board in self._record.raised_faults:
            if not board and name not in FAULTS_TO_ACKNOWLEDGE and is_attempt_reason(name):
                self._record.clear_fault(name)

    async def lower_empty_lift(self) -> None:
        """Bring an empty lift down: an earlier run of the daemon may have left it up."""
        overdue = _OverdueFault(self._record)
        async for status in self.poll_statuses():
            overdue.observe(lift_obstruction(status))
            if status.lift_down or any(status.sees_pockets) or not self._ready.is_set():
                return
            await self._lower(status)

    def show_openings(self, status: DealerStatus) -> None:
        """Show what is open or pressed by what the dealer board sees of it."""
        self._record.set_fault("LID_OPENED", status.lid_open)
        if status.estop:
            self._record.raise_fault("ESTOP_PRESSED")

    async def _raise(self, status: DealerStatus) -> None:
        """Raise a lift again that stands with hands on it where nobody can take them."""
        between = not (status.lift_up or status.lift_down)
        if between and any(status.sees_pockets) and status.doing in _AT_REST:
            with suppress(DriverError):
                await self._dealer.release(status.attempt)

    async def _lower(self, status: DealerStatus) -> None:
        """Lower the lift where it is not down and nothing lies on it."""
        away = status.lift_up or not status.lift_down
        if away and not any(status.sees_pockets):
            # A hand in the way, or a line that went: the next look tells.
            with suppress(DriverError):
                await self._dealer.retract()

    async def poll_statuses(self) -> AsyncIterator[DealerStatus]:
        """Yield the dealer board's status, again and again, whenever there is one."""
        while True:
            await self._ready.wait()
            try:
                yield await self._dealer.get_status()
            except DriverError:
                await self._ready.wait()
            await asyncio.sleep(POLL_INTERVAL_S)


class _OverdueFault:
    """Latches the one fault that has been there for longer than TAKE_S, and takes it down again."""

    def __init__(self, record: TableRecord) -> None:
        self._record, self._loop = record, asyncio.get_running_loop()
        self._name: str | None = None
        self._since_s = self._loop.time()

    def observe(self, name: str | None) -> None:
        """Take what the machine waits for now, as the catalogue names it; None: for nothing."""
        if name != self._name:
            self._record.clear_fault(self._name or "")
            self._name, self._since_s = name, self._loop.time()
        if name is not None and self._loop.time() - self._since_s > TAKE_TIMEOUT_S:
            self._record.raise_fault(name)


def _lasting_obstruction(status: DealerStatus) -> str | None:
    """Return what is to be shown where it lasts; an open lid or the e-stop is shown at once."""
    return None if status.lid_open or status.estop else obstruction(status)
