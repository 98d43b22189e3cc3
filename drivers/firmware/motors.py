"""The controls of the shuffler and of the lift, and the self-test of the gate."""

from . import protocol
from .event_memory import NEVER_MS
from .pins import LIFT_DOWN, LIFT_STAY, LIFT_UP, Hal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pins import DealerBoard


# A shuffler that coasts after its last pass draws cards in again within this time.
COAST_MS = 30


class ShufflerControl:
    """The control of the shuffler's motor, which runs until all requested passes are done.

    Passes are counted from the start of the attempt. If the motor stopped too late and the shuffler
    has drawn cards in for another pass, the motor finishes that pass.
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
        """Set the numbers of done and requested passes to 0, because a new attempt begins."""
        self.passes_done = self._passes_wanted = 0
        self._limit = NEVER_MS
        self._is_settling = self._is_reported = False

    def shuffle(self, passes: int) -> None:
        """Start the motor if fewer than `passes` passes are done or the shuffler contains cards.
        Otherwise report SHUFFLED, or leave the report to `on_time` if the wait of COAST_MS runs.
        """
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
        """Return whether at least `passes` passes are done and a SHUFFLED event reported them."""
        return self._is_reported and passes <= self.passes_done

    def is_running(self) -> bool:
        """Return whether the motor turns, or is in the wait of COAST_MS after its last pass."""
        return self._limit != NEVER_MS

    def stop(self) -> None:
        """Stop the motor. An unfinished pass does not count.
        During the wait of COAST_MS, report SHUFFLED if the shuffler is empty.
        """
        done, self._is_settling = self._is_settling, False
        self._limit = NEVER_MS
        self._hal.set("shuffle", 0)
        if done and not self._hal.read("shuffler"):
            self._report()

    def on_shuffled(self, value: int) -> None:
        """Count a finished pass if `value` is 1. Stop the motor after the last requested pass."""
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
        """Run one more pass if `value` is 1 (cards are drawn in) and the motor just stopped."""
        if value and self._is_settling:
            self.shuffle(self.passes_done + 1)

    def on_time(self, until_ms: int) -> None:
        """Stop the motor if the time limit that `next_ms` returns is `until_ms` or earlier.

        Report SHUFFLED if all passes are done and the shuffler is empty, otherwise a jam.
        """
        if self._limit > until_ms:
            return
        self.stop()
        if not self._is_reported:
            self._dealer.jam(protocol.AT_SHUFFLER, 0)

    def next_ms(self) -> int:
        """Return when the present pass must end or the wait of COAST_MS ends, or NEVER_MS."""
        return self._limit

    def _report(self) -> None:
        self._is_reported = True
        self._dealer.emit(protocol.SHUFFLED, self.passes_done)

    def _arm(self) -> None:
        self._limit = self._dealer.now + self._dealer.settings["shuffle_limit_ms"]


class LiftControl:
    """The control of the lift's motor, which raises the hands and later lowers the empty lift.

    The motor runs only during a move. An interrupted lift stays in place. At an end of its way, the
    sensor of that end is on and the other sensor is off.
    """

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._goal = LIFT_STAY
        self._limit = NEVER_MS

    def move_to(self, goal: int) -> None:
        """Start a move of the lift to its upper end (LIFT_UP) or lower end (LIFT_DOWN).
        If the lift is already at that end, handle its arrival at once.
        """
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
        """End a move up if the upper sensor switched on (`value` is 1) and the lower one is off."""
        if value and self.is_rising() and not self._hal.read("lift_down"):
            self._on_arrived()

    def on_lift_down(self, value: int) -> None:
        """End a move down if the lower sensor switched on (`value` 1) and the upper one is off."""
        if value and self.is_moving() and not self.is_rising() and not self._hal.read("lift"):
            self._on_arrived()

    def on_time(self, until_ms: int) -> None:
        """Report a stall of the lift if the time limit of its move is `until_ms` or earlier."""
        if self._limit <= until_ms:
            self._dealer.stall(protocol.MOTOR_LIFT)

    def next_ms(self) -> int:
        """Return when the time limit of the lift's move ends, or NEVER_MS if the lift is still."""
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
    """The self-test of the empty gate: the gate's sensor must confirm a move to each outlet."""

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._outlet = 0
        self._limit = NEVER_MS

    def start(self) -> None:
        """Begin the self-test: move the gate to the first outlet."""
        self._move_to(0)

    def is_running(self) -> bool:
        """Return whether the self-test of the gate is running."""
        return self._limit != NEVER_MS

    def stop(self) -> None:
        """End the self-test and leave the gate where it is."""
        self._limit = NEVER_MS

    def advance(self) -> None:
        """Move the gate to the next outlet if its sensor confirms this one. End after the tray."""
        while self.is_running() and self._hal.read("gate_at") == self._outlet:
            if self._outlet == protocol.TRAY:
                self._limit = NEVER_MS
            else:
                self._move_to(self._outlet + 1)

    def on_time(self, until_ms: int) -> None:
        """Report a stall of the gate if the time limit of its move is `until_ms` or earlier."""
        if self._limit <= until_ms:
            self._limit = NEVER_MS
            self._dealer.stall(protocol.MOTOR_GATE)

    def next_ms(self) -> int:
        """Return when the time limit of the self-test's gate move ends; NEVER_MS if none runs."""
        return self._limit

    def _move_to(self, outlet: int) -> None:
        self._outlet = outlet
        self._limit = self._dealer.now + self._dealer.settings["gate_limit_ms"]
        self._hal.set("gate", outlet)
