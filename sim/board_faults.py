"""Faults of boards and of their cables, for a table that can kill, start and unplug boards."""

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol

from drivers.firmware.protocol import RESET_POWER, RESET_WATCHDOG
from sim.mechanics.fault_effects import OutsideHandler
from sim.mechanics.fault_menu import FaultTarget, SimulatedFault
from sim.mechanics.world import World

BoardName = Literal["dealer", "reader"]
BOARD_NAMES: dict[str, BoardName] = {"dealer": "dealer", "reader": "reader"}

WATCHDOG_MS = 1000.0
"""A firmware that hangs so long is reset, as drivers/firmware/rp2_loop.py has it."""
REBOOT_MS = 300.0
"""From a board's reset until its firmware runs again."""
BLAME_AFTER_MS = 1000.0
"""So long after a board or cable is right again its fault may still be what somebody speaks of."""
FOREIGN_UID = bytes.fromhex("00000000000000ff")
FOREIGN_FIRMWARE = bytes.fromhex("00000000000000ff")


class FaultableHardware(Protocol):
    """A table with two boards, as far as faults of boards and cables need it."""

    world: World

    def start(
        self,
        name: BoardName,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Give a board power; `uid`, `firmware`: of another one in its place."""

    def kill(self, name: BoardName) -> None:
        """Take a board's power: its port vanishes."""

    def hang(self, name: BoardName) -> None:
        """Let a board's firmware hang, its outputs as they are."""

    def resume(self, name: BoardName) -> None:
        """Let a firmware that hung go on."""

    def erase_storage(self, name: BoardName) -> None:
        """Let a board without power forget what it stored."""

    def pull_cable(self, name: BoardName) -> None:
        """Pull a board's cable out."""

    def plug_cable(self, name: BoardName) -> None:
        """Put a board's cable in again."""


class _ActiveFault:
    """A fault that is not over: what ends it, and the timer that will."""

    def __init__(self, fault: SimulatedFault, undo: Callable[[], None]) -> None:
        self.fault = fault
        self.undo = undo
        self.timer: asyncio.TimerHandle | None = None


class BoardFaults:
    """Carries out the faults that strike "line" and "board", and ends them in time.

    Times are the world's, not the machine's: neither watchdog nor cable goes faster in a
    machine that does.
    """

    def __init__(self, hardware: FaultableHardware) -> None:
        self._hardware = hardware
        self._active: list[_ActiveFault] = []
        self._endings: list[asyncio.TimerHandle] = []
        self._substitutes: dict[str, dict[str, bytes]] = {name: {} for name in BOARD_NAMES}
        self._effects: dict[str, Callable[[SimulatedFault, BoardName], None]] = {
            "unplugged": self._unplug,
            "board_reset": lambda fault, name: self._reset(fault, name, RESET_POWER),
            "board_silent": self._hang,
            "settings_lost": self._lose_settings,
            "foreign_board": lambda fault, name: self._replace(fault, name, uid=FOREIGN_UID),
            "foreign_firmware": lambda fault, name: self._replace(
                fault, name, firmware=FOREIGN_FIRMWARE
            ),
        }

    def handlers(self) -> dict[FaultTarget, OutsideHandler]:
        """Return what a world is given as its `outside`."""
        return {"line": self.carry_out, "board": self.carry_out}

    def carry_out(self, fault: SimulatedFault) -> None:
        """Let a fault happen now."""
        self._effects[fault.name](fault, BOARD_NAMES[fault.board])

    def mend(self) -> None:
        """Put cables in and own boards back, as a person does: every fault of boards is over."""
        for each in list(self._active):
            self._end(each)

    def close(self) -> None:
        """Leave no timer behind."""
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

    def _reset(self, fault: SimulatedFault, name: BoardName, cause: int) -> None:
        self._hardware.kill(name)
        self._end_after(fault, REBOOT_MS, lambda: self._start(name, cause))

    def _hang(self, fault: SimulatedFault, name: BoardName) -> None:
        self._hardware.hang(name)
        if fault.for_ms is not None and fault.for_ms < WATCHDOG_MS:
            self._end_after(fault, fault.for_ms, lambda: self._hardware.resume(name))
        else:
            self._end_after(fault, WATCHDOG_MS, lambda: self._reset_by_watchdog(name))

    def _reset_by_watchdog(self, name: BoardName) -> None:
        """Reset a board by its watchdog."""
        self._hardware.kill(name)
        self._start(name, RESET_WATCHDOG)

    def _lose_settings(self, fault: SimulatedFault, name: BoardName) -> None:
        self._hardware.kill(name)
        self._hardware.erase_storage(name)
        self._end_after(fault, REBOOT_MS, lambda: self._start(name, RESET_POWER))

    def _replace(self, fault: SimulatedFault, name: BoardName, **other: bytes) -> None:
        self._substitute(name, other)
        self._end_after(fault, fault.for_ms, lambda: self._substitute(name, {}))

    def _substitute(self, name: BoardName, other: dict[str, bytes]) -> None:
        self._substitutes[name] = other
        self._hardware.kill(name)
        self._start(name, RESET_POWER)

    def _start(self, name: BoardName, cause: int) -> None:
        self._hardware.start(name, cause, **self._substitutes[name])

    def _end_after(
        self, fault: SimulatedFault, for_ms: float | None, undo: Callable[[], None]
    ) -> None:
        """End `fault` with `undo` when its time is over; None: when somebody mends it."""
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
