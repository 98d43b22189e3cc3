"""Every cable of a table off, in another's place, or another table's: named, and no motion."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

from controller.faults import fault
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from drivers.errors import PortMissing
from drivers.link.serial_port import LinkPort
from sim.board_faults import BoardName
from sim.hardware_in_process import BOARDS, DEALER_ID, READER_ID, HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.panel_contacts import BUTTONS, SWITCHES
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from tests.machine.panel_contacts import at_panel
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual

LOOK_S = 5.0
"""So long nothing may move: three times as long as boards are looked for anew."""
NOTHING = "nothing"
OWN: dict[str, BoardName] = {"dealer": "dealer", "reader": "reader"}
FOREIGN: dict[str, BoardName] = {"dealer of T02": "dealer", "reader of T02": "reader"}
IDS = {
    "dealer": DEALER_ID,
    "reader": READER_ID,
    "dealer of T02": "00000000000100d1",
    "reader of T02": "00000000000100e1",
}
ENDS = (*OWN, *FOREIGN, NOTHING)
"""What a cable in the computer's socket may lead to."""
WRONG = [
    ends
    for ends in product(ENDS, ENDS)
    if ends != ("dealer", "reader") and (ends[0] != ends[1] or ends[0] == NOTHING)
]


class NoCable:
    """A socket of the computer without a cable (a Port)."""

    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        raise PortMissing(self._path, "no such file or directory")

    def write(self, data: bytes) -> None:
        return

    def close(self) -> None:
        return


@asynccontextmanager
async def two_tables() -> AsyncIterator[tuple[HardwareInProcess, HardwareInProcess]]:
    """Give this table's boards and mechanics, and those of T02."""
    boots = count(100)
    own, foreign = (
        HardwareInProcess(
            MechanicsSettings(), random.Random(1), boots=lambda: next(boots), ids=(dealer, reader)
        )
        for dealer, reader in (
            (IDS["dealer"], IDS["reader"]),
            (IDS["dealer of T02"], IDS["reader of T02"]),
        )
    )
    yield own, foreign
    own.close()
    foreign.close()


def wired(
    ends: tuple[str, str], own: HardwareInProcess, foreign: HardwareInProcess
) -> dict[BoardName, LinkPort]:
    """Return what the computer has at its sockets for dealer and reader."""
    ports: dict[BoardName, LinkPort] = {}
    for socket, end in zip(BOARDS, ends, strict=True):
        if end == NOTHING:
            ports[socket] = NoCable(f"{socket} pipe")
        else:
            ports[socket] = own.port(OWN[end]) if end in OWN else foreign.port(FOREIGN[end])
    return ports


def told(socket: BoardName, end: str) -> tuple[str, str, str, str, str] | None:
    """Return the alert that is right for what stands at a socket: its name, and its words."""
    evidence: dict[str, object] = {"board": socket, "port": f"{socket} pipe"}
    evidence |= {"expected": IDS[socket], "found": IDS.get(end)}
    if end == socket:
        return None
    if end == NOTHING:
        name = "PORT_MISSING"
    elif end in OWN:
        name = "BOARDS_SWAPPED"
    elif FOREIGN[end] == socket:
        name = "WRONG_BOARD"
    else:
        name = "WRONG_KIND"
        evidence |= {"expected": socket, "found": f"{FOREIGN[end]} ({IDS[end]})"}
    row = fault(name)
    words = (row.cause(evidence), row.cause(evidence, "zh"))
    return name, *words, row.action(evidence), row.action(evidence, "zh")


def alerts(state: PublicState) -> set[tuple[str, str, str, str, str]]:
    return {(one.name, one.cause, one.cause_zh, one.action, one.action_zh) for one in state.alerts}


async def stands(at: TableInProcess, *tables: HardwareInProcess) -> None:
    """See that no order moves anything, and nothing moves by itself."""
    before = [sim.world.truth() for sim in tables]
    assert at.states[-1].machine.phase is MachinePhase.FAULT
    refused = await at.send_command(Role.REFEREE, "start_deal")
    assert refused.error is not None
    assert refused.error.code == "WRONG_PHASE"
    await asyncio.sleep(LOOK_S)
    assert [sim.world.truth() for sim in tables] == before


