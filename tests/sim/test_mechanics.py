"""The machine without faults: cards move as motors move them, sensors follow the cards."""

import math
import random
from collections import Counter

import pytest

from drivers.firmware.pins import LIFT_DOWN, LIFT_STAY, LIFT_UP
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.shuffler import riffle
from tests.sim.bench import FORWARD, REVERSE, STOP, TRAY, Machine

pytestmark = pytest.mark.virtual


async def test_a_fed_card_comes_to_the_window_and_stops_there(machine: Machine) -> None:
    bench = machine()
    top = bench.world.hopper[-1]
    assert await bench.feed()
    await bench.pause(500)
    assert bench.world.truth().window == (top,)
    assert len(bench.world.hopper) == 107


async def test_a_card_takes_about_a_tenth_of_a_second(machine: Machine) -> None:
    bench = machine()
    loop_start = bench.world.clock.now_s()
    for n in range(40):
        assert await bench.feed()
        await bench.pause(15)
        assert await bench.to(n % 4)
    per_card = (bench.world.clock.now_s() - loop_start) / 40
    assert 0.08 < per_card < 0.105


async def test_the_sensors_tell_the_way_of_a_card_in_order(machine: Machine) -> None:
    bench = machine(cards=1)
    await bench.deal(2)
    assert bench.seen == [
        ("window", 1),
        ("hopper", 0),
        ("gate_at", 255),
        ("gate_at", 2),
        ("exit", 1),
        ("window", 0),
        ("exit", 0),
        ("land_2", 1),
        ("pocket_2", 1),
        ("land_2", 0),
    ]


async def test_the_card_lands_where_the_gate_is_whatever_anyone_wanted(machine: Machine) -> None:
    bench = machine()
    bench.world.set_output("gate", 1)
    await bench.pause()
    await bench.feed()
    bench.world.set_output("pass", FORWARD)
    await bench.pause()
    assert len(bench.world.truth().pockets[1]) == 1


async def test_a_gate_moved_under_a_card_pinches_it(machine: Machine) -> None:
    bench = machine()
    await bench.feed()
    bench.world.set_output("pass", FORWARD)
    assert await bench.until("exit", 1)
    bench.world.set_output("gate", 3)
    await bench.pause()
    truth = bench.world.truth()
    assert truth.window
    assert not truth.path
    assert bench.sees("exit") == 1


async def test_a_pinched_card_comes_back_and_goes_where_the_gate_is_then(machine: Machine) -> None:
    bench = machine()
    await bench.feed()
    bench.world.set_output("pass", FORWARD)
    await bench.until("exit", 1)
    bench.world.set_output("gate", 3)
    bench.world.set_output("pass", REVERSE)
    await bench.pause()
    assert bench.sees("exit") == 0
    bench.world.set_output("pass", FORWARD)
    await bench.pause()
    assert len(bench.world.truth().pockets[3]) == 1


async def test_a_motor_stopped_late_brings_no_second_card(machine: Machine) -> None:
    bench = machine()
    bench.world.set_output("feed", FORWARD)
    await bench.pause(1000)
    truth = bench.world.truth()
    assert (len(truth.window), len(truth.feeder), len(truth.hopper)) == (1, 0, 107)


async def test_feeding_into_an_occupied_window_jams_until_a_hand_helps(machine: Machine) -> None:
    bench = machine()
    await bench.feed()
    bench.world.set_output("feed", FORWARD)
    await bench.pause()
    bench.world.set_output("feed", REVERSE)
    await bench.pause()
    bench.world.set_output("feed", STOP)
    assert not await bench.to(1)
    assert len(bench.world.truth().feeder) == 1
    await bench.world.people.collect()
    assert len(bench.world.hopper) == 108
    await bench.deal(1)
    assert len(bench.world.truth().pockets[1]) == 1


