"""Sets of cards as things: what lies where when a table has more than one, and who mixes them."""

from collections import Counter
from dataclasses import replace

import pytest

from drivers.firmware.pins import LIFT_DOWN
from drivers.firmware.protocol import BACK_A, BACK_B, BACK_FOREIGN
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.cards import Cards
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import PhysicalSet
from tests.sim.bench import Bench, Machine

pytestmark = pytest.mark.virtual

SETS = (PhysicalSet("S1", BACK_A), PhysicalSet("S2", BACK_B))


def backs(cards: Cards) -> dict[int, int]:
    return dict(Counter(card.back for card in cards))


async def two_sets(machine: Machine, *faults: SimulatedFault, dealt: int = 8) -> Bench:
    """A machine with two sets of eight cards; `dealt` of the first one are in players' hands."""
    bench = machine(*faults, cards=8, sets=SETS)
    for number in range(dealt):
        await bench.deal(number % 4)
    if dealt:
        await bench.raise_lift()
        bench.world.people.take_hands()
        bench.world.set_output("lift", LIFT_DOWN)
        assert await bench.until("lift_down", 1, 5000)
    return bench


async def test_a_set_for_big_two_is_one_pack_without_jokers(machine: Machine) -> None:
    world = machine(packs=1, jokers=False).world
    assert [card.face for card in world.hopper] == list(range(52))
    await world.people.change_set()
    assert sorted(card.face for card in world.hopper) == list(range(52))


async def test_the_first_set_lies_in_the_hopper_and_the_second_beside_the_machine(
    machine: Machine,
) -> None:
    truth = machine(sets=SETS).world.truth()
    assert backs(truth.hopper) == {BACK_A: 108}
    assert {name: backs(pile) for name, pile in truth.beside.items()} == {
        "S1": {},
        "S2": {BACK_B: 108},
    }
    assert len({card.id for card in truth.all_cards()}) == 216


async def test_a_second_set_goes_into_the_hopper_while_the_first_is_played(
    machine: Machine,
) -> None:
    people = (bench := await two_sets(machine)).world.people
    people.load("S2")
    assert backs(bench.world.truth().hopper) == {BACK_B: 8}
    assert [len(hand) for hand in people.hands] == [2, 2, 2, 2]
    people.lay_down()
    truth = bench.world.truth()
    assert (backs(truth.table), truth.hands) == ({BACK_A: 8}, ((), (), (), ()))
    people.gather("S1")
    assert backs(bench.world.truth().beside["S1"]) == {BACK_A: 8}


async def test_no_set_goes_onto_another_one_in_the_hopper(machine: Machine) -> None:
    people = (await two_sets(machine, dealt=0)).world.people
    with pytest.raises(OutOfReach, match="the hopper is not free"):
        people.load("S2")


async def test_a_set_that_is_in_the_players_hands_cannot_be_loaded(machine: Machine) -> None:
    people = (await two_sets(machine)).world.people
    with pytest.raises(OutOfReach, match="S1 is neither beside the machine nor on the table"):
        people.load("S1")
    people.lay_down()
    people.load("S1")
    assert backs(tuple(people.table)) == {}


async def test_what_was_played_is_not_taken_for_the_other_set(machine: Machine) -> None:
    people = (await two_sets(machine)).world.people
    people.lay_down()
    with pytest.raises(OutOfReach, match="set S2 is not on the table"):
        people.gather("S2")
    people.gather("S1")
    assert backs(tuple(people.beside["S2"])) == {BACK_B: 8}


async def test_a_name_that_no_set_has_is_told_with_those_there_are(machine: Machine) -> None:
    people = (await two_sets(machine, dealt=0)).world.people
    with pytest.raises(OutOfReach, match="no set is called 'S9'; there are S1, S2"):
        people.load("S9")


async def test_sets_are_mixed_on_purpose_and_sorted_out_by_their_backs(machine: Machine) -> None:
    world = (await two_sets(machine, dealt=0)).world
    world.people.mix("S1", 3)
    truth = world.truth()
    assert (len(truth.hopper), backs(truth.beside["S2"])) == (5, {BACK_A: 3, BACK_B: 8})
    await world.people.change_set(card_set="S2")
    assert backs(world.truth().hopper) == {BACK_A: 3, BACK_B: 8}
    await world.people.collect("S2")
    truth = world.truth()
    assert (backs(truth.hopper), backs(truth.beside["S1"])) == ({BACK_B: 8}, {BACK_A: 8})


async def test_cards_that_are_not_there_cannot_be_mixed(machine: Machine) -> None:
    people = (await two_sets(machine)).world.people
    with pytest.raises(OutOfReach, match="set S1 is not within reach"):
        people.mix("S1", 1)
    people.lay_down()
    with pytest.raises(OutOfReach, match="there are no 9 cards"):
        people.mix("S1", 9)


async def test_a_machine_is_cleared_up_while_the_other_set_is_played(machine: Machine) -> None:
    bench = await two_sets(machine)
    people = bench.world.people
    people.load("S2")
    await bench.deal(1)
    await bench.feed()
    await people.collect("S2")
    truth = bench.world.truth()
    assert (backs(truth.hopper), truth.window) == ({BACK_B: 8}, ())
    assert [len(hand) for hand in truth.hands] == [2, 2, 2, 2]


async def test_a_foreign_card_is_sorted_out_of_the_machine_into_the_box(machine: Machine) -> None:
    bench = await two_sets(machine, SimulatedFault("foreign_back"), dealt=0)
    assert backs(tuple(bench.world.hopper)) == {BACK_A: 7, BACK_FOREIGN: 1}
    await bench.world.people.collect("S1")
    truth = bench.world.truth()
    assert (backs(truth.hopper), backs(truth.box)) == ({BACK_A: 7}, {BACK_A: 1, BACK_FOREIGN: 1})


async def test_what_is_wrong_with_a_set_is_wrong_with_that_set_alone(machine: Machine) -> None:
    world = (await two_sets(machine, SimulatedFault("missing_card"), dealt=0)).world
    assert (len(world.hopper), len(world.people.beside["S2"])) == (7, 8)
    await world.people.change_set(card_set="S2")
    assert (len(world.hopper), len(world.people.beside["S1"])) == (8, 7)


async def test_of_two_sets_with_one_back_the_one_that_is_not_loaded_is_put_aside(
    machine: Machine,
) -> None:
    alike = tuple(replace(card_set, back=BACK_A) for card_set in SETS)
    world = machine(cards=8, sets=alike).world
    first = set(world.hopper)
    await world.people.change_set(card_set="S2")
    assert not first & set(world.hopper)
    assert set(world.people.beside["S1"]) == first


async def test_cards_that_were_laid_down_lie_face_down(machine: Machine) -> None:
    bench = await two_sets(machine, SimulatedFault("face_up", at=1))
    assert any(card.face_up for hand in bench.world.people.hands for card in hand)
    bench.world.people.lay_down()
    assert not any(card.face_up for card in bench.world.people.table)
