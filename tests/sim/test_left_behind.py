"""Cards that people leave behind, sets that are put right again, and faults that come together."""

import pytest

from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.fault_menu import PLACES, FaultCombination, FaultStrike, SimulatedFault
from sim.mechanics.truth import Truth
from tests.sim.bench import FORWARD, TRAY, Bench, Machine

pytestmark = pytest.mark.virtual


def _where(truth: Truth) -> list[int]:
    return [
        len(truth.feeder),
        len(truth.pockets[TRAY]),
        len(truth.window),
        len(truth.path),
        len(truth.shuffler),
        len(truth.floor),
    ]


@pytest.mark.parametrize(
    ("place", "where", "seen"),
    [
        ("feeder", 0, "hopper"),
        ("tray_feeder", 1, "tray_feed"),
        ("window", 2, "window"),
        ("gate", 2, "exit"),
        ("landing", 3, None),
        ("shuffler", 4, "shuffler"),
        ("lift", 5, None),
    ],
)
async def test_a_card_is_left_where_the_fault_says_and_seen_by_what_is_there(
    machine: Machine, place: str, where: int, seen: str | None
) -> None:
    bench = machine(SimulatedFault("left_in_path", place=place, pocket=3))
    assert len(bench.world.hopper) == 107
    assert _where(bench.world.truth()) == [int(at == where) for at in range(6)]
    assert seen is None or bench.sees(seen) == 1
    assert bench.sees("exit") == int(place == "gate")
    await bench.world.people.collect()
    assert len(bench.world.hopper) == 108


def test_every_place_has_been_tried() -> None:
    assert len(PLACES) == 7


async def test_a_card_left_in_the_throat_is_the_first_to_be_fed(machine: Machine) -> None:
    bench = machine(SimulatedFault("left_in_path", place="feeder"))
    (left,) = bench.world.truth().feeder
    await bench.feed()
    assert bench.world.truth().window == (left,)


async def test_a_card_left_in_a_chute_falls_with_the_next_one(machine: Machine) -> None:
    bench = machine(SimulatedFault("left_in_path", place="landing", pocket=3))
    await bench.deal(3)
    assert len(bench.world.truth().pockets[3]) == 2


async def test_a_card_left_in_the_gate_may_be_passed_on(machine: Machine) -> None:
    bench = machine(SimulatedFault("left_in_path", place="gate"))
    bench.world.set_output("pass", FORWARD)
    await bench.pause(200)
    assert len(bench.world.truth().pockets[0]) == 1


async def test_where_a_card_lies_already_no_other_is_left(machine: Machine) -> None:
    bench = machine()
    await bench.feed()
    bench.world.add_fault(SimulatedFault("left_in_path", place="window"))
    bench.world.people.reload_hopper()
    truth = bench.world.truth()
    assert (len(truth.window), len(truth.hopper), len(truth.all_cards())) == (1, 107, 108)


WRONG = ("missing_card", "third_copy", "foreign_back", "extra_card")


@pytest.mark.parametrize("name", WRONG)
async def test_a_set_that_was_counted_in_full_is_right_again(machine: Machine, name: str) -> None:
    bench = machine(SimulatedFault(name))
    ids = sorted(card.id for card in bench.world.hopper)
    assert ids != list(range(108))
    bench.world.people.put_right()
    assert sorted(card.id for card in bench.world.hopper) == list(range(108))


async def test_who_counts_finds_the_other_sets_cards_and_lays_them_aside(machine: Machine) -> None:
    bench = machine()
    strange = bench.world.new_set(5, 1, 54)
    bench.world.people.fill_hopper((*bench.world.people.empty_machine(), *strange))
    bench.world.people.put_right()
    assert len(bench.world.hopper) == 108
    assert bench.world.people.box == list(strange)


async def test_there_must_be_cards_to_count(machine: Machine) -> None:
    bench = machine()
    bench.world.people.empty_machine()
    with pytest.raises(OutOfReach, match="no card"):
        bench.world.people.put_right()


def _in_force(bench: Bench) -> list[str]:
    return [struck.fault.name for struck in bench.world.active_faults()]


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_set_is_in_force_until_it_is_right_or_another_lies_there(
    machine: Machine, name: str
) -> None:
    bench = machine(SimulatedFault(name))
    assert _in_force(bench) == [name]
    await bench.world.people.collect()
    assert _in_force(bench) == [name]
    await bench.world.people.change_set()
    assert _in_force(bench) == []
    other = machine(SimulatedFault(name))
    other.world.people.put_right()
    assert _in_force(other) == []