async def test_a_feeder_turned_back_lays_its_card_on_the_stack_again(machine: Machine) -> None:
    bench = machine()
    before = list(bench.world.hopper)
    bench.world.set_output("feed", FORWARD)
    await bench.pause(20)
    assert bench.world.truth().feeder
    bench.world.set_output("feed", REVERSE)
    await bench.pause(30)
    assert bench.world.hopper == before


async def test_a_card_halfway_is_seen_by_the_sensor_of_its_stack(machine: Machine) -> None:
    bench = machine(cards=1)
    bench.world.set_output("feed", FORWARD)
    await bench.pause(20)
    bench.world.set_output("feed", STOP)
    assert not bench.world.hopper
    assert bench.sees("hopper") == 1


@pytest.mark.parametrize("cut", ["lid", "estop"])
async def test_without_power_every_motion_stands_and_goes_on_with_it(
    machine: Machine, cut: str
) -> None:
    bench = machine()
    world = bench.world
    power = {"lid": world.set_lid, "estop": world.set_estop}[cut]
    world.set_output("feed", FORWARD)
    await bench.pause(20)
    power(True)
    await bench.pause(5000)
    assert len(world.truth().feeder) == 1
    assert bench.sees(cut) == 1
    power(False)
    assert await bench.until("window", 1, 100)


async def test_the_power_is_cut_while_either_of_both_cuts_it(machine: Machine) -> None:
    bench = machine()
    world = bench.world
    world.set_lid(True)
    world.set_estop(True)
    world.set_lid(False)
    assert not await bench.feed()
    world.set_estop(False)
    assert await bench.feed()


async def test_a_card_in_its_chute_falls_without_power(machine: Machine) -> None:
    bench = machine()
    await bench.feed()
    await bench.to(0)
    bench.world.set_lid(True)
    await bench.pause()
    assert len(bench.world.truth().pockets[0]) == 1


async def test_a_gate_stopped_halfway_knows_no_outlet(machine: Machine) -> None:
    bench = machine()
    bench.world.set_output("gate", 4)
    await bench.pause(5)
    bench.world.set_estop(True)
    await bench.pause()
    assert bench.sees("gate_at") == 255
    bench.world.set_estop(False)
    assert await bench.until("gate_at", 4, 20)


async def test_the_tray_is_fed_last_in_first_out(machine: Machine) -> None:
    bench = machine()
    for _ in range(3):
        await bench.deal(TRAY)
    tray = bench.world.truth().pockets[TRAY]
    assert (bench.sees("tray_feed"), bench.sees("pocket_4")) == (1, 1)
    await bench.deal(0, source=1)
    assert bench.world.truth().pockets[0] == tray[-1:]
    for _ in range(2):
        await bench.deal(0, source=1)
    assert (bench.sees("tray_feed"), bench.sees("pocket_4")) == (0, 0)


async def test_each_pass_shuffles_the_whole_hopper_and_says_so(machine: Machine) -> None:
    bench = machine()
    before = list(bench.world.hopper)
    bench.world.set_output("shuffle", 1)
    assert await bench.until("shuffler", 1)
    assert bench.sees("hopper") == 0
    await bench.pause(2 * 1250 - 100)
    bench.world.set_output("shuffle", 0)
    assert bench.seen.count(("shuffled", 1)) == 2
    after = list(bench.world.hopper)
    assert after != before
    assert Counter(after) == Counter(before)


async def test_a_shuffler_stopped_in_a_pass_keeps_its_cards(machine: Machine) -> None:
    bench = machine()
    bench.world.set_output("shuffle", 1)
    await bench.pause(600)
    bench.world.set_output("shuffle", 0)
    await bench.pause(5000)
    assert len(bench.world.truth().shuffler) == 108
    bench.world.set_output("shuffle", 1)
    assert await bench.until("shuffled", 1, 700)


