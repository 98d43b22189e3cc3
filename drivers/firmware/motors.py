"""The motions beside the cards' way: shuffler, lift, and the gate's self-test."""

from . import protocol
from .event_memory import NEVER_MS
from .pins import LIFT_DOWN, LIFT_STAY, LIFT_UP, Hal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dealer import DealerCore


# A shuffler that runs on behind its last pass has drawn cards in again within this.
COAST_MS = 30


class ShufflerControl:
    """Shuffles until as many passes of this attempt are done as the host asked for.

    One that was stopped too late, and has drawn cards in for a pass more, ends that pass.
    """

    def __init__(self, dealer: "DealerCore", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self.passes_done = 0
        self._passes_wanted = 0
        self._limit = NEVER_MS
        self._is_settling = False  # the last pass is done, the motor stopped
        self._is_reported = False  # the host was told of the passes that are done

    def clear(self) -> None:
        """Begin an attempt."""
        self.passes_done = self._passes_wanted = 0
        self._limit = NEVER_MS
        self._is_settling = self._is_reported = False

    def shuffle(self, passes: int) -> None:
        """Run until `passes` are done, and what was drawn in beyond them has come out."""
        drawn_in = self.passes_done + 1 if self._hal.read("shuffler") else 0
        self._passes_wanted = max(passes, drawn_in)
        self._is_reported = False
        if self._passes_wanted > self.passes_done:
            self._is_settling = False
            self._hal.set("shuffle", 1)
            self._arm()
        elif not self._is_settling:  # else the host is told once it has come to rest
            self._report()

    def has_reported(self, passes: int) -> bool:
        """Return whether `passes` were made and told."""
        return self._is_reported and passes <= self.passes_done

    def is_running(self) -> bool:
        """Return whether the motor turns, or may have to turn on."""
        return self._limit != NEVER_MS

    def stop(self) -> None:
        """Stop the motor; a pass that was not finished does not count."""
        done, self._is_settling = self._is_settling, False
        self._limit = NEVER_MS
        self._hal.set("shuffle", 0)
        if done and not self._hal.read("shuffler"):
            self._report()

    def on_shuffled(self, value: int) -> None:
        """The shuffler has finished a pass."""
        if not value or not self.is_running() or self._is_settling:
            return
        self.passes_done += 1
        if self.passes_done < self._passes_wanted:
            self._arm()
        else:
            self._hal.set("shuffle", 0)
            self._is_settling = True
            self._limit = self._dealer.now + COAST_MS

    def on_drawn_in(self, value: int) -> None:
        """Cards were drawn into the shuffler, or have left it."""
        if value and self._is_settling:
            self.shuffle(self.passes_done + 1)

    def on_time(self, until_ms: int) -> None:
        """The shuffler has come to rest; or a pass takes too long, or left cards in it."""
        if self._limit > until_ms:
            return
        self.stop()
        if not self._is_reported:
            self._dealer.jam(protocol.AT_SHUFFLER, 0)

    def next_ms(self) -> int:
        """Return when the pass under way should have ended, or NEVER."""
        return self._limit

    def _report(self) -> None:
        self._is_reported = True
        self._dealer.emit(protocol.SHUFFLED, self.passes_done)

    def _arm(self) -> None:
        self._limit = self._dealer.now + self._dealer.settings["shuffle_limit_ms"]


class LiftControl:
    """Lifts the hands out and lowers itself again.

    It is driven only on its way: whatever ends that leaves it where it is. Its end is
    where its own sensor sees it while that of the other end does not.
    """

    def __init__(self, dealer: "DealerCore", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._goal = LIFT_STAY
        self._limit = NEVER_MS

    def move_to(self, goal: int) -> None:
        """Go up (LIFT_UP) or down (LIFT_DOWN), if it is not seen there."""
        self._goal = goal
        if self._is_at_goal():
            self._on_arrived()
            return
        self._limit = self._dealer.now + self._dealer.settings["lift_limit_ms"]
        self._hal.set("lift", goal)

    def stop(self) -> None:
        """Stay where it is."""
        self._limit = NEVER_MS
        self._hal.set("lift", LIFT_STAY)

    def is_moving(self) -> bool:
        """Return whether it is on its way."""
        return self._limit != NEVER_MS

    def is_rising(self) -> bool:
        """Return whether it is on its way up."""
        return self.is_moving() and self._goal == LIFT_UP

    def on_lift(self, value: int) -> None:
        """The sensor at the top sees it come, or go."""
        if value and self.is_rising() and not self._hal.read("lift_down"):
            self._on_arrived()

    def on_lift_down(self, value: int) -> None:
        """The sensor at the bottom sees it come, or go."""
        if value and self.is_moving() and not self.is_rising() and not self._hal.read("lift"):
            self._on_arrived()

    def on_time(self, until_ms: int) -> None:
        """It is not there by its limit."""
        if self._limit <= until_ms:
            self._dealer.stall(protocol.MOTOR_LIFT)

    def next_ms(self) -> int:
        """Return when it should be there, or NEVER."""
        return self._limit

    def _is_at_goal(self) -> bool:
        if self._goal == LIFT_DOWN:
            return bool(self._hal.read("lift_down")) and not self._hal.read("lift")
        return bool(self._hal.read("lift"))

    def _on_arrived(self) -> None:
        self.stop()
        if self._goal == LIFT_UP:
            self._dealer.on_lifted()


class GateSweep:
    """The self-test: the empty gate goes to every outlet, and its sensor must agree."""

    def __init__(self, dealer: "DealerCore", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._outlet = 0
        self._limit = NEVER_MS

    def start(self) -> None:
        """Begin at the first outlet."""
        self._move_to(0)

    def is_running(self) -> bool:
        """Return whether the gate is being swept."""
        return self._limit != NEVER_MS

    def stop(self) -> None:
        """Leave the gate where it is."""
        self._limit = NEVER_MS

    def advance(self) -> None:
        """On to the next outlet, once the sensor says that the gate is at this one."""
        while self.is_running() and self._hal.read("gate_at") == self._outlet:
            if self._outlet == protocol.TRAY:
                self._limit = NEVER_MS
            else:
                self._move_to(self._outlet + 1)

    def on_time(self, until_ms: int) -> None:
        """The gate is not there by its limit."""
        if self._limit <= until_ms:
            self._limit = NEVER_MS
            self._dealer.stall(protocol.MOTOR_GATE)

    def next_ms(self) -> int:
        """Return when the gate should be there, or NEVER."""
        return self._limit

    def _move_to(self, outlet: int) -> None:
        self._outlet = outlet
        self._limit = self._dealer.now + self._dealer.settings["gate_limit_ms"]
        self._hal.set("gate", outlet)
