"""Landings, and the board's own 27-lock: RELEASE only for what the sensors saw come right."""

from collections.abc import Callable

import pytest

from drivers.firmware import protocol
from drivers.firmware.dealer import DealerCore
from drivers.firmware.pins import LIFT_UP
from tests.firmware.bench import ATTEMPT, SESSION, DealerLine

NORTH, WEST, SOUTH, EAST, TRAY = range(5)


def test_a_right_deal_is_released(dealer: DealerLine) -> None:
    dealer.deal()
    assert dealer.locked()
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    assert dealer.said(protocol.RELEASED) == []
    dealer.rise()
    assert len(dealer.said(protocol.RELEASED)) == 1


def test_108_cards_are_held_and_released(dealer: DealerLine) -> None:
    dealer.deal(tuple(range(4)) * 27)
    assert dealer.status()[7:12] == (27, 27, 27, 27, 0)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE


def landed_short(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed(7)
    for index in range(1, 8):
        dealer.card(index, (index - 1) % 4)
    dealer.pins.levels["hopper"] = 0


def one_pocket_over(dealer: DealerLine) -> None:
    dealer.deal((0, 0, 0, 1, 1, 2, 2, 3))


def no_attempt(dealer: DealerLine) -> None:
    dealer.hello()


def nothing_fed(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.pins.levels["hopper"] = 0


def a_stray(dealer: DealerLine) -> None:
    dealer.deal()
    dealer.land(WEST)


def seen(name: str, value: int = 1) -> Callable[[DealerLine], None]:
    def then(dealer: DealerLine) -> None:
        dealer.deal()
        dealer.edge(name, value)

    then.__name__ = f"{name}_{value}"
    return then


def lid_was_open(dealer: DealerLine) -> None:
    dealer.deal()
    dealer.edge("lid", 1)
    dealer.edge("lid", 0)


def a_double_in_a_pocket(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.edge("double", 1)
    dealer.edge("double", 0)
    for index in range(1, 9):
        if index == 8:
            dealer.pins.levels["hopper"] = 0
        dealer.card(index, (index - 1) % 4)


def purged(dealer: DealerLine) -> None:
    dealer.deal()
    dealer.edge("window", 1)
    dealer.do(protocol.PURGE, ATTEMPT)
    dealer.gate(TRAY)
    dealer.edge("exit", 1)
    dealer.edge("window", 0)
    dealer.edge("exit", 0)


@pytest.mark.parametrize(
    "what",
    [
        no_attempt,
        nothing_fed,
        landed_short,
        one_pocket_over,
        a_stray,
        a_double_in_a_pocket,
        purged,
        lid_was_open,
        *(seen(name) for name in ("hopper", "shuffler", "window", "exit", "tray_feed")),
        *(seen(name) for name in ("pocket_4", "lid", "estop")),
        *(seen(f"pocket_{seat}", 0) for seat in range(4)),
        *(seen("lift"), seen("lift_down", 0)),
    ],
)
def test_release_is_refused_after(dealer: DealerLine, what: Callable[[DealerLine], None]) -> None:
    what(dealer)
    assert not dealer.locked()
    assert dealer.do(protocol.RELEASE, ATTEMPT) in (
        protocol.NOT_LOCKED,
        protocol.LID_OPEN,
        protocol.ESTOP,
        protocol.WRONG_ATTEMPT,
        protocol.NOT_CLEAR,
    )
    assert dealer.pins.runs("lift") != LIFT_UP


def test_a_card_in_flight_keeps_the_lock_closed(dealer: DealerLine) -> None:
    dealer.begin(4, 1)
    dealer.feed(4)
    for index in range(1, 4):
        dealer.card(index, index - 1)
    dealer.pins.levels["hopper"] = 0
    dealer.arrive()
    dealer.route(4, EAST)
    dealer.gate(EAST)
    dealer.leave()
    assert not dealer.locked()
    dealer.land(EAST)
    assert dealer.locked()


def test_a_card_by_the_tray_is_counted_where_it_came_to_lie(dealer: DealerLine) -> None:
    dealer.begin(4, 1)
    dealer.feed(4)
    for index, outlet in enumerate((NORTH, TRAY, SOUTH, EAST), 1):
        if index == 4:
            dealer.pins.move(dealer.now, "hopper", 0)
        dealer.card(index, outlet)
    assert not dealer.locked()
    dealer.feed(5, protocol.FROM_TRAY)
    dealer.edge("tray_feed", 0)
    dealer.edge("pocket_4", 0)
    dealer.card(5, WEST)
    assert dealer.locked()


def test_two_cards_at_one_index_are_settled_by_the_tray(dealer: DealerLine) -> None:
    dealer.begin(4, 1)
    dealer.feed(4)
    dealer.arrive()
    dealer.edge("double", 1)
    dealer.route(1, TRAY)
    dealer.gate(TRAY)
    dealer.pins.move(dealer.now, "double", 0)
    dealer.leave()
    dealer.land(TRAY)
    dealer.edge("land_4", 1, 12)  # the second of the two
    dealer.edge("land_4", 0)
    assert dealer.said(protocol.STRAY) == []
    dealer.card(2, NORTH)
    dealer.pins.move(dealer.now, "hopper", 0)
    dealer.card(3, WEST)
    dealer.wait(50)
    assert "HOPPER_EMPTY" in dealer.codes()
    dealer.feed(4, protocol.FROM_TRAY)
    dealer.card(4, SOUTH)
    dealer.feed(5, protocol.FROM_TRAY)
    dealer.edge("tray_feed", 0)
    dealer.edge("pocket_4", 0)
    assert not dealer.locked()
    dealer.card(5, EAST)
    assert dealer.locked()


def test_a_third_card_after_a_double_is_a_stray(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed(1)
    dealer.edge("double", 1)
    dealer.arrive()
    dealer.route(1, TRAY)
    dealer.gate(TRAY)
    dealer.leave()
    for _ in range(3):
        dealer.edge("land_4", 1, 12)
        dealer.edge("land_4", 0)
    assert len(dealer.said(protocol.LANDED)) == len(dealer.said(protocol.STRAY)) == 1


def test_a_card_waits_while_another_one_still_falls_into_its_outlet(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()
    dealer.arrive()
    dealer.route(2, NORTH)
    assert dealer.pins.runs("pass") != 1
    dealer.edge("land_0", 1)
    dealer.edge("land_0", 0)
    dealer.leave()
    dealer.edge("land_0", 1)
    assert [event.index for event in dealer.said(protocol.LANDED)] == [1, 2]


def test_a_lost_landing_and_a_fluttering_beam_are_not_two_landings(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()  # and falls beside its pocket
    dealer.arrive()
    dealer.route(2, NORTH)
    dealer.wait(500)
    (jam,) = dealer.said(protocol.JAM)
    assert (jam.index, jam.place) == (1, protocol.AT_LANDING)
    assert not dealer.locked()


def test_a_beam_that_flutters_is_one_landing_and_no_stray(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()
    for value in (1, 0, 1, 0):
        dealer.edge("land_0", value, 1)
    assert [event.index for event in dealer.said(protocol.LANDED)] == [1]
    assert dealer.said(protocol.STRAY) == []


def test_a_window_that_flutters_behind_a_card_brings_no_card_that_is_not_there(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.gate(NORTH)
    dealer.edge("exit", 1)
    dealer.edge("exit", 0)
    for value in (0, 1, 0):
        dealer.edge("window", value)
    dealer.land(NORTH)
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1]
    dealer.arrive()
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1, 2]


def test_a_card_that_comes_at_once_behind_another_is_believed_when_it_stays(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.gate(NORTH)
    dealer.edge("exit", 1)
    dealer.edge("exit", 0)
    dealer.edge("window", 0)
    dealer.edge("window", 1)
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1]
    dealer.wait(10)
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1, 2]


def test_a_purge_takes_a_card_that_was_not_believed_yet_for_no_new_one(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.gate(NORTH)
    dealer.edge("exit", 1)
    dealer.edge("exit", 0)
    dealer.edge("window", 0)
    dealer.edge("window", 1, 0)
    dealer.board.on_stop()
    assert isinstance(dealer.dealer, DealerCore)
    assert dealer.dealer.feeding.purge()
    dealer.wait(10)
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1]


@pytest.mark.parametrize(("later_ms", "strays"), [(2, 0), (3, 0), (4, 1), (12, 1)])
def test_a_second_card_is_no_flutter_however_close_it_follows(
    dealer: DealerLine, later_ms: int, strays: int
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()
    dealer.edge("land_0", 1)
    dealer.edge("land_0", 0, later_ms - 1)
    dealer.edge("land_0", 1)
    assert len(dealer.said(protocol.STRAY)) == strays
    assert len(dealer.said(protocol.LANDED)) == 1


def test_a_card_that_lands_unseen_by_the_beam_behind_the_gate_is_a_jam_there(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.gate(NORTH)
    dealer.edge("land_0", 1, 40)
    (jam,) = dealer.said(protocol.JAM)
    assert (jam.index, jam.place) == (1, protocol.AT_GATE)
    assert dealer.said(protocol.STRAY) == []
    assert not dealer.locked()


def test_a_card_in_the_wrong_pocket_is_a_stray_and_then_missed(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()
    dealer.edge("land_1", 1)
    assert dealer.said(protocol.STRAY)[0].place == WEST
    dealer.wait(500)
    (jam,) = dealer.said(protocol.JAM)
    assert (jam.index, jam.place) == (1, protocol.AT_LANDING)
    assert dealer.said(protocol.STOPPED)[0].place == protocol.BY_JAM


@pytest.mark.parametrize(("after_ms", "landed"), [(1, 1), (400, 1), (401, 0)])
def test_a_landing_counts_inside_its_window_alone(
    dealer: DealerLine, after_ms: int, landed: int
) -> None:
    dealer.begin()
    dealer.feed(1)
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()
    dealer.pins.move(dealer.now + after_ms, "land_0", 1)
    dealer.now += 3000
    dealer.step()  # a late step: the moment of the edge decides, not the moment of the step
    assert len(dealer.said(protocol.LANDED)) == landed
    assert len(dealer.said(protocol.STRAY)) == 1 - landed


def test_hands_in_the_pockets_after_release_are_no_strays(dealer: DealerLine) -> None:
    dealer.held()
    dealer.edge("land_1", 1)
    dealer.rise()
    dealer.edge("land_2", 1)
    assert dealer.said(protocol.STRAY) == []


BLOCKED = ("pocket_0", "pocket_3", "pocket_4", "tray_feed", "window", "exit", "lift", "lift_down")


@pytest.mark.parametrize("name", BLOCKED)
def test_no_attempt_begins_before_cards_and_lift_are_seen_where_they_belong(
    dealer: DealerLine, name: str
) -> None:
    dealer.hello()
    clear = dealer.pins.levels[name]
    dealer.pins.levels[name] = 1 - clear
    assert dealer.do(protocol.BEGIN, ATTEMPT, 8, 2) == protocol.NOT_CLEAR
    dealer.pins.levels[name] = clear
    assert dealer.do(protocol.BEGIN, ATTEMPT, 8, 2) == protocol.DONE


def test_the_first_feed_looks_at_the_pockets_once_more(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.pins.levels["pocket_2"] = 1
    assert dealer.feed() == protocol.NOT_CLEAR


@pytest.mark.parametrize("name", ["lift", "lift_down"])
def test_nothing_is_shuffled_or_fed_while_the_lift_is_not_seen_down(
    dealer: DealerLine, name: str
) -> None:
    dealer.begin()
    down = dealer.pins.levels[name]
    dealer.edge(name, 1 - down)
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 1) == protocol.NOT_CLEAR
    assert dealer.feed() == protocol.NOT_CLEAR
    dealer.edge(name, down)
    assert dealer.feed(1) == protocol.DONE
    dealer.card(1, NORTH)
    dealer.edge(name, 1 - down)
    assert dealer.feed() == protocol.NOT_CLEAR


@pytest.mark.parametrize("name", ["pocket_4", "tray_feed"])
def test_either_of_the_trays_two_sensors_is_the_tray_in_a_status(
    dealer: DealerLine, name: str
) -> None:
    dealer.hello()
    assert not dealer.sensors() & protocol.SEES_TRAY
    dealer.edge(name, 1)
    assert dealer.sensors() & protocol.SEES_TRAY


def test_a_begin_said_again_changes_nothing(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.card(1, NORTH)
    dealer.hello(SESSION + 1)
    assert dealer.do(protocol.BEGIN, ATTEMPT, 8, 2) == protocol.DONE
    assert dealer.status()[4] == 1
    assert dealer.do(protocol.BEGIN, ATTEMPT, 12, 3) == protocol.BAD_VALUE
    assert dealer.do(protocol.BEGIN, ATTEMPT - 1, 8, 2) == protocol.WRONG_ATTEMPT


@pytest.mark.parametrize(("attempt", "cards", "per"), [(0, 8, 2), (9, 0, 0), (9, 9, 2), (9, 8, 3)])
def test_a_begin_that_cannot_come_out_right_is_refused(
    dealer: DealerLine, attempt: int, cards: int, per: int
) -> None:
    dealer.hello()
    expected = {protocol.BAD_VALUE} if attempt else {protocol.BAD_VALUE, protocol.WRONG_ATTEMPT}
    assert dealer.do(protocol.BEGIN, attempt, cards, per) in expected


def test_a_new_attempt_forgets_the_last_ones_cards(dealer: DealerLine) -> None:
    dealer.deal()
    dealer.take_hands()
    assert dealer.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.DONE
    assert dealer.status()[4:14] == (0, 0, protocol.NOWHERE, *[0] * 7)
    assert dealer.feed() == protocol.WRONG_ATTEMPT
