"""Control of the feeder and the gate, which move one card at a time to its outlet.

A card is held in the window until its own route is known and the gate's sensor confirms the
outlet. The next card leaves the feeder only after this card has passed the gate. Feeder and pass
motor never run together, so no card is pulled through by mistake.
"""

from . import protocol
from .event_memory import NEVER_MS
from .pins import FORWARD, REVERSE, STOP, Hal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pins import DealerBoard

IDLE = 0  # No card is between the source and the gate.
FEEDING = 1  # The feeder runs until the window detects a card.
REVERSING = 2  # the feeder reverses to free a card
HOLDING = 3  # A card is in the window.
AIMING = 4  # the gate moves to the card's outlet
PASSING = 5  # The card moves through the gate.
BACKING_OUT = 6  # The card is pulled back to free it.

# A reverse takes this fraction of the expired limit.
REVERSE_PART = 4
# A source counts as empty when its sensor is clear for this time.
EMPTY_MS = 30
# After a card left the window, the next one counts only after this time: the card before may
# tremble on its way out.
WINDOW_FLUTTER_MS = 3
SOURCE_SENSORS = ("hopper", "tray_feed")
JAM_PLACES = (protocol.AT_FEEDER, protocol.AT_TRAY_FEEDER)
ACTIVITIES = (
    protocol.IDLE,
    protocol.FEEDING,
    protocol.FEEDING,
    protocol.HOLDING,
    protocol.PASSING,
    protocol.PASSING,
    protocol.PASSING,
)
INDEX_COUNT = 256


