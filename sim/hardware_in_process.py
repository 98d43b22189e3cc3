"""A whole simulated table in one process: mechanics, both boards, and the lines to them.

The host's ends are `ports`; everything runs on the loop that runs when it is made,
so that under sim.virtual_loop.VirtualLoop a deal takes no time at all.
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
# Unique ids that the boards of a simulated table have unless told otherwise.
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
    """The place of one board: its id, its firmware, its line, and the board while it has power."""

    uid: bytes
    firmware: bytes
    port: PipePort
    end: PipeBoardEnd
    board: BoardStepper | None = None
    stored: bytes = b""


class HardwareInProcess:
    """A world, and two boards that run the firmware itself.

    `boots` gives each start of a board a boot id that no board had before; `rng` is
    the mechanics'. `delay_ms` is what a byte takes on either line, at any speed of
    the mechanics. It must be made while its loop runs; `close()` leaves no timer.
    It carries out the faults of its lines and boards; those of the host are for whoever runs
    one (`world.outside["host"]`).
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
        """Return the host's end of the line to a board; it stays the same for life."""
        return self._slots[name].port

    def start(
        self,
        name: BoardName,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Give a board power, unless it has it; it remembers what it stored, nothing else.

        `uid`, `firmware`: of another board in its place, which has nothing stored.
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
        """Take a board's power: its motors stand, and the host sees its port vanish."""
        slot = self._slots[name]
        if slot.board is not None:
            if slot.board.hal.uid == slot.uid:
                slot.stored = slot.board.core.to_store() or slot.stored
            slot.board.close()
            slot.board = None
            slot.port.drop_connection()

    def mute(self, name: BoardName) -> None:
        """Let a board's firmware die: its port stays, its motors stand, and nobody answers."""
        board = self._slots[name].board
        if board is not None:
            board.close()

    def hang(self, name: BoardName) -> None:
        """Let a board's firmware hang, its motors as they are, until `go_on`."""
        board = self._slots[name].board
        if board is not None:
            board.hang()

    def resume(self, name: BoardName) -> None:
        """Let a board's firmware that hung go on."""
        board = self._slots[name].board
        if board is not None:
            board.resume()

    def erase_storage(self, name: BoardName) -> None:
        """Let a board that has no power forget what it stored."""
        self._slots[name].stored = b""

    def pull_cable(self, name: BoardName) -> None:
        """Pull the cable of a board out; the board keeps its power."""
        self._slots[name].port.pull()

    def plug_cable(self, name: BoardName) -> None:
        """Put the cable of a board in again."""
        self._slots[name].port.plug()

    def swap_cables(self) -> None:
        """Swap the cables of the two boards, at the host's end."""
        one, other = (slot.port for slot in self._slots.values())
        one.swap(other)

    def set_power(self, on: bool) -> None:
        """Take the power of both boards, or give it back; without it none starts."""
        self._power_is_off = not on
        for name in BOARDS:
            (self.start if on else self.kill)(name)

    def mend(self) -> None:
        """Put cables in and own boards back, as a person does."""
        self._faults.mend()

    def has_power(self, name: BoardName) -> bool:
        """Tell whether a board has its power."""
        return self._slots[name].board is not None

    def close(self) -> None:
        """Switch everything off."""
        self._faults.close()
        for name in BOARDS:
            self.kill(name)
        self.world.close()
