"""Whatever stops the machine: the host, its silence, the lid, the e-stop."""

import pytest

from drivers.firmware import protocol
from tests.firmware.bench import ATTEMPT, DealerLine

NORTH = 0


def still(dealer: DealerLine) -> bool:
    return not any(dealer.pins.runs(motor) for motor in ("feed", "pass", "shuffle"))


def stop(dealer: DealerLine) -> None:
    dealer.step(dealer.frame(protocol.STOP))


def test_stop_stops_the_feeder_at_once_and_feed_goes_on(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    stop(dealer)
    assert still(dealer)
    assert dealer.said(protocol.STOPPED)[0].place == protocol.BY_HOST
    dealer.wait(5000)
    assert still(dealer)
    dealer.feed()
    dealer.arrive()
    assert [event.index for event in dealer.said(protocol.AT_READER)] == [1]


def test_stop_said_three_times_is_recorded_once(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.step(dealer.frame(protocol.STOP) * 3)
    assert len(dealer.said(protocol.STOPPED)) == 1


def test_stop_leaves_a_card_in_the_gate_and_feed_takes_it_on(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.edge("exit", 1)
    stop(dealer)
    assert still(dealer)
    dealer.wait(5000)
    assert still(dealer)
    dealer.feed()
    dealer.edge("window", 0)
    dealer.edge("exit", 0)
    dealer.land(NORTH)
    assert dealer.codes() == ["AT_READER", "GATE", "STOPPED", "LANDED", "POCKET"]


def test_a_card_that_runs_on_after_a_stop_is_still_seen(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    stop(dealer)
    dealer.edge("window", 1)
    assert dealer.codes() == ["STOPPED", "AT_READER"]
    dealer.route(1, NORTH)
    dealer.wait(1000)
    assert still(dealer)
    dealer.feed()
    assert dealer.pins.runs("pass") == 1


def test_a_routed_card_does_not_move_after_a_stop(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    stop(dealer)
    assert dealer.route(1, NORTH) == protocol.DONE
    dealer.wait(1000)
    assert still(dealer)


def test_a_silent_host_stops_the_feeder_and_the_card_is_held(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.silence(600)
    assert still(dealer)
    dealer.edge("window", 1)
    dealer.beat()
    assert dealer.codes() == ["STOPPED", "AT_READER"]
    dealer.route(1, NORTH)
    dealer.wait(3000)
    assert still(dealer)
    assert dealer.status()[1] == protocol.STOPPED_STATE
    dealer.feed()
    assert dealer.pins.runs("pass") == 1


def test_a_silent_host_does_not_leave_a_card_half_way_in_the_gate(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.wait(400)
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.silence(300)
    dealer.edge("exit", 1)
    dealer.silence(250)
    assert dealer.pins.runs("pass") == 1
    dealer.edge("window", 0)
    dealer.edge("exit", 0)
    dealer.edge("land_0", 1)
    assert still(dealer)
    assert dealer.codes() == ["AT_READER", "GATE", "STOPPED", "LANDED"]


@pytest.mark.parametrize(
    ("name", "reason"), [("lid", protocol.BY_LID), ("estop", protocol.BY_ESTOP)]
)
def test_lid_and_estop_stop_all_motion_at_once(dealer: DealerLine, name: str, reason: int) -> None:
    dealer.begin()
    dealer.feed()
    dealer.edge(name, 1)
    assert still(dealer)
    assert dealer.said(protocol.STOPPED)[0].place == reason
    dealer.edge(name, 0)
    dealer.wait(2000)
    assert still(dealer)


@pytest.mark.parametrize(
    ("name", "result"), [("lid", protocol.LID_OPEN), ("estop", protocol.ESTOP)]
)
def test_nothing_is_moved_while_lid_or_estop_say_no(
    dealer: DealerLine, name: str, result: int
) -> None:
    dealer.begin()
    dealer.edge(name, 1)
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 1) == result
    assert dealer.feed() == result
    assert dealer.do(protocol.PURGE, ATTEMPT) == result
    assert dealer.do(protocol.RETRACT) == result
    assert dealer.do(protocol.SELFTEST) == result
    assert dealer.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == result
    assert still(dealer)


def test_the_lid_is_said_each_time_it_moves(dealer: DealerLine) -> None:
    dealer.hello()
    dealer.edge("lid", 1)
    dealer.edge("lid", 0)
    assert [event.place for event in dealer.said(protocol.LID)] == [1, 0]


def test_a_jam_ends_feeding_for_good(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, NORTH)
    dealer.leave()
    dealer.wait(600)
    assert dealer.said(protocol.JAM)[0].place == protocol.AT_LANDING
    assert still(dealer)
    assert dealer.feed() == protocol.NOT_CLEAR


def test_a_step_that_comes_after_many_limits_still_ends_in_order(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.now += 60_000
    dealer.step()
    assert still(dealer)
    dealer.step(dealer.frame(protocol.BEAT))
    assert dealer.said(protocol.STOPPED)[0].place == protocol.HOST_SILENT