class Feeding:
    """Control of the feeder and the gate, which move each card of an attempt to its outlet.

    Sensor edges, time limits and routes decide each motion.
    """

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self.clear()

    def clear(self) -> None:
        """Reset everything for a new attempt: no card is fed, and no route is stored."""
        self.state = IDLE
        self.source = protocol.HOPPER
        self.upto = 0
        self.fed = 0  # cards seen at the window; the newest one's index
        self.index = 0  # The card at or past the window; 0: none, or not of this attempt.
        self.routes = bytearray([protocol.NOWHERE] * INDEX_COUNT)
        self.open_doubles: list[int] = []  # Double feeds whose two cards were not fed again.
        self._doubles_in_tray: list[int] = []  # The double feeds that are in the tray.
        self._is_feed_wanted = False  # A FEED requests more cards.
        self._tries = 0
        self._limit = NEVER_MS
        self._is_stopped = False
        self._double_seen = False  # The double sensor detected this card.
        self._target = protocol.NOWHERE
        self._gate_commanded = False
        self._seen_behind_gate = False  # The card was detected after the gate.
        self._window_ready_ms = 0  # From this time the window may report the next card.
        self._seen_too_early = False  # A card came before that time.

    # Queries of other parts.

    def is_idle(self) -> bool:
        """Return whether no card is between source and gate. A card may still be falling."""
        return self.state == IDLE

    def is_moving(self) -> bool:
        """Return whether a motor turns, or is about to turn."""
        return (
            self.state in (FEEDING, REVERSING, AIMING, PASSING, BACKING_OUT)
            and not self._is_stopped
        )

    def is_feeding(self) -> bool:
        """Return whether a card is on its way from hopper or tray to the window."""
        return self.state in (FEEDING, REVERSING)

    def doing(self) -> int:
        """Return the present activity, which is IDLE, FEEDING, HOLDING or PASSING."""
        return ACTIVITIES[self.state]

    def held_index(self) -> int:
        """Return the index of the card that waits in the window, or 0 if no card waits."""
        return self.index if self.state in (HOLDING, AIMING) else 0

    def is_unseen_in_gate(self, outlet: int) -> bool:
        """Return whether a card moves to `outlet` and the beam after the gate did not detect it."""
        return (
            self.state in (PASSING, BACKING_OUT)
            and not self._seen_behind_gate
            and self._target == outlet
        )

    def next_ms(self) -> int:
        """Return when `on_time` must be called next, or NEVER_MS if no time limit is set."""
        return min(self._limit, self._window_ready_ms) if self._seen_too_early else self._limit

    # Commands of the host.

    def feed(self, source: int, upto: int) -> None:
        """Feed cards from `source` until card `upto` is in the window. Continue after a stop."""
        self.source = source
        self.upto = upto
        self._is_feed_wanted = True
        self._resume()

    def route(self, index: int, outlet: int) -> int:
        """Store the outlet of card `index`, and return the board's answer to the ROUTE command."""
        known = self.routes[index]
        if known != protocol.NOWHERE:
            return protocol.DONE if known == outlet else protocol.ROUTE_DIFFERS
        coming = self.fed + 1 if self.fed < self.upto else 0
        if not index or index not in (self.held_index(), coming):
            return protocol.WRONG_INDEX
        self.routes[index] = outlet
        return protocol.DONE

    def purge(self) -> bool:
        """If a card is in the path, start to move it out and return True, else return False.

        The card goes to the tray. A card that is already in the gate goes to the gate's outlet.
        """
        self._is_feed_wanted = False
        if self.is_feeding():
            self._become_idle()
        in_gate = bool(self._hal.read("exit"))
        if not in_gate and not self._hal.read("window"):
            self._become_idle()
            return False
        if self.state == IDLE:
            self._seen_behind_gate = False
        self._tries = 0
        self._is_stopped = False
        if in_gate:
            self._seen_behind_gate = True  # A card blocks the gate, so the gate's outlet is used.
            self._start_pass()
        else:
            self._aim(protocol.TRAY)
        return True

    def stop(self, finish_pass: bool) -> None:
        """Stop both motors. With `finish_pass`, a card that passes the gate continues."""
        if finish_pass and self.state in (PASSING, BACKING_OUT):
            self._is_feed_wanted = False
            return
        self._is_stopped = True
        self._is_feed_wanted = False
        self._limit = NEVER_MS
        self._hal.set("feed", STOP)
        self._hal.set("pass", STOP)

    # Sensors.

    def on_window(self, value: int) -> None:
        """Handle a change of the window's sensor."""
        self._seen_too_early = False
        if value and self.is_feeding():
            self._on_covered()
        elif not value:
            self._check_pass_end()

    def on_exit(self, value: int) -> None:
        """Handle a change of the light beam after the gate."""
        if not value:
            self._check_pass_end()
        elif self.state in (PASSING, BACKING_OUT) and not self._seen_behind_gate:
            self._seen_behind_gate = True
            self._dealer.on_passed(self.index)
            if not self._is_stopped:
                self._start_pass()

    def on_double(self, value: int) -> None:
        """Handle a change of the sensor that detects two cards leaving the feeder together.

        It may react before or after the card arrives.
        """
        if value and self.state != IDLE and not self._double_seen:
            self._double_seen = True
            if self.index:
                self._report_double()

    def on_tray(self, value: int) -> None:
        """Handle a change of the tray's sensor.

        When the tray is empty, the cards of its double feeds have been fed again.
        """
        if not value and self._doubles_in_tray:
            self.open_doubles = [
                index for index in self.open_doubles if index not in self._doubles_in_tray
            ]
            self._doubles_in_tray = []

    def on_landed(self, index: int, outlet: int) -> bool:
        """If card `index` is a double feed and landed in the tray, record this and return True."""
        twofold = outlet == protocol.TRAY and index in self.open_doubles
        if twofold:
            self._doubles_in_tray.append(index)
        return twofold

    # Time and levels.

    def on_time(self, until_ms: int) -> None:
        """Handle a time limit that ended at or before `until_ms`. Also accept a card that came
        too early, if the window's sensor is reliable again.
        """
        if self._seen_too_early and self._window_ready_ms <= until_ms:
            self._on_arrived()
        if self._limit > until_ms:
            return
        self._limit = NEVER_MS
        if self.state == IDLE:
            self._confirm_empty()
        elif self.state == FEEDING:
            self._on_feed_limit()
        elif self.state == REVERSING:
            self._run_feeder()
        elif self.state == AIMING:
            self._on_gate_limit()
        elif self.state == PASSING:
            self._on_pass_limit()
        elif self.state == BACKING_OUT:
            self._retry_pass()

    def advance(self) -> None:
        """Start every motion that is possible now."""
        if self.state == AIMING and not self._is_stopped:
            self._check_gate()
        if self._dealer.is_halted():
            return
        if self.state == HOLDING and self._can_pass(self.routes[self.index]):
            self._tries = 0
            self._aim(self.routes[self.index])
        elif self.state == IDLE and self._is_feed_wanted and self.fed < self.upto:
            self._start_next()

    def _can_pass(self, outlet: int) -> bool:
        """Return whether `outlet` is a route (not NOWHERE) and no other card is on its way to it.

        With two cards on the way to an outlet, a landing could be matched with the wrong card.
        """
        return outlet != protocol.NOWHERE and not self._dealer.landings.is_awaited_at(outlet)

    # From the source to the window.

    def _start_next(self) -> None:
        if self._dealer.is_memory_low():
            self._dealer.halt(protocol.MEMORY_FULL)
            return
        self._double_seen = False
        self._tries = 0
        if self._hal.read("window"):
            self._on_covered()  # The card came while the board was stopped.
        elif not self._hal.read(SOURCE_SENSORS[self.source]):
            # A card may still fall into the tray, and is detected only later.
            if self._limit == NEVER_MS and not self._dealer.landings.has_flying():
                self._limit = self._dealer.now + EMPTY_MS
        else:
            self._hal.set("source", self.source)
            self._run_feeder()

    def _confirm_empty(self) -> None:
        if not self._hal.read(SOURCE_SENSORS[self.source]) and not self._hal.read("window"):
            self._is_feed_wanted = False
            self._dealer.emit(protocol.HOPPER_EMPTY, 0, self.source)

    def _run_feeder(self) -> None:
        self.state = FEEDING
        self._hal.set("feed", FORWARD)
        self._arm_limit("feed_limit_ms")

    def _on_feed_limit(self) -> None:
        self._tries += 1
        if self._tries > self._dealer.settings["jam_retries"]:
            self._hal.set("feed", STOP)
            self._dealer.jam(JAM_PLACES[self.source], 0)
            return
        self.state = REVERSING
        self._hal.set("feed", REVERSE)
        self._arm_limit("feed_limit_ms", REVERSE_PART)

    def _on_covered(self) -> None:
        """Accept the card at the window's sensor; wait first if the card before it just left."""
        if self._dealer.edge_ms < self._window_ready_ms:
            self._seen_too_early = True
        else:
            self._on_arrived()

    def _on_arrived(self) -> None:
        """Handle the arrival of a card in the window, and give the card its index."""
        self._seen_too_early = False
        self._hal.set("feed", STOP)
        self._limit = NEVER_MS
        self.state = HOLDING
        self.fed += 1
        self.index = self.fed
        self._seen_behind_gate = False
        if self._double_seen or self._hal.read("double"):
            self._double_seen = True
            self._report_double()
        self._dealer.on_arrived(self.index)

    def _report_double(self) -> None:
        self.open_doubles.append(self.index)
        self._dealer.emit(protocol.DOUBLE, self.index)

    # From the window through the gate.

    def _aim(self, outlet: int) -> None:
        self._hal.set("pass", STOP)
        self.state = AIMING
        self._target = outlet
        self._gate_commanded = False
        self._arm_limit("gate_limit_ms")
        self._check_gate()

    def _check_gate(self) -> None:
        """Turn the gate to the outlet of the card in the window, and then start to move the card.

        The gate turns when it is empty. The card starts when the gate's sensor confirms the outlet.
        """
        if not self._gate_commanded:
            if self._hal.read("exit"):
                return
            self._gate_commanded = True
            self._hal.set("gate", self._target)
        if self._hal.read("gate_at") == self._target:
            self._start_pass()

    def _on_gate_limit(self) -> None:
        """Handle the end of the gate's time limit. Move the card if the gate is at the outlet.
        Else report a stalled gate, or a card that blocks the gate.
        """
        waited = self._gate_commanded
        if not self._is_stopped:
            self._check_gate()
        if self.state != AIMING:
            return
        if self._gate_commanded and not waited:  # Only now could the gate be moved.
            self._arm_limit("gate_limit_ms")
            return
        self.state = HOLDING
        if self._gate_commanded:
            self._dealer.stall(protocol.MOTOR_GATE)
        else:
            self._dealer.jam(protocol.AT_GATE, self.index)

    def _start_pass(self) -> None:
        self.state = PASSING
        self._hal.set("pass", FORWARD)
        self._arm_limit("pass_limit_ms")

    def _on_pass_limit(self) -> None:
        """Pull back a card that did not pass the gate in time, so that it can try again.

        After the last retry, try to move the card to the tray. If that fails too, report a jam.

        A card detected in the gate cannot go to another outlet, not even the tray.
        """
        self._tries += 1
        retries = self._dealer.settings["jam_retries"]
        if self._tries <= (retries if self._seen_behind_gate else retries + 1):
            self.state = BACKING_OUT
            self._hal.set("pass", REVERSE)
            self._arm_limit("pass_limit_ms", REVERSE_PART)
        else:
            self._hal.set("pass", STOP)
            self.state = HOLDING
            self._dealer.jam(
                protocol.AT_GATE if self._seen_behind_gate else protocol.AT_WINDOW, self.index
            )

    def _retry_pass(self) -> None:
        if self._seen_behind_gate:
            self._start_pass()  # The gate has not moved.
        else:
            retries = self._dealer.settings["jam_retries"]
            self._aim(self._target if self._tries <= retries else protocol.TRAY)

    def _check_pass_end(self) -> None:
        """Stop the pass motor if the card was seen after the gate and has left window and gate."""
        if self.state not in (PASSING, BACKING_OUT) or not self._seen_behind_gate:
            return
        if self._dealer.level("window") or self._dealer.level("exit"):
            return
        self._hal.set("pass", STOP)
        self._dealer.on_left_gate(self.index)
        self._become_idle()
        self._window_ready_ms = self._dealer.edge_ms + WINDOW_FLUTTER_MS

    def _become_idle(self) -> None:
        self._hal.set("feed", STOP)
        self.state = IDLE
        self.index = 0
        self._seen_too_early = False
        self._limit = NEVER_MS

    def _resume(self) -> None:
        """Restart the motion that a stop interrupted, if there is one."""
        if not self._is_stopped:
            return
        self._is_stopped = False
        if self.is_feeding():
            self._run_feeder()
        elif self.state in (PASSING, BACKING_OUT) and self._seen_behind_gate:
            self._start_pass()
        elif self.state in (AIMING, PASSING, BACKING_OUT):
            self._aim(self._target)

    def _arm_limit(self, name: str, part: int = 1) -> None:
        self._limit = self._dealer.now + self._dealer.settings[name] // part
