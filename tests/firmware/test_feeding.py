"""The way of one card: nothing moves past the window without its own route and the gate's word."""

import pytest

from drivers.firmware import protocol
from tests.firmware.bench import ATTEMPT, SESSION, DealerLine

NORTH, WEST, SOUTH, EAST, TRAY = range(5)


def test_a_feed_brings_one_card_to_the_window_and_holds_it(dealer: DealerLine) -> None:
    dealer.begin()
    assert dealer.feed() == protocol.DONE
    assert dealer.pins.runs("feed") == 1
    dealer.arrive()
    assert not dealer.pins.runs("feed")
    (arrived,) = dealer.said(protocol.AT_READER)
    assert (arrived.index, arrived.total_in, arrived.total_out) == (1, 1, 0)
    dealer.wait(10_000)
    assert not dealer.pins.runs("feed")
    assert not dealer.pins.runs("pass")


def test_an_arrival_pulses_the_readers_wire_once(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    assert [value for name, value in dealer.pins.written if name == "trigger"] == [1, 0]


def test_a_routed_card_waits_for_the_gates_own_sensor(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    assert dealer.route(1, SOUTH) == protocol.DONE
    assert dealer.pins.runs("gate") == SOUTH
    dealer.edge("gate_at", 255)
    dealer.edge("gate_at", 1)
    dealer.edge("gate_at", 255)
    assert not dealer.pins.runs("pass")
    dealer.edge("gate_at", SOUTH)
    assert dealer.pins.runs("pass") == 1


def test_the_gate_does_not_move_while_the_beam_behind_it_sees_a_card(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.edge("exit", 1)
    dealer.route(1, SOUTH)
    assert ("gate", SOUTH) not in dealer.pins.written
    dealer.edge("exit", 0)
    dealer.gate(SOUTH)
    assert dealer.pins.runs("pass") == 1


def test_a_beam_that_never_clears_is_a_jam_in_the_gate(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.edge("exit", 1)
    dealer.route(1, SOUTH)
    dealer.wait(500)
    assert [(event.index, event.place) for event in dealer.said(protocol.JAM)] == [
        (1, protocol.AT_GATE)
    ]
    assert not dealer.pins.runs("pass")


def test_a_gate_that_stands_right_lets_the_card_pass_at_once(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    assert dealer.pins.runs("pass") == 1


def test_the_gate_event_says_what_the_sensor_says(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.edge("gate_at", EAST)  # a hand, or a loose flap
    dealer.leave()
    (gate,) = dealer.said(protocol.GATE)
    assert (gate.index, gate.place) == (1, EAST)


def test_the_next_card_leaves_the_feeder_only_when_this_one_has_passed(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.edge("exit", 1)
    assert not dealer.pins.runs("feed")
    dealer.edge("exit", 0)
    assert not dealer.pins.runs("feed")
    dealer.edge("window", 0)
    assert dealer.pins.runs("feed") == 1
    assert not dealer.pins.runs("pass")


def test_feeder_and_pass_motor_never_run_together(dealer: DealerLine) -> None:
    def check(name: str, value: int) -> None:
        assert not (dealer.pins.runs("feed") and dealer.pins.runs("pass"))

    dealer.pins.on_set = check
    dealer.deal()


def test_everything_may_happen_in_one_step(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    for name, value in (("double", 1), ("window", 1), ("double", 0)):
        dealer.pins.move(dealer.now, name, value)
    dealer.step(dealer.command(protocol.ROUTE, ATTEMPT, 1, NORTH))
    for name, value in (("exit", 1), ("window", 0), ("exit", 0), ("land_0", 1), ("land_0", 0)):
        dealer.pins.move(dealer.now, name, value)
    dealer.step()
    assert dealer.codes() == ["DOUBLE", "AT_READER", "GATE", "LANDED"]
    assert dealer.pins.runs("feed") == 1


def test_no_card_moves_before_the_first_feed(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.wait(5000)
    assert dealer.pins.written == []


def test_no_more_cards_are_fed_than_asked_for(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed(2)
    dealer.card(1, NORTH)
    dealer.card(2, NORTH)
    dealer.wait(2000)
    assert not dealer.pins.runs("feed")
    assert dealer.status()[4] == 2


def test_a_retried_feed_moves_no_second_card(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed(1)
    dealer.card(1, NORTH)
    dealer.hello(SESSION + 1)
    assert dealer.feed(1) == protocol.DONE
    dealer.wait(2000)
    assert not dealer.pins.runs("feed")


def test_a_route_said_again_in_another_session_is_done_and_another_one_refused(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.card(1, WEST)
    dealer.hello(SESSION + 1)
    assert dealer.route(1, WEST) == protocol.DONE
    assert dealer.route(1, EAST) == protocol.ROUTE_DIFFERS
    assert not dealer.pins.runs("pass")


def test_a_route_may_come_while_its_card_comes_but_not_for_a_card_far_off(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    assert dealer.route(1, NORTH) == protocol.WRONG_INDEX
    dealer.feed(2)
    assert dealer.route(1, NORTH) == protocol.DONE
    assert dealer.route(2, NORTH) == protocol.WRONG_INDEX
    assert dealer.route(0, NORTH) == protocol.WRONG_INDEX
    assert not dealer.pins.runs("pass")
    dealer.arrive()
    assert dealer.pins.runs("pass") == 1
    dealer.leave()
    assert dealer.route(3, NORTH) == protocol.WRONG_INDEX


def test_a_route_is_refused_to_nowhere_and_for_another_attempt(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    assert dealer.route(1, 5) == protocol.BAD_VALUE
    assert dealer.do(protocol.ROUTE, ATTEMPT + 1, 1, NORTH) == protocol.WRONG_ATTEMPT
    assert not dealer.pins.runs("pass")


def test_an_empty_hopper_is_said_and_the_board_idles(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.pins.move(dealer.now, "hopper", 0)
    dealer.card(1, NORTH)
    dealer.wait(50)
    (empty,) = dealer.said(protocol.HOPPER_EMPTY)
    assert (empty.index, empty.place) == (0, protocol.HOPPER)
    assert dealer.status()[1] == protocol.IDLE


def test_a_source_is_empty_only_when_nothing_can_land_in_it_any_more(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed(1)
    dealer.arrive()
    dealer.route(1, TRAY)
    dealer.gate(TRAY)
    dealer.leave()
    dealer.feed(2, protocol.FROM_TRAY)
    assert dealer.said(protocol.HOPPER_EMPTY) == []
    dealer.land(TRAY)
    assert dealer.pins.runs("feed") == 1


def test_the_tray_is_fed_with_indices_that_go_on(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed(1)
    dealer.card(1, TRAY)
    assert dealer.feed(2, protocol.FROM_TRAY) == protocol.DONE
    assert dealer.pins.runs("source") == protocol.FROM_TRAY
    dealer.pins.move(dealer.now, "tray_feed", 0)
    dealer.card(2, NORTH)
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1, 2]


def test_the_source_does_not_change_under_a_card(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    assert dealer.feed(8, protocol.FROM_TRAY) == protocol.BUSY
    assert dealer.feed(8, 2) == protocol.BAD_VALUE


def test_a_double_is_said_before_its_arrival(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.edge("double", 1)
    dealer.arrive()
    assert dealer.codes() == ["DOUBLE", "AT_READER"]
    assert dealer.said(protocol.DOUBLE)[0].index == 1


def test_a_double_seen_late_is_still_said_and_once(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    for level in (1, 0, 1):
        dealer.edge("double", level)
    assert dealer.codes() == ["AT_READER", "DOUBLE"]


def test_a_bouncing_window_is_one_card(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    for level in (0, 1, 0, 1):
        dealer.edge("window", level)
    assert len(dealer.said(protocol.AT_READER)) == 1


@pytest.mark.parametrize("source", [protocol.HOPPER, protocol.FROM_TRAY])
def test_a_feeder_that_brings_nothing_reverses_twice_and_is_a_jam(
    dealer: DealerLine, source: int
) -> None:
    dealer.begin()
    dealer.pins.levels["tray_feed"] = 0
    if source == protocol.FROM_TRAY:
        dealer.feed(1)
        dealer.card(1, TRAY)
    dealer.pins.written.clear()
    dealer.feed(8, source)
    dealer.wait(5000)
    moves = [value for name, value in dealer.pins.written if name == "feed" and value]
    assert moves == [1, 2, 1, 2, 1]
    (jam,) = dealer.said(protocol.JAM)
    assert jam.place == (protocol.AT_FEEDER, protocol.AT_TRAY_FEEDER)[source]
    assert dealer.said(protocol.STOPPED)[0].place == protocol.BY_JAM
    assert not dealer.pins.runs("feed")
    assert dealer.feed(8, source) == protocol.NOT_CLEAR


def test_a_feeder_that_frees_itself_costs_only_time(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.wait(700)
    assert dealer.pins.runs("feed") == 2
    dealer.wait(150)
    dealer.arrive()
    assert dealer.codes() == ["AT_READER"]


def test_a_card_stuck_at_the_window_is_tried_again_and_then_goes_to_the_tray(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, WEST)
    dealer.gate(WEST)
    dealer.pins.written.clear()
    dealer.wait(1550)
    assert [value for name, value in dealer.pins.written if name == "pass" and value] == [
        *(2, 1),
        *(2, 1),
        2,
    ]
    dealer.gate(TRAY)
    dealer.leave()
    dealer.land(TRAY)
    assert [(event.index, event.place) for event in dealer.said(protocol.LANDED)] == [(1, TRAY)]
    assert dealer.said(protocol.JAM) == []


def test_a_card_that_will_not_even_go_to_the_tray_is_a_jam(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.wait(1700)
    dealer.gate(TRAY)
    dealer.wait(1000)
    (jam,) = dealer.said(protocol.JAM)
    assert (jam.index, jam.place) == (1, protocol.AT_WINDOW)
    assert not dealer.pins.runs("pass")
    assert dealer.said(protocol.GATE) == []


def test_a_card_stuck_in_the_gate_is_said_to_have_gone_there_only_once(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.edge("exit", 1)
    dealer.wait(450)
    assert dealer.pins.runs("pass") == 2
    dealer.edge("exit", 0)
    dealer.wait(100)
    assert dealer.pins.runs("gate") == NORTH  # a gate with a card in it does not move
    dealer.leave()
    dealer.land(NORTH)
    assert len(dealer.said(protocol.GATE)) == len(dealer.said(protocol.LANDED)) == 1
    assert dealer.said(protocol.JAM) == []


def test_a_card_that_leaves_the_gate_while_the_motor_draws_it_back_has_passed(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.edge("exit", 1)
    dealer.wait(450)
    assert dealer.pins.runs("pass") == 2
    dealer.edge("window", 0)
    dealer.edge("exit", 0)
    assert not dealer.pins.runs("pass")
    assert dealer.pins.runs("feed") == 1


def test_a_card_that_stays_in_the_gate_is_a_jam(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.edge("exit", 1)
    dealer.wait(5000)
    assert [(event.index, event.place) for event in dealer.said(protocol.JAM)] == [
        (1, protocol.AT_GATE)
    ]
    assert not dealer.pins.runs("pass")


@pytest.mark.parametrize("waits_for_exit", [False, True])
def test_a_board_that_hangs_while_its_gate_arrives_lets_the_card_go_all_the_same(
    dealer: DealerLine, waits_for_exit: bool
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    if waits_for_exit:
        dealer.edge("exit", 1)
    dealer.route(1, EAST)
    dealer.pins.move(dealer.now + 5, "exit", 0)
    dealer.pins.move(dealer.now + 20, "gate_at", EAST)
    dealer.now += 400
    dealer.step()
    dealer.wait(50)
    assert dealer.codes() == ["AT_READER"]
    assert dealer.pins.runs("pass")


def test_a_gate_that_does_not_arrive_is_a_stall_and_the_card_is_held(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, EAST)
    dealer.wait(1000)
    assert dealer.codes() == ["AT_READER", "STALL", "STOPPED"]
    assert dealer.said(protocol.STALL)[0].place == protocol.MOTOR_GATE
    assert not dealer.pins.runs("pass")
    dealer.feed()
    dealer.gate(EAST)
    assert dealer.pins.runs("pass") == 1


def test_a_late_step_takes_edges_and_limits_in_the_order_in_which_they_happened(
    dealer: DealerLine,
) -> None:
    dealer.begin()
    dealer.feed()
    dealer.pins.move(dealer.now + 590, "window", 1)
    dealer.now += 4000
    dealer.step(dealer.frame(protocol.BEAT))
    assert dealer.codes() == ["AT_READER"]


def test_purge_sends_what_stands_in_the_window_to_the_tray(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    assert dealer.do(protocol.PURGE, ATTEMPT) == protocol.DONE
    dealer.gate(TRAY)
    dealer.leave()
    dealer.land(TRAY)
    assert [(event.index, event.place) for event in dealer.said(protocol.LANDED)] == [(1, TRAY)]
    dealer.wait(1000)
    assert not dealer.pins.runs("feed")


def test_purge_after_a_reset_needs_no_attempt(dealer: DealerLine) -> None:
    dealer.hello()
    dealer.pins.levels["window"] = 1
    assert dealer.do(protocol.PURGE, ATTEMPT) == protocol.DONE
    dealer.gate(TRAY)
    dealer.leave()
    assert not dealer.pins.runs("pass")


def test_purge_of_a_clear_path_moves_nothing(dealer: DealerLine) -> None:
    dealer.begin()
    assert dealer.do(protocol.PURGE, ATTEMPT) == protocol.DONE
    assert dealer.do(protocol.PURGE, ATTEMPT + 1) == protocol.WRONG_ATTEMPT
    assert not dealer.pins.runs("pass")
