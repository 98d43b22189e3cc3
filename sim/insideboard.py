"""A board inside the sim process, behind a pty of its own: for halls of many tables."""

import signal
from pathlib import Path

from drivers.firmware.dealer import DealerCore
from drivers.firmware.reader import ReaderCore
from drivers.firmware.wire import RESET_POWER
from sim.boards import BoardStepper
from sim.hal import SimulatedHal
from sim.inproc import KINDS, own_firmware_hash
from sim.mechanics.world import World
from sim.outside import BoardName
from sim.ptyline import PtyLine


class PtyBoard:
    """One board, stepped by this process's loop. `link` is the path of its port.

    It does what BoardProcess does, without a process: `pid` is always None, and killing
    it takes its pty away at once. What it stored it still knows when it starts again.
    """

    pid: int | None = None

    def __init__(self, world: World, name: BoardName, uid: str, line: PtyLine) -> None:
        self.name = name
        self.uid = uid
        self.boot = 0
        self.line = line
        self._world = world
        self._stepper: BoardStepper | None = None
        self._stored = b""

    @property
    def link(self) -> Path:
        """The path under which its port is found."""
        return self.line.link

    @property
    def pty(self) -> str | None:
        """The pty that it is behind now."""
        return self.line.pty

    def start(
        self,
        boot: int,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Give the board power with a boot id that it never had; nothing if it runs.

        `uid`, `firmware`: of another board in its place, which has nothing stored.
        """
        if self._stepper is not None:
            return
        self.boot = boot
        own = bytes.fromhex(self.uid)
        hal = SimulatedHal(self._world, KINDS[self.name], uid or own)
        build = DealerCore if self.name == "dealer" else ReaderCore
        stored = self._stored if hal.uid == own else b""
        core = build(hal, boot, reset_cause, firmware or own_firmware_hash(), stored)
        self.line.plug()
        self._stepper = BoardStepper(core, self.line, hal)

    def kill(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Take the board's power: its motors stand, its port vanishes."""
        if self._stepper is not None:
            if self._stepper.hal.uid == bytes.fromhex(self.uid):
                self._stored = self._stepper.core.to_store() or self._stored
            self._stepper.close()
            self._stepper = None
        self.line.unplug()

    def hang(self) -> None:
        """Let its firmware hang: its port and its motors stay as they are, nobody answers."""
        if self._stepper is not None:
            self._stepper.hang()

    def resume(self) -> None:
        """Let firmware that hung go on, with all that came meanwhile."""
        if self._stepper is not None:
            self._stepper.resume()

    def erase_storage(self) -> None:
        """Lose what it stored."""
        self._stored = b""

    async def wait_until_gone(self) -> None:
        """Return: a killed board is gone at once."""

    async def close(self) -> None:
        """Switch the board off and take its link away."""
        self.kill()
        self.link.unlink(missing_ok=True)
