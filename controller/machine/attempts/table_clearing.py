"""The waits between deals, until people have removed the cards and the lift is down.

If the machine waits too long for a sensor, the reason is shown as a fault.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from controller.machine.boards.board_observations import lift_obstruction, obstruction
from controller.machine.state.table_state import FAULTS_TO_ACKNOWLEDGE, is_attempt_reason
from controller.machine.table_record import TableRecord
from drivers.board_events import BoardActivity
from drivers.errors import DriverError
from drivers.typed_boards import DealerBoard, DealerStatus

POLL_INTERVAL_S = 0.5
"""Interval between polls of the sensors between attempts, in seconds."""
CARD_FALL_TIMEOUT_S = 0.5
"""Longest time after an attempt's end in which one of its cards still falls (provisional)."""
TAKE_TIMEOUT_S = 60.0
"""How long people may take to remove cards before a fault is raised (provisional)."""
_AT_REST = (BoardActivity.IDLE, BoardActivity.STOPPED)


class TableClearing:
    """The part of a table that waits until the sensors show that people have removed the cards.

    `ready` is set while both boards are connected. `on_status` is called after each status while
    cards are cleared.
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
        """Lower the lift after the players have taken the hands, and wait until it is down.

        With `set_back`, also wait until the set is in the hopper. An obstacle that stays for longer
        than TAKE_TIMEOUT_S is shown as a fault.
        """
        overdue = _OverdueFault(self._record)
        async for status in self.poll_statuses():
            self.show_openings(status)
            overdue.observe(_lasting_obstruction(status))
            back = not set_back or (status.sees_hopper and not status.lid_open)
            if obstruction(status) is None and back and status.doing in _AT_REST:
                return
            between = not (status.lift_up or status.lift_down)
            if between and any(status.sees_pockets) and status.doing in _AT_REST:
                with suppress(DriverError):  # The lift stopped halfway with hands on it.
                    await self._dealer.release(status.attempt)
            await self._lower(status)

    async def wait_cleared(self, ended_s: float) -> None:
        """Wait until pockets, path and tray are empty and the set is in the hopper.

        Then clear the last attempt's faults, except those that a person must acknowledge. `ended_s`
        is the end of that attempt, by the loop's clock. A card that was moving then may still fall.
        An obstacle that stays for longer than TAKE_TIMEOUT_S is shown as a fault. A set may be in
        the shuffler, because a board that lost its host may have drawn the set in.
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
        """Lower an empty lift that an earlier run of the daemon left up."""
        overdue = _OverdueFault(self._record)
        async for status in self.poll_statuses():
            overdue.observe(lift_obstruction(status))
            if status.lift_down or any(status.sees_pockets) or not self._ready.is_set():
                return
            await self._lower(status)

    def show_openings(self, status: DealerStatus) -> None:
        """Show an open lid or a pressed emergency stop as a fault.

        The fault of the lid is cleared when the lid is closed.
        """
        self._record.set_fault("LID_OPENED", status.lid_open)
        if status.estop:
            self._record.raise_fault("ESTOP_PRESSED")

    async def _lower(self, status: DealerStatus) -> None:
        """Lower the lift if it is empty and not down."""
        away = status.lift_up or not status.lift_down
        if away and not any(status.sees_pockets):
            # A hand in the way or a lost line stops the command. The next poll shows this.
            with suppress(DriverError):
                await self._dealer.retract()

    async def poll_statuses(self) -> AsyncIterator[DealerStatus]:
        """Yield the dealer board's status repeatedly, while the boards are connected."""
        while True:
            await self._ready.wait()
            try:
                yield await self._dealer.get_status()
            except DriverError:
                await self._ready.wait()
            await asyncio.sleep(POLL_INTERVAL_S)


class _OverdueFault:
    """A timer that raises a fault if an obstacle stays for longer than TAKE_TIMEOUT_S."""

    def __init__(self, record: TableRecord) -> None:
        self._record, self._loop = record, asyncio.get_running_loop()
        self._name: str | None = None
        self._since_s = self._loop.time()

    def observe(self, name: str | None) -> None:
        """Store the fault of the present obstacle, or None if no obstacle is present.

        Raise the fault if the obstacle has stayed for longer than TAKE_TIMEOUT_S.
        """
        if name != self._name:
            self._record.clear_fault(self._name or "")
            self._name, self._since_s = name, self._loop.time()
        if name is not None and self._loop.time() - self._since_s > TAKE_TIMEOUT_S:
            self._record.raise_fault(name)


def _lasting_obstruction(status: DealerStatus) -> str | None:
    """Return the fault of an obstacle that people must remove, or None if there is no obstacle.

    Return None while the lid is open or the emergency stop is pressed: these are shown at once.
    """
    return None if status.lid_open or status.estop else obstruction(status)
