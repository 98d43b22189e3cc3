"""A simulated table in one process: mechanics, both boards, and the lines to them.

`HardwareInProcess.port` returns the host's ends of the lines. Everything runs on the event loop
that runs at creation. Under sim.virtual_loop.VirtualLoop a deal takes no real waiting time.
"""

import random
from collections.abc import Callable
from functools import cache, partial
from importlib import resources

from drivers.firmware.dealer import DealerCore
from drivers.firmware.protocol import KIND_DEALER, KIND_READER, RESET_POWER
from drivers.firmware.reader import ReaderCore
from drivers.firmware.version import firmware_hash
from sim.board_faults import BOARD_NAMES, BoardName, FaultableHardware
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.serial_lines import LineNoise, PipePort, make_pipe
from sim.simulated_board import BoardLineEnd, BoardStepper, SimulatedHal

KINDS: dict[BoardName, int] = {"dealer": KIND_DEALER, "reader": KIND_READER}
BOARDS: tuple[BoardName, ...] = tuple(BOARD_NAMES.values())
# The default unique ids of the boards of a simulated table.
DEALER_ID = "00000000000000d1"
READER_ID = "00000000000000e1"


@cache
def own_firmware_hash() -> bytes:
    """Return the hash of the firmware package that this process imports."""
    folder = resources.files("drivers.firmware")
    files = [(f.name, f.read_bytes()) for f in folder.iterdir() if f.name.endswith(".py")]
    return firmware_hash(files)


class FirmwareInProcess:
    """One simulated board with its firmware in this process. `end` is its end of the host's line.

    `board` is the running firmware, or None while the board has no power. The board keeps its
    stored data when it starts again.
    """

    def __init__(self, world: World, name: BoardName, uid: str, end: BoardLineEnd) -> None:
        self.name, self.uid = name, uid
        self.board: BoardStepper | None = None
        self._world, self._end = world, end
        self._stored = b""

    def start(
        self,
        boot: int,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start the board with the boot id `boot`, which must be new. Do nothing if the board runs.

        `uid` and `firmware` replace the board by another one, which has no stored data.
        """
        if self.board is not None:
            return
        own = bytes.fromhex(self.uid)
        hal = SimulatedHal(self._world, KINDS[self.name], uid or own)
        build = DealerCore if self.name == "dealer" else ReaderCore
        stored = self._stored if hal.uid == own else b""
        core = build(hal, boot, reset_cause, firmware or own_firmware_hash(), stored)
        self.board = BoardStepper(core, self._end, hal)

    def kill(self) -> None:
        """Cut the power of the board, so that its motors stop."""
        if self.board is not None:
            if self.board.hal.uid == bytes.fromhex(self.uid):
                self._stored = self.board.core.to_store() or self._stored
            self.board.close()
            self.board = None

    def hang(self) -> None:
        """Make the firmware hang. Port and motors keep their state, and the board sends nothing."""
        if self.board is not None:
            self.board.hang()

    def resume(self) -> None:
        """Continue the firmware after `hang`. It receives all bytes that arrived meanwhile."""
        if self.board is not None:
            self.board.resume()

    def erase_storage(self) -> None:
        """Erase the stored data of the board."""
        self._stored = b""


class HardwareInProcess(FaultableHardware):
    """A simulated table in this process: mechanics, and two boards that run the real firmware.

    `boots` returns a boot id that no board had before, for each start of a board. `rng` is the
    source of randomness of the mechanics. `delay_ms` is the time that a byte takes on either line,
    at any speed of the mechanics. Create the object while its loop runs. After `close()` no timer
    remains. The class carries out the faults of its lines and boards. Faults of the host belong to
    the program that runs a host (`world.outside_handlers["host"]`).
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
        super().__init__()
        self._next_boot_id = boots
        self._power_is_off = False
        self.boards: dict[BoardName, FirmwareInProcess] = {}
        self._ports: dict[BoardName, PipePort] = {}
        self.world = World(settings, rng, self._faults.handlers())
        noise = LineNoise(self.world.faults, rng)
        for name, uid in zip(BOARDS, ids, strict=True):
            port, end = make_pipe(delay_ms)
            port.to_board.distort = partial(noise.distort, name, "to_board")
            port.to_host.distort = partial(noise.distort, name, "to_host")
            self._ports[name] = port
            self.boards[name] = FirmwareInProcess(self.world, name, uid, end)
            self.start(name)

    def port(self, name: BoardName) -> PipePort:
        """Return the host's port of the line to the board `name`, always the same object."""
        return self._ports[name]

    def start(
        self,
        name: BoardName,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start the board `name`, if the power is on and the board does not run.

        A started board has its stored data and no other state.
        `uid` and `firmware` replace the board by another one, which has no stored data.
        """
        if not (self.has_power(name) or self._power_is_off):
            boot = self._next_boot_id()
            self.boards[name].start(boot, reset_cause, uid=uid, firmware=firmware)

    def kill(self, name: BoardName) -> None:
        """Cut the power of a board. Its motors stop, and the host sees its port vanish."""
        if self.has_power(name):
            self.boards[name].kill()
            self._ports[name].drop_connection()

    def pull_cable(self, name: BoardName) -> None:
        """Pull a board's cable out. The board keeps its power."""
        self._ports[name].pull()

    def plug_cable(self, name: BoardName) -> None:
        """Plug a board's cable in again."""
        self._ports[name].plug()

    def swap_cables(self) -> None:
        """Exchange the cables of the two boards at the host's end."""
        one, other = self._ports.values()
        one.swap(other)

    def set_power(self, on: bool) -> None:
        """Cut the power of both boards, or restore it. Without power no board starts."""
        self._power_is_off = not on
        for name in BOARDS:
            (self.start if on else self.kill)(name)

    def has_power(self, name: BoardName) -> bool:
        """Return True if the board `name` has power."""
        return self.boards[name].board is not None

    def close(self) -> None:
        """Cut the power of both boards, and stop the simulated mechanics and all faults."""
        self._faults.close()
        for name in BOARDS:
            self.kill(name)
        self.world.close()
