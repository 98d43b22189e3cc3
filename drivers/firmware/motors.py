"""The motions beside the cards' way: shuffler, lift, and the gate's self-test."""

from . import wire
from .hal import LIFT_DOWN, LIFT_STAY, LIFT_UP, Hal
from .memory import NEVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dealer import Dealer


class Shuffler:
    """Shuffles until as many passes of this attempt are done as the host asked for."""

    def __init__(self, dealer: "Dealer", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self.done = 0
        self._wanted = 0
        self._limit = NEVER

    def clear(self) -> None:
        """Begin an attempt."""
        self.done = self._wanted = 0
        self._limit = NEVER

    def shuffle(self, passes: int) -> None:
        """Run until `passes` are done."""
        self._wanted = passes
        self._hal.set("shuffle", 1)
        self._arm()

    def running(self) -> bool:
        """Return whether the motor turns."""
        return self._limit != NEVER

    def stop(self) -> None:
        """Stop the motor; a pass that was not finished does not count."""
        self._limit = NEVER
        self._hal.set("shuffle", 0)

    def on_shuffled(self, value: int) -> None:
        """The shuffler has finished a pass."""
        if not value or not self.running():
            return
        self.done += 1
        if self.done < self._wanted:
            self._arm()
        else:
            self.stop()
            self._dealer.emit(wire.SHUFFLED, self.done)

    def on_time(self, until_ms: int) -> None:
        """A pass takes too long."""
        if self._limit <= until_ms:
            self.stop()
            self._dealer.jam(wire.AT_SHUFFLER, 0)

    def next_ms(self) -> int:
        """Return when the pass under way should have ended, or NEVER."""
        return self._limit

    def _arm(self) -> None:
        self._limit = self._dealer.now + self._dealer.settings["shuffle_limit_ms"]


class Lift:
    """Lifts the hands out and lowers itself again.

    It is driven only on its way: whatever ends that leaves it where it is. Its end is
    where its own sensor sees it while that of the other end does not.
    """

    def __init__(self, dealer: "Dealer", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._goal = LIFT_STAY
        self._limit = NEVER

    def go(self, goal: int) -> None:
        """Go up (LIFT_UP) or down (LIFT_DOWN), if it is not seen there."""
        self._goal = goal
        if self._seen_there():
            self._arrive()
            return
        self._limit = self._dealer.now + self._dealer.settings["lift_limit_ms"]
        self._hal.set("lift", goal)

    def stop(self) -> None:
        """Stay where it is."""
        self._limit = NEVER
        self._hal.set("lift", LIFT_STAY)

    def moving(self) -> bool:
        """Return whether it is on its way."""
        return self._limit != NEVER

    def rising(self) -> bool:
        """Return whether it is on its way up."""
        return self.moving() and self._goal == LIFT_UP

    def on_lift(self, value: int) -> None:
        """The sensor at the top sees it come, or go."""
        if value and self.rising() and not self._hal.read("lift_down"):
            self._arrive()

    def on_lift_down(self, value: int) -> None:
        """The sensor at the bottom sees it come, or go."""
        if value and self.moving() and not self.rising() and not self._hal.read("lift"):
            self._arrive()

    def on_time(self, until_ms: int) -> None:
        """It is not there by its limit."""
        if self._limit <= until_ms:
            self._dealer.stall(wire.MOTOR_LIFT)

    def next_ms(self) -> int:
        """Return when it should be there, or NEVER."""
        return self._limit

    def _seen_there(self) -> bool:
        if self._goal == LIFT_DOWN:
            return bool(self._hal.read("lift_down")) and not self._hal.read("lift")
        return bool(self._hal.read("lift"))

    def _arrive(self) -> None:
        self.stop()
        if self._goal == LIFT_UP:
            self._dealer.on_lifted()


class GateSweep:
    """The self-test: the empty gate goes to every outlet, and its sensor must agree."""

    def __init__(self, dealer: "Dealer", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self._outlet = 0
        self._limit = NEVER

    def start(self) -> None:
        """Begin at the first outlet."""
        self._go(0)

    def running(self) -> bool:
        """Return whether the gate is being swept."""
        return self._limit != NEVER

    def stop(self) -> None:
        """Leave the gate where it is."""
        self._limit = NEVER

    def advance(self) -> None:
        """On to the next outlet, once the sensor says that the gate is at this one."""
        while self.running() and self._hal.read("gate_at") == self._outlet:
            if self._outlet == wire.TRAY:
                self._limit = NEVER
            else:
                self._go(self._outlet + 1)

    def on_time(self, until_ms: int) -> None:
        """The gate is not there by its limit."""
        if self._limit <= until_ms:
            self._limit = NEVER
            self._dealer.stall(wire.MOTOR_GATE)

    def next_ms(self) -> int:
        """Return when the gate should be there, or NEVER."""
        return self._limit

    def _go(self, outlet: int) -> None:
        self._outlet = outlet
        self._limit = self._dealer.now + self._dealer.settings["gate_limit_ms"]
        self._hal.set("gate", outlet)
