"""A simulated table in one process: mechanics, both boards, and the lines to them.

`HardwareInProcess.port` returns the host's ends of the lines. Everything runs on the event loop
that runs at creation. Under sim.virtual_loop.VirtualLoop a deal takes no real waiting time.
"""

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources

from drivers.firmware.dealer import DealerCore
from drivers.firmware.protocol import KIND_DEALER, KIND_READER, RESET_POWER
from drivers.firmware.reader import ReaderCore
from drivers.firmware.version import firmware_hash
from sim.board_faults import BOARD_NAMES, BoardFaults, BoardName
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.serial_lines import LineNoise, PipeBoardEnd, PipePort, make_pipe
from sim.simulated_board import BoardStepper, SimulatedHal

KINDS: dict[BoardName, int] = {"dealer": KIND_DEALER, "reader": KIND_READER}
BOARDS: tuple[BoardName, ...] = tuple(BOARD_NAMES.values())
# The default unique ids of the boards of a simulated table.
DEALER_ID = "00000000000000d1"
READER_ID = "00000000000000e1"


@functools.cache
def own_firmware_hash() -> bytes:
    """Return the hash of the firmware that this process has imported."""
    folder = resources.files("drivers.firmware")
    files = [(f.name, f.read_bytes()) for f in folder.iterdir() if f.name.endswith(".py")]
    return firmware_hash(files)


@dataclass
class _BoardSlot:
    """The place of one board: id, firmware, line, and the running board while it has power."""

    uid: bytes
    firmware: bytes
    port: PipePort
    end: PipeBoardEnd
    board: BoardStepper | None = None
    stored: bytes = b""


class HardwareInProcess:
    """A world, and two boards that run the real firmware.

    `boots` returns a boot id that no board had before, for each start of a board. `rng` is the
    source of randomness of the mechanics. `delay_ms` is the time that a byte takes on either line,
    at any speed of the mechanics. Create the object while its loop runs. After `close()` no timer
    remains. The class carries out the faults of its lines and boards. Faults of the host belong to
    the program that runs a host (`world.outside["host"]`).
    """

    def __init__(
        self,
        settings: MechanicsSettings,
        rng: random.Random,
        *,
        boots: Callable[[], int],
        ids: tuple[str, str] = (DEALER_ID, READER_ID),
        delay_ms: float = 0,
    ) -> None:
        self._next_boot_id = boots
        self._power_is_off = False
        self._slots: dict[BoardName, _BoardSlot] = {}
        self._faults = BoardFaults(self)
        self.world = World(settings, rng, self._faults.handlers())
        noise = LineNoise(self.world.faults, rng)
        firmware = own_firmware_hash()
        for name, uid in zip(BOARDS, ids, strict=True):
            port, end = make_pipe(delay_ms)
            port.to_board.distort = partial(noise.distort, name, "to_board")
            port.to_host.distort = partial(noise.distort, name, "to_host")
            self._slots[name] = _BoardSlot(bytes.fromhex(uid), firmware, port, end)
            self.start(name)

    def port(self, name: BoardName) -> PipePort:
        """Return the host's end of the line to a board. It stays the same object."""
        return self._slots[name].port

    def start(
        self,
        name: BoardName,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start a board, unless it runs. The board keeps its stored data and no other state.

        `uid` and `firmware` replace the board by another one, which has no stored data.
        """
        slot = self._slots[name]
        if slot.board is not None or self._power_is_off:
            return
        hal = SimulatedHal(self.world, KINDS[name], uid or slot.uid)
        build = DealerCore if name == "dealer" else ReaderCore
        stored = slot.stored if uid is None else b""
        core = build(hal, self._next_boot_id(), reset_cause, firmware or slot.firmware, stored)
        slot.board = BoardStepper(core, slot.end, hal)

    def kill(self, name: BoardName) -> None:
        """Cut a board's power: its motors stop, and the host sees its port vanish."""
        slot = self._slots[name]
        if slot.board is not None:
            if slot.board.hal.uid == slot.uid:
                slot.stored = slot.board.core.to_store() or slot.stored
            slot.board.close()
            slot.board = None
            slot.port.drop_connection()

    def mute(self, name: BoardName) -> None:
        """Stop a board's firmware for good.

        The port stays, the motors stop, and the board sends nothing.
        """
        board = self._slots[name].board
        if board is not None:
            board.close()

    def hang(self, name: BoardName) -> None:
        """Make a board's firmware hang until `resume`. Its motors keep their state."""
        board = self._slots[name].board
        if board is not None:
            board.hang()

    def resume(self, name: BoardName) -> None:
        """Continue a board's firmware that hung."""
        board = self._slots[name].board
        if board is not None:
            board.resume()

    def erase_storage(self, name: BoardName) -> None:
        """Erase the stored data of a board without power."""
        self._slots[name].stored = b""

    def pull_cable(self, name: BoardName) -> None:
        """Pull a board's cable out. The board keeps its power."""
        self._slots[name].port.pull()

    def plug_cable(self, name: BoardName) -> None:
        """Plug a board's cable in again."""
        self._slots[name].port.plug()

    def swap_cables(self) -> None:
        """Swap the cables of the two boards at the host's end."""
        one, other = (slot.port for slot in self._slots.values())
        one.swap(other)

    def set_power(self, on: bool) -> None:
        """Cut the power of both boards, or restore it. Without power no board starts."""
        self._power_is_off = not on
        for name in BOARDS:
            (self.start if on else self.kill)(name)

    def mend(self) -> None:
        """Plug cables in and put the original boards back, as a person does."""
        self._faults.mend()

    def has_power(self, name: BoardName) -> bool:
        """Return True if a board has power."""
        return self._slots[name].board is not None

    def close(self) -> None:
        """Switch everything off."""
        self._faults.close()
        for name in BOARDS:
            self.kill(name)
        self.world.close()
