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
    """The counters of a link, from its creation: faults of the serial line, and `sessions`.

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
    """The phases of a link."""

    CLOSED = "closed"
    OPENING = "opening"  # HELLO was sent; open() waits.
    UP = "up"
    RENEWING = "renewing"  # HELLO was sent; commands wait for their end.


class LinkTimers:
    """The three times at which a link must act: a resend, a heartbeat (BEAT), and a silent
    board's timeout.
    """

    def __init__(self, limits: LinkLimits) -> None:
        self.resends = 0
        self.resend_at = self.beat_at = self.silence_at = inf
        self._limits = limits
        self._incident_until = -inf

    def next_at(self) -> float:
        """Return the earliest of the three times, by the clock of the loop."""
        return min(self.resend_at, self.beat_at, self.silence_at)

    def clear(self) -> None:
        """Cancel all three times."""
        self.resend_at = self.beat_at = self.silence_at = inf

    def start_reply_timer(self, now: float) -> None:
        """Start the timer for a reply, after a command or HELLO was sent for the first time."""
        self.resends = 0
        self._arm_reply_timer(now)

    def restart_reply_timer(self, now: float) -> bool:
        """Count one more resend and restart the timer. Return False if no resend is left."""
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
        """Send the next frame sooner, because an event arrived and is not acknowledged yet."""
        self.beat_at = min(self.beat_at, now + self._limits.seen_ms / 1000)

    def note_frame_received(self, now: float) -> None:
        """Restart the silence timeout, after any frame of the session arrived."""
        self.silence_at = now + self._limits.silence_ms / 1000

    def begin_incident(self, now: float) -> bool:
        """Begin an incident: a fault of the line, which a new session may end.

        Return False if the last incident had its new session a short time ago and is not over.
        """
        if now < self._incident_until:
            return False
        self._incident_until = inf
        return True

    def note_session_open(self, now: float) -> None:
        """Record that a new session is open.

        The incident that caused the session ends after `settle_ms`.
        """
        if self._incident_until == inf:
            self._incident_until = now + self._limits.settle_ms / 1000

    def _arm_reply_timer(self, now: float) -> None:
        waits = self._limits.resend_ms
        self.resend_at = now + waits[min(self.resends, len(waits) - 1)] / 1000


class EventArrival(Enum):
    """The kinds of an arriving event: the next event, a repeated one, or one that came too
    early.
    """

    NEW = "new"
    DUPLICATE = "duplicate"
    GAP = "gap"


class EventSequence(Struct, frozen=True, gc=False):
    """The event numbers of a board since one of its starts.

    `seen` is the number received last, `kept` the last one that is on the disk.
    """

    boot: int = 0
    seen: int = 0
    kept: int = 0


def resume_sequence(
    boot: int, seen: int | None, kept: int, forgotten: int
) -> tuple[EventSequence, int]:
    """Return the sequence of a board's present start, and the number of lost events.

    `seen` is None for a boot that the journal does not contain. Events that its board has already
    `forgotten` were then sent to another host, and are not expected. In a boot that the journal
    contains, events that the board forgot before this journal received them are lost.
    """
    if seen is None:
        return EventSequence(boot, forgotten, forgotten), 0
    lost = max(0, forgotten - seen)
    return EventSequence(boot, seen + lost, max(min(kept, seen), forgotten)), lost


def receive_event(sequence: EventSequence, number: int) -> tuple[EventSequence, EventArrival]:
    """Return the sequence after event `number` arrived, and whether that event is new."""
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
    """A command, with the future that its caller awaits for the acknowledgement.

    None: no caller waits.
    """

    command: BoardCommand
    waiter: asyncio.Future[BoardReply] | None = None

    @property
    def is_cancelled(self) -> bool:
        """Return True if the caller was cancelled and no longer awaits the acknowledgement."""
        return self.waiter is not None and self.waiter.done()


class CommandQueue(Struct, frozen=True):
    """The commands of one session: the outstanding one, and those that wait for their turn.

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
    """Return the queue with one more command at its end."""
    return CommandQueue(queue.last_number, queue.current, (*queue.waiting, pending))


def start_next_command(queue: CommandQueue) -> CommandQueue:
    """Return the queue after its first waiting command was numbered and became the current one.

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
    """Return the queue after the acknowledgement of command `number`, and that command.

    The command is None if this is a repeated acknowledgement of an earlier command.
    """
    if queue.current is None or number != queue.last_number:
        return queue, None
    return CommandQueue(queue.last_number, None, queue.waiting), queue.current
