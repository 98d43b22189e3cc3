"""Commands on their way to a board: one outstanding, the others in a row behind it.

A pure value and functions from one value to the next; link.py sends, waits and
repeats.
"""

import asyncio

from msgspec import Struct

from drivers.firmware import wire
from drivers.link.frames import BoardCommand, BoardReply


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
    return CommandQueue(wire.next_number(queue.last_number), waiting[0], waiting[1:])


def complete_command(
    queue: CommandQueue, number: int
) -> tuple[CommandQueue, PendingCommand | None]:
    """Return the outbox after an acknowledgement, and the command it settles.

    None where it is the repeated acknowledgement of an earlier one.
    """
    if queue.current is None or number != queue.last_number:
        return queue, None
    return CommandQueue(queue.last_number, None, queue.waiting), queue.current
