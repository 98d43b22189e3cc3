"""`dealtable adapter modbus` as people start it, on ptys: drives of another program's make."""

import asyncio
import itertools
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import pytest

from drivers.board_events import BoardEvent, BoardEventCode
from drivers.errors import BoardRefused, BoardResult
from drivers.firmware.pins import LIFT_STAY, LIFT_UP
from drivers.link.serial_port import SerialPort
from sim.board_faults import BoardName
from sim.board_process import BoardProcess, Interpreter
from sim.hardware_in_process import DEALER_ID
from sim.hardware_on_ptys import HardwareOnPtys, PtyBoard, TablePlan
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.adapters import drives
from tests.adapters.modbus_rig import EXAMPLE, TURNAROUND_MS
from tests.processes.program import Program
from tests.sim.host import Host
from tests.sim.orders import order_of
from tests.waiting import until

pytestmark = pytest.mark.slow

BAUD = 115_200
# A test server's processes may be kept waiting for longer than a table's.
LONGER = {
    "timeout_ms = 30 ": "timeout_ms = 250 ",
    "value = 500": "value = 1500",
    "limit_ms = 1500": "limit_ms = 6000",
}
LIMITS = {"feed_limit_ms": 5000, "pass_limit_ms": 5000, "gate_limit_ms": 2000}
LIMITS |= {"landing_window_ms": 2000, "silence_ms": 2000}
FEW = 12
HOUR_MS = 3_600_000.0
LIFT_MS = MechanicsSettings().lift_ms


class DrivenTable(HardwareOnPtys):
    """A simulated table whose dealer's pins are wired to drives; their line is at `rs485`."""

    def _make_board(self, name: BoardName, uid: str) -> BoardProcess | PtyBoard:
        if name != "dealer":
            return super()._make_board(name, uid)
        program = (sys.executable, drives.__file__, str(BAUD), str(TURNAROUND_MS))
        none: Mapping[str, str] = MappingProxyType({})
        units = Interpreter(program, none, ("PYTHONPATH", "nowhere"))
        return BoardProcess(self.world, name, uid, units, self.plan.folder / "rs485")


class Rig:
    """The drives' process, the adapter's, and a host on the ptys of adapter and reader."""

    def __init__(self, table: DrivenTable, config: Path) -> None:
        self.table, self.config = table, config
        folder = table.plan.folder
        self.link = folder / "dealer"
        self.host = Host(
            SerialPort(str(self.link), 921_600), SerialPort(str(folder / "reader"), 921_600)
        )
        self.adapter: Program

    async def start(self) -> None:
        """Start the adapter, and the host behind it."""
        self.adapter = await Program.start("adapter", "modbus", self.config)
        await self.adapter.line(f"board {DEALER_ID} at")
        await self.host.open()
        await self.driven()
        for setting, limit_ms in LIMITS.items():
            await self.host.dealer.configure(setting, limit_ms)

    async def driven(self) -> None:
        """Retract the lift as soon as every drive answers."""
        while True:
            with suppress(BoardRefused):  # NO_DRIVE: an event follows when all of them answer
                return await self.host.dealer.retract()
            await until(lambda: self.drive_events()[-1].place)

    def drive_events(self) -> list[BoardEvent]:
        """Return the reports that a drive is away (place 0), or that all are there (1)."""
        return [event for event in self.host.events if event.code is BoardEventCode.DRIVE]

    def driven_to(self, motor: str) -> int | None:
        """Return what the drives ask of a motor; None where nothing drives it."""
        return self.table.world.motors[motor]._drive_value


