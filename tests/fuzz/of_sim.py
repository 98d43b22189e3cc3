"""The simulator's own doors: faults as people write them, its control socket, its pins."""

import asyncio
import random
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.fault_menu import FaultError, SimulatedFault, WearLevel, load_wear, parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.panel_contacts import PanelContacts
from sim.table_sockets import ControlServer, PinServer
from sim.virtual_loop import VirtualLoop
from tests.fuzz.folders import file, folder
from tests.fuzz.refusals import a_word

MOST_LINES = 30
WAIT_S = 3600.0


def faults(data: bytes) -> None:
    """A fault on the command line is one of the menu, or is refused in a line."""
    for line in data.decode(errors="surrogateescape").split("\n")[:MOST_LINES]:
        try:
            found = parse_fault(line)
        except FaultError as error:
            a_word(error)
            continue
        assert isinstance(found, SimulatedFault)


def wear_toml(data: bytes) -> None:
    """A wear level of one's own is one, or is refused."""
    with file("level.toml", data) as path:
        try:
            found = load_wear(path)
        except FaultError as error:
            a_word(error)
        else:
            assert isinstance(found, WearLevel)


def control(data: bytes) -> None:
    """Every request of the control socket gets an answer that can be sent; a table stays one."""
    with folder() as at, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(_controlled(data, at))


async def _controlled(data: bytes, at: Path) -> None:
    boots = count(1)
    table = HardwareInProcess(MechanicsSettings(), random.Random(1), boots=lambda: next(boots))
    contacts = PanelContacts(table.world)
    desk = ControlServer(table.world, contacts, at / "control")
    desk.handlers |= {
        "info": dict,
        "kill": lambda board: table.kill(board),
        "restart": _restarted(table),
        "attendant": bool,
    }
    pins = PinServer(contacts, at / "pins")
    try:
        for line in data.split(b"\n")[:MOST_LINES]:
            pins._handle_line(line.split())
            try:
                async with asyncio.timeout(WAIT_S):
                    answer = await desk.answer(line)
            except TimeoutError:
                return  # it holds a button for as long as it was asked to
            said = msgspec.json.encode(answer)
            assert b"\n" not in said
            await asyncio.sleep(0.05)
    finally:
        contacts.close()
        table.close()


def _restarted(table: HardwareInProcess) -> Any:
    async def restart(name: Any) -> None:
        table.kill(name)
        table.start(name)

    return restart
