"""State of a link as pure values: timers, received events, and queued commands.

LinkTimers computes when a link must resend, send a heartbeat or give up. This module has no clock:
instants are seconds of the event loop's time, passed by the caller. inf means never.
"""

import asyncio
from enum import Enum
from math import inf

from msgspec import Struct

from drivers.firmware import protocol
from drivers.link.frames import BoardCommand, BoardReply


class LinkLimits(Struct, frozen=True):
    """The time limits of the serial protocol (PROTOCOL.md), in milliseconds.

    `resend_ms` are the waiting times before each resend of a command or HELLO. The last of them is
    also the waiting time before giving up.
    """

    resend_ms: tuple[int, ...] = (50, 100, 200, 400, 400)
    beat_ms: int = 100
    seen_ms: int = 20
    silence_ms: int = 500
    settle_ms: int = 2000


class LinkCounters(Struct, frozen=True):
    """Counters of a link since its creation: errors on its serial line, and opened sessions.

    `junk`, `crc_errors` and `oversize` are the decoder's counters. `malformed` counts frames with a
    right CRC and a wrong layout, `foreign` frames of another session. `duplicates` and `gaps` count
    events that came again or too early. `lost` counts events that the board forgot before they were
    received.
    """

    junk: int = 0
    crc_errors: int = 0
    oversize: int = 0
    malformed: int = 0
    foreign: int = 0
    resends: int = 0
    duplicates: int = 0
    gaps: int = 0
    lost: int = 0
    sessions: int = 0


class LinkPhase(Enum):
    """The phases of a link: closed, opening, up (with a session), and renewing its session."""

    CLOSED = "closed"
    OPENING = "opening"  # HELLO was sent; open() waits.
    UP = "up"
    RENEWING = "renewing"  # HELLO was sent; commands wait for their end.


class LinkTimers:
    """The three times at which a link must act: resend a frame, send a heartbeat (BEAT), and
    handle the silence of its board.
    """

    def __init__(self, limits: LinkLimits) -> None:
        self.resends = 0
        self.resend_at = self.beat_at = self.silence_at = inf
        self._limits = limits
        self._incident_until = -inf

    def next_at(self) -> float:
        """Return the earliest of the three times (on the loop's clock), or inf if none is set."""
        return min(self.resend_at, self.beat_at, self.silence_at)

    def clear(self) -> None:
        """Cancel all three times."""
        self.resend_at = self.beat_at = self.silence_at = inf

    def start_reply_timer(self, now: float) -> None:
        """Start the timer for a reply, after a command or HELLO was sent for the first time."""
        self.resends = 0
        self._arm_reply_timer(now)

    def restart_reply_timer(self, now: float) -> bool:
        """Restart the reply timer for one more resend. Return False if no resend is left."""
        if self.resends == len(self._limits.resend_ms):
            return False
        self.resends += 1
        self._arm_reply_timer(now)
        return True

    def stop_reply_timer(self) -> None:
        """Stop the timer for a reply, after the reply arrived."""
        self.resend_at = inf

    def note_frame_sent(self, now: float) -> None:
        """Restart the heartbeat interval, after any frame of the session was sent."""
        self.beat_at = now + self._limits.beat_ms / 1000

    def acknowledge_soon(self, now: float) -> None:
        """Move the next heartbeat to an earlier time, so that it acknowledges an event soon."""
        self.beat_at = min(self.beat_at, now + self._limits.seen_ms / 1000)

    def note_frame_received(self, now: float) -> None:
        """Restart the silence timeout, after any frame of the session arrived."""
        self.silence_at = now + self._limits.silence_ms / 1000

    def begin_incident(self, now: float) -> bool:
        """Begin an incident (an error of the line). Return False if the last incident is not over.

        An incident is over `settle_ms` after it led to a new session.
        """
        if now < self._incident_until:
            return False
        self._incident_until = inf
        return True

    def note_session_open(self, now: float) -> None:
        """If the present incident has no end yet, set its end to `settle_ms` after `now`."""
        if self._incident_until == inf:
            self._incident_until = now + self._limits.settle_ms / 1000

    def _arm_reply_timer(self, now: float) -> None:
        waits = self._limits.resend_ms
        self.resend_at = now + waits[min(self.resends, len(waits) - 1)] / 1000


