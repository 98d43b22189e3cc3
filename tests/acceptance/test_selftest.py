"""The self-test on simulated machines: a healthy one, tired ones, and ones with a broken part."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from controller.acceptance.selftest_figures import SelftestFigures, worst_verdict
from controller.acceptance.selftest_report import build_report, report_page
from controller.acceptance.selftest_run import run_selftest
from sim.mechanics.fault_menu import get_wear_level, parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from tests.acceptance.at_machine import (
    ROUND,
    bench_at,
    in_virtual_time,
    machine_tested,
    session_at,
    table_of,
)


def found(figures: SelftestFigures, verdict: str) -> dict[str, str]:
    """What came to this verdict: the part by the figure."""
    return {one.name: one.part for one in figures.all_figures() if one.verdict == verdict}


def test_a_healthy_machine_passes_with_every_figure_measured() -> None:
    figures = in_virtual_time(machine_tested(MechanicsSettings()))
    assert {one.verdict for one in figures.all_figures()} == {"pass"}
    assert worst_verdict(figures.all_figures()) == "pass"
    of = {one.name: one for one in figures.all_figures()}
    assert of["unreadable"].note == "540 cards"
    assert of["cards_per_s"].value == pytest.approx(10, abs=0.5)
    assert of["lift_up"].value == pytest.approx(1500, abs=20)


@pytest.mark.parametrize(
    ("worn", "figure", "part"),
    [
        ({"feed_ms": 120.0}, "feed_time", "feeder"),
        ({"lift_ms": 3500.0}, "lift_up", "lift"),
        ({"gate_ms": 300.0}, "pass_time", "way_out"),
        ({"read_ms": 120.0}, "read_time", "reader"),
    ],
)
def test_a_machine_that_got_slow_is_warned_of_with_its_part(
    worn: dict[str, Any], figure: str, part: str
) -> None:
    figures = in_virtual_time(machine_tested(replace(MechanicsSettings(), **worn), cards=ROUND))
    assert found(figures, "warn")[figure] == part
    assert worst_verdict(figures.all_figures()) == "warn"
    assert not found(figures, "fail")


@pytest.mark.parametrize(("seed", "figure"), [(4, "doubles"), (6, "unreadable")])
def test_a_tired_machine_is_warned_of(seed: int, figure: str) -> None:
    worn = get_wear_level("worn")
    settings = MechanicsSettings(faults=worn.rates, together=worn.together)
    figures = in_virtual_time(machine_tested(settings, seed=seed))
    assert figure in found(figures, "warn")
    assert worst_verdict(figures.all_figures()) == "warn"


BROKEN = {
    "sensor_stuck:sensor=land_2,value=0": {"landing": "beam_S"},
    "sensor_stuck:sensor=land_4,value=0": {"landing": "beam_tray"},
    "sensor_stuck:sensor=pocket_1,value=1": {"at_rest": "pocket_W"},
    "sensor_stuck:sensor=pocket_1,value=0": {"pocket": "pocket_W"},
    "sensor_stuck:sensor=tray_feed,value=1": {"at_rest": "tray"},
    "sensor_stuck:sensor=hopper,value=1": {"count": "hopper"},
    "sensor_stuck:sensor=hopper,value=0": {"at_rest": "hopper"},
    "sensor_stuck:sensor=window,value=1": {"at_rest": "window"},
    "sensor_stuck:sensor=exit,value=0": {"pass_time": "way_out"},
    "sensor_stuck:sensor=double,value=0": {"double_feed": "double_sensor"},
    "sensor_stuck:sensor=lid,value=0": {"lid": "lid"},
    "sensor_stuck:sensor=estop,value=0": {"estop_seen": "estop"},
    "sensor_stuck:sensor=lift,value=0": {"lift_up": "lift"},
    "sensor_stuck:sensor=lift_down,value=0": {"lift_down": "lift"},
    "sensor_stuck:sensor=supply,value=1": {"at_rest": "supply"},
    "stall:motor=lift": {"lift_up": "lift"},
    "stall:motor=gate": {"gate_sweep": "gate"},
    "stall:motor=feed": {"feed_time": "feeder"},
    "stall:motor=pass": {"pass_time": "way_out"},
    "stall:motor=shuffle": {"shuffle_time": "shuffler"},
    "unreadable:rate=1.0,times=3": {"unreadable": "reader", "unread": "reader"},
    "misread:rate=0.1,times=1,confidence=255": {"misread": "reader"},
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_part_fails_and_is_the_one_that_is_named(fault: str) -> None:
    figures = in_virtual_time(
        machine_tested(MechanicsSettings(), (parse_fault(fault),), cards=ROUND)
    )
    assert found(figures, "fail") == BROKEN[fault]
    assert worst_verdict(figures.all_figures()) == "fail"


def test_a_lid_whose_switch_says_open_for_ever_fails_at_rest_and_when_it_is_closed() -> None:
    stuck = parse_fault("sensor_stuck:sensor=lid,value=1")
    figures = in_virtual_time(machine_tested(MechanicsSettings(), (stuck,), cards=ROUND))
    assert found(figures, "fail") == {"at_rest": "lid", "lid": "lid"}


def test_a_feeder_that_is_slow_fails_with_the_pace_it_costs() -> None:
    figures = in_virtual_time(machine_tested(MechanicsSettings(feed_ms=400.0), cards=ROUND))
    assert found(figures, "fail") == {"feed_time": "feeder", "cards_per_s": "machine"}


def test_a_trigger_wire_that_loses_pulses_is_named() -> None:
    lost = parse_fault("pulse_lost:rate=0.05")
    figures = in_virtual_time(machine_tested(MechanicsSettings(), (lost,), cards=ROUND))
    assert found(figures, "fail")["pulses"] == "trigger"


def test_a_board_that_runs_on_in_silence_fails() -> None:
    async def deaf() -> SelftestFigures:
        with table_of(MechanicsSettings()) as table, bench_at(table) as bench:
            await bench.open()
            await bench.dealer.configure("silence_ms", 2000)
            of = session_at(table, bench)
            await run_selftest(of, ROUND)
            return of.figures

    figures = in_virtual_time(deaf())
    assert found(figures, "fail") == {"silence_stop": "board"}


def test_what_nobody_can_do_is_not_measured_and_is_no_pass() -> None:
    async def alone() -> SelftestFigures:
        with table_of(MechanicsSettings()) as table, bench_at(table) as bench:
            await bench.open()
            of = session_at(table, bench)
            of.operator = Nobody()
            await run_selftest(of, ROUND)
            return of.figures

    figures = in_virtual_time(alone())
    left = found(figures, "not measured")
    assert {"lid", "estop_seen", "jam_recovery", "double_feed"} <= set(left)
    assert worst_verdict(figures.all_figures()) == "warn"


@pytest.mark.virtual
def test_a_test_that_is_ended_stops_all_motion() -> None:
    async def ended() -> tuple[int | None, int | None]:
        with table_of(MechanicsSettings()) as table, bench_at(table) as bench:
            await bench.open()
            of, shuffling = session_at(table, bench), asyncio.Event()

            def told(what: str, done: int, count: int) -> None:
                if "while shuffling" in what:
                    shuffling.set()

            of.on_progress = told
            going = asyncio.ensure_future(run_selftest(of, ROUND))
            await shuffling.wait()
            await asyncio.sleep(0.1)
            turned = table.world.motors["shuffle"]._drive_value
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)
            bench.halt()
            await asyncio.sleep(0.05)  # long before the board would stop by itself
            return turned, table.world.motors["shuffle"]._drive_value

    assert in_virtual_time(ended()) == (1, 0)


def test_what_lies_behind_a_dead_beam_is_measured_all_the_same() -> None:
    dead = parse_fault("sensor_stuck:sensor=land_1,value=0")
    figures = in_virtual_time(machine_tested(MechanicsSettings(), (dead,), cards=ROUND))
    landings = {one.part: one.verdict for one in figures.all_figures() if one.name == "landing"}
    assert landings.pop("beam_W") == "fail"
    assert set(landings.values()) == {"pass"}
    of = {one.name: one.verdict for one in figures.all_figures()}
    assert (of["refeed"], of["estop_seen"], of["double_feed"]) == ("pass", "pass", "pass")


def test_the_report_names_parts_limits_and_what_to_do_in_both_languages() -> None:
    async def reported() -> Any:
        with table_of(MechanicsSettings()) as table, bench_at(table) as bench:
            table.world.add_fault(parse_fault("sensor_stuck:sensor=land_2,value=0"))
            await bench.open()
            of = session_at(table, bench)
            await run_selftest(of, ROUND)
            return build_report(
                of.figures.all_figures(),
                bench.welcomes,
                table="T01",
                simulated=True,
                time="2027-01-01T00:00:00Z",
                seconds=1.0,
                program="0.1.0",
            )

    report = in_virtual_time(reported())
    assert (report.verdict, report.failed_parts) == ("fail", ("beam_S",))
    text = report_page(report)
    for said in (
        "南家落牌光束 landing beam, south",
        "107 NOT_LANDED",
        "Clean both ends of the beam",
    ):
        assert said in text
    assert report.boards["dealer"].hal == "sim"
    assert report.boards["reader"].firmware_hash in text


class Nobody:
    """Hands that are not there."""

    async def do(self, name: str, part: str = "") -> bool:
        return name in ("empty", "carry_back", "untape")

    async def prepare(self, name: str) -> bool:
        return False

    async def signal(self, name: str) -> None:
        raise AssertionError("nobody was ready")
