"""Faults of boards and cables in process, as a host at the other end of the line meets them."""

import asyncio
import itertools
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from importlib import resources

import pytest

from drivers.errors import DriverError, LineLost, PortMissing
from drivers.firmware.protocol import RESET_POWER, RESET_WATCHDOG
from sim.board_faults import BLAME_AFTER_MS, FOREIGN_FIRMWARE, FOREIGN_UID, REBOOT_MS, WATCHDOG_MS
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.fault_effects import is_outside
from sim.mechanics.fault_menu import FaultError, SimulatedFault, fault_menu, get_wear_level
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from tests.sim.host import Host
from tests.sim.orders import order_of

pytestmark = pytest.mark.virtual

ECHO_S = BLAME_AFTER_MS / 1000 + 0.1
Rig = Callable[..., tuple[HardwareInProcess, Host]]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """Make a table of 20 cards and a host on its lines: `rig(Fault(...))`."""
    made: list[tuple[HardwareInProcess, Host]] = []
    boots = itertools.count(100)

    def make(*faults: SimulatedFault) -> tuple[HardwareInProcess, Host]:
        settings = MechanicsSettings(cards=20, faults=faults)
        table = HardwareInProcess(settings, random.Random(1), boots=lambda: next(boots))
        made.append((table, Host(table.port("dealer"), table.port("reader"))))
        return made[-1]

    yield make
    for table, host in made:
        host.close()
        table.close()


def _in_force(table: HardwareInProcess) -> list[str]:
    return [struck.fault.name for struck in table.world.active_faults()]


async def _welcome(host: Host) -> tuple[bytes, bytes, int]:
    """Open the dealer's line anew; return id, firmware's hash and reset cause."""
    host.dealer.link.close()
    welcome = await host.dealer.link.open({}, {})
    return bytes.fromhex(welcome.uid), bytes.fromhex(welcome.firmware_hash), welcome.reset_cause


async def test_a_board_that_resets_loses_its_line_and_comes_back_with_another_boot(
    rig: Rig,
) -> None:
    table, host = rig()
    await host.open()
    lost: list[LineLost] = []
    host.dealer.link.on_down = lost.append
    table.world.add_fault(SimulatedFault("board_reset"))
    await asyncio.sleep(0.01)
    assert (len(lost), table.has_power("dealer"), table.has_power("reader")) == (1, False, True)
    assert _in_force(table) == ["board_reset"]
    await asyncio.sleep(REBOOT_MS / 1000)
    assert table.has_power("dealer")
    await asyncio.sleep(ECHO_S)
    assert _in_force(table) == []
    assert (await _welcome(host))[2] == RESET_POWER


async def test_a_board_fault_at_a_card_strikes_when_that_card_comes(rig: Rig) -> None:
    table, host = rig(SimulatedFault("board_reset", board="reader", at=7))
    await host.open()
    deal = asyncio.ensure_future(host.deal(1, order_of(20)))
    await asyncio.sleep(20)
    deal.cancel()
    assert [struck.number for struck in table.world.faults.past_strikes] == [7]


async def test_a_firmware_that_hangs_goes_on_with_its_motors_as_they_were(rig: Rig) -> None:
    table, host = rig()
    await host.open()
    await host.dealer.begin(1, 20, 5)
    await host.dealer.shuffle(1, 1)
    await asyncio.sleep(0.1)
    table.world.add_fault(SimulatedFault("board_silent", for_ms=400))
    await asyncio.sleep(0.39)
    assert table.world.truth().shuffler
    assert _in_force(table) == ["board_silent"]
    await asyncio.sleep(5)
    assert (table.world.truth().shuffler, _in_force(table)) == ((), [])


@pytest.mark.parametrize("for_ms", [None, WATCHDOG_MS + 1])
async def test_a_firmware_that_hangs_for_good_is_reset_by_its_watchdog(
    rig: Rig, for_ms: float | None
) -> None:
    table, host = rig(SimulatedFault("board_silent", for_ms=for_ms))
    await asyncio.sleep(WATCHDOG_MS / 1000 + ECHO_S)
    assert (await _welcome(host))[2] == RESET_WATCHDOG
    assert _in_force(table) == []


def test_the_watchdog_bites_when_that_of_the_chip_does() -> None:
    source = resources.files("drivers.firmware").joinpath("rp2_loop.py").read_text(encoding="utf-8")
    (limit,) = re.findall(r"^WATCHDOG_MS = (\d+)", source, re.MULTILINE)
    assert float(limit) == WATCHDOG_MS


async def test_a_board_that_lost_its_settings_counts_from_nothing(rig: Rig) -> None:
    table, host = rig()
    await host.open()
    await host.deal(1, order_of(20))
    host.dealer.link.close()
    table.kill("dealer")
    table.start("dealer")
    assert (await host.dealer.link.open({}, {})).fed == 20
    table.world.add_fault(SimulatedFault("settings_lost"))
    await asyncio.sleep(1)
    host.dealer.link.close()
    assert (await host.dealer.link.open({}, {})).fed == 0


