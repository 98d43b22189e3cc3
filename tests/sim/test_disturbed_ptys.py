"""Faults of boards and lines behind ptys, with boards inside the simulator and as processes."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from drivers.errors import LineLost
from drivers.link.frames import Welcome
from drivers.link.link import Link
from drivers.link.serial_port import SerialPort
from sim.board_faults import BoardName
from sim.board_process import Interpreter, cpython_interpreter, micropython_interpreter
from sim.hardware_in_process import BOARDS
from sim.hardware_on_ptys import HardwareOnPtys, TablePlan, refuse_host_faults
from sim.mechanics.fault_menu import FaultError, SimulatedFault
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.sim.host import SESSIONS, Host
from tests.sim.orders import order_of
from tests.waiting import turn, until

CARDS = 20

Start = Callable[..., Awaitable[HardwareOnPtys]]


@pytest.fixture(
    params=[
        "inside",
        pytest.param("cpython", marks=pytest.mark.slow),
        pytest.param("micropython", marks=pytest.mark.micropython),
    ]
)
def interpreter(request: pytest.FixtureRequest) -> Interpreter | None:
    if request.param == "micropython":
        return micropython_interpreter(request.getfixturevalue("micropython"))
    return cpython_interpreter() if request.param == "cpython" else None


@pytest.fixture
async def start(runtime_dir: Path, interpreter: Interpreter | None) -> AsyncIterator[Start]:
    """Start a table with faults: `await start(Fault(...), relay=True)`."""
    boots = itertools.count(1)
    started: list[HardwareOnPtys] = []

    async def make(*faults: SimulatedFault, relay: bool = True) -> HardwareOnPtys:
        settings = MechanicsSettings(cards=CARDS, speed=20.0, faults=faults)
        plan = TablePlan(
            "T", runtime_dir, settings, interpreter=interpreter, attendant=False, relay=relay
        )
        table = HardwareOnPtys(plan, lambda: next(boots))
        started.append(table)
        await table.__aenter__()
        return table

    yield make
    for table in started:
        await table.close()


async def host_of(table: HardwareOnPtys) -> Host:
    folder = table.plan.folder
    host = Host(
        SerialPort(str(folder / "dealer"), 921600), SerialPort(str(folder / "reader"), 921600)
    )
    await host.open()
    return host


async def lost(host: Host, board: str) -> LineLost:
    """Wait until the host's line to a board is down."""
    link = host.dealer.link if board == "dealer" else host.reader.link
    down: asyncio.Future[LineLost] = asyncio.get_running_loop().create_future()
    link.on_down = down.set_result
    return await down


async def until_over(table: HardwareOnPtys) -> None:
    """Wait until no fault is in force and every board has its port."""
    await until(
        lambda: not table.world.active_faults() and all(b.pty for b in table.boards.values())
    )


async def deals_again(table: HardwareOnPtys) -> None:
    """A new host finds both boards and deals."""
    await table.world.people.collect()
    host = await host_of(table)
    await host.deal(2, order_of(CARDS))
    assert sum(map(len, table.world.truth().pockets)) == CARDS
    host.close()


async def test_a_deal_goes_through_a_line_that_spoils_its_bytes(start: Start) -> None:
    table = await start(
        *(
            SimulatedFault(
                name, rate=0.03, board=board, way=way, ms=30.0 if name == "bytes_delayed" else 20.0
            )
            for name in ("bytes_dropped", "bytes_repeated", "bytes_corrupted", "bytes_delayed")
            for board in ("dealer", "reader")
            for way in ("to_board", "to_host")
        )
    )
    host = await host_of(table)
    await host.deal(1, order_of(CARDS))
    assert sum(map(len, table.world.truth().pockets)) == CARDS
    assert {struck.fault.name for struck in table.world.faults.past_strikes} >= {"bytes_dropped"}
    host.close()


async def test_an_unplugged_board_keeps_its_power_and_is_found_again(start: Start) -> None:
    table = await start()
    host = await host_of(table)
    going = asyncio.create_task(lost(host, "dealer"))
    await turn()
    boot, pid = table.boards["dealer"].boot, table.boards["dealer"].pid
    table.world.add_fault(SimulatedFault("unplugged", board="dealer", for_ms=200))
    assert "dealer" in str(await going)
    assert not table.boards["dealer"].link.is_symlink()
    host.close()
    await until_over(table)
    assert (table.boards["dealer"].boot, table.boards["dealer"].pid) == (boot, pid)
    await deals_again(table)


