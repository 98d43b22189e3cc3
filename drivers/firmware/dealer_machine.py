"""The dealer board's machine: its parts, its sensors, and the reasons to stop all motion."""

from . import protocol
from .board import MAX_COUNT, BoardCore
from .feeding import Feeding
from .landing import Landings
from .motors import GateSweep, LiftControl, ShufflerControl
from .pins import Hal

NOT_HALTED = 0xFF
# A landing beam covered again so soon is covered by the same trembling card. A second card comes
# later, unless both overlap like one card.
BEAM_FLUTTER_MS = 3

LANDING_OUTLETS = {"land_%d" % outlet: outlet for outlet in range(protocol.OUTLETS)}
POCKET_OUTLETS = {"pocket_%d" % outlet: outlet for outlet in range(protocol.OUTLETS)}


class DealerMachine(BoardCore):
    """The state of the dealer board's machine: motors, sensors and counts, without the host's
    commands. Its HAL has the names of pins.py.
    """

    def __init__(
        self,
        hal: Hal,
        boot: int,
        reset_cause: int = 0,
        fw_hash: bytes = bytes(8),
        stored: bytes = b"",
    ) -> None:
        super().__init__(hal, boot, reset_cause, fw_hash, stored)
        self.cards = 0
        self.per_pocket = 0
        self.release_forbidden = (
            False  # True after any event that forbids a release of this attempt.
        )
        self.feeding = Feeding(self, hal)
        self.landings = Landings()
        self._shuffler = ShufflerControl(self, hal)
        self._lift = LiftControl(self, hal)
        self._sweep = GateSweep(self, hal)
        self._motions = (self.feeding, self._shuffler, self._lift, self._sweep)
        self._halt_reason = NOT_HALTED
        self._is_jammed = False
        self._feed_started = False  # The first FEED was accepted.
        self._release_granted = False  # RELEASE was accepted: no more cards in this attempt.
        self._hands_released = False
        self._doubles = 0
        self._missing_drive = 0  # The number of an absent drive.
        self._beam_covered_ms = [
            -BEAM_FLUTTER_MS - 1
        ] * protocol.OUTLETS  # When a card first covered each landing beam.
        self._edge_handlers = {
            "window": self.feeding.on_window,
            "exit": self.feeding.on_exit,
            "double": self.feeding.on_double,
            "tray_feed": self.feeding.on_tray,
            "shuffled": self._shuffler.on_shuffled,
            "shuffler": self._shuffler.on_drawn_in,
            "lift": self._lift.on_lift,
            "lift_down": self._lift.on_lift_down,
            "lid": self._on_lid,
            "estop": self._on_estop,
            "supply": self._on_supply,
            "drive": self._on_drive,
            "stall": self.stall,
        }

    # Methods for the parts.

    def is_halted(self) -> bool:
        """Return whether motion is stopped until a command restarts it."""
        return self._halt_reason != NOT_HALTED

    def is_in_attempt(self) -> bool:
        """Return whether an attempt has begun and its hands are not released yet."""
        return self.attempt != 0 and not self._hands_released

    def any_sees(self, names: tuple[str, ...]) -> bool:
        """Return whether at least one of the inputs `names` has the level 1 now."""
        return any(self.hal.read(name) for name in names)

    def all_see(self, names: tuple[str, ...]) -> bool:
        """Return whether all of the inputs `names` have the level 1 now."""
        return all(self.hal.read(name) for name in names)

    def halt(self, reason: int) -> None:
        """Stop all motion. Report `reason` (BY_HOST …) unless motion was already stopped for it.

        With HOST_SILENT, a card in the gate moves on. A stop of the lift is always reported,
        because RETRACT moves it in a halted machine.
        """
        lifting = self._lift.is_moving()
        self.feeding.stop(finish_pass=reason == protocol.HOST_SILENT)
        self._shuffler.stop()
        self._lift.stop()
        self._sweep.stop()
        if self._halt_reason != reason or lifting:
            self._halt_reason = reason
            self.emit(protocol.STOPPED, place=reason)

    def jam(self, place: int, index: int) -> None:
        """Stop all motion, and report that card `index` (0: unknown) is stuck at `place`.

        AT_LANDING means that the card did not land. A person must help.
        """
        if place != protocol.AT_SHUFFLER:
            self._is_jammed = self.release_forbidden = True
            self.landings.remove(index)
        self.emit(protocol.JAM, index, place)
        self.halt(protocol.BY_JAM)

    def stall(self, motor: int) -> None:
        """Stop all motion, and report that `motor` did not reach its sensor in time."""
        self.emit(protocol.STALL, place=motor)
        self.halt(protocol.BY_STALL)

    def on_arrived(self, index: int) -> None:
        """Report the card in the window to the reader (by the trigger wire) and to the host."""
        self.life_in += 1
        self.hal.set("trigger", 1)
        self.hal.set("trigger", 0)
        self.emit(protocol.AT_READER, index)

    def on_passed(self, index: int) -> None:
        """Report that card `index` reached the beam after the gate, and to which outlet it goes."""
        outlet = self.level("gate_at")
        self.emit(protocol.GATE, index, outlet)
        self.landings.on_passed(index, outlet)

    def on_left_gate(self, index: int) -> None:
        """Record that card `index` has left the gate and is falling."""
        self.landings.on_left_gate(index, self.edge_ms + self.settings["landing_window_ms"])

    def on_lifted(self) -> None:
        """Report that the lift is up and the hands are released, but only once in an attempt."""
        if not self._hands_released:
            self._hands_released = True
            self.emit(protocol.RELEASED)

    # Methods that override those of BoardCore.

    def totals(self) -> tuple[int, int]:
        """Return the number of cards that came to the window, and the number that landed."""
        return self.feeding.fed, self.landings.total()

    def is_busy(self) -> bool:
        """Return whether a motor moves or a card falls."""
        return not self.can_pause() or self.landings.has_flying()

    def can_pause(self) -> bool:
        """Return whether no motor moves, so that the program may stop for some milliseconds.

        A card may still fall.
        """
        return not (
            self.feeding.is_moving()
            or self._shuffler.is_running()
            or self._lift.is_moving()
            or self._sweep.is_running()
        )

    def doing(self) -> int:
        """Return the present activity as a number of the protocol (IDLE, FEEDING …)."""
        if self._lift.is_moving():
            return protocol.LIFTING
        if self.is_halted() and self.is_in_attempt():
            return protocol.STOPPED_STATE
        return protocol.SHUFFLING if self._shuffler.is_running() else self.feeding.doing()

    def on_edge(self, name: str, value: int) -> None:
        """Handle one change of a sensor."""
        if name in LANDING_OUTLETS:
            self._on_beam(LANDING_OUTLETS[name], value)
        elif name in POCKET_OUTLETS:
            self.emit(protocol.POCKET, 1 if value else 0, POCKET_OUTLETS[name])
        elif name in self._edge_handlers:
            self._edge_handlers[name](value)

    def on_time(self, until_ms: int) -> None:
        """Handle all time limits that ended at or before `until_ms`."""
        for motion in self._motions:
            if motion.next_ms() <= until_ms:
                motion.on_time(until_ms)
        if self.landings.next_ms() <= until_ms:
            for index in self.landings.pop_overdue(until_ms):
                self.jam(protocol.AT_LANDING, index)

    def on_silence(self) -> None:
        """Stop all motion, because the host is silent. Only a card in the gate moves on."""
        self.halt(protocol.HOST_SILENT)

    def on_stop(self) -> None:
        """Handle STOP from the host."""
        self.halt(protocol.BY_HOST)

    def advance(self) -> None:
        """Start every motion that is possible now."""
        self.feeding.advance()
        self._sweep.advance()

    def next_ms(self) -> int:
        """Return when the next time limit of a motion or fall ends, or NEVER_MS if none is set."""
        return min(
            self.feeding.next_ms(),
            self.landings.next_ms(),
            self._shuffler.next_ms(),
            self._lift.next_ms(),
            self._sweep.next_ms(),
        )

    # Sensors.

    def _on_beam(self, outlet: int, value: int) -> None:
        """Handle a change of the light beam at an outlet, which detects landing cards.

        A beam that is covered again at once, with no other card due, still detects the same card.
        """
        if value and (
            self.edge_ms - self._beam_covered_ms[outlet] > BEAM_FLUTTER_MS
            or self.landings.is_awaited_at(outlet)
        ):
            self._beam_covered_ms[outlet] = self.edge_ms
            self._on_landing(outlet)

    def _on_landing(self, outlet: int) -> None:
        if self._release_granted or not self.is_in_attempt():
            return  # A hand takes cards out of a pocket.
        index = self.landings.match_landing(outlet)
        if index is not None:
            self.life_out += 1
            if self.feeding.on_landed(index, outlet):
                self.landings.expect_second(self.edge_ms + self.settings["landing_window_ms"])
            self.emit(protocol.LANDED, index, outlet)
        elif outlet == protocol.TRAY and self.landings.is_second_card(self.edge_ms):
            return
        elif self.feeding.is_unseen_in_gate(outlet):
            self.jam(
                protocol.AT_GATE, self.feeding.index
            )  # The beam after the gate did not detect the card.
        elif not self.hal.read("lid"):
            self.landings.strays += 1
            self.release_forbidden = True
            self.emit(protocol.STRAY, place=outlet)

    def _on_lid(self, value: int) -> None:
        self.emit(protocol.LID, place=value)
        if value:
            if self._feed_started and not self._release_granted:
                self.release_forbidden = (
                    True  # Between the first FEED and RELEASE, an open lid voids the attempt.
                )
            self.halt(protocol.BY_LID)

    def _on_estop(self, value: int) -> None:
        if value:
            self.halt(protocol.BY_ESTOP)

    def _on_supply(self, value: int) -> None:
        if value:
            self.halt(protocol.BY_SUPPLY)

    def _on_drive(self, value: int) -> None:
        """Handle a report on drives and sensor units: `value` is the absent unit, or 0 if none."""
        if value != self._missing_drive:
            self._missing_drive = value
            self.emit(protocol.DRIVE, min(value, MAX_COUNT), 0 if value else 1)
        if value:
            if self._feed_started and not self._release_granted:
                self.release_forbidden = True  # Events during the absence are unknown.
            self.halt(protocol.BY_DRIVE)

    def on_edges_lost(self) -> None:
        """Stop all motion, because changes of sensors were lost and the counts are unreliable."""
        self.release_forbidden = True
        self.halt(protocol.EDGES_LOST)