@pytest.mark.parametrize(
    ("name", "at", "other"),
    [("foreign_board", 0, FOREIGN_UID), ("foreign_firmware", 1, FOREIGN_FIRMWARE)],
)
@pytest.mark.parametrize("for_ms", [2000.0, None])
async def test_another_board_or_firmware_is_there_until_its_time_or_until_somebody_mends_it(
    rig: Rig, name: str, at: int, other: bytes, for_ms: float | None
) -> None:
    table, host = rig()
    own = await _welcome(host)
    table.world.add_fault(SimulatedFault(name, for_ms=for_ms))
    await asyncio.sleep(1)
    there = await _welcome(host)
    assert there[at] == other
    assert there[1 - at] == own[1 - at]
    await asyncio.sleep(3)
    if for_ms is None:
        assert _in_force(table) == [name]
        table.mend()
        await asyncio.sleep(ECHO_S)
    assert (await _welcome(host))[:2] == own[:2]
    assert _in_force(table) == []


async def test_a_reset_while_another_board_is_there_leaves_it_there(rig: Rig) -> None:
    table, host = rig(SimulatedFault("foreign_board"))
    await asyncio.sleep(1)
    table.world.add_fault(SimulatedFault("board_reset"))
    await asyncio.sleep(1)
    assert (await _welcome(host))[0] == FOREIGN_UID


@pytest.mark.parametrize("for_ms", [4000.0, None])
async def test_a_cable_that_is_pulled_carries_nothing_until_it_is_put_in_again(
    rig: Rig, for_ms: float | None
) -> None:
    table, host = rig()
    await host.open()
    lost: list[LineLost] = []
    host.dealer.link.on_down = lost.append
    table.world.add_fault(SimulatedFault("unplugged", for_ms=for_ms))
    await asyncio.sleep(0.1)
    assert (len(lost), table.has_power("dealer"), _in_force(table)) == (1, True, ["unplugged"])
    with pytest.raises(PortMissing):
        await host.dealer.link.open({}, {})
    await asyncio.sleep(5)
    if for_ms is None:
        table.mend()
        await asyncio.sleep(ECHO_S)
    assert (await host.dealer.link.open({}, {})).boot == 100
    assert _in_force(table) == []


async def test_without_power_no_board_starts_by_itself(rig: Rig) -> None:
    table, _ = rig()
    table.world.add_fault(SimulatedFault("board_reset"))
    await asyncio.sleep(0.1)
    table.set_power(False)
    await asyncio.sleep(5)
    assert not table.has_power("dealer")
    assert not table.has_power("reader")
    table.set_power(True)
    assert table.has_power("dealer")
    assert table.has_power("reader")


@pytest.mark.parametrize(
    "name", [name for name in fault_menu() if is_outside(SimulatedFault(name))]
)
async def test_a_machine_alone_refuses_what_nobody_can_carry_out(name: str) -> None:
    world = World(MechanicsSettings(), random.Random(1))
    with pytest.raises(FaultError, match=f"{name}: this simulator has no"):
        world.add_fault(SimulatedFault(name))
    world.close()


async def test_by_a_rate_it_just_does_not_come(rig: Rig) -> None:
    table, host = rig(
        SimulatedFault("daemon_killed", rate=1.0), SimulatedFault("bytes_repeated", rate=0.5)
    )
    await host.open()
    await host.deal(1, order_of(20))
    assert {struck.fault.name for struck in table.world.faults.past_strikes} == {"bytes_repeated"}


async def test_who_runs_a_daemon_is_told_to_kill_it(rig: Rig) -> None:
    table, _ = rig()
    told: list[SimulatedFault] = []
    table.world.outside_handlers["host"] = told.append
    fault = SimulatedFault("daemon_killed", for_ms=1000)
    table.world.add_fault(fault)
    assert told == []
    await asyncio.sleep(0)
    assert (told, _in_force(table)) == ([fault], ["daemon_killed"])
    table.world.end_fault(fault)
    assert _in_force(table) == []


async def _hostile(seed: int) -> tuple[object, ...]:
    level = get_wear_level("hostile")
    settings = MechanicsSettings(cards=20, faults=level.rates, together=level.together)
    boots = itertools.count(1)
    table = HardwareInProcess(settings, random.Random(seed), boots=lambda: next(boots))
    host = Host(table.port("dealer"), table.port("reader"))
    born_s = asyncio.get_running_loop().time()
    for attempt in range(1, 13):
        with suppress(DriverError, TimeoutError):
            await host.open()
            async with asyncio.timeout(20):
                await host.deal(attempt, order_of(20))
        host.close()
        table.mend()
        await table.world.people.collect()
    struck = [
        (each.fault, each.number, round(each.at_s - born_s, 6))
        for each in table.world.faults.past_strikes
    ]
    truth = table.world.truth()
    table.close()
    return struck, truth.hopper, truth.box


async def test_a_hostile_machine_replays_from_its_seed() -> None:
    first = await _hostile(5)
    assert first[0]
    assert await _hostile(5) == first
    assert await _hostile(6) != first
