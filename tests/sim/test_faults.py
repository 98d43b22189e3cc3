"""Each fault of the menu does what it says, and nothing else."""

import random
from collections import Counter

import pytest

from drivers.firmware.pins import LIFT_STAY, LIFT_UP
from sim.mechanics.cards import PhysicalCard
from sim.mechanics.fault_menu import (
    FaultError,
    SimulatedFault,
    fault_menu,
    get_wear_level,
    parse_fault,
)
from sim.mechanics.fault_schedule import FaultSchedule
from tests.sim.bench import FORWARD, REVERSE, STOP, TRAY, Bench, Machine

pytestmark = pytest.mark.virtual


async def test_a_double_feed_brings_two_cards_that_land_one_after_the_other(
    machine: Machine,
) -> None:
    bench = machine(SimulatedFault("double_feed", at=2))
    await bench.deal(0)
    await bench.feed()
    assert bench.sees("double") == 1
    assert len(bench.world.truth().window) == 2
    bench.world.set_output("gate", TRAY)
    await bench.pause()
    bench.seen.clear()
    await bench.to(TRAY)
    await bench.pause()
    assert bench.seen.count(("land_4", 1)) in (1, 2)
    assert len(bench.world.truth().pockets[TRAY]) == 2
    assert bench.sees("double") == 0


async def test_two_cards_that_cling_cross_the_beam_as_one(machine: Machine) -> None:
    beams: Counter[int] = Counter()
    for seed in range(20):
        bench = machine(SimulatedFault("double_feed", at=1), seed=seed)
        await bench.deal(TRAY)
        beams[bench.seen.count(("land_4", 1))] += 1
    assert set(beams) == {1, 2}


async def _tries_until_fed(bench: Bench, source: int, limit: int = 5) -> int | None:
    for tries in range(limit):
        if await bench.feed(source):
            return tries
        bench.world.set_output("feed", REVERSE)
        await bench.pause()
        bench.world.set_output("feed", STOP)
    return None


@pytest.mark.parametrize("clears_after", [1, 2, None])
async def test_a_jam_in_the_feeder_clears_after_that_many_reverses(
    machine: Machine, clears_after: int | None
) -> None:
    bench = machine(SimulatedFault("jam", place="feeder", at=1, clears_after=clears_after))
    assert await _tries_until_fed(bench, 0) == clears_after


async def test_a_jam_of_the_tray_feeder_waits_for_the_tray(machine: Machine) -> None:
    bench = machine(SimulatedFault("jam", place="tray_feeder", clears_after=1))
    await bench.deal(TRAY)
    assert await _tries_until_fed(bench, 1) == 1


@pytest.mark.parametrize("clears_after", [1, 2, None])
async def test_a_jam_in_the_window_clears_after_that_many_reverses(
    machine: Machine, clears_after: int | None
) -> None:
    bench = machine(SimulatedFault("jam", place="window", at=1, clears_after=clears_after))
    await bench.feed()
    tries = 0
    while not await bench.to(2) and tries < 5:
        tries += 1
        bench.world.set_output("pass", REVERSE)
        await bench.pause()
    assert tries == (clears_after if clears_after is not None else 5)


async def test_a_jam_in_the_gate_keeps_its_beam_covered(machine: Machine) -> None:
    bench = machine(SimulatedFault("jam", place="gate", at=1, clears_after=1))
    await bench.feed()
    assert not await bench.to(2)
    assert bench.sees("exit") == 1
    bench.world.set_output("pass", FORWARD)
    await bench.pause()
    assert len(bench.world.truth().pockets[2]) == 1


async def test_a_card_stuck_in_its_chute_falls_with_the_next_one(machine: Machine) -> None:
    bench = machine(SimulatedFault("jam", place="landing", at=1, clears_after=1))
    await bench.deal(2)
    assert len(bench.world.truth().path) == 1
    assert bench.sees("pocket_2") == 0
    await bench.deal(1)
    assert len(bench.world.truth().path) == 1
    await bench.deal(2)
    assert len(bench.world.truth().pockets[2]) == 2


