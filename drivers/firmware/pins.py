"""Two interfaces: to a board's pins, and to the methods of the dealer board for motor controls.

A HAL has the levels of the inputs, the outputs, and the edges since the last call. The names of the
pins are the same for every HAL:

dealer, inputs: hopper tray_feed window double exit gate_at (0…4, 255 while it moves)
 land_0 … land_4, pocket_0 … pocket_4, lid (1 = open) estop (1 = pressed)
 lift (1 = fully up) lift_down (1 = fully down) shuffler (cards in it)
 shuffled (1 after each pass), supply (1 = the motors' voltage is too low; 0 on boards that
 cannot measure it); edges only, from an adapter with motor drives on a line: stall (a
 motor, MOTOR_…, whose drive failed) drive (number of an absent unit, 0: none)
dealer, outputs: source feed (0 stop, 1 forward, 2 reverse) pass (the same) gate shuffle
 lift (0 down, 1 up, 2 stay in place) trigger
reader, inputs: pulse; engine (edges only, from a HAL that can detect it: 0 absent, 1
 present again); outputs: shoot (a counter)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from .landing import Landings
    from .settings import BoardSettings
else:
    Protocol = object

STOP = 0
FORWARD = 1
REVERSE = 2
GATE_MOVING = 255
LIFT_DOWN = 0
LIFT_UP = 1
LIFT_STAY = 2
# An edge name, not an input: the number of edges that came too fast to be stored.
LOST_EDGES = "lost"


class Hal(Protocol):
    """The interface to the pins of one board.

    `kind` is one of HAL_…, `uid` the unique id of eight bytes.
    """

    kind: int
    uid: bytes

    def read(self, name: str) -> int:
        """Return the present level of input `name`."""

    def set(self, name: str, value: int) -> None:
        """Set output `name` to the level `value`."""

    def edges(self) -> list[tuple[int, str, int]]:
        """Return all input changes since the last call, oldest first, as (t_ms, name, value)."""


class ReaderHal(Hal, Protocol):
    """The interface to the pins of the reader board and to the board's engine."""

    def answers(self) -> "Sequence[tuple[int, ...]]":
        """Return the new answers of the engine, each as (face, back, face_up, confidence, shot).

        A shot is the number of a request: the answered value of the `shoot` output. An engine that
        cannot report it leaves it out. The answer then counts for the latest request.
        """


class DealerBoard(Protocol):
    """The methods and values of the dealer board that the motor controls may use.

    `now` and `edge_ms` are times of the board. Limits come from `settings`.
    """

    now: int
    edge_ms: int
    settings: "BoardSettings"
    landings: "Landings"

    def level(self, name: str) -> int:
        """Return the level that input `name` had at the time of the edge that is handled now."""

    def emit(self, code: int, index: int = 0, place: int = 0) -> None:
        """Report the event `code`, with its `index` and `place`, to the host."""

    def is_halted(self) -> bool:
        """Return whether all motion is stopped until a command of the host restarts it."""

    def is_memory_low(self) -> bool:
        """Return whether stored events leave too little memory to start a motion."""

    def halt(self, reason: int) -> None:
        """Stop all motion, and report `reason` to the host."""

    def jam(self, place: int, index: int) -> None:
        """Stop all motion, and report that card `index` is stuck at `place`."""

    def stall(self, motor: int) -> None:
        """Stop all motion, and report that motor `motor` did not reach its sensor in time."""

    def on_arrived(self, index: int) -> None:
        """Handle the arrival of card `index` in the window."""

    def on_passed(self, index: int) -> None:
        """Report that card `index` reached the beam after the gate, and to which outlet it goes."""

    def on_left_gate(self, index: int) -> None:
        """Record that card `index` has left the gate and is falling to its outlet."""

    def on_lifted(self) -> None:
        """Handle the arrival of the lift at its upper end."""
