"""The dealer board's core: the host's commands, and the board's own safety checks.

It has no faces and decides nothing about a deal. It moves a card only as far as the host's commands
for that card permit. It reports its sensors, stops when the host is silent, and checks its own
27-lock before RELEASE.
"""

import struct

from . import protocol, release_lock
from .board import MAX_COUNT
from .dealer_machine import NOT_HALTED, DealerMachine
from .pins import LIFT_DOWN, LIFT_UP, Hal

MAX_CARDS = 240
SENSOR_BITS = (
    ("pocket_0", protocol.SEES_NORTH),
    ("pocket_1", protocol.SEES_WEST),
    ("pocket_2", protocol.SEES_SOUTH),
    ("pocket_3", protocol.SEES_EAST),
    ("pocket_4", protocol.SEES_TRAY),
    ("tray_feed", protocol.SEES_TRAY),
    ("hopper", protocol.SEES_HOPPER),
    ("window", protocol.SEES_WINDOW),
    ("exit", protocol.SEES_PATH),
    ("lid", protocol.SEES_LID_OPEN),
    ("estop", protocol.SEES_ESTOP),
    ("lift", protocol.SEES_LIFT_UP),
    ("shuffler", protocol.SEES_SHUFFLER),
    ("lift_down", protocol.SEES_LIFT_DOWN),
    ("supply", protocol.SEES_SUPPLY_LOW),
)


