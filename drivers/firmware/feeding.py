"""The way of one card: feeder, window, gate, and on.

One card at a time. It is brought to the window and held there; it goes on only
when its own route is known and the gate's own sensor says that the gate stands
there; the next one leaves the feeder only when this one has passed. Feeder and
pass motor never run together, so no card can be drawn through by mistake.
"""

from . import wire
from .hal import FORWARD, REVERSE, STOP, Hal
from .memory import NEVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dealer import Dealer

REST = 0  # no card between the source and the pockets
BRINGING = 1  # the feeder runs until the window sees a card
BACKING = 2  # the feeder reverses to free a card
HOLDING = 3  # a card stands in the window
AIMING = 4  # the gate moves to the card's outlet
PASSING = 5  # the card runs through the gate
RETURNING = 6  # the card is drawn back to free it

# A reverse takes this part of the limit that ran out.
BACK_PART = 4
# A source counts as empty when its sensor saw nothing for so long.
EMPTY_MS = 30
# A window that a card has left is believed to see the next one only after this: the card before
# may tremble in it on its way out.
FLUTTER_MS = 3
SOURCES = ("hopper", "tray_feed")
JAM_PLACES = (wire.AT_FEEDER, wire.AT_TRAY_FEEDER)
DOING = (
    wire.IDLE,
    wire.FEEDING,
    wire.FEEDING,
    wire.HOLDING,
    wire.PASSING,
    wire.PASSING,
    wire.PASSING,
)
INDICES = 256


