"""Events from a board: each exactly once, in order, by boot id.

A pure value and functions from one value to the next. The board repeats what is
not acknowledged as seen, so that a dropped event costs time and nothing else.
"""

from enum import Enum

from msgspec import Struct


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
