"""Simulated tables whose boards are processes behind ptys: one table, or a hall of them."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sim.attendant import Attendant
from sim.boardprocess import BoardProcess, Interpreter, cpython
from sim.contacts import Contacts
from sim.control import Control
from sim.inproc import BOARDS, DEALER_ID, READER_ID, BoardName
from sim.mechanics.settings import Settings
from sim.mechanics.world import World
from sim.pinserver import PinServer


@dataclass(frozen=True)
class TablePlan:
    """One simulated table: its name, its folder, its mechanics and its boards.

    `folder` gets the ptys' links (`dealer`, `reader`), the sockets `control` and
    `pins`, and the boards' logs; it must exist and be short enough for a socket.
    """

    id: str
    folder: Path
    settings: Settings
    seed: int = 0
    interpreter: Interpreter | None = None
    attendant: bool = True
    dealer_id: str = DEALER_ID
    reader_id: str = READER_ID
    control: Path | None = None


class SimTable:
    """A world and two board processes, moved by people's hands over a control socket.

    `boots` gives boot ids that no board ever had. Use it as `async with`: nothing of
    it is left behind, neither process nor timer.
    """

    def __init__(self, plan: TablePlan, boots: Callable[[], int]) -> None:
        self.plan = plan
        self.world = World(plan.settings, random.Random(plan.seed))
        self.contacts = Contacts(self.world)
        self._boots = boots
        uids = dict(zip(BOARDS, (plan.dealer_id, plan.reader_id), strict=True))
        self.boards: dict[BoardName, BoardProcess] = {
            name: BoardProcess(
                self.world, name, uids[name], plan.interpreter or cpython(), plan.folder / name
            )
            for name in BOARDS
        }
        self.pins = PinServer(self.contacts, plan.folder / "pins")
        self.control = Control(self, plan.control or plan.folder / "control")
        self._attendant: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "SimTable":
        """Start boards, sockets and attendant."""
        try:
            for board in self.boards.values():
                board.start(self._boots())
            await self.pins.open()
            await self.control.open()
            self.attend(self.plan.attendant)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *why: object) -> None:
        await self.close()

    async def restart(self, name: BoardName) -> None:
        """Take a board's power and give it back: another boot, the same link."""
        await self.boards[name].close()
        self.boards[name].start(self._boots())

    def attend(self, on: bool) -> None:
        """Have a simulated person at the table, or none."""
        if self._attendant is not None:
            self._attendant.cancel()
            self._attendant = None
        if on:
            attendant = Attendant(self.world, self.contacts)
            self._attendant = asyncio.create_task(attendant.run(), name=f"{self.plan.id} attendant")

    def info(self) -> dict[str, Any]:
        """Return what a program needs to find its way: paths, ids, processes."""
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
            "boards": {
                name: {"pid": board.pid, "pty": board.pty, "boot": board.boot}
                for name, board in self.boards.items()
            },
        }

    async def close(self) -> None:
        """End the boards and everything else."""
        attendant = self._attendant
        self.attend(False)
        if attendant is not None:
            with suppress(asyncio.CancelledError):
                await attendant
        await self.control.close()
        await self.pins.close()
        for board in self.boards.values():
            await board.close()
        self.contacts.close()
        self.world.close()


def hall(plan: TablePlan, tables: int, root: Path) -> list[TablePlan]:
    """Return the plans of `tables` tables like `plan`, each with a folder below `root`.

    One table keeps the plan's name; of several, each has its own name, seed and board
    ids, so that no two could be taken for each other. The folders are made here.
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
                dealer_id=_numbered(plan.dealer_id, number),
                reader_id=_numbered(plan.reader_id, number),
                control=plan.control if tables == 1 else None,
            )
        )
    return plans


def _numbered(uid: str, number: int) -> str:
    """Return the id of table `number`: the last table's board never meets the first one's."""
    return f"{(int(uid, 16) + (number << 16)) % (1 << 64):016x}"
