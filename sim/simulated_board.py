"""A simulated board: a firmware core with simulated pins, which runs in this process.

`SimulatedHal` connects the pins to a world. `BoardStepper` steps the firmware core.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from drivers.firmware.board import BoardCore
from drivers.firmware.protocol import HAL_SIM, KIND_DEALER, KIND_READER
from sim.mechanics.sensors import Sensors
from sim.mechanics.window import EngineAnswer
from sim.mechanics.world import World
from sim.serial_lines import PipeBoardEnd, PtyLine

BoardLineEnd = PipeBoardEnd | PtyLine

# The outputs of each kind of board. They are undriven when the board loses power.
OUTPUTS: Final[Mapping[int, tuple[str, ...]]] = {
    KIND_DEALER: ("source", "feed", "pass", "gate", "shuffle", "lift", "trigger"),
    KIND_READER: ("shoot",),
}


def sensors_of(world: World, kind: int) -> Sensors:
    """Return the simulated sensors of the dealer (KIND_DEALER) or reader board (KIND_READER)."""
    return {KIND_DEALER: world.dealer, KIND_READER: world.reader}[kind]


class SimulatedHal:
    """The simulated pins of one board, with the interface of drivers/firmware/pins.py.

    The object stores the edges until the core reads them, in milliseconds of the board's own clock.
    It calls `wake` at each edge, so that the core is stepped.
    """

    kind = HAL_SIM

    def __init__(self, world: World, board: int, uid: bytes) -> None:
        """Connect a board's pins to `world`. `board`: its kind (KIND_…). `uid`: its 8-byte id."""
        self.uid, self.board = uid, board
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
        """Return the board's own clock: whole milliseconds since this object was created."""
        return int((self._loop.time() - self._started_s) * 1000 + 1e-6)

    def at_s(self, now_ms: int) -> float:
        """Return the loop's time at which the board's clock shows `now_ms`."""
        return self._started_s + now_ms / 1000

    def read(self, name: str) -> int:
        """Return the level of input `name`. Raises KeyError if the board has no such input."""
        return self._levels[name]

    def set(self, name: str, value: int) -> None:
        """Set output `name` to `value`. Raises KeyError if the board has no such output."""
        if name not in self._outputs:
            raise KeyError(name)
        self._world.set_output(name, value)

    def edges(self) -> list[tuple[int, str, int]]:
        """Return the input changes since the last call, as (t_ms, name, value), oldest first."""
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> Sequence[EngineAnswer]:
        """Return the engine's answers since the last call of this method, oldest first."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Disconnect the pins: drive no output, and receive no input change or engine answer."""
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


# A deadline this far away (35 years) counts as none. A timer for it would prevent the loop from
# detecting that nothing is left to wait for.
NEVER_MS = 1 << 40


class BoardStepper:
    """The loop of one board, which calls `step` of its firmware core.

    It calls `step` after new bytes, edges and engine answers, and at the core's deadline. All
    changes of one time are one step, as for a board that polls. `close()` is a loss of power:
    no timer of the board remains on the loop.
    """

    def __init__(self, core: BoardCore, end: BoardLineEnd, hal: SimulatedHal) -> None:
        self.core, self.hal, self._line_end = core, hal, end
        self._loop = asyncio.get_running_loop()
        self._received = b""
        self._step_handle: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._deadline_ms = 0
        self._is_hung = False
        hal.wake = self.wake
        end.listen(self._receive)
        self.wake()

    def wake(self) -> None:
        """Call the core's `step` in the next turn of the loop. Do nothing while the board hangs."""
        if self._step_handle is None and not self._is_hung:
            self._step_handle = self._loop.call_soon(self._step)

    def hang(self) -> None:
        """Stop calling the core's `step` until `resume` is called. The outputs keep their state."""
        self._is_hung = True
        self._cancel_timers()

    def resume(self) -> None:
        """End `hang`: call the core's `step` again, first with the bytes that arrived meanwhile."""
        self._is_hung = False
        self.wake()

    def close(self) -> None:
        """Switch the board off: end its steps, and disconnect its line and its pins."""
        self._line_end.listen(None)
        self.hal.close()
        self.hal.wake = lambda: None
        self._cancel_timers()

    def _cancel_timers(self) -> None:
        for handle in (self._step_handle, self._timer):
            if handle is not None:
                handle.cancel()
        self._step_handle = self._timer = None

    def _receive(self, data: bytes) -> None:
        self._received += data
        self.wake()

    def _step(self) -> None:
        self._step_handle = None
        rx, self._received = self._received, b""
        now_ms = self.hal.now_ms()
        if tx := self.core.step(now_ms, rx):
            self._line_end.write(tx)
        self._deadline_ms = self.core.deadline()
        if self._timer is None or self._timer_ms > self._deadline_ms:
            self._arm_timer()

    def _arm_timer(self) -> None:
        """Set a timer of the loop for the core's next deadline.

        The deadline moves with nearly every step. A timer that sometimes fires too early and is
        then set again is cheaper than a timer that is set again at each step.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._deadline_ms < NEVER_MS:
            self._timer_ms = max(self._deadline_ms, self.hal.now_ms() + 1)
            self._timer = self._loop.call_at(self.hal.at_s(self._timer_ms), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._step_handle is not None:
            return
        if self._deadline_ms <= self.hal.now_ms():
            self._step()
        else:
            self._arm_timer()
