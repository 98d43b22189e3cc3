"""Simulated faults of the boards and cables of a simulated table.

`BoardFaults` makes the faults happen. `FaultableHardware` is the base class of the tables.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from drivers.firmware.protocol import RESET_POWER, RESET_WATCHDOG
from sim.mechanics.fault_effects import OutsideHandler
from sim.mechanics.fault_menu import FaultTarget, SimulatedFault
from sim.mechanics.world import World

BoardName = Literal["dealer", "reader"]
BOARD_NAMES: dict[str, BoardName] = {"dealer": "dealer", "reader": "reader"}

WATCHDOG_MS = 1000.0
"""A firmware that hangs this long is reset, as in drivers/firmware/rp2_loop.py."""
REBOOT_MS = 300.0
"""The time from a board's reset until its firmware runs again."""
BLAME_AFTER_MS = 1000.0
"""For this time after a board or cable is repaired, its fault is still a valid cause of an alert.
"""
FOREIGN_UID = bytes.fromhex("00000000000000ff")
FOREIGN_FIRMWARE = bytes.fromhex("00000000000000ff")


class _FaultableBoard(Protocol):
    def hang(self) -> None: ...
    def resume(self) -> None: ...
    def erase_storage(self) -> None: ...


class FaultableHardware(ABC):
    """The base class of a simulated table: two boards that can be started, killed and unplugged."""

    world: World
    boards: Mapping[BoardName, _FaultableBoard]

    def __init__(self) -> None:
        self._faults = BoardFaults(self)

    @abstractmethod
    def start(
        self,
        name: BoardName,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start the board `name`. If `uid` or `firmware` is given, start another board instead."""

    @abstractmethod
    def kill(self, name: BoardName) -> None:
        """Cut the power of a board. Its port vanishes."""

    @abstractmethod
    def pull_cable(self, name: BoardName) -> None:
        """Pull a board's cable out. The board keeps its power."""

    @abstractmethod
    def plug_cable(self, name: BoardName) -> None:
        """Plug a board's cable in again."""

    def mend(self) -> None:
        """End all faults of boards and cables: plug cables in, put the original boards back."""
        self._faults.mend()


@dataclass(eq=False)
class _ActiveFault:
    """A fault that has not ended: the action that ends it, and the timer for that action."""

    fault: SimulatedFault
    undo: Callable[[], None]
    timer: asyncio.TimerHandle | None = None


class BoardFaults:
    """An object that causes faults of boards and cables, and ends each after its duration.

    Times are those of the world, not of the machine. A watchdog or a cable does not become faster
    in a machine that runs faster.
    """

    def __init__(self, hardware: FaultableHardware) -> None:
        self._hardware = hardware
        self._active: list[_ActiveFault] = []
        self._endings: list[asyncio.TimerHandle] = []
        self._substitutes: dict[str, dict[str, bytes]] = {name: {} for name in BOARD_NAMES}
        self._effects: dict[str, Callable[[SimulatedFault, BoardName], None]] = {
            "unplugged": self._unplug,
            "board_reset": self._reset,
            "board_silent": self._hang,
            "settings_lost": self._lose_settings,
            "foreign_board": lambda fault, name: self._replace(fault, name, uid=FOREIGN_UID),
            "foreign_firmware": lambda fault, name: self._replace(
                fault, name, firmware=FOREIGN_FIRMWARE
            ),
        }

    def handlers(self) -> dict[FaultTarget, OutsideHandler]:
        """Return the handler for each fault target: `carry_out` for both "line" and "board"."""
        return {"line": self.carry_out, "board": self.carry_out}

    def carry_out(self, fault: SimulatedFault) -> None:
        """Cause `fault` now, at the board that the fault names."""
        self._effects[fault.name](fault, BOARD_NAMES[fault.board])

    def mend(self) -> None:
        """End every fault of boards and cables: plug cables in and put the original boards back."""
        for each in list(self._active):
            self._end(each)

    def close(self) -> None:
        """Cancel the timers of all faults. Boards and cables are not repaired."""
        for each in self._active:
            if each.timer is not None:
                each.timer.cancel()
        for echo in self._endings:
            echo.cancel()
        self._active.clear()
        self._endings.clear()

    def _unplug(self, fault: SimulatedFault, name: BoardName) -> None:
        self._hardware.pull_cable(name)
        self._end_after(fault, fault.for_ms, lambda: self._hardware.plug_cable(name))

    def _reset(self, fault: SimulatedFault, name: BoardName) -> None:
        self._hardware.kill(name)
        self._end_after(fault, REBOOT_MS, lambda: self._start(name, RESET_POWER))

    def _lose_settings(self, fault: SimulatedFault, name: BoardName) -> None:
        self._reset(fault, name)
        self._hardware.boards[name].erase_storage()

    def _hang(self, fault: SimulatedFault, name: BoardName) -> None:
        board = self._hardware.boards[name]
        board.hang()
        if fault.for_ms is not None and fault.for_ms < WATCHDOG_MS:
            self._end_after(fault, fault.for_ms, board.resume)
        else:
            self._end_after(fault, WATCHDOG_MS, lambda: self._restart(name, RESET_WATCHDOG))

    def _replace(self, fault: SimulatedFault, name: BoardName, **other: bytes) -> None:
        self._substitute(name, other)
        self._end_after(fault, fault.for_ms, lambda: self._substitute(name, {}))

    def _substitute(self, name: BoardName, other: dict[str, bytes]) -> None:
        self._substitutes[name] = other
        self._restart(name, RESET_POWER)

    def _restart(self, name: BoardName, cause: int) -> None:
        self._hardware.kill(name)
        self._start(name, cause)

    def _start(self, name: BoardName, cause: int) -> None:
        self._hardware.start(name, cause, **self._substitutes[name])

    def _end_after(
        self, fault: SimulatedFault, for_ms: float | None, undo: Callable[[], None]
    ) -> None:
        """Record that `fault` is active. Call `undo` after `for_ms` ms, or if None, in `mend`."""
        each = _ActiveFault(fault, undo)
        self._active.append(each)
        if for_ms is not None:
            loop = asyncio.get_running_loop()
            each.timer = loop.call_later(for_ms / 1000, self._end, each)

    def _end(self, each: _ActiveFault) -> None:
        self._active.remove(each)
        if each.timer is not None:
            each.timer.cancel()
        each.undo()
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        self._endings = [echo for echo in self._endings if echo.when() > now_s]
        over = loop.call_later(BLAME_AFTER_MS / 1000, self._hardware.world.end_fault, each.fault)
        self._endings.append(over)