async def test_a_card_stuck_in_its_chute_for_good_stays_until_it_is_collected(
    machine: Machine,
) -> None:
    bench = machine(SimulatedFault("jam", place="landing", at=1))
    await bench.deal(2)
    await bench.deal(2)
    assert len(bench.world.truth().path) == 2
    await bench.world.people.collect()
    assert len(bench.world.hopper) == 108


@pytest.mark.parametrize(("place", "motor"), [("shuffler", "shuffle"), ("lift", "lift")])
async def test_a_jammed_part_stands_until_it_was_started_often_enough(
    machine: Machine, place: str, motor: str
) -> None:
    bench = machine(SimulatedFault("jam", place=place, clears_after=1))
    world = bench.world
    done = {"shuffle": "shuffled", "lift": "lift"}[motor]
    world.set_output(motor, 1)
    assert not await bench.until(done, 1, 3000)
    world.set_output(motor, 0)
    world.set_output(motor, 1)
    assert await bench.until(done, 1, 3000)


STUCK_LIFTS = [SimulatedFault("stall", motor="lift"), SimulatedFault("jam", place="lift")]


@pytest.mark.parametrize("stuck", STUCK_LIFTS, ids=["stall", "jam"])
async def test_a_lift_that_is_freed_while_it_is_told_to_stay_does_not_move(
    machine: Machine, stuck: SimulatedFault
) -> None:
    bench = machine(stuck)
    bench.world.set_output("lift", LIFT_UP)
    assert not await bench.until("lift", 1, 3000)
    bench.world.set_output("lift", LIFT_STAY)
    await bench.world.people.collect()
    assert not await bench.until("lift", 1, 10_000)
    assert bench.sees("lift_down") == 1
    await bench.raise_lift()


async def test_to_be_told_to_stay_does_not_free_a_stuck_lift(machine: Machine) -> None:
    bench = machine(SimulatedFault("stall", motor="lift", clears_after=1))
    for value in (LIFT_UP, LIFT_STAY, LIFT_STAY):
        bench.world.set_output("lift", value)
        assert not await bench.until("lift", 1, 3000)
    await bench.raise_lift()


async def test_a_wrong_pocket_is_the_neighbour_while_the_gate_stands_right(
    machine: Machine,
) -> None:
    bench = machine(SimulatedFault("wrong_pocket", at=1))
    await bench.deal(2)
    assert bench.sees("gate_at") == 2
    assert ("land_3", 1) in bench.seen
    assert len(bench.world.truth().pockets[3]) == 1


async def test_an_unreadable_card_is_read_after_as_many_looks_as_it_says(machine: Machine) -> None:
    bench = machine(SimulatedFault("unreadable", at=1, times=2))
    await bench.feed()
    (card,) = bench.world.truth().window
    faces = [answer[0] for shot in range(3) if (answer := await bench.read(shot))]
    assert faces == [255, 255, card.face]


async def test_a_fault_with_a_face_finds_its_card(machine: Machine) -> None:
    bench = machine(SimulatedFault("unreadable", face=50))
    unread = []
    for _ in range(6):
        await bench.feed()
        answer = await bench.read()
        assert answer is not None
        if answer[0] == 255:
            unread.append(bench.world.truth().window[0].face)
        await bench.to(0)
    assert unread == [50]


async def test_a_misread_card_is_taken_for_another(machine: Machine) -> None:
    bench = machine(SimulatedFault("misread", at=1, confidence=250))
    await bench.feed()
    (card,) = bench.world.truth().window
    answer = await bench.read()
    assert answer is not None
    assert answer[0] != card.face
    assert answer[3] == 250


async def test_an_engine_may_not_answer_at_all(machine: Machine) -> None:
    bench = machine(SimulatedFault("no_answer", at=1))
    await bench.feed()
    assert await bench.read() is None
    assert await bench.read() is not None


