"""The simulated twin of a board's pins, for a core that runs in this process."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from drivers.firmware.wire import HAL_SIM, KIND_DEALER, KIND_READER
from sim.mechanics.engine import EngineAnswer
from sim.mechanics.sensors import Sensors
from sim.mechanics.world import World

# The outputs of each kind of board, and what they are when it lets go of them.
DEALER_OUTPUTS = ("source", "feed", "pass", "gate", "shuffle", "lift", "trigger")
READER_OUTPUTS = ("shoot",)
OUTPUTS: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {KIND_DEALER: DEALER_OUTPUTS, KIND_READER: READER_OUTPUTS}
)


def sensors_of(world: World, kind: int) -> Sensors:
    """Return the sensors that a board of this kind (wire.KIND_…) is wired to."""
    return {KIND_DEALER: world.dealer, KIND_READER: world.reader}[kind]


class SimulatedHal:
    """The pins of one board as drivers/firmware/hal.py wants them.

    It keeps the edges until the core asks for them, in milliseconds of the board's
    own clock, and calls `wake` at each, so that the shell steps the core.
    """

    kind = HAL_SIM

    def __init__(self, world: World, board: int, uid: bytes) -> None:
        """Wire a board of kind `board` (wire.KIND_…) with this unique id (8 bytes) up."""
        self.uid = uid
        self.board = board
        self.wake: Callable[[], None] = lambda: None
        self._world = world
        self._loop = asyncio.get_running_loop()
        self._started_s = self._loop.time()
        self._levels = sensors_of(world, board).levels
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[EngineAnswer] = []
        self._outputs = frozenset(OUTPUTS[board])
        self._detachers = [sensors_of(world, board).attach(self._on_level)]
        if board == KIND_READER:
            world.answer_listeners.append(self._on_answer)
            self._detachers.append(lambda: world.answer_listeners.remove(self._on_answer))

    def now_ms(self) -> int:
        """Return the board's own clock: whole milliseconds since it was made."""
        return int((self._loop.time() - self._started_s) * 1000 + 1e-6)

    def at_s(self, now_ms: int) -> float:
        """Return the loop's time at which the board's clock says `now_ms`."""
        return self._started_s + now_ms / 1000

    def read(self, name: str) -> int:
        """Return the level of an input now; raises KeyError for no input of this board."""
        return self._levels[name]

    def set(self, name: str, value: int) -> None:
        """Put an output where it should be; raises KeyError for no output of this board."""
        if name not in self._outputs:
            raise KeyError(name)
        self._world.set_output(name, value)

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of every change since last asked, oldest first."""
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> Sequence[EngineAnswer]:
        """Return what the engine answered since last asked."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Pull the plug: the board's outputs let go, and it hears nothing more."""
        self._world.board_lost_power(OUTPUTS[self.board])
        for unplug in self._detachers:
            unplug()
        self._detachers.clear()

    def _on_level(self, name: str, value: int) -> None:
        self._edges.append((self.now_ms(), name, value))
        self.wake()

    def _on_answer(self, answer: EngineAnswer) -> None:
        self._answers.append(answer)
        self.wake()