def test_a_riffle_is_the_shuffle_of_gilbert_shannon_and_reeds() -> None:
    """Each of the 2^n ways to cut and interleave is as likely as any other."""
    rng = random.Random(7)
    draws = 16_000
    seen = Counter(tuple(riffle(range(4), rng)) for _ in range(draws))
    # Of 16 ways, 5 leave the order as it was; the 11 others each give an order of their own.
    assert len(seen) == 12
    expected = {order: draws / 16 * (5 if order == (0, 1, 2, 3) else 1) for order in seen}
    chi_square = sum((seen[o] - expected[o]) ** 2 / expected[o] for o in seen)
    assert chi_square < 31.26  # 11 degrees of freedom, p = 0.001


def test_a_riffle_has_at_most_two_rising_runs_and_cuts_near_the_middle() -> None:
    rng = random.Random(8)
    cuts = []
    for _ in range(300):
        order = riffle(range(108), rng)
        places = [order.index(card) for card in range(108)]
        falls = [n for n in range(1, 108) if places[n] < places[n - 1]]
        assert len(falls) <= 1
        cuts.extend(falls)
    mean = sum(cuts) / len(cuts)
    assert abs(mean - 54) < 4 * math.sqrt(27 / len(cuts))


async def test_players_reach_their_hands_only_when_the_lift_is_up(machine: Machine) -> None:
    bench = machine()
    for outlet in (0, 1, 2, 3, 3):
        await bench.deal(outlet)
    with pytest.raises(OutOfReach):
        bench.world.people.take_hands()
    await bench.raise_lift()
    bench.world.people.take_hands()
    truth = bench.world.truth()
    assert [len(hand) for hand in truth.hands] == [1, 1, 1, 2]
    assert [bench.sees(f"pocket_{n}") for n in range(4)] == [0, 0, 0, 0]
    bench.world.people.load()
    assert len(bench.world.hopper) == 108


async def test_cards_dealt_with_the_lift_up_fall_to_the_floor(machine: Machine) -> None:
    bench = machine()
    await bench.raise_lift()
    await bench.deal(1)
    await bench.deal(TRAY)
    truth = bench.world.truth()
    assert (len(truth.floor), len(truth.pockets[1]), len(truth.pockets[TRAY])) == (1, 0, 1)
    await bench.world.people.collect()
    assert len(bench.world.hopper) == 108


async def test_each_end_of_the_lift_has_its_own_sensor(machine: Machine) -> None:
    bench = machine()
    assert (bench.sees("lift"), bench.sees("lift_down")) == (0, 1)
    await bench.raise_lift()
    bench.world.set_output("lift", LIFT_DOWN)
    assert await bench.until("lift_down", 1, 5000)
    lift = [change for change in bench.seen if change[0].startswith("lift")]
    assert lift == [("lift_down", 0), ("lift", 1), ("lift", 0), ("lift_down", 1)]


async def test_a_lift_that_is_told_to_stay_stays_half_way_and_goes_on_from_there(
    machine: Machine,
) -> None:
    bench = machine()
    await bench.leave_half_way()
    await bench.pause(10_000)
    assert (bench.sees("lift"), bench.sees("lift_down")) == (0, 0)
    truth = bench.world.truth()
    assert (truth.lift_up, truth.lift_down) == (False, False)
    bench.world.set_output("lift", LIFT_DOWN)
    assert not await bench.until("lift_down", 1, 450)
    assert await bench.until("lift_down", 1, 100)


@pytest.mark.parametrize("end", [LIFT_DOWN, LIFT_UP])
async def test_a_lift_stopped_before_it_left_its_end_is_still_seen_there(
    machine: Machine, end: int
) -> None:
    bench = machine()
    sensor = "lift" if end == LIFT_UP else "lift_down"
    bench.world.set_output("lift", end)
    assert await bench.until(sensor, 1, 5000)
    bench.world.set_output("lift", LIFT_UP if end == LIFT_DOWN else LIFT_DOWN)
    bench.world.set_output("lift", LIFT_STAY)
    assert bench.sees(sensor) == 1


