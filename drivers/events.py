"""What the boards report: events as values, and the words in them.

An event is a fact a sensor saw, numbered by its board for as long as the board
runs (a boot). The numbers behind the words are the wire's; their meaning stands
in drivers/link/PROTOCOL.md.
"""

from enum import IntEnum
from typing import Literal

from msgspec import Struct

from drivers.firmware import wire

BoardKind = Literal["dealer", "reader"]
ReportedKind = Literal["dealer", "reader", "other"]
"""What answers at a port; "other": a board of a kind that this program does not know."""


class BoardEventCode(IntEnum):
    """What happened."""

    AT_READER = wire.AT_READER
    DOUBLE = wire.DOUBLE
    GATE = wire.GATE
    LANDED = wire.LANDED
    STRAY = wire.STRAY
    POCKET = wire.POCKET
    JAM = wire.JAM
    HOPPER_EMPTY = wire.HOPPER_EMPTY
    SHUFFLED = wire.SHUFFLED
    RELEASED = wire.RELEASED
    LID = wire.LID
    STALL = wire.STALL
    STOPPED = wire.STOPPED
    DRIVE = wire.DRIVE
    READ = wire.READ
    ENGINE = wire.ENGINE


class Outlet(IntEnum):
    """Where a card can go: the four pockets in the order of play, and the tray."""

    N = wire.NORTH
    W = wire.WEST
    S = wire.SOUTH
    E = wire.EAST
    TRAY = wire.TRAY


class FeedSource(IntEnum):
    """Where a FEED takes its cards from."""

    HOPPER = wire.HOPPER
    TRAY = wire.FROM_TRAY


class JamPlace(IntEnum):
    """Place of a JAM."""

    FEEDER = wire.AT_FEEDER
    WINDOW = wire.AT_WINDOW
    GATE = wire.AT_GATE
    LANDING = wire.AT_LANDING
    TRAY_FEEDER = wire.AT_TRAY_FEEDER
    SHUFFLER = wire.AT_SHUFFLER
    LIFT = wire.AT_LIFT


class DealerMotor(IntEnum):
    """Motor of a STALL."""

    FEED = wire.MOTOR_FEED
    PASS = wire.MOTOR_PASS
    GATE = wire.MOTOR_GATE
    SHUFFLE = wire.MOTOR_SHUFFLE
    LIFT = wire.MOTOR_LIFT


class BoardStopReason(IntEnum):
    """Reason of a STOPPED."""

    HOST = wire.BY_HOST
    HOST_SILENT = wire.HOST_SILENT
    ESTOP = wire.BY_ESTOP
    LID = wire.BY_LID
    MEMORY_FULL = wire.MEMORY_FULL
    JAM = wire.BY_JAM
    STALL = wire.BY_STALL
    SUPPLY = wire.BY_SUPPLY
    EDGES_LOST = wire.EDGES_LOST
    DRIVE = wire.BY_DRIVE


class Back(IntEnum):
    """The back of a card as the reader saw it."""

    A = wire.BACK_A
    B = wire.BACK_B
    FOREIGN = wire.BACK_FOREIGN


class BoardActivity(IntEnum):
    """What a board is doing, in its STATUS."""

    IDLE = wire.IDLE
    SHUFFLING = wire.SHUFFLING
    FEEDING = wire.FEEDING
    HOLDING = wire.HOLDING
    PASSING = wire.PASSING
    LIFTING = wire.LIFTING
    STOPPED = wire.STOPPED_STATE


class BoardEvent(Struct, frozen=True, gc=False):
    """One fact from a board.

    `boot` and `number` name the event: numbers run 1, 2, 3 … as long as the
    board runs. `attempt` is the board's attempt when it happened. `seen` and
    `landed` are running totals of that attempt after this event: for the dealer
    board cards seen at the window and landings counted, for the reader board
    pulses and reads sent. `index` is the card's number in the attempt, 0 where
    no card is meant (POCKET: 1 occupied, 0 empty; SHUFFLED: passes done; DRIVE: its number).
    `place` is an Outlet, Source, JamAt, Motor or StoppedBy, for LID 1 open and 0
    closed, for ENGINE and DRIVE 1 there and 0 away, as the code says.
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
    """A READ: what the reader saw of one card.

    `face` is 0…53 (the order of faces is the wire's) or wire.UNREADABLE; it is
    left out of repr(), so that no log line ever shows one. `confidence` runs
    from 0 to 255.
    """

    face: int
    back: Back
    face_up: bool
    confidence: int

    @property
    def is_readable(self) -> bool:
        """Tell whether the reader saw a face at all."""
        return self.face != wire.UNREADABLE

    def __repr__(self) -> str:
        return (
            f"Read(board={self.board!r}, boot={self.boot}, number={self.number}, "
            f"attempt={self.attempt}, index={self.index}, face=<hidden>)"
        )

    __str__ = __repr__

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Keep the face from rich too: every Struct answers it field by field."""
        return [("board", self.board), ("number", self.number), ("index", self.index)]
