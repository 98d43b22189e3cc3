"""Calibration: what is measured, which way to turn, when it is right, what is set."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.acceptance.calibration import CalibrationResult, CalibrationSubject, calibrate
from drivers.firmware import protocol
from drivers.firmware.settings import BoardSettings as BoardSettings
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.acceptance.at_machine import bench_at, in_virtual_time, session_at, table_of

Turned = Callable[[HardwareInProcess, str], None]


class Screwdriver:
    """Somebody who turns what he is told to, and notes it."""

    def __init__(self, hands: Any, table: HardwareInProcess, turned: Turned) -> None:
        self.hands, self.table, self.turned = hands, table, turned
        self.told: list[str] = []

    async def do(self, name: str, part: str = "") -> bool:
        if name in ("empty", "untape"):
            return bool(await self.hands.do(name))
        self.told.append(f"{name} {part}".strip())
        self.turned(self.table, self.told[-1])
        return True

    async def prepare(self, name: str) -> bool:
        return True

    async def signal(self, name: str) -> None:
        raise AssertionError("nothing is done at a signal")


def calibrated(
    subject: CalibrationSubject,
    *faults: str,
    turned: Turned = lambda table, step: None,
    settings: MechanicsSettings | None = None,
) -> tuple[CalibrationResult, list[str], list[str]]:
    """Calibrate a machine; return what came of it, what was turned, and what was shown."""
    shown: list[str] = []

    async def work() -> tuple[CalibrationResult, list[str], list[str]]:
        with table_of(settings or MechanicsSettings()) as table, bench_at(table) as bench:
            for fault in faults:
                table.world.add_fault(parse_fault(fault))
            await bench.open()
            of = session_at(table, bench)
            people = Screwdriver(of.operator, table, turned)
            of.operator = people
            outcome = await calibrate(of, subject, shown.append)
            return outcome, people.told, shown

    return in_virtual_time(work())


def test_a_feeder_that_is_right_is_left_and_its_limit_follows_from_its_cards() -> None:
    outcome, told, shown = calibrated("feeder-gap")
    assert (outcome.is_right, told) == (True, [])
    assert 400 <= outcome.settings["feed_limit_ms"] <= 500
    assert len(shown) == 2


def test_cards_that_double_want_a_smaller_gap_until_they_do_not() -> None:
    def turned(table: HardwareInProcess, step: str) -> None:
        if step == "gap_closer":
            table.world.faults.clear("double_feed")

    outcome, told, _ = calibrated("feeder-gap", "double_feed:rate=0.4", turned=turned)
    assert (outcome.is_right, told) == (True, ["gap_closer"])


def test_cards_that_slip_want_a_wider_gap() -> None:
    def turned(table: HardwareInProcess, step: str) -> None:
        if step == "gap_wider":
            table.world.faults.clear("no_feed")

    outcome, told, _ = calibrated("feeder-gap", "no_feed:rate=0.2,times=1", turned=turned)
    assert (outcome.is_right, told) == (True, ["gap_wider"])


def test_a_feeder_that_stays_wrong_is_given_up() -> None:
    outcome, told, _ = calibrated("feeder-gap", "no_feed:rate=0.3,times=1")
    assert not outcome.is_right
    assert set(told) == {"gap_wider"}
    assert "slipped" in outcome.why


def test_a_gate_that_stalls_is_freed_and_its_limit_follows_from_its_sweeps() -> None:
    def turned(table: HardwareInProcess, step: str) -> None:
        table.world.motors["gate"].free()

    outcome, told, shown = calibrated("gate", "stall:motor=gate", turned=turned)
    assert (outcome.is_right, told) == (True, ["gate_freer"])
    assert 20 <= outcome.settings["gate_limit_ms"] <= 100
    assert "gave up" in shown[0]


def test_a_light_is_turned_back_where_it_gets_worse() -> None:
    light = [2]  # steps too bright; the first turn is the wrong way

    def turned(table: HardwareInProcess, step: str) -> None:
        light[0] += 1 if step == "brighter" else -1
        table.world.faults.clear("misread")
        table.world.engine._pending_faults.clear()
        if light[0]:
            worse = parse_fault(f"misread:rate=1.0,times=500,confidence={200 - 40 * light[0]}")
            table.world.add_fault(worse)
            table.world.engine._pending_faults.extend([worse] * 500)

    outcome, told, shown = calibrated(
        "reader-light", "misread:rate=1.0,times=500,confidence=120", turned=turned
    )
    assert outcome.is_right
    assert told == ["brighter", "darker", "darker", "darker"]
    assert 40 <= outcome.settings["read_limit_ms"] <= 60
    assert "10 of 10 looks sure" in shown[-1]


def test_a_blind_reader_is_given_up_and_nothing_is_set() -> None:
    outcome, _, _ = calibrated("reader-light", "unreadable:rate=1.0,times=500")
    assert (outcome.is_right, outcome.settings) == (False, {})


def covering(table: HardwareInProcess, step: str, *, blind: str = "") -> None:
    """Lay a card before a sensor, or take it away."""
    name, _, part = step.partition(" ")
    sensor = "tray_feed" if part == "tray" else f"pocket_{'NWSE'.index(part[-1])}"
    if name in ("cover", "uncover") and part != blind:
        table.world.dealer.set_physical(sensor, int(name == "cover"))
    elif name == "more_sensitive":
        table.world.dealer.set_physical(sensor, 1)


def test_each_pocket_is_covered_and_freed() -> None:
    outcome, told, _ = calibrated("pockets", turned=covering)
    assert outcome.is_right
    assert told[:2] == ["cover pocket_N", "uncover pocket_N"]
    assert len(told) == 10


def test_a_sensor_that_does_not_see_is_turned_until_it_does() -> None:
    def turned(table: HardwareInProcess, step: str) -> None:
        covering(table, step, blind="" if step.startswith("uncover") else "pocket_S")

    outcome, told, _ = calibrated("pockets", turned=turned)
    assert outcome.is_right
    assert told[4:7] == ["cover pocket_S", "more_sensitive pocket_S", "uncover pocket_S"]


def test_the_crc_that_is_to_be_pinned_is_that_of_the_boards_new_settings() -> None:
    async def work() -> int:
        with table_of(MechanicsSettings()) as table, bench_at(table) as bench:
            await bench.open()
            await bench.dealer.configure("feed_limit_ms", 450)
            return await bench.settings_crc("dealer")

    expected = BoardSettings(protocol.KIND_DEALER)
    assert expected.change(2, 450)
    assert in_virtual_time(work()) == expected.crc()


@pytest.mark.parametrize("fault", ["sensor_stuck:sensor=pocket_1,value=1"])
def test_a_sensor_that_never_frees_is_named(fault: str) -> None:
    outcome, told, _ = calibrated("pockets", fault, turned=covering)
    assert (outcome.is_right, outcome.why) == (False, "pocket_W")
    assert "less_sensitive pocket_W" in told
