"""Events from a board: each exactly once, in order, by boot id.

A pure value and functions from one value to the next. The board repeats what is
not acknowledged as seen, so that a dropped event costs time and nothing else.
"""

from enum import Enum

from msgspec import Struct


class Taken(Enum):
    """What an arriving event number is."""

    NEW = "new"
    DUPLICATE = "duplicate"
    GAP = "gap"


class Intake(Struct, frozen=True, gc=False):
    """The events of one boot: `seen` is the last number taken, `kept` the last one synced."""

    boot: int = 0
    seen: int = 0
    kept: int = 0


def start(boot: int, seen: int | None, kept: int, forgotten: int) -> tuple[Intake, int]:
    """Return the intake for a boot as the journal left it, and how many events are lost.

    `seen` is None for a boot the journal does not know; what its board has already
    `forgotten` was told to another host and is not waited for. An event the board
    forgot although this journal never took it is lost.
    """
    if seen is None:
        return Intake(boot, forgotten, forgotten), 0
    lost = max(0, forgotten - seen)
    return Intake(boot, seen + lost, max(min(kept, seen), forgotten)), lost


def take(intake: Intake, number: int) -> tuple[Intake, Taken]:
    """Return the intake after event `number` arrived, and what that number is."""
    if number == intake.seen + 1:
        return Intake(intake.boot, number, intake.kept), Taken.NEW
    return intake, Taken.DUPLICATE if number <= intake.seen else Taken.GAP


def keep(intake: Intake, number: int) -> Intake:
    """Return the intake after everything up to `number` was synced; never past what was taken."""
    return Intake(intake.boot, intake.seen, max(intake.kept, min(number, intake.seen)))