async def test_a_card_that_lies_face_up_is_seen_so_and_turned_when_collected(
    machine: Machine,
) -> None:
    bench = machine(SimulatedFault("face_up", at=1))
    await bench.feed()
    answer = await bench.read()
    assert answer is not None
    assert answer[2] == 1
    await bench.world.people.collect()
    assert not any(card.face_up for card in bench.world.hopper)


def _faces(cards: list[PhysicalCard]) -> Counter[int]:
    return Counter(card.face for card in cards)


RIGHT = Counter(dict.fromkeys(range(54), 2))


async def test_a_missing_card_leaves_107(machine: Machine) -> None:
    bench = machine(SimulatedFault("missing_card", face=12))
    assert RIGHT - _faces(bench.world.hopper) == Counter({12: 1})
    assert [card.face for card in bench.world.people.box] == [12]


async def test_a_third_copy_takes_the_place_of_another_card(machine: Machine) -> None:
    bench = machine(SimulatedFault("third_copy", face=12))
    faces = _faces(bench.world.hopper)
    assert (faces.total(), faces[12]) == (108, 3)
    assert (RIGHT - faces).total() == 1


async def test_a_foreign_back_keeps_its_face(machine: Machine) -> None:
    bench = machine(SimulatedFault("foreign_back"))
    assert _faces(bench.world.hopper) == RIGHT
    assert Counter(card.back for card in bench.world.hopper) == Counter({0: 107, 2: 1})


async def test_an_extra_card_makes_109(machine: Machine) -> None:
    bench = machine(SimulatedFault("extra_card", face=12))
    assert _faces(bench.world.hopper) - RIGHT == Counter({12: 1})


async def test_a_fault_of_the_set_strikes_cards_that_lie_ready(machine: Machine) -> None:
    bench = machine()
    bench.world.add_fault(SimulatedFault("missing_card"))
    assert len(bench.world.hopper) == 107


async def test_a_fault_of_the_set_waits_for_the_next_filling_while_cards_are_dealt(
    machine: Machine,
) -> None:
    bench = machine()
    await bench.deal(0)
    bench.world.add_fault(SimulatedFault("extra_card"))
    assert len(bench.world.hopper) == 107
    await bench.world.people.collect()
    assert len(bench.world.hopper) == 109


async def test_a_card_is_left_in_the_pocket_of_the_last_deal(machine: Machine) -> None:
    bench = machine(SimulatedFault("left_in_pocket", pocket=2))
    truth = bench.world.truth()
    assert (len(truth.hopper), len(truth.pockets[2])) == (107, 1)
    assert bench.sees("pocket_2") == 1


async def test_a_player_may_leave_a_card_behind(machine: Machine) -> None:
    bench = machine()
    for _ in range(3):
        await bench.deal(1)
    bench.world.add_fault(SimulatedFault("left_in_pocket", pocket=1))
    await bench.raise_lift()
    bench.world.people.take_hands()
    truth = bench.world.truth()
    assert (len(truth.pockets[1]), len(truth.hands[1])) == (1, 2)


async def test_a_stalled_motor_turns_no_more_until_a_hand_frees_it(machine: Machine) -> None:
    bench = machine(SimulatedFault("stall", motor="gate", at=1))
    await bench.feed()
    bench.world.set_output("gate", 3)
    await bench.pause(1000)
    assert bench.sees("gate_at") == 0
    await bench.world.people.collect()
    assert await bench.until("gate_at", 3, 100)


async def test_a_stuck_sensor_says_the_same_until_it_is_mended(machine: Machine) -> None:
    bench = machine(SimulatedFault("sensor_stuck", sensor="window", value=0))
    assert not await bench.feed()
    assert bench.world.truth().window
    bench.world.dealer.unstick_all()
    assert bench.sees("window") == 1