class Feeding:
    """Moves the cards of one attempt; driven by edges, limits and routes."""

    def __init__(self, dealer: "Dealer", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self.clear()

    def clear(self) -> None:
        """Begin an attempt: nothing fed, no routes."""
        self.state = REST
        self.source = wire.HOPPER
        self.upto = 0
        self.fed = 0  # cards seen at the window; the newest one's index
        self.index = 0  # the card at or past the window, 0: none or not of this attempt
        self.routes = bytearray([wire.NOWHERE] * INDICES)
        self.unsettled: list[int] = []  # doubled indices whose two cards were not fed again
        self._in_tray: list[int] = []  # those of them that lie in the tray
        self._wanted = False  # a FEED asks for more
        self._tries = 0
        self._limit = NEVER
        self._stopped = False
        self._doubled = False  # the double sensor saw this card
        self._target = wire.NOWHERE
        self._aimed = False
        self._out = False  # this card was seen behind the gate
        self._calm_at = 0  # from when the window is believed to see the next card
        self._early = False  # it saw one before that

    # What others ask.

    def at_rest(self) -> bool:
        """Return whether no card is on its way and no motor turns."""
        return self.state == REST

    def moving(self) -> bool:
        """Return whether a motor turns, or would at once."""
        return self.state in (BRINGING, BACKING, AIMING, PASSING, RETURNING) and not self._stopped

    def bringing(self) -> bool:
        """Return whether a card is on its way from a source to the window."""
        return self.state in (BRINGING, BACKING)

    def doing(self) -> int:
        """Return wire.IDLE, FEEDING, HOLDING or PASSING."""
        return DOING[self.state]

    def held(self) -> int:
        """Return the index of the card at the hold point, 0 for none."""
        return self.index if self.state in (HOLDING, AIMING) else 0

    def passes_unseen(self, outlet: int) -> bool:
        """Return whether a card runs through the gate to `outlet`, and was not seen behind it."""
        return self.state in (PASSING, RETURNING) and not self._out and self._target == outlet

    def next_ms(self) -> int:
        """Return when the motion under way should have ended, or the window is to be believed."""
        return min(self._limit, self._calm_at) if self._early else self._limit

    # What the host asks.

    def feed(self, source: int, upto: int) -> None:
        """Feed from `source` until card `upto` stands in the window; go on after a stop."""
        self.source = source
        self.upto = upto
        self._wanted = True
        self._go_on()

    def route(self, index: int, outlet: int) -> int:
        """Take the route of a card; return the result for its ROUTE."""
        known = self.routes[index]
        if known != wire.NOWHERE:
            return wire.DONE if known == outlet else wire.ROUTE_DIFFERS
        coming = self.fed + 1 if self.fed < self.upto else 0
        if not index or index not in (self.held(), coming):
            return wire.WRONG_INDEX
        self.routes[index] = outlet
        return wire.DONE

    def purge(self) -> bool:
        """Send what stands in the path into the tray; False where nothing stands there."""
        self._wanted = False
        if self.bringing():
            self._rest()
        in_gate = bool(self._hal.read("exit"))
        if not in_gate and not self._hal.read("window"):
            self._rest()
            return False
        if self.state == REST:
            self._out = False
        self._tries = 0
        self._stopped = False
        if in_gate:
            self._out = True  # it lies in the gate, which cannot move: out where the gate stands
            self._pass()
        else:
            self._aim(wire.TRAY)
        return True

    def stop(self, finish_pass: bool) -> None:
        """Stop the motors where they are; `finish_pass` lets a card in the gate run on."""
        if finish_pass and self.state in (PASSING, RETURNING):
            self._wanted = False
            return
        self._stopped = True
        self._wanted = False
        self._limit = NEVER
        self._hal.set("feed", STOP)
        self._hal.set("pass", STOP)

    # What the sensors say.

    def on_window(self, value: int) -> None:
        """The window sees a card come, or go."""
        self._early = False
        if value and self.bringing():
            self._come()
        elif not value:
            self._end_pass()

    def on_exit(self, value: int) -> None:
        """The beam behind the gate sees a card come, or go."""
        if not value:
            self._end_pass()
        elif self.state in (PASSING, RETURNING) and not self._out:
            self._out = True
            self._dealer.on_passed(self.index)
            if not self._stopped:
                self._pass()

    def on_double(self, value: int) -> None:
        """The feeder's double sensor: it may speak before the card arrives, or after."""
        if value and self.state != REST and not self._doubled:
            self._doubled = True
            if self.index:
                self._report_double()

    def on_tray(self, value: int) -> None:
        """The tray's sensor: once it is empty, the doubled cards in it were fed again."""
        if not value and self._in_tray:
            self.unsettled = [index for index in self.unsettled if index not in self._in_tray]
            self._in_tray = []

    def on_landed(self, index: int, outlet: int) -> bool:
        """Card `index` landed; return whether it was a doubled one in the tray."""
        twofold = outlet == wire.TRAY and index in self.unsettled
        if twofold:
            self._in_tray.append(index)
        return twofold

    # What time and levels say.

    def on_time(self, until_ms: int) -> None:
        """A motion did not end by its limit; or the window, seen too early, still sees a card."""
        if self._early and self._calm_at <= until_ms:
            self._arrive()
        if self._limit > until_ms:
            return
        self._limit = NEVER
        if self.state == REST:
            self._still_empty()
        elif self.state == BRINGING:
            self._not_brought()
        elif self.state == BACKING:
            self._run_feeder()
        elif self.state == AIMING:
            self._not_aimed()
        elif self.state == PASSING:
            self._not_passed()
        elif self.state == RETURNING:
            self._again()

    def advance(self) -> None:
        """Start what may start now."""
        if self.state == AIMING and not self._stopped:
            self._check_gate()
        if self._dealer.is_halted():
            return
        if self.state == HOLDING and self._may_go(self.routes[self.index]):
            self._tries = 0
            self._aim(self.routes[self.index])
        elif self.state == REST and self._wanted and self.fed < self.upto:
            self._next()

    def _may_go(self, outlet: int) -> bool:
        """Return whether the held card may go: one card at a time falls into an outlet.

        So a landing is never taken for that of the card before, which is still awaited there.
        """
        return outlet != wire.NOWHERE and not self._dealer.landings.flies_to(outlet)

    # From the source to the window.

    def _next(self) -> None:
        if self._dealer.short_of_memory():
            self._dealer.halt(wire.MEMORY_FULL)
            return
        self._doubled = False
        self._tries = 0
        if self._hal.read("window"):
            self._come()  # on its own, while the board stood still
        elif not self._hal.read(SOURCES[self.source]):
            # A card may still be on its way into the tray, and lies there before it is seen.
            if self._limit == NEVER and not self._dealer.landings.in_flight():
                self._limit = self._dealer.now + EMPTY_MS
        else:
            self._hal.set("source", self.source)
            self._run_feeder()

    def _still_empty(self) -> None:
        if not self._hal.read(SOURCES[self.source]) and not self._hal.read("window"):
            self._wanted = False
            self._dealer.emit(wire.HOPPER_EMPTY, 0, self.source)

    def _run_feeder(self) -> None:
        self.state = BRINGING
        self._hal.set("feed", FORWARD)
        self._limit_in("feed_limit_ms")

    def _not_brought(self) -> None:
        self._tries += 1
        if self._tries > self._dealer.settings["jam_retries"]:
            self._hal.set("feed", STOP)
            self._dealer.jam(JAM_PLACES[self.source], 0)
            return
        self.state = BACKING
        self._hal.set("feed", REVERSE)
        self._limit_in("feed_limit_ms", BACK_PART)

    def _come(self) -> None:
        """The window sees a card: the next one, unless it may still be the last."""
        if self._dealer.at < self._calm_at:
            self._early = True
        else:
            self._arrive()

    def _arrive(self) -> None:
        """A card stands in the window: it has its index from here on."""
        self._early = False
        self._hal.set("feed", STOP)
        self._limit = NEVER
        self.state = HOLDING
        self.fed += 1
        self.index = self.fed
        self._out = False
        if self._doubled or self._hal.read("double"):
            self._doubled = True
            self._report_double()
        self._dealer.on_arrived(self.index)

    def _report_double(self) -> None:
        self.unsettled.append(self.index)
        self._dealer.emit(wire.DOUBLE, self.index)

    # From the window through the gate.

    def _aim(self, outlet: int) -> None:
        self._hal.set("pass", STOP)
        self.state = AIMING
        self._target = outlet
        self._aimed = False
        self._limit_in("gate_limit_ms")
        self._check_gate()

    def _check_gate(self) -> None:
        """Move the gate when nothing is in it; let the card go when it stands right."""
        if not self._aimed:
            if self._hal.read("exit"):
                return
            self._aimed = True
            self._hal.set("gate", self._target)
        if self._hal.read("gate_at") == self._target:
            self._pass()

    def _not_aimed(self) -> None:
        """The gate did not arrive by its limit, unless it did while the board stood still."""
        waited = self._aimed
        if not self._stopped:
            self._check_gate()
        if self.state != AIMING:
            return
        if self._aimed and not waited:  # only now the gate could be moved
            self._limit_in("gate_limit_ms")
            return
        self.state = HOLDING
        if self._aimed:
            self._dealer.stall(wire.MOTOR_GATE)
        else:
            self._dealer.jam(wire.AT_GATE, self.index)

    def _pass(self) -> None:
        self.state = PASSING
        self._hal.set("pass", FORWARD)
        self._limit_in("pass_limit_ms")

    def _not_passed(self) -> None:
        """Back and again, at most jam_retries times; then the tray; then it is a jam.

        A card that was seen in the gate goes nowhere else any more: no tray for it.
        """
        self._tries += 1
        retries = self._dealer.settings["jam_retries"]
        if self._tries <= (retries if self._out else retries + 1):
            self.state = RETURNING
            self._hal.set("pass", REVERSE)
            self._limit_in("pass_limit_ms", BACK_PART)
        else:
            self._hal.set("pass", STOP)
            self.state = HOLDING
            self._dealer.jam(wire.AT_GATE if self._out else wire.AT_WINDOW, self.index)

    def _again(self) -> None:
        if self._out:
            self._pass()  # the gate stands as it stood
        else:
            retries = self._dealer.settings["jam_retries"]
            self._aim(self._target if self._tries <= retries else wire.TRAY)

    def _end_pass(self) -> None:
        """The card has passed when it was seen behind the gate, and neither beam sees it."""
        if self.state not in (PASSING, RETURNING) or not self._out:
            return
        if self._dealer.level("window") or self._dealer.level("exit"):
            return
        self._hal.set("pass", STOP)
        self._dealer.on_left(self.index)
        self._rest()
        self._calm_at = self._dealer.at + FLUTTER_MS

    def _rest(self) -> None:
        self._hal.set("feed", STOP)
        self.state = REST
        self.index = 0
        self._early = False
        self._limit = NEVER

    def _go_on(self) -> None:
        """Start again what a stop interrupted."""
        if not self._stopped:
            return
        self._stopped = False
        if self.bringing():
            self._run_feeder()
        elif self.state in (PASSING, RETURNING) and self._out:
            self._pass()
        elif self.state in (AIMING, PASSING, RETURNING):
            self._aim(self._target)

    def _limit_in(self, name: str, part: int = 1) -> None:
        self._limit = self._dealer.now + self._dealer.settings[name] // part
