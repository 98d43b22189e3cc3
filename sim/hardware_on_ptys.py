"""A simulated table with sockets, a simulated person, and boards on pseudo-terminals (ptys).

`HardwareOnPtys` is one table. Its boards run as processes, or inside this process as `PtyBoard`, so
that one process can simulate many tables.
"""

import asyncio
import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from drivers.firmware.protocol import RESET_POWER
from sim.attendant import Attendant
from sim.board_faults import BOARD_NAMES, BoardName, FaultableHardware
from sim.board_process import BoardProcess, Interpreter
from sim.hardware_in_process import BOARDS, DEALER_ID, READER_ID, FirmwareInProcess
from sim.mechanics.fault_menu import LACKS, FaultError, SimulatedFault, check_fault, fault_menu
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.panel_contacts import PanelContacts
from sim.serial_lines import LineNoise, PtyLine, PtyNoise
from sim.table_sockets import ControlError, ControlServer, PinServer


class PtyBoard(FirmwareInProcess):
    """One simulated board that runs in this process behind a pty.

    The class has the interface of BoardProcess, without a process: `pid` is always None, and `kill`
    removes the pty at once.
    """

    pid: int | None = None

    def __init__(self, world: World, name: BoardName, uid: str, line: PtyLine) -> None:
        super().__init__(world, name, uid, line)
        self.boot = 0
        self.line = line

    @property
    def link(self) -> Path:
        """The path of the symbolic link to the board's present pty."""
        return self.line.link

    @property
    def pty(self) -> str | None:
        """The path of the board's pty, or None while the board has no power or its cable is out."""
        return self.line.pty

    def start(
        self,
        boot: int,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start the board and plug its cable in. Do nothing if the board runs.

        `FirmwareInProcess.start` describes the arguments.
        """
        if self.board is None:
            self.boot = boot
            self.line.plug()
            super().start(boot, reset_cause, uid=uid, firmware=firmware)

    def kill(self) -> None:
        """Cut the power of the board. Its motors stop and its port vanishes."""
        super().kill()
        self.line.unplug()

    async def wait_until_gone(self) -> None:
        """Return at once, because this board has no process that must end first."""

    async def close(self) -> None:
        """Switch the board off and remove the symbolic link to its pty."""
        self.kill()
        self.link.unlink(missing_ok=True)


@dataclass(frozen=True)
class TablePlan:
    """The description of one simulated table: its name, folder, mechanics and boards.

    `folder` receives the links of the ptys (`dealer`, `reader`), the sockets `control` and `pins`,
    and the boards' logs. It must exist, and its path must be short enough for a socket.
    `interpreter` runs the boards as processes. With None the boards run inside this process.
    `relay`: the lines of board processes pass through this process, so that lines can be unplugged
    and distorted. Lines of boards inside this process always pass through it.
    """

    id: str
    folder: Path
    settings: MechanicsSettings
    seed: int = 0
    interpreter: Interpreter | None = None
    attendant: bool = True
    dealer_id: str = DEALER_ID
    reader_id: str = READER_ID
    control: Path | None = None
    relay: bool = False


class HardwareOnPtys(FaultableHardware):
    """A simulated table: mechanics, two boards behind ptys, and sockets for control and panel pins.

    `boots` returns boot ids that no board ever had. The class carries out the faults of its boards,
    and the faults of its lines if the bytes pass through this process. It raises FaultError for
    others. Use it as `async with`, so that no process and no timer remains.
    """

    def __init__(self, plan: TablePlan, boots: Callable[[], int]) -> None:
        super().__init__()
        self.plan, self._next_boot_id = plan, boots
        self._pending_starts: dict[BoardName, asyncio.Task[None]] = {}
        rng = random.Random(plan.seed)
        self.world = World(plan.settings, rng, self._faults.handlers())
        self.contacts = PanelContacts(self.world)
        self._noise = LineNoise(self.world.faults, rng)
        uids = dict(zip(BOARDS, (plan.dealer_id, plan.reader_id), strict=True))
        self.boards: dict[BoardName, BoardProcess | PtyBoard] = {
            name: self._make_board(name, uids[name]) for name in BOARDS
        }
        self.pins = PinServer(self.contacts, plan.folder / "pins")
        control_path = plan.control or plan.folder / "control"
        self.control = ControlServer(self.world, self.contacts, control_path)
        self.control.handlers |= {
            "info": self.info,
            "kill": lambda board: self.boards[_board_name(board)].kill(),
            "restart": lambda board: self.restart(_board_name(board)),
            "attendant": lambda on: self.set_attendant(bool(on)),
            "fault": self._add_fault,
            "mend": self.mend,
            "cross": self.swap_cables,
        }
        self._attendant: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "HardwareOnPtys":
        """Start the boards and the sockets, and the simulated person if the plan has one."""
        try:
            for board in self.boards.values():
                board.start(self._next_boot_id())
            await self.pins.open()
            await self.control.open()
            self.set_attendant(self.plan.attendant)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.close()

    async def restart(self, name: BoardName) -> None:
        """End the faults of all boards and cables, then restart board `name` with a new boot id."""
        self.mend()
        await self.boards[name].close()
        self.boards[name].start(self._next_boot_id())

    def start(
        self,
        name: BoardName,
        reset_cause: int = RESET_POWER,
        *,
        uid: bytes | None = None,
        firmware: bytes | None = None,
    ) -> None:
        """Start board `name` as soon as the board's earlier process has ended. Return at once.

        Replace a scheduled start that still waits. sim/board_faults.py describes the arguments.
        """

        async def start() -> None:
            await self.boards[name].wait_until_gone()
            self.boards[name].start(self._next_boot_id(), reset_cause, uid=uid, firmware=firmware)

        if (waiting := self._pending_starts.get(name)) is not None:
            waiting.cancel()
        self._pending_starts[name] = asyncio.create_task(
            start(), name=f"{self.plan.id} {name} starts"
        )

    def kill(self, name: BoardName) -> None:
        """Cut the power of a board. Its port vanishes."""
        self.boards[name].kill()

    def pull_cable(self, name: BoardName) -> None:
        """Pull a board's cable out. The board keeps its power."""
        if (line := self.boards[name].line) is not None:
            line.unplug()

    def plug_cable(self, name: BoardName) -> None:
        """Plug a board's cable in again."""
        if (line := self.boards[name].line) is not None:
            line.plug()

    def swap_cables(self) -> None:
        """Swap the cables of the two boards at the computer's end. Raises FaultError without lines.

        A second call restores the cables. A restart of a board does not.
        """
        dealer, reader = (self.boards[name].line for name in BOARDS)
        if dealer is None or reader is None:
            raise FaultError(_NO_LINES.format("cross"))
        for line in (dealer, reader):
            line.unplug()
        dealer.link, reader.link = reader.link, dealer.link
        for line in (dealer, reader):
            line.plug()

    def set_attendant(self, on: bool) -> None:
        """Start the simulated person at the table if `on` is True, else stop that person."""
        if self._attendant is not None:
            self._attendant.cancel()
            self._attendant = None
        if on:
            attendant = Attendant(self.world, self.contacts, self.mend)
            self._attendant = asyncio.create_task(attendant.run(), name=f"{self.plan.id} attendant")

    def info(self) -> dict[str, Any]:
        """Return this table's paths, ids and settings, for programs that connect to the table."""
        folder = self.plan.folder
        return {
            "table": self.plan.id,
            "dealer": str(folder / "dealer"),
            "reader": str(folder / "reader"),
            "dealer_id": self.plan.dealer_id,
            "reader_id": self.plan.reader_id,
            "control": str(self.plan.control or folder / "control"),
            "pins": str(folder / "pins"),
            "speed": self.world.clock.speed,
            "attendant": self._attendant is not None,
            "boards": {
                name: {"pid": board.pid, "pty": board.pty, "boot": board.boot}
                for name, board in self.boards.items()
            },
        }

    def make_line(self, name: BoardName, spoil: PtyNoise) -> PtyLine:
        """Return a new pty line for the board `name`, on which `spoil` distorts the bytes."""
        return PtyLine(self.plan.folder / name, spoil)

    def _make_board(self, name: BoardName, uid: str) -> BoardProcess | PtyBoard:
        plan, link = self.plan, self.plan.folder / name
        line = self.make_line(name, partial(self._noise.distort, name))
        if plan.interpreter is None:
            return PtyBoard(self.world, name, uid, line)
        relay = line if _can_disturb(plan) else None
        return BoardProcess(self.world, name, uid, plan.interpreter, link, relay)

    def _add_fault(self, **fields: Any) -> None:
        fault = msgspec.convert(fields, SimulatedFault)
        if fault_menu()[check_fault(fault).name].strikes == "line" and not _can_disturb(self.plan):
            raise FaultError(_NO_LINES.format(fault.name))
        self.world.add_fault(fault)

    async def close(self) -> None:
        """Stop the boards, the sockets, the simulated person and the simulated mechanics."""
        self._faults.close()
        for starting in self._pending_starts.values():
            starting.cancel()
        attendant = self._attendant
        self.set_attendant(False)
        if attendant is not None:
            with suppress(asyncio.CancelledError):
                await attendant
        await self.control.close()
        await self.pins.close()
        for board in self.boards.values():
            await board.close()
        self.contacts.close()
        self.world.close()


def _board_name(name: str) -> BoardName:
    if name in BOARD_NAMES:
        return BOARD_NAMES[name]
    raise ControlError(f"a board is {' or '.join(BOARDS)}, not {name!r}")


_NO_LINES = f"{{}}: {LACKS} lines to its board processes; start it with --relay"


def _can_disturb(plan: TablePlan) -> bool:
    """Return True if this process can unplug the boards' serial cables and distort bytes on them.

    This is so if the boards run in this process, or if the plan has a relay or a fault of a line.
    """
    if plan.interpreter is None or plan.relay:
        return True
    together = (fault for each in plan.settings.together for fault in each.faults)
    faults = (*plan.settings.faults, *together)
    return any(fault_menu()[fault.name].strikes == "line" for fault in faults)


def refuse_host_faults(faults: Iterable[SimulatedFault]) -> None:
    """Raise FaultError if one of `faults` has no rate and strikes the host (the table's computer).

    This process simulates no host. A fault of the host with a rate is accepted and never strikes.
    """
    for fault in faults:
        if fault_menu()[fault.name].strikes == "host" and not fault.rate:
            raise FaultError(f"{fault.name}: {LACKS} daemon to kill")


def plan_tables(plan: TablePlan, tables: int, root: Path) -> list[TablePlan]:
    """Return one plan for each of `tables` tables: a copy of `plan` with a new folder below `root`.

    A single table keeps the plan's name. Several tables have their own names, seeds and board ids,
    so that no two can be confused. The folders are created here.
    """
    plans = []
    for number in range(tables):
        name = plan.id if tables == 1 else f"{plan.id}-{number + 1:02d}"
        folder = root / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        plans.append(
            replace(
                plan,
                id=name,
                folder=folder,
                seed=plan.seed + number,
                dealer_id=_numbered_id(plan.dealer_id, number),
                reader_id=_numbered_id(plan.reader_id, number),
                control=plan.control if tables == 1 else None,
            )
        )
    return plans


def _numbered_id(uid: str, number: int) -> str:
    """Return the hexadecimal board id `uid`, increased by `number` × 65536 (modulo 2⁶⁴)."""
    return f"{(int(uid, 16) + (number << 16)) % (1 << 64):016x}"
