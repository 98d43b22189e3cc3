"""A simulated table whose dealer board is the Modbus adapter, in one process and in no time."""

import asyncio
import random
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from controller.host import toml_files
from drivers.adapters.modbus_dealer import ModbusHal
from drivers.adapters.modbus_map import ModbusMap
from drivers.adapters.modbus_rtu import ModbusPortLost
from drivers.firmware.dealer import DealerCore
from sim.board_faults import BoardName
from sim.hardware_in_process import DEALER_ID, HardwareInProcess, own_firmware_hash
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.simulated_board import NEVER_MS
from tests.adapters.drives import Drives, wire_ms

EXAMPLE = Path(__file__).parents[2] / "deploy" / "modbus.toml"
# What units take to begin an answer.
TURNAROUND_MS = 2.0


def example(changed: Mapping[str, Any] = MappingProxyType({}), **line: Any) -> ModbusMap:
    """Return the example's map, for the simulated dealer's id; `line` changes keys of [line],
    `changed` others by their dotted names."""
    raw = toml_files.parse_tables(toml_files.read_text(EXAMPLE), name=str(EXAMPLE))
    raw["line"] |= line
    for key, value in changed.items():
        *tables, last = key.split(".")
        inner = raw
        for table in tables:
            inner = inner.setdefault(table, {})
        inner[last] = value
        if value is None:
            del inner[last]
    raw["adapter"]["id"] = DEALER_ID
    return toml_files.convert_tables(raw, ModbusMap, name=str(EXAMPLE))


class Wire:
    """An RS-485 line in virtual time, with the rate of a real one; units at its end.

    `spoil` is what noise makes of an answer; `cut`: the port is not there any more.
    """

    def __init__(self, drives: Drives, baud: int) -> None:
        self.drives = drives
        self.cut = False
        self.spoil: Callable[[bytes], bytes] = lambda data: data
        self.wake: Callable[[], None] = lambda: None
        self.frames: deque[bytes] = deque(maxlen=20_000)
        self._baud = baud
        self._loop = asyncio.get_running_loop()
        self._rx = b""

    def write(self, data: bytes) -> None:
        self._require()
        self.frames.append(data)
        self._loop.call_later(wire_ms(len(data), self._baud) / 1000, self._hear, data)

    def read(self) -> bytes:
        self._require()
        rx, self._rx = self._rx, b""
        return rx

    def source(self) -> int | None:
        return None

    def wait(self, wait_ms: int) -> None:
        raise AssertionError("nobody waits in virtual time")

    def close(self) -> None:
        self.cut = True

    def _require(self) -> None:
        if self.cut:
            raise ModbusPortLost("the port is not there")

    def _hear(self, request: bytes) -> None:
        now_ms = int(self._loop.time() * 1000)
        self.drives.tick(now_ms)
        reply = self.drives.answer(request, now_ms)
        if reply:
            after_ms = TURNAROUND_MS + wire_ms(len(reply), self._baud)
            self._loop.call_later(after_ms / 1000, self._arrive, self.spoil(reply))

    def _arrive(self, reply: bytes) -> None:
        self._rx += reply
        self.wake()


class ModbusBoard:
    """Steps the dealer's core over a Modbus HAL, as the adapter's shell does."""

    def __init__(self, core: DealerCore, end: Any, hal: ModbusHal, wire: Wire) -> None:
        self.core, self.hal, self.wire = core, hal, wire
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._rx = b""
        self.steps = 0
        self._hangs = False
        self._timer: asyncio.Handle | None = None
        wire.wake = self._step
        end.listen(self._receive)
        self._step()

    def close(self) -> None:
        self._end.listen(None)
        self.wire.wake = lambda: None
        self.hang()

    def hang(self) -> None:
        """Let the adapter hang: nothing is stepped until `go_on`."""
        self._hangs = True
        self._disarm()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def go_on(self) -> None:
        """Let it go on."""
        self._hangs = False
        self._step()

    def now_ms(self) -> int:
        """What its clock says."""
        return int(self._loop.time() * 1000 + 1e-6)

    def _receive(self, data: bytes) -> None:
        self._rx += data
        self._step()

    def _step(self) -> None:
        if self._hangs:
            return
        self._disarm()
        self.steps += 1
        rx, self._rx = self._rx, b""
        now_ms = self.now_ms()
        self.hal.update(now_ms)
        tx = self.core.step(now_ms, rx)
        if tx:
            self._end.write(tx)
        due_ms = min(self.core.deadline(), self.hal.due_ms(now_ms))
        if due_ms < NEVER_MS:
            after_s = max(0.0, due_ms / 1000 - self._loop.time())
            self._timer = self._loop.call_later(after_s, self._step)


class WiredTable(HardwareInProcess):
    """A simulated table with drives where the dealer board's own motors would be."""

    def __init__(
        self,
        settings: MechanicsSettings,
        rng: random.Random,
        *,
        boots: Callable[[], int],
        told: ModbusMap | None = None,
    ) -> None:
        self.told = told or example()
        self.said: list[str] = []
        self.wire: Wire
        self.hal: ModbusHal
        self.board: ModbusBoard
        super().__init__(settings, rng, boots=boots)

    @property
    def drives(self) -> Drives:
        return self.wire.drives

    def start(self, name: BoardName, *why: Any, **other: Any) -> None:
        if name != "dealer":
            super().start(name, *why, **other)
            return
        slot = self._slots[name]
        loop = asyncio.get_running_loop()
        drives = Drives(self.world.set_output)
        for pin, level in self.world.dealer.levels.items():
            drives.at(pin, level)
        self.world.dealer.attach(drives.at)
        self.wire = Wire(drives, self.told.line.baud)
        self.hal = ModbusHal(
            self.told, self.wire, lambda: int(loop.time() * 1000 + 1e-6), self.said.append
        )
        core = DealerCore(self.hal, self._next_boot_id(), fw_hash=own_firmware_hash())
        self.board = ModbusBoard(core, slot.end, self.hal, self.wire)
        slot.board = self.board  # type: ignore[assignment]  # stands in its place

    async def settled(self) -> None:
        """Return once every unit was found, or not."""
        await asyncio.sleep(1)
        assert self.hal.has_tried_units
