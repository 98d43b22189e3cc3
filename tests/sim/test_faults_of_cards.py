"""Faults on a card's way: slipping rollers, landings that nobody sees, a wire that miscounts."""

from collections.abc import Callable

import pytest

from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.sensors import Sensors
from tests.sim.bench import FORWARD, REVERSE, STOP, TRAY, Machine

pytestmark = pytest.mark.virtual


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_rollers_slip_as_many_starts_as_the_fault_says(machine: Machine, times: int) -> None:
    bench = machine(SimulatedFault("no_feed", at=2, times=times))
    await bench.deal(0)
    for _ in range(times):
        assert not await bench.feed()
        assert len(bench.world.hopper) == 107
    assert await bench.feed()
    assert [struck.number for struck in bench.world.faults.past_strikes] == [2]


async def test_a_reverse_does_not_help_rollers_that_slip(machine: Machine) -> None:
    bench = machine(SimulatedFault("no_feed", times=2))
    assert not await bench.feed()
    bench.world.set_output("feed", REVERSE)
    await bench.pause()
    bench.world.set_output("feed", STOP)
    assert not await bench.feed()
    assert await bench.feed()


async def test_clean_hands_end_a_slip(machine: Machine) -> None:
    bench = machine(SimulatedFault("no_feed", times=50))
    assert not await bench.feed()
    await bench.world.people.collect()
    assert await bench.feed()


async def test_a_missed_landing_lies_in_its_pocket_and_crossed_no_beam(machine: Machine) -> None:
    bench = machine(SimulatedFault("missed_landing", at=1))
    await bench.deal(2)
    assert ("land_2", 1) not in bench.seen
    assert (len(bench.world.truth().pockets[2]), bench.sees("pocket_2")) == (1, 1)
    await bench.deal(2)
    assert bench.seen.count(("land_2", 1)) == 1


@pytest.mark.parametrize("outlet", [1, TRAY])
async def test_a_card_on_the_floor_is_seen_by_nothing(machine: Machine, outlet: int) -> None:
    bench = machine(SimulatedFault("on_the_floor", at=1))
    await bench.deal(outlet)
    truth = bench.world.truth()
    assert (len(truth.floor), truth.pockets[outlet]) == (1, ())
    assert bench.sees(f"pocket_{outlet}") == 0
    assert (f"land_{outlet}", 1) not in bench.seen
    await bench.world.people.collect()
    assert len(bench.world.hopper) == 108


async def test_a_lost_pulse_never_reaches_the_reader(machine: Machine) -> None:
    bench = machine(SimulatedFault("pulse_lost", at=2))
    edges: list[int] = []
    bench.world.reader.attach(lambda name, value: edges.append(value))
    for _ in range(3):
        await bench.feed()
        bench.world.set_output("trigger", 1)
        bench.world.set_output("trigger", 0)
        await bench.to(0)
    assert edges == [1, 0, 1, 0]


async def test_a_pulse_too_many_comes_behind_the_cards_own(machine: Machine) -> None:
    bench = machine(SimulatedFault("pulse_extra", at=1))
    edges: list[int] = []
    bench.world.reader.attach(lambda name, value: edges.append(value))
    await bench.feed()
    bench.world.set_output("trigger", 1)
    bench.world.set_output("trigger", 0)
    assert edges == [1, 0]
    await bench.pause()
    assert edges == [1, 0, 1, 0]


async def test_a_sensor_that_is_late_says_the_same_pulse_that_much_later(machine: Machine) -> None:
    bench = machine(SimulatedFault("sensor_late", sensor="land_1", ms=50))
    times: list[tuple[float, int]] = []
    clock = bench.world.clock
    bench.world.dealer.attach(
        lambda name, value: times.append((clock.now_ms(), value)) if name == "land_1" else None
    )
    so: list[float] = []
    bench.world.dealer.observe(
        lambda name, value: so.append(clock.now_ms()) if name == "land_1" else None
    )
    await bench.deal(1)
    assert [value for _, value in times] == [1, 0]
    assert [at for at, _ in times] == pytest.approx([at + 50 for at in so])
    await bench.deal(1)
    assert [at for at, _ in times[2:]] == pytest.approx(so[2:])


