"""Events that the boards report, as values, and the enums for their fields.

An event is a fact that a sensor measured. The board numbers its events for as long as it runs (one
boot). The enum values are those of the wire protocol. drivers/link/PROTOCOL.md defines their
meaning.
"""

from enum import IntEnum
from typing import Literal

from msgspec import Struct

from drivers.firmware import protocol

BoardKind = Literal["dealer", "reader"]
ReportedKind = Literal["dealer", "reader", "other"]
"""The kind that a port reports. "other" is a kind of board that this program does not support."""


class BoardEventCode(IntEnum):
    """The kinds of events that a board reports."""

    AT_READER = protocol.AT_READER
    DOUBLE = protocol.DOUBLE
    GATE = protocol.GATE
    LANDED = protocol.LANDED
    STRAY = protocol.STRAY
    POCKET = protocol.POCKET
    JAM = protocol.JAM
    HOPPER_EMPTY = protocol.HOPPER_EMPTY
    SHUFFLED = protocol.SHUFFLED
    RELEASED = protocol.RELEASED
    LID = protocol.LID
    STALL = protocol.STALL
    STOPPED = protocol.STOPPED
    DRIVE = protocol.DRIVE
    READ = protocol.READ
    ENGINE = protocol.ENGINE


class Outlet(IntEnum):
    """An outlet of the gate: one of the four pockets (in the order of play), or the tray."""

    N = protocol.NORTH
    W = protocol.WEST
    S = protocol.SOUTH
    E = protocol.EAST
    TRAY = protocol.TRAY


class FeedSource(IntEnum):
    """The part from which the feeder takes cards, as a FEED command names it."""

    HOPPER = protocol.HOPPER
    TRAY = protocol.FROM_TRAY


class JamPlace(IntEnum):
    """The part in which a card is stuck or did not land, as a JAM event reports it."""

    FEEDER = protocol.AT_FEEDER
    WINDOW = protocol.AT_WINDOW
    GATE = protocol.AT_GATE
    LANDING = protocol.AT_LANDING
    TRAY_FEEDER = protocol.AT_TRAY_FEEDER
    SHUFFLER = protocol.AT_SHUFFLER
    LIFT = protocol.AT_LIFT


class DealerMotor(IntEnum):
    """A motor of the dealer board, as a STALL event names it."""

    FEED = protocol.MOTOR_FEED
    PASS = protocol.MOTOR_PASS
    GATE = protocol.MOTOR_GATE
    SHUFFLE = protocol.MOTOR_SHUFFLE
    LIFT = protocol.MOTOR_LIFT


class BoardStopReason(IntEnum):
    """The reason why the board stopped, as a STOPPED event reports it."""

    HOST = protocol.BY_HOST
    HOST_SILENT = protocol.HOST_SILENT
    ESTOP = protocol.BY_ESTOP
    LID = protocol.BY_LID
    MEMORY_FULL = protocol.MEMORY_FULL
    JAM = protocol.BY_JAM
    STALL = protocol.BY_STALL
    SUPPLY = protocol.BY_SUPPLY
    EDGES_LOST = protocol.EDGES_LOST
    DRIVE = protocol.BY_DRIVE


class Back(IntEnum):
    """The pattern on the back of a card, as the reader recognized it."""

    A = protocol.BACK_A
    B = protocol.BACK_B
    FOREIGN = protocol.BACK_FOREIGN


class BoardActivity(IntEnum):
    """The present activity of a board, as its STATUS reports it."""

    IDLE = protocol.IDLE
    SHUFFLING = protocol.SHUFFLING
    FEEDING = protocol.FEEDING
    HOLDING = protocol.HOLDING
    PASSING = protocol.PASSING
    LIFTING = protocol.LIFTING
    STOPPED = protocol.STOPPED_STATE


class BoardEvent(Struct, frozen=True, gc=False):
    """One event that a board reported.

    `boot` and `number` identify the event: numbers run 1, 2, 3 … as long as the board runs.
    `attempt` is the attempt that was set on the board when the event happened. `seen` and `landed`
    are running totals of that attempt after this event. For the dealer board they count cards at
    the window and landings, for the reader board announced cards and READ events. `index` is the
    number of the card in the attempt, or 0 if the event has no card. Other events use `index` as
    follows: POCKET: 1 occupied, 0 empty; SHUFFLED: passes done; DRIVE: number of the drive. The
    meaning of `place` depends on `code`: an Outlet, FeedSource, JamPlace, DealerMotor or
    BoardStopReason; for LID 1 open and 0 closed; for ENGINE and DRIVE 1 present and 0 absent.
    """

    board: BoardKind
    boot: int
    number: int
    attempt: int
    code: BoardEventCode
    seen: int
    landed: int
    index: int
    place: int


class CardReadEvent(BoardEvent, frozen=True, gc=False):
    """A READ event: the result of one look at one card.

    `face` is 0…53 (in the order of the wire protocol) or protocol.UNREADABLE. repr() leaves the
    face out, so that no log line ever shows one. `confidence` runs from 0 to 255.
    """

    face: int
    back: Back
    face_up: bool
    confidence: int

    @property
    def is_readable(self) -> bool:
        """Return whether the reader recognized a face."""
        return self.face != protocol.UNREADABLE

    def __repr__(self) -> str:
        return (
            f"Read(board={self.board!r}, boot={self.boot}, number={self.number}, "
            f"attempt={self.attempt}, index={self.index}, face=<hidden>)"
        )

    __str__ = __repr__

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Return the fields that the library `rich` may print, so that it never prints the face."""
        return [("board", self.board), ("number", self.number), ("index", self.index)]
