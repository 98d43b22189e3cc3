"""What the boards' cores said: every event of every boot, taken where it is made.

The other end of what the journal holds. It is read in the board's own memory, before any line.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import Any

import msgspec

from drivers.firmware import wire
from sim.inproc import HardwareInProcess
from sim.outside import BoardName

_EVENT = Struct(wire.BODIES[wire.EVENT])


class CoreEvent(msgspec.Struct, frozen=True, gc=False):
    """One event as its board made it; the fields of drivers/link/PROTOCOL.md."""

    number: int
    attempt: int
    code: int
    seen: int
    landed: int
    index: int
    place: int


@dataclass
class BoardRun:
    """One run of a board: what it said, and up to which event it was told to forget.

    `alive`: its memory is still there, so that what it said can still be asked for.
    """

    board: BoardName
    boot: int
    events: list[CoreEvent] = field(default_factory=list)
    kept: int = 0
    is_alive: bool = True


class ObservedHardware(HardwareInProcess):
    """A table whose boards are listened to at their memory; `boots` in order of their starts."""

    def __init__(self, *args: Any, **named: Any) -> None:
        """Take what InprocTable takes."""
        self.board_runs: list[BoardRun] = []
        self._cores: dict[BoardName, Any] = {}
        super().__init__(*args, **named)

    def start(self, name: BoardName, reset_cause: int = wire.RESET_POWER, **named: Any) -> None:
        """Give a board power, unless it has it; takes what InprocTable takes."""
        had = self.has_power(name)
        super().start(name, reset_cause, **named)
        board = self._slots[name].board
        if not had and board is not None:
            self._observe_core(name, board.core)

    def kill(self, name: BoardName) -> None:
        """Take a board's power: what it has not said by now it never says."""
        super().kill(name)
        core = self._cores.pop(name, None)
        if core is not None:
            boot = next(one for one in reversed(self.board_runs) if one.board == name)
            boot.is_alive, boot.kept = False, core.memory.kept

    def _observe_core(self, name: BoardName, core: Any) -> None:
        boot = BoardRun(name, core.boot)
        self.board_runs.append(boot)
        self._cores[name] = core
        add = core.memory.add

        def tapped(body: bytes) -> None:
            _, *fields = _EVENT.unpack_from(body)
            boot.events.append(CoreEvent(*fields))
            add(body)

        core.memory.add = tapped