def test_what_changes_while_a_late_word_is_still_to_be_said_is_late_as_well() -> None:
    sensors = Sensors(["beam"])
    said: list[int] = []
    waiting: list[Callable[[], None]] = []
    sensors.attach(lambda name, value: said.append(value))
    sensors.delay("beam", waiting.append)
    sensors.set_physical("beam", 1)
    sensors.set_physical("beam", 0)
    waiting.pop(0)()
    sensors.set_physical("beam", 1)
    assert said == [1]
    while waiting:
        waiting.pop(0)()
    assert said == [1, 0, 1]
    sensors.set_physical("beam", 0)
    assert said == [1, 0, 1, 0]


async def test_a_bouncing_sensor_says_a_change_twice_and_what_is_so_at_the_end(
    machine: Machine,
) -> None:
    bench = machine(SimulatedFault("sensor_bounce", sensor="window"))
    await bench.feed()
    await bench.pause(10)
    assert [value for name, value in bench.seen if name == "window"] == [1, 0, 1]
    await bench.to(0)
    assert [value for name, value in bench.seen if name == "window"] == [1, 0, 1, 0]


async def test_a_beam_that_bounces_tells_of_two_landings_and_one_card(machine: Machine) -> None:
    bench = machine(SimulatedFault("sensor_bounce", sensor="land_2", at=1))
    await bench.deal(2)
    assert bench.seen.count(("land_2", 1)) == 2
    assert len(bench.world.truth().pockets[2]) == 1
    assert bench.sees("land_2") == 0


@pytest.mark.parametrize("name", ["sensor_bounce", "sensor_late"])
async def test_what_did_not_change_in_its_deal_is_well_in_the_next(
    machine: Machine, name: str
) -> None:
    bench = machine(SimulatedFault(name, sensor="land_2", at=1))
    await bench.deal(0)
    assert len(bench.world.active_faults()) == 1
    await bench.world.people.collect()
    assert bench.world.active_faults() == ()
    bench.seen.clear()
    await bench.deal(2)
    assert [value for seen, value in bench.seen if seen == "land_2"] == [1, 0]
    truth = bench.world.truth()
    assert len(truth.pockets[2]) == 1


async def test_a_sensor_that_is_stuck_neither_bounces_nor_is_late(machine: Machine) -> None:
    bench = machine(
        SimulatedFault("sensor_stuck", sensor="window", value=0),
        SimulatedFault("sensor_bounce", sensor="window"),
    )
    await bench.feed()
    assert ("window", 1) not in bench.seen
    bench.world.dealer.unstick_all()
    assert bench.sees("window") == 1


async def test_a_hopper_that_is_seen_empty_too_early_still_feeds(machine: Machine) -> None:
    bench = machine(SimulatedFault("hopper_early", at=3))
    for number in range(1, 4):
        assert bench.sees("hopper") == 1
        await bench.deal(number)
    assert (bench.sees("hopper"), len(bench.world.hopper)) == (0, 105)
    assert await bench.feed()
    await bench.world.people.collect()
    assert bench.sees("hopper") == 1


async def test_a_lid_that_is_opened_is_closed_again_in_time(machine: Machine) -> None:
    bench = machine(SimulatedFault("lid", at=1, for_ms=300))
    await bench.feed()
    assert (bench.sees("lid"), bench.world.lid_open) == (1, True)
    bench.world.set_output("pass", FORWARD)
    await bench.pause(250)
    assert bench.sees("window") == 1
    await bench.pause(100)
    assert (bench.sees("lid"), bench.sees("window")) == (0, 0)


async def test_a_lid_without_a_time_stays_open_until_somebody_closes_it(machine: Machine) -> None:
    bench = machine(SimulatedFault("lid"))
    await bench.pause(100_000)
    assert bench.world.lid_open
    await bench.world.people.collect()
    assert not bench.world.lid_open


@pytest.mark.parametrize("for_ms", [300.0, None])
async def test_an_emergency_stop_is_released_in_time_or_by_somebody(
    machine: Machine, for_ms: float | None
) -> None:
    bench = machine(SimulatedFault("estop", for_ms=for_ms))
    assert bench.sees("estop") == 1
    await bench.pause(400)
    assert bench.sees("estop") == (0 if for_ms else 1)
