"""A whole simulated table in one process: mechanics, both boards, and the lines to them.

The host's ends are `ports`; everything runs on the loop that runs when it is made,
so that under sim.virtual.VirtualLoop a deal takes no time at all.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from drivers.firmware.dealer import Dealer
from drivers.firmware.reader import Reader
from drivers.firmware.version import firmware_hash
from drivers.firmware.wire import KIND_DEALER, KIND_READER, RESET_POWER
from sim.boards import InprocBoard
from sim.hal import InprocHal
from sim.mechanics.settings import Settings
from sim.mechanics.world import World
from sim.pipe import BoardEnd, PipePort, pipe

BoardName = Literal["dealer", "reader"]
KINDS: dict[BoardName, int] = {"dealer": KIND_DEALER, "reader": KIND_READER}
BOARDS: tuple[BoardName, ...] = ("dealer", "reader")
# Unique ids that the boards of a simulated table have unless told otherwise.
DEALER_ID = "00000000000000d1"
READER_ID = "00000000000000e1"


def own_firmware_hash() -> bytes:
    """Return the hash of the firmware that this process has imported."""
    folder = resources.files("drivers.firmware")
    files = [(f.name, f.read_bytes()) for f in folder.iterdir() if f.name.endswith(".py")]
    return firmware_hash(files)


@dataclass
class _Slot:
    """The place of one board: its id, its line, and the board while it has power."""

    uid: bytes
    port: PipePort
    end: BoardEnd
    board: InprocBoard | None = None
    stored: bytes = b""


class InprocTable:
    """A world, and two boards that run the firmware itself.

    `boots` gives each start of a board a boot id that no board had before; `rng` is
    the mechanics'. `delay_ms` is what a byte takes on either line, at any speed of
    the mechanics. It must be made while its loop runs; `close()` leaves no timer.
    """

    def __init__(
        self,
        settings: Settings,
        rng: random.Random,
        *,
        boots: Callable[[], int],
        ids: tuple[str, str] = (DEALER_ID, READER_ID),
        delay_ms: float = 0,
    ) -> None:
        self.world = World(settings, rng)
        self._boots = boots
        self._hash = own_firmware_hash()
        self._slots: dict[BoardName, _Slot] = {}
        for name, uid in zip(BOARDS, ids, strict=True):
            port, end = pipe(delay_ms)
            self._slots[name] = _Slot(bytes.fromhex(uid), port, end)
            self.start(name)

    def port(self, name: BoardName) -> PipePort:
        """Return the host's end of the line to a board; it stays the same for life."""
        return self._slots[name].port

    def start(self, name: BoardName, reset_cause: int = RESET_POWER) -> None:
        """Give a board power, unless it has it; it remembers what it stored, nothing else."""
        slot = self._slots[name]
        if slot.board is not None:
            return
        hal = InprocHal(self.world, KINDS[name], slot.uid)
        build = Dealer if name == "dealer" else Reader
        core = build(hal, self._boots(), reset_cause, self._hash, slot.stored)
        slot.board = InprocBoard(core, slot.end, hal)

    def kill(self, name: BoardName) -> None:
        """Take a board's power: its motors stand, and the host sees its port vanish."""
        slot = self._slots[name]
        if slot.board is not None:
            slot.stored = slot.board.core.to_store() or slot.stored
            slot.board.close()
            slot.board = None
            slot.port.unplug()

    def mute(self, name: BoardName) -> None:
        """Let a board's firmware hang: its port stays, and nobody answers there."""
        board = self._slots[name].board
        if board is not None:
            board.close()

    def powered(self, name: BoardName) -> bool:
        """Tell whether a board has its power."""
        return self._slots[name].board is not None

    def close(self) -> None:
        """Switch everything off."""
        for name in BOARDS:
            self.kill(name)
        self.world.close()
