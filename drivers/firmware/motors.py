"""The control of shuffler and lift, and the self-test of the gate."""

from . import protocol
from .event_memory import NEVER_MS
from .pins import LIFT_DOWN, LIFT_STAY, LIFT_UP, Hal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pins import DealerBoard


# A shuffler that coasts after its last pass draws cards in again within this time.
COAST_MS = 30


class ShufflerControl:
    """The control of the shuffler's motor: it runs until this attempt's requested passes
    (shuffles) are done.

    If it stopped too late and has drawn cards in for another pass, it finishes that pass.
    """

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self.passes_done = 0
        self._passes_wanted = 0
        self._limit = NEVER_MS
        self._is_settling = False  # The last pass is done; the motor stopped.
        self._is_reported = False  # The finished passes were reported.

    def clear(self) -> None:
        """Forget all passes, because a new attempt begins."""
        self.passes_done = self._passes_wanted = 0
        self._limit = NEVER_MS
        self._is_settling = self._is_reported = False

    def shuffle(self, passes: int) -> None:
        """Run the motor until `passes` passes are done and no card is left in the shuffler."""
        drawn_in = self.passes_done + 1 if self._hal.read("shuffler") else 0
        self._passes_wanted = max(passes, drawn_in)
        self._is_reported = False
        if self._passes_wanted > self.passes_done:
            self._is_settling = False
            self._hal.set("shuffle", 1)
            self._arm()
        elif not self._is_settling:  # Otherwise the report follows at rest.
            self._report()

    def has_reported(self, passes: int) -> bool:
        """Return whether `passes` passes are done and reported."""
        return self._is_reported and passes <= self.passes_done

    def is_running(self) -> bool:
        """Return whether the motor turns, or may have to turn again for the present pass."""
        return self._limit != NEVER_MS

    def stop(self) -> None:
        """Stop the motor. An unfinished pass does not count."""
        done, self._is_settling = self._is_settling, False
        self._limit = NEVER_MS
        self._hal.set("shuffle", 0)
        if done and not self._hal.read("shuffler"):
            self._report()

    def on_shuffled(self, value: int) -> None:
        """Count a finished pass (one shuffle of the cards)."""
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
        """Handle the report that cards are in the shuffler, or that none are."""
        if value and self._is_settling:
            self.shuffle(self.passes_done + 1)

    def on_time(self, until_ms: int) -> None:
        """Stop the motor if the time limit of the pass is over.

        Report a jam if no finished pass was reported.
        """
        if self._limit > until_ms:
            return
        self.stop()
        if not self._is_reported:
            self._dealer.jam(protocol.AT_SHUFFLER, 0)

    def next_ms(self) -> int:
        """Return the time limit of the present pass, or NEVER_MS."""
        return self._limit

    def _report(self) -> None:
        self._is_reported = True
        self._dealer.emit(protocol.SHUFFLED, self.passes_done)

    def _arm(self) -> None:
        self._limit = self._dealer.now + self._dealer.settings["shuffle_limit_ms"]


class LiftControl:
    """The control of the lift's motor, which lifts the hands and lowers the lift.

    It is driven only while moving; when interrupted it stays in place. At an end, that end's sensor
    is on and the other one off.
    """

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._goal = LIFT_STAY
        self._limit = NEVER_MS

    def move_to(self, goal: int) -> None:
        """Move the lift up (LIFT_UP) or down (LIFT_DOWN), unless it is already there."""
        self._goal = goal
        if self._is_at_goal():
            self._on_arrived()
            return
        self._limit = self._dealer.now + self._dealer.settings["lift_limit_ms"]
        self._hal.set("lift", goal)

    def stop(self) -> None:
        """Stop the lift where it is."""
        self._limit = NEVER_MS
        self._hal.set("lift", LIFT_STAY)

    def is_moving(self) -> bool:
        """Return whether the lift moves."""
        return self._limit != NEVER_MS

    def is_rising(self) -> bool:
        """Return whether the lift moves up."""
        return self.is_moving() and self._goal == LIFT_UP

    def on_lift(self, value: int) -> None:
        """Handle a change of the sensor at the upper end."""
        if value and self.is_rising() and not self._hal.read("lift_down"):
            self._on_arrived()

    def on_lift_down(self, value: int) -> None:
        """Handle a change of the sensor at the lower end."""
        if value and self.is_moving() and not self.is_rising() and not self._hal.read("lift"):
            self._on_arrived()

    def on_time(self, until_ms: int) -> None:
        """Report a stall if the time limit of the motion is over."""
        if self._limit <= until_ms:
            self._dealer.stall(protocol.MOTOR_LIFT)

    def next_ms(self) -> int:
        """Return the time limit of the motion, or NEVER_MS."""
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
    """The self-test of the empty gate: it moves to every outlet, and its sensor must confirm
    each.
    """

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._outlet = 0
        self._limit = NEVER_MS

    def start(self) -> None:
        """Move the gate to the first outlet."""
        self._move_to(0)

    def is_running(self) -> bool:
        """Return whether the self-test of the gate is running."""
        return self._limit != NEVER_MS

    def stop(self) -> None:
        """End the self-test and leave the gate where it is."""
        self._limit = NEVER_MS

    def advance(self) -> None:
        """Move to the next outlet once the sensor confirms this one."""
        while self.is_running() and self._hal.read("gate_at") == self._outlet:
            if self._outlet == protocol.TRAY:
                self._limit = NEVER_MS
            else:
                self._move_to(self._outlet + 1)

    def on_time(self, until_ms: int) -> None:
        """Report a stall if the time limit of the gate's motion is over."""
        if self._limit <= until_ms:
            self._limit = NEVER_MS
            self._dealer.stall(protocol.MOTOR_GATE)

    def next_ms(self) -> int:
        """Return the time limit of the gate's motion, or NEVER_MS."""
        return self._limit

    def _move_to(self, outlet: int) -> None:
        self._outlet = outlet
        self._limit = self._dealer.now + self._dealer.settings["gate_limit_ms"]
        self._hal.set("gate", outlet)
