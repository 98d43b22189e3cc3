"""What people remember: since when something is so, what they tried, and whether the table moves.

Times are the loop's, in seconds.
"""

import asyncio
from collections.abc import Callable

from controller.messages import MachinePhase, PublicState
from sim.mechanics.truth import Truth

RETRY_AFTER_S = 12.0
"""After so long people do again what they were told and what did not help."""
STUCK_TIMEOUT_S = 300.0
"""A table that says nothing new for so long, whatever people did, does not go on."""
MAX_ATTEMPTS = 80
"""So many attempts of one deal are no deal any more."""


class TableStuck(Exception):
    """People did what they were told, and the table did not go on."""


class PeopleMemory:
    """What people at one table remember of it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._since: dict[str, float] = {}
        self._tried: dict[str, float] = {}
        self._last_signature: object = None
        self._last_change_s = self._loop.time()
        self._attempts: set[int | None] = set()

    def notice(self, state: PublicState, truth: Truth) -> None:
        """Take what is so now: alerts by name, and what eyes see."""
        phase, now_s = state.machine.phase, self._loop.time()
        looks = {
            "estop pressed": truth.estop,
            "lid open": truth.lid_open,
            "cards left": truth.lift_up and any(truth.pockets[:4]),
            "nothing begins": phase is MachinePhase.EMPTY,
            "waiting": phase is MachinePhase.RELEASED,
        }
        so = {alert.name for alert in state.alerts}
        so |= {name for name, is_so in looks.items() if is_so}
        self._since = {name: self._since.get(name, now_s) for name in so}

    def has_lasted(self, name: str, for_s: float) -> bool:
        """Tell whether something has been so for that long, or longer."""
        return name in self._since and self.duration_s(name) >= for_s

    def duration_s(self, name: str) -> float:
        """Return how long something has been so; 0 where it is not."""
        now_s = self._loop.time()
        return now_s - self._since.get(name, now_s)

    def may_retry(self, what: str) -> bool:
        """Tell whether to try something again; whoever asks tries it."""
        now_s = self._loop.time()
        if now_s - self._tried.get(what, -RETRY_AFTER_S) < RETRY_AFTER_S:
            return False
        self._tried[what] = now_s
        return True

    def check_progress(self, state: PublicState | None, describe: Callable[[], str]) -> None:
        """Raise Stuck where nothing has changed for too long; `words()` say where it stands."""
        now_s, signature = self._loop.time(), _signature(state)
        if signature != self._last_signature:
            self._last_signature, self._last_change_s = signature, now_s
        if state is not None:
            self._attempts.add(state.machine.attempt)
        if now_s - self._last_change_s > STUCK_TIMEOUT_S:
            raise TableStuck(f"{describe()}: nothing new for {STUCK_TIMEOUT_S:g} s")
        if len(self._attempts) > MAX_ATTEMPTS:
            raise TableStuck(f"{describe()}: {MAX_ATTEMPTS} attempts of one deal")

    def new_deal(self) -> None:
        """Begin to count attempts anew."""
        self._attempts.clear()


def _signature(state: PublicState | None) -> object:
    """Return what must change at a table that goes on."""
    if state is None:
        return None
    machine, names = state.machine, sorted(alert.name for alert in state.alerts)
    return (machine.phase, machine.attempt, machine.fed, machine.refed, names)
