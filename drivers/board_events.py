"""What the boards report: events as values, and the words in them.

An event is a fact a sensor saw, numbered by its board for as long as the board
runs (a boot). The numbers behind the words are the wire's; their meaning stands
in drivers/link/PROTOCOL.md.
"""

from enum import IntEnum
from typing import Literal

from msgspec import Struct

from drivers.firmware import protocol

BoardKind = Literal["dealer", "reader"]
ReportedKind = Literal["dealer", "reader", "other"]
"""What answers at a port; "other": a board of a kind that this program does not know."""


class BoardEventCode(IntEnum):
    """What happened."""

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
    """Where a card can go: the four pockets in the order of play, and the tray."""

    N = protocol.NORTH
    W = protocol.WEST
    S = protocol.SOUTH
    E = protocol.EAST
    TRAY = protocol.TRAY


class FeedSource(IntEnum):
    """Where a FEED takes its cards from."""

    HOPPER = protocol.HOPPER
    TRAY = protocol.FROM_TRAY


class JamPlace(IntEnum):
    """Place of a JAM."""

    FEEDER = protocol.AT_FEEDER
    WINDOW = protocol.AT_WINDOW
    GATE = protocol.AT_GATE
    LANDING = protocol.AT_LANDING
    TRAY_FEEDER = protocol.AT_TRAY_FEEDER
    SHUFFLER = protocol.AT_SHUFFLER
    LIFT = protocol.AT_LIFT


class DealerMotor(IntEnum):
    """Motor of a STALL."""

    FEED = protocol.MOTOR_FEED
    PASS = protocol.MOTOR_PASS
    GATE = protocol.MOTOR_GATE
    SHUFFLE = protocol.MOTOR_SHUFFLE
    LIFT = protocol.MOTOR_LIFT


class BoardStopReason(IntEnum):
    """Reason of a STOPPED."""

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
    """The back of a card as the reader saw it."""

    A = protocol.BACK_A
    B = protocol.BACK_B
    FOREIGN = protocol.BACK_FOREIGN


class BoardActivity(IntEnum):
    """What a board is doing, in its STATUS."""

    IDLE = protocol.IDLE
    SHUFFLING = protocol.SHUFFLING
    FEEDING = protocol.FEEDING
    HOLDING = protocol.HOLDING
    PASSING = protocol.PASSING
    LIFTING = protocol.LIFTING
    STOPPED = protocol.STOPPED_STATE


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
        return self.face != protocol.UNREADABLE

    def __repr__(self) -> str:
        return (
            f"Read(board={self.board!r}, boot={self.boot}, number={self.number}, "
            f"attempt={self.attempt}, index={self.index}, face=<hidden>)"
        )

    __str__ = __repr__

    def __rich_repr__(self) -> list[tuple[str, object]]:
        """Keep the face from rich too: every Struct answers it field by field."""
        return [("board", self.board), ("number", self.number), ("index", self.index)]
