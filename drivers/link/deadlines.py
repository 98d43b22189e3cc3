"""When a link must act: resends, heartbeats, silence, and how often it may start anew.

No clock here: instants are seconds of the loop's, handed in; inf is never.
"""

from math import inf

from msgspec import Struct


class LinkLimits(Struct, frozen=True):
    """The limits of PROTOCOL.md's table, in milliseconds.

    `resend_ms` are the waits before each resend of a command or HELLO; the last
    one is also the wait before giving up.
    """

    resend_ms: tuple[int, ...] = (50, 100, 200, 400, 400)
    beat_ms: int = 100
    seen_ms: int = 20
    silence_ms: int = 500
    settle_ms: int = 2000


class LinkTimers:
    """The instants at which a resend, a BEAT or the end of patience is due."""

    def __init__(self, limits: LinkLimits) -> None:
        self.resends = 0
        self.resend_at = self.beat_at = self.silence_at = inf
        self._limits = limits
        self._incident_until = -inf

    def next_at(self) -> float:
        """Return the first of them."""
        return min(self.resend_at, self.beat_at, self.silence_at)

    def clear(self) -> None:
        """Nothing is due any more."""
        self.resend_at = self.beat_at = self.silence_at = inf

    def start_reply_timer(self, now: float) -> None:
        """A command or HELLO went out for the first time."""
        self.resends = 0
        self._arm_reply_timer(now)

    def restart_reply_timer(self, now: float) -> bool:
        """Count one more resend; False where none is left."""
        if self.resends == len(self._limits.resend_ms):
            return False
        self.resends += 1
        self._arm_reply_timer(now)
        return True

    def stop_reply_timer(self) -> None:
        """The answer is there."""
        self.resend_at = inf

    def note_frame_sent(self, now: float) -> None:
        """Any frame of the session went out."""
        self.beat_at = now + self._limits.beat_ms / 1000

    def acknowledge_soon(self, now: float) -> None:
        """An event came in that no frame has acknowledged yet."""
        self.beat_at = min(self.beat_at, now + self._limits.seen_ms / 1000)

    def note_frame_received(self, now: float) -> None:
        """Any frame of the session came in."""
        self.silence_at = now + self._limits.silence_ms / 1000

    def begin_incident(self, now: float) -> bool:
        """Begin an incident; False where the last one is not over: it had its new session."""
        if now < self._incident_until:
            return False
        self._incident_until = inf
        return True

    def note_session_open(self, now: float) -> None:
        """A new session is up; an incident it ends is over when it proves sound."""
        if self._incident_until == inf:
            self._incident_until = now + self._limits.settle_ms / 1000

    def _arm_reply_timer(self, now: float) -> None:
        waits = self._limits.resend_ms
        self.resend_at = now + waits[min(self.resends, len(waits) - 1)] / 1000