@pytest.fixture
async def make(
    runtime_dir: Path, tmp_path: Path
) -> AsyncIterator[Callable[..., "asyncio.Future[Rig]"]]:
    """Make a table with drives of its own: `await make(cards=12)`."""
    boots = itertools.count(100)
    made: list[Rig] = []
    text = EXAMPLE.read_text()
    for key, value in {
        "id": DEALER_ID,
        "link": str(runtime_dir / "dealer"),
        "folder": str(tmp_path / "adapter"),
        "port": str(runtime_dir / "rs485"),
        "parity": "none",  # a pty knows no other
    }.items():
        (line,) = [one for one in text.splitlines() if one.startswith(f"{key} =")]
        text = text.replace(line, f'{key} = "{value}"')
    for said, patient in LONGER.items():
        assert said in text
        text = text.replace(said, patient)
    config = tmp_path / "modbus.toml"
    config.write_text(text)

    async def build(cards: int, lift_ms: float) -> Rig:
        settings = MechanicsSettings(cards=cards, lift_ms=lift_ms)
        plan = TablePlan("T01", runtime_dir, settings, seed=1, attendant=False)
        table = DrivenTable(plan, lambda: next(boots))
        made.append(Rig(table, config))
        await table.__aenter__()
        await until(lambda: made[-1].driven_to("feed") is not None)  # the drives run
        return made[-1]

    yield lambda cards=FEW, lift_ms=LIFT_MS: asyncio.ensure_future(build(cards, lift_ms))
    for rig in made:
        rig.host.close()
        with suppress(AttributeError):
            await rig.adapter.close()
        await rig.table.close()


Make = Callable[..., "asyncio.Future[Rig]"]


async def test_a_deal_over_a_modbus_line_with_every_end_a_process(
    make: Make, scale: Callable[[int], int]
) -> None:
    cards = max(FEW, scale(108) // 4 * 4)
    rig = await make(cards=cards)
    await rig.start()
    await rig.host.deal(1, order_of(cards))
    pockets = [len(pocket) for pocket in rig.table.world.truth().pockets]
    assert pockets == [cards // 4] * 4 + [0]
    await rig.host.release()
    assert rig.table.world.truth().lift_up
    done = await rig.adapter.end(signal.SIGTERM)
    assert done.code == 0
    assert "inputs are read in 2 requests, every" in done.err
    assert "cannot promise: limits in the board" in done.err
    assert not rig.link.exists()


async def test_a_line_that_is_cut_is_told_by_the_adapter_and_found_again(make: Make) -> None:
    rig = await make()
    await rig.start()
    dealing = asyncio.ensure_future(rig.host.deal(1, order_of(FEW)))
    await rig.host.until(BoardEventCode.AT_READER, 2)
    rig.table.kill("dealer")
    await rig.host.until(BoardEventCode.DRIVE)
    dealing.cancel()
    await until(lambda: {rig.driven_to(motor) for motor in rig.table.world.motors} == {None})
    with pytest.raises(BoardRefused) as refused:
        await rig.host.dealer.retract()
    assert refused.value.result is BoardResult.NO_DRIVE
    await rig.table.boards["dealer"].wait_until_gone()
    rig.table.start("dealer")
    await until(lambda: rig.drive_events()[-1].place)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_an_adapter_that_ends_leaves_no_motion_on(make: Make, how: signal.Signals) -> None:
    """Ended, it stops every drive; killed, the watchdogs that it has armed do."""
    rig = await make(cards=4, lift_ms=HOUR_MS)
    await rig.start()
    await rig.host.deal(1, order_of(4))
    await rig.host.dealer.release(1)
    await until(lambda: rig.driven_to("lift") == LIFT_UP)
    rig.adapter.process.send_signal(how)
    await rig.adapter.process.wait()
    await until(lambda: rig.driven_to("lift") == LIFT_STAY)
    truth = rig.table.world.truth()
    assert (truth.lift_up, truth.lift_down) == (False, False)


async def test_the_check_reads_every_mapped_place_and_moves_nothing(make: Make) -> None:
    rig = await make()
    before = rig.table.world.truth()
    done = await (await Program.start("adapter", "modbus", rig.config, "--check")).end()
    assert done.code == 0, done.err
    rows = {line.split("│")[1].strip(): line for line in done.out.splitlines() if "│" in line}
    for name in ("hopper", "lid", "land_4 (counter)", "gate_at", "feed", "watchdog of lift"):
        assert name in rows, done.out
    assert " on " in rows["hopper"]
    assert rig.table.world.truth() == before
    rig.table.kill("dealer")
    await rig.table.boards["dealer"].wait_until_gone()
    away = await (await Program.start("adapter", "modbus", rig.config, "--check")).end()
    assert away.code == 2
    assert "rs485 cannot be used" in away.err
