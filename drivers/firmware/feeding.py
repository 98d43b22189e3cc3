"""The path of one card: feeder, window, gate, and outlet.

One card at a time. It is held in the window until its own route is known and the gate's sensor
confirms the outlet. The next card leaves the feeder only after this one has passed. Feeder and pass
motor never run together, so no card is pulled through by mistake.
"""

from . import protocol
from .event_memory import NEVER_MS
from .pins import FORWARD, REVERSE, STOP, Hal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pins import DealerBoard

IDLE = 0  # no card between the source and the pockets
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
    """The feeder, window and gate: they move each card of an attempt to its outlet.

    Sensor edges, time limits and routes decide each motion.
    """

    def __init__(self, dealer: "DealerBoard", hal: Hal) -> None:
        self._dealer = dealer
        self._hal = hal
        self.clear()

    def clear(self) -> None:
        """Begin an attempt, with no fed card and no route."""
        self.state = IDLE
        self.source = protocol.HOPPER
        self.upto = 0
        self.fed = 0  # cards seen at the window; the newest one's index
        self.index = 0  # The card at or past the window; 0: none, or not of this attempt.
        self.routes = bytearray([protocol.NOWHERE] * INDEX_COUNT)
        self.open_doubles: list[int] = []  # Double feeds whose two cards were not fed again.
        self._doubles_in_tray: list[int] = []  # Those of them in the tray.
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
        """Return whether no card is on its way and no motor turns."""
        return self.state == IDLE

    def is_moving(self) -> bool:
        """Return whether a motor turns, or is about to turn."""
        return (
            self.state in (FEEDING, REVERSING, AIMING, PASSING, BACKING_OUT)
            and not self._is_stopped
        )

    def is_feeding(self) -> bool:
        """Return whether a card is on its way from a source to the window."""
        return self.state in (FEEDING, REVERSING)

    def doing(self) -> int:
        """Return the present activity: IDLE, FEEDING, HOLDING or PASSING."""
        return ACTIVITIES[self.state]

    def held_index(self) -> int:
        """Return the index of the card that waits in the window, or 0."""
        return self.index if self.state in (HOLDING, AIMING) else 0

    def is_unseen_in_gate(self, outlet: int) -> bool:
        """Return whether a card moves through the gate to `outlet` and has not been detected
        after the gate.
        """
        return (
            self.state in (PASSING, BACKING_OUT)
            and not self._seen_behind_gate
            and self._target == outlet
        )

    def next_ms(self) -> int:
        """Return the time limit of the present motion, or the time at which the window's sensor
        becomes reliable.
        """
        return min(self._limit, self._window_ready_ms) if self._seen_too_early else self._limit

    # Commands of the host.

    def feed(self, source: int, upto: int) -> None:
        """Feed from `source` until card `upto` is in the window. After a stop, continue."""
        self.source = source
        self.upto = upto
        self._is_feed_wanted = True
        self._resume()

    def route(self, index: int, outlet: int) -> int:
        """Store the route of a card, and return the board's answer to the ROUTE command."""
        known = self.routes[index]
        if known != protocol.NOWHERE:
            return protocol.DONE if known == outlet else protocol.ROUTE_DIFFERS
        coming = self.fed + 1 if self.fed < self.upto else 0
        if not index or index not in (self.held_index(), coming):
            return protocol.WRONG_INDEX
        self.routes[index] = outlet
        return protocol.DONE

    def purge(self) -> bool:
        """Move the cards in the path into the tray. Return False if the path is empty."""
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
        """Stop the motors at once. With `finish_pass`, a card in the gate continues."""
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
        """Handle a change of the feeder's sensor for two cards at once.

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
        """Handle the landing of card `index`. Return True for a double feed in the tray."""
        twofold = outlet == protocol.TRAY and index in self.open_doubles
        if twofold:
            self._doubles_in_tray.append(index)
        return twofold

    # Time and levels.

    def on_time(self, until_ms: int) -> None:
        """Handle the end of a time limit, or accept a card that the window's sensor reported
        too early.
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
        """Return whether the held card may leave the window, because no other card falls into
        `outlet`.

        Otherwise a landing could be matched with the card before it.
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
        """Handle a covered window sensor as a new card, unless it may still detect the previous
        card.
        """
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
        """Move the empty gate to the outlet of the held card.

        Let the card go when the gate is at its outlet.
        """
        if not self._gate_commanded:
            if self._hal.read("exit"):
                return
            self._gate_commanded = True
            self._hal.set("gate", self._target)
        if self._hal.read("gate_at") == self._target:
            self._start_pass()

    def _on_gate_limit(self) -> None:
        """Handle a gate that did not arrive in time, unless it arrived while the board was
        stopped.
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
        """Handle a card that did not pass the gate in time: retry, then use the tray, then
        report a jam.

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
        """End a card's passage once it was detected after the gate and both beams are clear."""
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
        """Restart the motion that a stop interrupted."""
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
