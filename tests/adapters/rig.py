"""A table in process whose reader board is the barcode adapter, and an engine at its other end."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from controller.config import ReaderSection as ReaderConfig
from drivers.adapters.barcode_engine import BarcodeEngine, EngineLost, SerialEnginePort
from drivers.adapters.barcode_reader import BarcodeHal, CodedCard, make_barcode_reader
from drivers.firmware.board import BoardCore
from drivers.firmware.reader import ReaderCore
from sim.hardware_in_process import HardwareInProcess, own_firmware_hash
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.serial_lines import PipePort, make_pipe
from sim.simulated_board import BoardStepper
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from tests.adapters.peer import END_OF_LINE, TRIGGER, Commands, picture, printed, read

UID = "00000000000000b1"
ENGINE = BarcodeEngine(
    port="of the rig",
    baud=115_200,
    parity="none",
    data_bits=8,
    stop_bits=1,
    trigger=TRIGGER,
    trigger_off=b"\x16U\r",
    end_of_line=END_OF_LINE,
    no_read=b"NOREAD",
    timeout_ms=200,
    late_ms=150,
    settle_ms=10,
    confidence=200,
)
CODES: Mapping[bytes, CodedCard] = {
    printed(face, back).encode(): (face, back) for back in (0, 1) for face in range(54)
}
READS_MS = 40.0

Says = list[tuple[float, bytes]]
"""What an engine says to a trigger: bytes, each after some milliseconds."""


class ScriptedPort(SerialEnginePort):
    """An engine's line in memory: what is written is kept, what it says is put there."""

    def __init__(self) -> None:
        super().__init__(ENGINE)
        self.plugged = True
        self.opened = False
        self.written: list[bytes] = []
        self.said = b""

    def open(self) -> int:
        if not self.plugged:
            raise EngineLost("of the rig: No such file or directory")
        self.opened, self.said = True, b""
        return 77

    def read(self) -> bytes:
        self._require()
        said, self.said = self.said, b""
        return said

    def write(self, data: bytes) -> None:
        self._require()
        self.written.append(data)

    def close(self) -> None:
        self.opened = False

    def _require(self) -> None:
        if not (self.plugged and self.opened):
            raise EngineLost("of the rig: the device is gone")


class PeerPort(ScriptedPort):
    """The engine of peer.py in the loop's time, over the window of a table's mechanics.

    `labels` says what is printed on a card, `says` what the engine makes of what it read.
    """

    def __init__(self, world: World) -> None:
        super().__init__()
        self.labels: Callable[[PhysicalCard], str | None] = lambda card: printed(
            card.face, card.back
        )
        self.says: Callable[[int, bytes | None], Says] = plainly
        self.wake: Callable[[], None] = lambda: None
        self.looks = 0
        self._world, self._commands = world, Commands()
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        super().write(data)
        for command in self._commands.take(data):
            if command == TRIGGER:
                self.looks += 1
                for after_ms, line in self.says(self.looks, self._look()):
                    self._loop.call_later(after_ms / 1000, self._say, line)

    def plug(self, plugged: bool) -> None:
        self.plugged = plugged
        self.wake()

    def _look(self) -> bytes | None:
        cards = self._world.truth().window
        label = self.labels(cards[0]) if cards and not cards[0].face_up else None
        return None if label is None else read(picture(label))

    def _say(self, line: bytes) -> None:
        if self.opened and self.plugged:
            self.said += line
            self.wake()


def plainly(look: int, code: bytes | None) -> Says:
    """Answer as an engine does that was set up right."""
    return [(READS_MS, (b"NOREAD" if code is None else code) + END_OF_LINE)]


class _Hal(BarcodeHal):
    """The adapter's HAL on the loop's clock, as sim/simulated_board.py steps a board."""

    def __init__(
        self, port: PeerPort, engine: BarcodeEngine, codes: Mapping[bytes, CodedCard]
    ) -> None:
        super().__init__(bytes.fromhex(UID), engine, codes, port)
        self.wake: Callable[[], None] = lambda: None
        self._loop = asyncio.get_running_loop()
        port.wake = lambda: self.wake()

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000 + 1e-6)

    def at_s(self, now_ms: int) -> float:
        return now_ms / 1000

    def close(self) -> None:
        self.stop()


class _Stepped:
    """A core and its HAL, stepped together as drivers/adapters/adapter_board.py does."""

    def __init__(self, core: BoardCore, hal: _Hal) -> None:
        self._core, self._hal = core, hal

    def step(self, now_ms: int, rx: bytes) -> bytes:
        self._hal.update(now_ms)
        return self._core.step(now_ms, rx)

    def deadline(self) -> int:
        return min(self._core.deadline(), self._hal.due_ms(self._hal.now_ms()))

    def to_store(self) -> bytes:
        return self._core.to_store()


class AtAdapter(msgspec.Struct):
    """A table's mechanics, its engine, and the adapter behind its port."""

    sim: HardwareInProcess
    engine: PeerPort
    port: PipePort
    core: ReaderCore

    @asynccontextmanager
    async def daemon(
        self, runtime_dir: Path, *, trigger: str = "asked", **more: Any
    ) -> AsyncIterator[TableInProcess]:
        """Run a machine over it. `more`: as for sim.tables.table_in_process.trial."""
        reader = msgspec.convert({"port": "adapter", "id": UID, "trigger": trigger}, ReaderConfig)
        async with run_table_in_process(
            MechanicsSettings(),
            runtime_dir,
            sim=self.sim,
            reader=reader,
            wrap_port=lambda name, line: self.port if name == "reader" else line,
            **more,
        ) as at:
            yield at


@asynccontextmanager
async def adapter_at(
    engine: BarcodeEngine = ENGINE, codes: Mapping[bytes, CodedCard] = CODES
) -> AsyncIterator[AtAdapter]:
    """Make mechanics, the adapter's core over its HAL, and its engine's peer."""
    boots = count(1)
    sim = HardwareInProcess(MechanicsSettings(), random.Random(1), boots=lambda: next(boots))
    port, end = make_pipe()
    peer = PeerPort(sim.world)
    hal = _Hal(peer, engine, codes)
    core = make_barcode_reader(hal, engine, 4711, own_firmware_hash(), b"")
    board = BoardStepper(_Stepped(core, hal), end, hal)  # type: ignore[arg-type]  # its HAL's twin
    try:
        yield AtAdapter(sim, peer, port, core)
    finally:
        board.close()
        sim.close()


class Table(AtAdapter):
    """An adapter, and the machine over it."""

    trial: TableInProcess


@asynccontextmanager
async def barcode_table(
    runtime_dir: Path, *, engine: BarcodeEngine = ENGINE, trigger: str = "asked", **more: Any
) -> AsyncIterator[Table]:
    """Make a table whose reader is the adapter; `more` as for table_in_process.trial."""
    async with (
        adapter_at(engine) as at,
        at.daemon(runtime_dir, trigger=trigger, seed=1, **more) as trial_,
    ):
        yield Table(at.sim, at.engine, at.port, at.core, trial_)