async def test_a_board_that_resets_is_found_with_another_boot(start: Start) -> None:
    table = await start()
    host = await host_of(table)
    going = asyncio.create_task(lost(host, "reader"))
    await turn()
    boot = table.boards["reader"].boot
    table.world.add_fault(SimulatedFault("board_reset", board="reader"))
    await going
    host.close()
    await until(lambda: table.boards["reader"].boot != boot)
    await deals_again(table)


async def test_a_board_that_hangs_a_moment_goes_on_and_for_long_is_reset(start: Start) -> None:
    table = await start()
    boot = table.boards["dealer"].boot
    table.world.add_fault(SimulatedFault("board_silent", board="dealer", for_ms=100))
    await until(lambda: table.world.faults.past_strikes)
    await until_over(table)
    assert table.boards["dealer"].boot == boot
    table.world.add_fault(SimulatedFault("board_silent", board="dealer"))
    await until(lambda: table.boards["dealer"].boot != boot)
    await deals_again(table)


@pytest.mark.parametrize("name", ["foreign_board", "foreign_firmware"])
async def test_another_board_in_its_place_says_so_until_its_own_is_put_back(
    start: Start, name: str
) -> None:
    table = await start()
    mine = await said(table)
    table.world.add_fault(SimulatedFault(name, board="dealer"))
    await until(lambda: table.boards["dealer"].boot != mine.boot)
    other = await said(table)
    assert (other.uid != mine.uid) == (name == "foreign_board")
    assert (other.firmware_hash != mine.firmware_hash) == (name == "foreign_firmware")
    table.mend()
    await until_over(table)
    await until(lambda: table.boards["dealer"].boot != other.boot)
    again = await said(table)
    assert (again.uid, again.firmware_hash) == (mine.uid, mine.firmware_hash)


async def test_a_board_that_is_replaced_for_a_moment_is_its_own_again(start: Start) -> None:
    table = await start()
    mine = await said(table)
    table.world.add_fault(SimulatedFault("foreign_firmware", board="dealer", for_ms=0.1))
    await until(lambda: table.boards["dealer"].boot != mine.boot)
    await until_over(table)
    again = await said(table)
    assert (again.uid, again.firmware_hash) == (mine.uid, mine.firmware_hash)


async def test_a_board_restarted_behind_crossed_cables_takes_no_port_from_the_other(
    start: Start,
) -> None:
    table = await start()
    table.swap_cables()
    await table.restart("dealer")
    assert all((table.plan.folder / name).is_symlink() for name in BOARDS)
    assert (await said(table, "reader")).kind == "dealer"
    assert (await said(table, "dealer")).kind == "reader"


async def test_a_board_that_lost_power_while_unplugged_is_found_again_when_it_is_mended(
    start: Start,
) -> None:
    table = await start()
    table.world.add_fault(SimulatedFault("unplugged", board="dealer"))
    await until(lambda: table.boards["dealer"].pty is None)
    table.kill("dealer")
    await table.boards["dealer"].wait_until_gone()
    await table.restart("dealer")
    assert (table.plan.folder / "dealer").is_symlink()
    assert (await said(table)).kind == "dealer"


async def said(table: HardwareOnPtys, port: BoardName = "dealer") -> Welcome:
    """Return what the board behind a port says of itself."""
    path = table.plan.folder / port
    link = Link(SerialPort(str(path), 921600), port, session_ids=lambda: next(SESSIONS))
    await until(path.is_symlink)
    try:
        return await link.open({}, {})
    finally:
        link.close()


async def test_a_line_that_passes_the_simulator_by_refuses_its_faults(
    start: Start, interpreter: Interpreter | None
) -> None:
    table = await start(relay=False)
    answer = await table.control.answer(b'{"do": "fault", "with": {"name": "unplugged"}}')
    assert answer.ok == (interpreter is None)
    if not answer.ok:
        assert answer.error == (
            "fault: unplugged: this simulator has no lines to its board processes; "
            "start it with --relay"
        )


def test_a_simulator_without_a_daemon_refuses_to_kill_it() -> None:
    with pytest.raises(FaultError, match="this simulator has no daemon to kill"):
        refuse_host_faults([SimulatedFault("daemon_killed")])