class DealerCore(DealerMachine):
    """The core of the dealer board: the state of the machine, and the host's commands."""

    kind = protocol.KIND_DEALER

    def __init__(
        self,
        hal: Hal,
        boot: int,
        reset_cause: int = 0,
        fw_hash: bytes = bytes(8),
        stored: bytes = b"",
    ) -> None:
        super().__init__(hal, boot, reset_cause, fw_hash, stored)
        self.commands.update(
            {
                protocol.BEGIN: self._begin,
                protocol.SHUFFLE: self._shuffle,
                protocol.FEED: self._feed,
                protocol.ROUTE: self._route,
                protocol.RELEASE: self._release,
                protocol.RETRACT: self._retract,
                protocol.PURGE: self._purge,
                protocol.SELFTEST: self._selftest,
            }
        )

    def pack_status(self) -> bytes:
        """Return the state of the board as the body of its answer to STATUS."""
        sensors = 0
        for name, bit in SENSOR_BITS:
            if self.hal.read(name):
                sensors |= bit
        held = self.feeding.held_index()
        return struct.pack(
            protocol.STATUS_BODIES[protocol.KIND_DEALER],
            self.attempt,
            self.doing(),
            self.feeding.source,
            self.feeding.upto,
            self.feeding.fed,
            held,
            self.feeding.routes[held] if held else protocol.NOWHERE,
            *[min(count, MAX_COUNT) for count in self.landings.landed],
            min(self.landings.strays, MAX_COUNT),
            min(self._doubles, MAX_COUNT),
            sensors,
            self.memory.last,
            1 if release_lock.can_release(self) else 0,
        )

    # Commands. Each names a target state, so repeating it in a later session changes nothing.

    def _check_safety(self) -> int:
        """Return DONE if motors may move now, else the reason as a result code."""
        if self.hal.read("estop"):
            return protocol.ESTOP
        if self.hal.read("lid"):
            return protocol.LID_OPEN
        if self.hal.read("supply"):
            return protocol.SUPPLY_LOW
        return protocol.NO_DRIVE if self._missing_drive else protocol.DONE

    def _check_attempt(self, attempt: int) -> int:
        """Return DONE if cards of `attempt` may move now, else the reason as a result code."""
        if self._release_granted or not self.is_in_attempt() or attempt != self.attempt:
            return protocol.WRONG_ATTEMPT
        return self._check_safety()

    def _can_feed(self) -> bool:
        return (
            release_lock.is_lift_down(self)
            if self._feed_started
            else release_lock.is_path_clear(self)
        )

    def _begin(self, attempt: int, cards: int, per: int) -> int:
        if attempt == self.attempt and attempt:
            return (
                protocol.DONE
                if (cards, per) == (self.cards, self.per_pocket)
                else protocol.BAD_VALUE
            )
        if attempt < self.attempt:
            return protocol.WRONG_ATTEMPT
        if not attempt or not 0 < cards <= MAX_CARDS or cards != per * protocol.TRAY:
            return protocol.BAD_VALUE
        unsafe = self._check_safety()
        if unsafe:
            return unsafe
        if self.is_busy():
            return protocol.BUSY
        if not release_lock.is_path_clear(self):
            return protocol.NOT_CLEAR
        if self.is_memory_low():
            return protocol.MEMORY
        self.attempt, self.cards, self.per_pocket = attempt, cards, per
        self.release_forbidden = self.events_lost = False
        self._halt_reason = NOT_HALTED
        self._is_jammed = self._feed_started = self._release_granted = self._hands_released = False
        self._doubles = 0
        self.feeding.clear()
        self.landings.clear()
        self._shuffler.clear()
        return protocol.DONE

    def _shuffle(self, attempt: int, passes: int) -> int:
        refused = self._check_attempt(attempt)
        if refused:
            return refused
        if self._shuffler.has_reported(passes):
            return protocol.DONE
        if self._feed_started or not release_lock.is_lift_down(self):
            return protocol.NOT_CLEAR
        if self._sweep.is_running():
            return protocol.BUSY
        if self.is_memory_low():
            return protocol.MEMORY
        self._halt_reason = NOT_HALTED
        self._shuffler.shuffle(passes)
        return protocol.DONE

    def _feed(self, attempt: int, source: int, upto: int) -> int:
        refused = self._check_attempt(attempt)
        if refused:
            return refused
        if source not in (protocol.HOPPER, protocol.FROM_TRAY):
            return protocol.BAD_VALUE
        if self._is_jammed or not self._can_feed():
            return protocol.NOT_CLEAR
        if self._shuffler.is_running() or self._sweep.is_running():
            return protocol.BUSY
        if source != self.feeding.source and self.feeding.is_feeding():
            return protocol.BUSY
        if self.is_memory_low():
            return protocol.MEMORY
        self._feed_started = True
        self._halt_reason = NOT_HALTED
        self.feeding.feed(source, upto)
        return protocol.DONE

    def _route(self, attempt: int, index: int, pocket: int) -> int:
        if attempt != self.attempt or not attempt:
            return protocol.WRONG_ATTEMPT
        if pocket >= protocol.OUTLETS:
            return protocol.BAD_VALUE
        return self.feeding.route(index, pocket)

    def _release(self, attempt: int) -> int:
        if attempt != self.attempt or not attempt:
            return protocol.WRONG_ATTEMPT
        if self._lift.is_rising() or (self._hands_released and not self._has_hands_midway()):
            return protocol.DONE
        refused = self._check_safety() or self._grant_release()
        if refused:
            return refused
        self._halt_reason = NOT_HALTED
        self._lift.move_to(LIFT_UP)
        return protocol.DONE

    def _has_hands_midway(self) -> bool:
        """Return whether hands are on the lift while the lift is between its two ends."""
        return self.any_sees(release_lock.POCKET_SENSORS) and not self.any_sees(
            ("lift", "lift_down")
        )

    def _grant_release(self) -> int:
        """Permit the release of this attempt's hands and return DONE, or return the refusal.

        The lift must be down and the board's 27-lock must allow the release. The permission is
        permanent. The refusal is a result code.
        """
        if self._release_granted:
            return protocol.DONE
        if not release_lock.is_lift_down(self):
            return protocol.NOT_CLEAR
        if not release_lock.can_release(self):
            return protocol.NOT_LOCKED
        self._release_granted = True
        self.feeding.stop(finish_pass=False)
        return protocol.DONE

    def _retract(self) -> int:
        unsafe = self._check_safety()
        if unsafe:
            return unsafe
        if self.any_sees(release_lock.POCKET_SENSORS):
            return protocol.NOT_CLEAR
        self._lift.move_to(LIFT_DOWN)
        return protocol.DONE

    def _purge(self, attempt: int) -> int:
        if attempt != self.attempt and self.attempt:
            return protocol.WRONG_ATTEMPT
        unsafe = self._check_safety()
        if unsafe:
            return unsafe
        if self.is_busy():
            return protocol.BUSY
        if self.feeding.purge():
            self.release_forbidden = True
            self._halt_reason = NOT_HALTED
        return protocol.DONE

    def check_service(self) -> int:
        """Return DONE if SERVICE may end the program now, else a result code with the reason."""
        if self.is_busy():
            return protocol.BUSY
        dealing = self._feed_started and self.is_in_attempt()
        if dealing or not self.feeding.is_idle() or self.any_sees(release_lock.PATH_SENSORS):
            return protocol.NOT_CLEAR
        return protocol.DONE

    def _selftest(self) -> int:
        unsafe = self._check_safety()
        if unsafe:
            return unsafe
        if self.is_busy():
            return protocol.BUSY
        if not self.feeding.is_idle() or not release_lock.is_path_clear(self):
            return protocol.NOT_CLEAR
        self._sweep.start()
        return protocol.DONE
