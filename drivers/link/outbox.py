"""Commands on their way to a board: one outstanding, the others in a row behind it.

A pure value and functions from one value to the next; link.py sends, waits and
repeats.
"""

import asyncio

from msgspec import Struct

from drivers.firmware import wire
from drivers.link.frames import Command, Reply


class Pending(Struct, frozen=True):
    """A command and who waits for its acknowledgement; None: nobody, it was posted."""

    command: Command
    waiter: asyncio.Future[Reply] | None = None

    @property
    def given_up(self) -> bool:
        """Tell whether its caller no longer waits, because it was cancelled."""
        return self.waiter is not None and self.waiter.done()


class CommandQueue(Struct, frozen=True):
    """The commands of one session; `number` is the last one given out, 0 before the first."""

    number: int = 0
    current: Pending | None = None
    waiting: tuple[Pending, ...] = ()

    @property
    def pending(self) -> tuple[Pending, ...]:
        """Every command without an acknowledgement, in order."""
        return self.waiting if self.current is None else (self.current, *self.waiting)


def put(outbox: CommandQueue, pending: Pending) -> CommandQueue:
    """Return the outbox with one more command at its end."""
    return CommandQueue(outbox.number, outbox.current, (*outbox.waiting, pending))


def promote(outbox: CommandQueue) -> CommandQueue:
    """Return the outbox with the next command outstanding and numbered, if none is.

    A command whose caller has gone is left out: it was never sent.
    """
    if outbox.current is not None:
        return outbox
    waiting = outbox.waiting
    while waiting and waiting[0].given_up:
        waiting = waiting[1:]
    if not waiting:
        return CommandQueue(outbox.number)
    return CommandQueue(wire.next_number(outbox.number), waiting[0], waiting[1:])


def acknowledge(outbox: CommandQueue, number: int) -> tuple[CommandQueue, Pending | None]:
    """Return the outbox after an acknowledgement, and the command it settles.

    None where it is the repeated acknowledgement of an earlier one.
    """
    if outbox.current is None or number != outbox.number:
        return outbox, None
    return CommandQueue(outbox.number, None, outbox.waiting), outbox.current