@pytest.mark.parametrize("ends", WRONG, ids="; ".join)
async def test_what_stands_at_each_socket_is_named_rightly_and_nothing_moves(
    runtime_dir: Path, ends: tuple[str, str]
) -> None:
    right = {told(socket, end) for socket, end in zip(BOARDS, ends, strict=True)} - {None}
    async with two_tables() as (own, foreign):
        ports = wired(ends, own, foreign)
        options: dict[str, Any] = {"sim": own, "wrap_port": lambda board, port: ports[board]}
        async with run_table_in_process(MechanicsSettings(), runtime_dir, **options) as at:
            await at.wait_for_state(lambda state: len(alerts(state)) == len(right))
            assert alerts(at.states[-1]) == right
            await stands(at, own, foreign)
            assert alerts(at.states[-1]) == right


@pytest.mark.parametrize("card", [1, 54])
async def test_cables_that_are_swapped_in_mid_deal_void_it_and_deal_once_put_right(
    table: Tables, card: int
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        await at.send_command(Role.TABLE, "cut", n=40)
        await at.wait_for_state(lambda state: state.machine.fed >= card)
        at.sim.swap_cables()
        lost = await at.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert lost.fairness[-1].outcome is AttemptOutcome.VOID
        assert lost.fairness[-1].reasons == ["LINE_LOST"]
        await at.wait_for_state(lambda state: {"BOARDS_SWAPPED", "LINE_LOST"} == {*names(state)})
        await stands(at, at.sim)
        at.sim.swap_cables()
        await at.wait_for_state(
            lambda state: not any(one.name == "BOARDS_SWAPPED" for one in state.alerts)
        )
        await at.sim.world.people.collect()
        again = await at.play_attempt()
        assert (again.fairness[-1].outcome, again.alerts) == (AttemptOutcome.OK, [])


# -- wires that carry no words ----------------------------------------------------

CONTACTS = {**BUTTONS, **SWITCHES}
CUT = {
    "the lid's wire": (("lid",), {"LID_OPENED"}),
    "the emergency stop's wire": (("estop",), {"ESTOP_PRESSED"}),
    "the panel's plug": (tuple(CONTACTS), {"LID_OPENED", "ESTOP_PRESSED"}),
}


def names(state: PublicState) -> list[str]:
    return [one.name for one in state.alerts]


@pytest.mark.parametrize(("wires", "right"), CUT.values(), ids=list(CUT))
async def test_a_wire_of_the_panel_that_goes_off_in_mid_deal_is_an_opening_and_ends_it(
    table: Tables, wires: tuple[str, ...], right: set[str]
) -> None:
    async with table() as at:
        contacts = await at_panel(at)
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        await at.send_command(Role.TABLE, "cut", n=40)
        await at.wait_for_state(lambda state: state.machine.fed >= 20)
        for wire in wires:
            contacts.set_pin(CONTACTS[wire], True)
        state = await at.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        assert state.fairness[-1].outcome is AttemptOutcome.VOID
        assert {*state.fairness[-1].reasons} <= right
        state = await at.wait_for_state(lambda state: {*names(state)} & right != set())
        for one in state.alerts:
            row = fault(one.name)
            assert (one.cause_zh, one.action_zh) == (row.cause({}, "zh"), row.action({}, "zh"))
        await stands(at, at.sim)
        contacts.close()


@pytest.mark.parametrize("wires", [("estop",), tuple(CONTACTS)], ids=["its wire", "the plug"])
async def test_an_emergency_stop_whose_wire_is_off_lets_no_deal_begin(
    table: Tables, wires: tuple[str, ...]
) -> None:
    async with table() as at:
        contacts = await at_panel(at)
        await at.wait_for_phase(MachinePhase.EMPTY)
        for wire in wires:
            contacts.set_pin(CONTACTS[wire], True)
        await at.wait_for_state(lambda state: names(state) == ["ESTOP_PRESSED"])
        await stands(at, at.sim)
        contacts.close()


async def test_a_trigger_wire_that_is_off_is_named_and_gives_no_hands(table: Tables) -> None:
    async with table("pulse_lost:repeat=true") as at:
        state = await at.play_attempt()
        assert state.fairness[-1].outcome is AttemptOutcome.MISDEAL
        assert state.fairness[-1].reasons == ["PULSE_COUNT"]
        assert any("trigger wire" in one.action for one in state.alerts)
        assert any("触发线" in one.action_zh for one in state.alerts)
