"""What keeps the machine waiting at its sensors, shown once it has lasted too long."""

import asyncio

from controller.machine.record import Record
from drivers.dealer import Status

TAKE_S = 60.0
"""How long people may take to lift cards out before somebody is called (provisional)."""


class Overdue:
    """Latches the one fault that has been there for longer than TAKE_S, and takes it down again."""

    def __init__(self, record: Record) -> None:
        self._record, self._loop = record, asyncio.get_running_loop()
        self._name: str | None = None
        self._since_s = self._loop.time()

    def see(self, name: str | None) -> None:
        """Take what the machine waits for now, as the catalogue names it; None: for nothing."""
        if name != self._name:
            self._record.clear(self._name or "")
            self._name, self._since_s = name, self._loop.time()
        if name is not None and self._loop.time() - self._since_s > TAKE_S:
            self._record.latch(name)


def keeps_lift_up(status: Status) -> str | None:
    """Return why the lift is not down, as the catalogue names it; None where it is."""
    if any(status.sees_pockets):
        return "POCKET_NOT_EMPTY"
    if status.lift_down:
        return "SENSOR_STUCK" if status.lift_up else None
    return "STALL"


def lies_about(status: Status) -> str | None:
    """Return why a new attempt would find the machine not clear; None where it would not."""
    return keeps_lift_up(status) or (None if status.clear else "PATH_NOT_CLEAR")
