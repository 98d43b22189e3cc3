"""When a link must act: resends, heartbeats, silence, and how often it may start anew.

No clock here: instants are seconds of the loop's, handed in; inf is never.
"""

import asyncio
from enum import Enum
from math import inf

from msgspec import Struct

from drivers.firmware import protocol
from drivers.link.frames import BoardCommand, BoardReply


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


class EventArrival(Enum):
    """What an arriving event number is."""

    NEW = "new"
    DUPLICATE = "duplicate"
    GAP = "gap"


class EventSequence(Struct, frozen=True, gc=False):
    """The events of one boot: `seen` is the last number taken, `kept` the last one synced."""

    boot: int = 0
    seen: int = 0
    kept: int = 0


def resume_sequence(
    boot: int, seen: int | None, kept: int, forgotten: int
) -> tuple[EventSequence, int]:
    """Return the intake for a boot as the journal left it, and how many events are lost.

    `seen` is None for a boot the journal does not know; what its board has already
    `forgotten` was told to another host and is not waited for. An event the board
    forgot although this journal never took it is lost.
    """
    if seen is None:
        return EventSequence(boot, forgotten, forgotten), 0
    lost = max(0, forgotten - seen)
    return EventSequence(boot, seen + lost, max(min(kept, seen), forgotten)), lost


def receive_event(sequence: EventSequence, number: int) -> tuple[EventSequence, EventArrival]:
    """Return the intake after event `number` arrived, and what that number is."""
    if number == sequence.seen + 1:
        return EventSequence(sequence.boot, number, sequence.kept), EventArrival.NEW
    return sequence, EventArrival.DUPLICATE if number <= sequence.seen else EventArrival.GAP


def mark_kept(sequence: EventSequence, number: int) -> EventSequence:
    """Return the intake after everything up to `number` was synced; never past what was taken."""
    return EventSequence(
        sequence.boot, sequence.seen, max(sequence.kept, min(number, sequence.seen))
    )


class PendingCommand(Struct, frozen=True):
    """A command and who waits for its acknowledgement; None: nobody, it was posted."""

    command: BoardCommand
    waiter: asyncio.Future[BoardReply] | None = None

    @property
    def is_cancelled(self) -> bool:
        """Tell whether its caller no longer waits, because it was cancelled."""
        return self.waiter is not None and self.waiter.done()


class CommandQueue(Struct, frozen=True):
    """The commands of one session; `number` is the last one given out, 0 before the first."""

    last_number: int = 0
    current: PendingCommand | None = None
    waiting: tuple[PendingCommand, ...] = ()

    @property
    def pending(self) -> tuple[PendingCommand, ...]:
        """Every command without an acknowledgement, in order."""
        return self.waiting if self.current is None else (self.current, *self.waiting)


def enqueue_command(queue: CommandQueue, pending: PendingCommand) -> CommandQueue:
    """Return the outbox with one more command at its end."""
    return CommandQueue(queue.last_number, queue.current, (*queue.waiting, pending))


def start_next_command(queue: CommandQueue) -> CommandQueue:
    """Return the outbox with the next command outstanding and numbered, if none is.

    A command whose caller has gone is left out: it was never sent.
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
    """Return the outbox after an acknowledgement, and the command it settles.

    None where it is the repeated acknowledgement of an earlier one.
    """
    if queue.current is None or number != queue.last_number:
        return queue, None
    return CommandQueue(queue.last_number, None, queue.waiting), queue.current
