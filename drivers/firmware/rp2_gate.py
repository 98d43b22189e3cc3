"""The gate's stepper: from outlet to outlet by counted steps, and home where it is lost.

It waits for nothing: `look` is called every turn of the loop, with what the magnets say.
Where they do not see it at the place it should have come to, it goes to the end stop
at N and comes from there, once an order; more than that is the core's limit to judge.
"""

from . import wire
from .hal import GATE_MOVING
from .rp2_ramp import SpeedProfile
from .rp2_steppers import Stepper, StepSequence

IDLE = 0
MOVING = 1
HOMING = 2
SETTLING = 3  # the steps are made; the magnets are still to say so
# Until the magnets, read every loop and believed after some, must have seen it.
GATE_SETTLE_MS = 15


class GateDrive:
    """The gate: five outlets in a row, `pitch` steps from one to the next."""

    def __init__(
        self, stepper: Stepper, profile: SpeedProfile, home_profile: SpeedProfile, pitch: int
    ) -> None:
        """Drive `stepper`: `gait` between outlets, `slow` against the end stop."""
        self._stepper = stepper
        ways = range(1, wire.OUTLETS)
        self._sequences = [
            [StepSequence(profile, way * pitch, back) for way in ways] for back in (0, 1)
        ]
        self._home_sequence = StepSequence(home_profile, wire.OUTLETS * pitch, 1)
        self._state = IDLE
        self._until_ms = 0
        self._target = 0
        self._heading_to = 0
        self._was_homed = False

    def aim(self, outlet: int, seen: int, now_ms: int) -> None:
        """Go to `outlet`; a move under way is finished first."""
        self._target = outlet
        self._was_homed = False
        if self._state == IDLE:
            self._start_from(seen, now_ms)

    def stop(self) -> None:
        """Stand where it is, wherever that may be."""
        self._stepper.stop()
        self._state = IDLE

    def update(self, seen: int, now_ms: int) -> None:
        """Take what the magnets see (an outlet or GATE_MOVING); begin what is due."""
        if self._state == IDLE:
            return
        if self._state == SETTLING and seen == self._heading_to:
            self._on_arrived(seen, now_ms)
        elif now_ms < self._until_ms:
            return
        elif self._state == MOVING:
            self._state = SETTLING
            self._until_ms = now_ms + GATE_SETTLE_MS
        elif self._state == HOMING:
            self._move_to(0, self._target, now_ms)  # it stands at the stop, whatever is seen
        elif self._was_homed:
            self._state = IDLE  # the core's limit will say that it does not come
        else:
            self._find_home(now_ms)

    def _on_arrived(self, seen: int, now_ms: int) -> None:
        self._state = IDLE
        if seen != self._target:
            self._start_from(seen, now_ms)

    def _start_from(self, seen: int, now_ms: int) -> None:
        if seen == GATE_MOVING:
            self._find_home(now_ms)
        elif seen != self._target:
            self._move_to(seen, self._target, now_ms)

    def _find_home(self, now_ms: int) -> None:
        self._was_homed = True
        self._state = HOMING
        self._begin(self._home_sequence, now_ms)

    def _move_to(self, stands: int, outlet: int, now_ms: int) -> None:
        self._heading_to = outlet
        if stands == outlet:
            self._state = SETTLING
            self._until_ms = now_ms + GATE_SETTLE_MS
            return
        self._state = MOVING
        back = 1 if outlet < stands else 0
        self._begin(self._sequences[back][abs(outlet - stands) - 1], now_ms)

    def _begin(self, move: StepSequence, now_ms: int) -> None:
        self._until_ms = now_ms + move.ms + 1
        self._stepper.begin(move)