async def test_a_fault_strikes_once_and_a_repeated_one_each_filling(machine: Machine) -> None:
    bench = machine(
        SimulatedFault("wrong_pocket", at=1), SimulatedFault("face_up", at=1, repeat=True)
    )
    for expected in ((0, 1), (1, 0)):
        await bench.deal(0)
        truth = bench.world.truth()
        assert (len(truth.pockets[0]), len(truth.pockets[1])) == expected
        assert any(card.face_up for card in truth.all_cards())
        await bench.world.people.collect()


async def test_a_seeded_rate_strikes_the_same_cards_again(machine: Machine) -> None:
    async def struck() -> list[int]:
        bench = machine(SimulatedFault("unreadable", rate=0.3), seed=5)
        numbers = []
        for number in range(30):
            await bench.feed()
            answer = await bench.read()
            assert answer is not None
            if answer[0] == 255:
                numbers.append(number)
            await bench.to(0)
        return numbers

    first = await struck()
    assert 3 <= len(first) <= 15
    assert await struck() == first


def test_one_draw_decides_for_all_rates_of_a_name_and_each_has_its_share() -> None:
    book = FaultSchedule(random.Random(3))
    rates = (
        SimulatedFault("unreadable", times=1, rate=0.3),
        SimulatedFault("unreadable", times=2, rate=0.1),
    )
    for fault in rates:
        book.add(fault)
    struck = Counter(book.strike("unreadable", 1) for _ in range(10_000))
    assert [struck[fault] for fault in rates] == pytest.approx([3000, 1000], rel=0.1)
    assert len(book.past_strikes) == 10_000 - struck[None]


def test_a_book_asks_only_for_the_place_that_was_meant_and_counts_no_other() -> None:
    book = FaultSchedule(random.Random(3))
    book.add(SimulatedFault("jam", place="gate", rate=0.5))
    book.add(SimulatedFault("jam", place="window"))
    assert not any(book.strike("jam", 1, place="feeder") for _ in range(50))
    assert book.strike("jam", 1, place="window") == SimulatedFault("jam", place="window")
    assert not book.strike("jam", 1, place="window")
    struck = sum(book.strike("jam", 1, place="gate") is not None for _ in range(1000))
    assert struck == pytest.approx(500, rel=0.2)


def test_a_fault_may_be_forgotten_before_it_strikes() -> None:
    book = FaultSchedule(random.Random(3))
    for fault in (
        SimulatedFault("face_up"),
        SimulatedFault("jam"),
        SimulatedFault("lid", rate=1.0),
    ):
        book.add(fault)
    book.drop(SimulatedFault("face_up"))
    book.clear("jam")
    assert book.strike("face_up") is None
    assert book.strike("jam") is None
    assert book.has_any(frozenset({"lid"}))
    book.clear()
    assert not book.has_any(frozenset({"lid"}))


def test_the_command_line_writes_a_fault_in_one_word() -> None:
    assert parse_fault("jam:place=window,at=12,clears_after=1") == SimulatedFault(
        "jam", place="window", at=12, clears_after=1
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gremlin", "no fault is called 'gremlin'; the menu: double_feed"),
        ("jam:motor=feed,at", "field=value"),
        ("double_feed:place=gate", "double_feed takes at, rate, repeat, not place"),
        ("jam:place=roof", "place is one of feeder"),
        ("jam:at=zero", "at is a whole number, not 'zero'"),
        ("jam:rate=2", "rate is 0 to 1"),
        ("misread:confidence=256", "confidence is 0 to 255"),
    ],
)
def test_a_fault_that_is_not_on_the_menu_is_refused_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(FaultError) as refusal:
        parse_fault(text)
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("level", ["ideal", "worn", "hostile"])
async def test_the_faults_of_every_wear_level_are_on_the_menu(machine: Machine, level: str) -> None:
    machine(*get_wear_level(level).rates, together=get_wear_level(level).together)


async def test_every_fault_of_the_menu_can_be_ordered_without_a_word_more(machine: Machine) -> None:
    for name, entry in fault_menu().items():
        if entry.strikes not in ("line", "board", "host"):
            machine(SimulatedFault(name))