async def test_a_stuck_sensor_is_in_force_until_it_is_mended(machine: Machine) -> None:
    bench = machine(SimulatedFault("sensor_stuck", sensor="exit"), SimulatedFault("hopper_early"))
    assert _in_force(bench) == ["sensor_stuck", "hopper_early"]
    await bench.world.people.collect()
    assert _in_force(bench) == []


async def test_a_stall_is_in_force_until_the_motor_turns(machine: Machine) -> None:
    bench = machine(SimulatedFault("stall", motor="pass", clears_after=0))
    assert _in_force(bench) == ["stall"]
    bench.world.set_output("pass", FORWARD)
    assert _in_force(bench) == []


async def test_what_befell_a_card_is_in_force_until_the_hopper_is_filled(machine: Machine) -> None:
    bench = machine(SimulatedFault("wrong_pocket", at=1))
    await bench.deal(0)
    assert _in_force(bench) == ["wrong_pocket"]
    await bench.world.people.collect()
    assert _in_force(bench) == []


async def test_a_card_left_behind_is_in_force_while_it_lies_there(machine: Machine) -> None:
    bench = machine(SimulatedFault("left_in_pocket", pocket=1))
    bench.world.people.load()
    assert _in_force(bench) == ["left_in_pocket"]
    await bench.world.people.collect()
    assert _in_force(bench) == []


async def test_an_open_lid_is_in_force_until_it_is_closed(machine: Machine) -> None:
    bench = machine(SimulatedFault("lid"), SimulatedFault("estop", for_ms=10))
    assert set(_in_force(bench)) == {"lid", "estop"}
    await bench.pause()
    assert _in_force(bench) == ["lid"]
    bench.world.set_lid(False)
    assert _in_force(bench) == []


async def test_everything_that_strikes_is_told_once_with_number_and_time(machine: Machine) -> None:
    bench = machine(
        SimulatedFault("wrong_pocket", at=2), SimulatedFault("face_up", at=3, repeat=True)
    )
    told: list[FaultStrike] = []
    bench.world.strike_listeners.append(told.append)
    for _ in range(3):
        await bench.deal(0)
    assert told == bench.world.faults.past_strikes
    assert [(each.fault.name, each.number) for each in told] == [
        ("wrong_pocket", 2),
        ("face_up", 3),
    ]
    assert 0 < told[0].at_s < told[1].at_s


PAIR = FaultCombination(
    1.0, (SimulatedFault("missed_landing"), SimulatedFault("sensor_bounce", sensor="land_0"))
)


async def _deal_all(bench: Bench, cards: int = 20) -> list[tuple[str, int]]:
    bench.world.faults.past_strikes.clear()
    for _ in range(cards):
        await bench.deal(0)
    return [(struck.fault.name, struck.number) for struck in bench.world.faults.past_strikes]


async def test_faults_that_come_together_all_strike_in_one_filling(machine: Machine) -> None:
    bench = machine(cards=20, together=(PAIR,))
    for _ in range(3):
        struck = await _deal_all(bench)
        assert sorted(name for name, _ in struck) == ["missed_landing", "sensor_bounce"]
        await bench.world.people.collect()


async def test_faults_that_come_together_meet_one_card_or_each_its_own(machine: Machine) -> None:
    met = set()
    for seed in range(12):
        struck = await _deal_all(machine(cards=20, together=(PAIR,), seed=seed))
        met.add(struck[0][1] == struck[1][1])
    assert met == {True, False}


async def test_what_did_not_strike_in_its_filling_comes_no_more(machine: Machine) -> None:
    bench = machine(cards=20, together=(FaultCombination(1.0, (SimulatedFault("wrong_pocket"),)),))
    for _ in range(8):
        await _deal_all(bench, 1)
        await bench.world.people.collect()
    assert len(await _deal_all(bench)) == 1


async def test_a_card_left_in_a_pocket_with_a_full_hopper(machine: Machine) -> None:
    pair = FaultCombination(
        1.0, (SimulatedFault("left_in_pocket", pocket=2), SimulatedFault("extra_card"))
    )
    bench = machine(together=(pair,))
    truth = bench.world.truth()
    assert (len(truth.hopper), len(truth.pockets[2])) == (108, 1)


async def test_an_initial_rate_of_the_set_is_a_filling_and_not_a_card(machine: Machine) -> None:
    bench = machine(SimulatedFault("missing_card", rate=0.5), cards=20, seed=3)
    for _ in range(40):
        await bench.world.people.collect()
        bench.world.people.put_right()
    assert 20 <= len(bench.world.faults.past_strikes) <= 60
