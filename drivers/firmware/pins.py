"""What a board's core asks of its pins: levels, outputs, and the edges since last asked.

The names of the pins are the same for every HAL:

dealer, inputs: hopper tray_feed window double exit gate_at (0…4, 255 while it moves)
    land_0 … land_4, pocket_0 … pocket_4, lid (1 = open) estop (1 = pressed)
    lift (1 = fully up) lift_down (1 = fully down) shuffler (cards in it)
    shuffled (1 after each pass), supply (1 = the motors' voltage is too low; a board that
    cannot tell says 0); edges alone, of an adapter whose motors are drives on a line: stall (a
    motor, wire.MOTOR_…, whose drive gives up) drive (the number of a unit that is away, 0: none is)
dealer, outputs: source feed (0 stop, 1 forward, 2 reverse) pass (the same) gate shuffle
    lift (0 down, 1 up, 2 stay where it is) trigger
reader, inputs: pulse; engine (edges alone, from a HAL that can tell: 0 it is away, 1 it is
    back); outputs: shoot (a counter)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol
else:
    Protocol = object

STOP = 0
FORWARD = 1
REVERSE = 2
GATE_MOVING = 255
LIFT_DOWN = 0
LIFT_UP = 1
LIFT_STAY = 2
# No input, but among the edges: so many of them came faster than the board could keep them.
LOST_EDGES = "lost"


class Hal(Protocol):
    """The pins of one board; `kind` is wire.HAL_…, `uid` its eight bytes."""

    kind: int
    uid: bytes

    def read(self, name: str) -> int:
        """Return the level of an input now."""

    def set(self, name: str, value: int) -> None:
        """Put an output where it should be."""

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of every change since last asked, oldest first."""


class ReaderHal(Hal, Protocol):
    """The pins of the reader board, and the engine behind it."""

    def answers(self) -> "Sequence[tuple[int, ...]]":
        """Return (face, back, face_up, confidence, shot) of every answer since last asked.

        `shot` is the value of the `shoot` output that was answered. An engine that
        cannot tell leaves it out; its answer is then taken for the latest shot.
        """
