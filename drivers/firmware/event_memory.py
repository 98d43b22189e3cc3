"""The events that a board stores until the host has saved them.

The host acknowledges events with two numbers. It has decoded all events up to `seen`, so they are
not sent again. It has all events up to `kept` on disk, so the board may delete them. This module
has no clock and no I/O. All memory is allocated at the start.
"""

import struct

from . import protocol

# Later than any time in a board's life.
NEVER_MS = 1 << 62
NO_BODIES: list[bytes] = []  # A shared constant; never changed.
# The longest body of an event, and one byte for its length.
_MAX_BODY = protocol.EVENT_SIZE + struct.calcsize(protocol.READ_BODY)
_SLOT = _MAX_BODY + 1


class EventMemory:
    """The stored events of a board, numbered from 1 without a gap.

    It selects the events to send.
    """

    def __init__(self) -> None:
        self.last = 0
        self.seen = 0
        self.kept = 0
        self._sent = 0  # The newest one sent in this session.
        # The events kept + 1 … last, each in the slot of its number.
        self._slots = memoryview(bytearray(protocol.EVENT_MEMORY * _SLOT))
        self._wait_ms = protocol.RESEND_MIN_MS
        self._resend_at = NEVER_MS

    def free_slots(self) -> int:
        """Return the number of events for which there is still memory."""
        return protocol.EVENT_MEMORY - (self.last - self.kept)

    def add(self, body: bytes) -> None:
        """Store the content of the next event. The caller checks for room."""
        if len(body) > _MAX_BODY:
            raise ValueError("no event is so long")
        self.last += 1
        at = self.last % protocol.EVENT_MEMORY * _SLOT
        self._slots[at] = len(body)
        self._slots[at + 1 : at + 1 + len(body)] = body

    def acknowledge(self, seen: int, kept: int, now_ms: int) -> None:
        """Record the host's last received event (number `seen`) and its last saved event (`kept`).

        The stored numbers never decrease or exceed `last`.
        """
        self._forget(kept)
        if self.seen < seen <= self.last:
            self.seen = seen
            self._sent = max(self._sent, seen)
            self._wait_ms = protocol.RESEND_MIN_MS
            self._resend_at = NEVER_MS
            if self._sent > seen:
                self._schedule_resend(now_ms)

    def begin_session(self) -> None:
        """Begin a session, in which all events that the host has not saved are sent again."""
        self.seen = self._sent = self.kept
        self._wait_ms = protocol.RESEND_MIN_MS
        self._resend_at = NEVER_MS

    def resend_now(self) -> None:
        """Make the events without an acknowledgement due again, because a silent host is back."""
        self._wait_ms = protocol.RESEND_MIN_MS
        self._resend_at = 0 if self._sent > self.seen else NEVER_MS

    def bodies_due(self, now_ms: int) -> list[bytes]:
        """Return the contents of the events to send now (at most EVENT_WINDOW), oldest first."""
        bodies = NO_BODIES
        if now_ms >= self._resend_at:
            bodies = self._bodies(self.seen, self._sent)
            self._schedule_resend(now_ms)
        until = min(self.last, self.seen + protocol.EVENT_WINDOW)
        if until > self._sent:
            bodies = bodies + self._bodies(self._sent, until)
            self._sent = until
            if self._resend_at == NEVER_MS:
                self._schedule_resend(now_ms)
        return bodies

    def deadline(self) -> int:
        """Return the time to send unacknowledged events again, or NEVER_MS if there are none."""
        return self._resend_at

    def _schedule_resend(self, now_ms: int) -> None:
        self._resend_at = now_ms + self._wait_ms
        self._wait_ms = min(2 * self._wait_ms, protocol.RESEND_MAX_MS)

    def _bodies(self, after: int, until: int) -> list[bytes]:
        return [self._body(number) for number in range(after + 1, until + 1)]

    def _body(self, number: int) -> bytes:
        at = number % protocol.EVENT_MEMORY * _SLOT
        return bytes(self._slots[at + 1 : at + 1 + self._slots[at]])

    def _forget(self, kept: int) -> None:
        if self.kept < kept <= self.last:
            self.kept = kept
            self.seen = max(self.seen, kept)
            self._sent = max(self._sent, kept)