@pytest.mark.parametrize("cut", ["lid", "estop"])
async def test_a_lift_told_to_stay_while_the_power_is_cut_stays_when_it_is_back(
    machine: Machine, cut: str
) -> None:
    bench = machine()
    power = {"lid": bench.world.set_lid, "estop": bench.world.set_estop}[cut]
    bench.world.set_output("lift", LIFT_UP)
    await bench.pause(500)
    power(True)
    bench.world.set_output("lift", LIFT_STAY)
    power(False)
    assert not await bench.until("lift", 1, 10_000)


async def test_cards_dealt_with_the_lift_half_way_fall_to_the_floor(machine: Machine) -> None:
    bench = machine()
    await bench.leave_half_way()
    await bench.deal(1)
    assert len(bench.world.truth().floor) == 1
    with pytest.raises(OutOfReach):
        bench.world.people.take_hands()


async def test_collecting_opens_and_closes_the_lid_and_finds_every_card(machine: Machine) -> None:
    bench = machine()
    await bench.deal(0)
    await bench.deal(TRAY)
    await bench.feed()
    await bench.world.people.collect()
    assert [value for name, value in bench.seen if name == "lid"] == [1, 0]
    truth = bench.world.truth()
    assert len(truth.hopper) == len(truth.all_cards()) == 108
    assert [bench.sees(name) for name in ("window", "pocket_0", "pocket_4")] == [0, 0, 0]


async def test_another_set_replaces_the_first_one(machine: Machine) -> None:
    bench = machine()
    old = set(bench.world.hopper)
    await bench.world.people.change_set(back=1)
    truth = bench.world.truth()
    assert set(truth.box) == old
    assert [card.back for card in truth.hopper] == [1] * 108


async def test_the_engine_reads_the_card_in_the_window_both_sides_at_once(machine: Machine) -> None:
    bench = machine()
    await bench.feed()
    (card,) = bench.world.truth().window
    assert await bench.read(7) == (card.face, card.back, 0, 255, 7)


async def test_the_engine_sees_no_face_in_an_empty_window(machine: Machine) -> None:
    bench = machine()
    answer = await bench.read()
    assert answer is not None
    assert answer[0] == 255


async def test_the_trigger_wire_reaches_the_reader_board(machine: Machine) -> None:
    bench = machine()
    pulses: list[int] = []
    bench.world.reader.attach(lambda name, value: pulses.append(value))
    bench.world.set_output("trigger", 1)
    bench.world.set_output("trigger", 0)
    assert pulses == [1, 0]


async def test_a_board_that_lost_its_power_drives_nothing(machine: Machine) -> None:
    bench = machine()
    bench.world.set_output("feed", FORWARD)
    await bench.pause(10)
    bench.world.board_lost_power(("source", "feed", "pass", "gate", "shuffle", "lift", "trigger"))
    await bench.pause(1000)
    assert len(bench.world.truth().feeder) == 1


async def test_a_faster_machine_moves_faster_and_a_change_of_speed_loses_nothing(
    machine: Machine,
) -> None:
    bench = machine(speed=10)
    start = bench.world.clock.now_s()
    await bench.feed()
    assert bench.world.clock.now_s() - start < 0.0065
    bench.world.set_output("gate", 3)
    await bench.until("gate_at", 3)
    bench.world.set_output("pass", FORWARD)
    await bench.until("window", 0)
    bench.world.clock.set_speed(1)
    before = bench.world.clock.now_s()
    assert await bench.until("land_3", 1)
    assert 0.035 < bench.world.clock.now_s() - before < 0.046


async def test_the_machine_says_how_long_its_mechanics_took(machine: Machine) -> None:
    bench = machine(cards=2)
    assert bench.world.truth().mechanical_s is None
    await bench.deal(0)
    await bench.deal(1)
    taken = bench.world.truth().mechanical_s
    assert taken is not None
    assert 0.2 < taken < 0.35
    bench.world.people.empty_machine()


async def test_a_closed_world_leaves_no_timer(machine: Machine) -> None:
    bench = machine()
    bench.world.set_output("feed", FORWARD)
    bench.world.set_output("lift", 1)
    bench.world.close()
    truth = bench.world.truth()
    await bench.pause(10_000)
    assert bench.world.truth() == truth