class EventArrival(Enum):
    """The classes of arriving events: the next event, a repeated event, or an event that is too
    early, because an earlier event is missing.
    """

    NEW = "new"
    DUPLICATE = "duplicate"
    GAP = "gap"


class EventSequence(Struct, frozen=True, gc=False):
    """The numbers of the last received event and of the last event on the disk, in one boot.

    `seen` is the number received last, `kept` the last one that is on the disk.
    """

    boot: int = 0
    seen: int = 0
    kept: int = 0


def resume_sequence(
    boot: int, seen: int | None, kept: int, forgotten: int
) -> tuple[EventSequence, int]:
    """Return the sequence for a new session in boot `boot`, and the number of lost events.

    `forgotten` is the last event that the board deleted. `seen` is the last event that the journal
    received, or None if it has none of this boot. Deleted events are then not expected, because
    another host received them. Otherwise, deleted events after `seen` are lost.
    """
    if seen is None:
        return EventSequence(boot, forgotten, forgotten), 0
    lost = max(0, forgotten - seen)
    return EventSequence(boot, seen + lost, max(min(kept, seen), forgotten)), lost


def receive_event(sequence: EventSequence, number: int) -> tuple[EventSequence, EventArrival]:
    """Return the new sequence, and whether event `number` is new, repeated or too early."""
    if number == sequence.seen + 1:
        return EventSequence(sequence.boot, number, sequence.kept), EventArrival.NEW
    return sequence, EventArrival.DUPLICATE if number <= sequence.seen else EventArrival.GAP


def mark_kept(sequence: EventSequence, number: int) -> EventSequence:
    """Return the sequence in which all events up to `number` count as stored on the disk.

    A number above `seen` counts as `seen`.
    """
    return EventSequence(
        sequence.boot, sequence.seen, max(sequence.kept, min(number, sequence.seen))
    )


class PendingCommand(Struct, frozen=True):
    """A command to a board, and a future (`waiter`) that receives its acknowledgement.

    `waiter` is None if no caller waits.
    """

    command: BoardCommand
    waiter: asyncio.Future[BoardReply] | None = None

    @property
    def is_cancelled(self) -> bool:
        """Return True if the caller was cancelled and no longer awaits the acknowledgement."""
        return self.waiter is not None and self.waiter.done()


class CommandQueue(Struct, frozen=True):
    """The commands of one session: the sent command (`current`) and the unsent ones (`waiting`).

    `last_number` is 0 before the first command.
    """

    last_number: int = 0
    current: PendingCommand | None = None
    waiting: tuple[PendingCommand, ...] = ()

    @property
    def pending(self) -> tuple[PendingCommand, ...]:
        """All commands that are not acknowledged yet, in the order of their sending."""
        return self.waiting if self.current is None else (self.current, *self.waiting)


def enqueue_command(queue: CommandQueue, pending: PendingCommand) -> CommandQueue:
    """Return the queue with the command `pending` added at its end."""
    return CommandQueue(queue.last_number, queue.current, (*queue.waiting, pending))


def start_next_command(queue: CommandQueue) -> CommandQueue:
    """Return the queue after its first waiting command gets a number and becomes `current`.

    If another command is outstanding, the queue stays the same. A command whose caller was
    cancelled is left out. It was never sent.
    """
    if queue.current is not None:
        return queue
    waiting = queue.waiting
    while waiting and waiting[0].is_cancelled:
        waiting = waiting[1:]
    if not waiting:
        return CommandQueue(queue.last_number)
    return CommandQueue(protocol.next_number(queue.last_number), waiting[0], waiting[1:])


def complete_command(
    queue: CommandQueue, number: int
) -> tuple[CommandQueue, PendingCommand | None]:
    """Remove the acknowledged command `number`. Return the new queue and that command.

    The command is None if this is a repeated acknowledgement of an earlier command.
    """
    if queue.current is None or number != queue.last_number:
        return queue, None
    return CommandQueue(queue.last_number, None, queue.waiting), queue.current
