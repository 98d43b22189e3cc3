"""The lift: RELEASE and RETRACT alone move it, and whatever stops it leaves it where it is."""

from collections.abc import Callable

import pytest

from drivers.firmware import protocol
from drivers.firmware.dealer import DealerCore
from drivers.firmware.pins import LIFT_DOWN, LIFT_STAY, LIFT_UP
from tests.firmware.bench import ATTEMPT, BOOT, SESSION, DealerLine

Deed = Callable[[DealerLine], None]


def stop(dealer: DealerLine) -> None:
    dealer.step(dealer.frame(protocol.STOP))


def lid(dealer: DealerLine) -> None:
    dealer.edge("lid", 1)


def estop(dealer: DealerLine) -> None:
    dealer.edge("estop", 1)


def silence(dealer: DealerLine) -> None:
    dealer.silence(600)


def limit(dealer: DealerLine) -> None:
    dealer.wait(5100)


def all_well_again(dealer: DealerLine) -> None:
    for name in ("lid", "estop"):
        dealer.edge(name, 0)


STOPS = [
    (stop, protocol.BY_HOST),
    (lid, protocol.BY_LID),
    (estop, protocol.BY_ESTOP),
    (silence, protocol.HOST_SILENT),
    (limit, protocol.BY_STALL),
]
stops = pytest.mark.parametrize(("deed", "reason"), STOPS, ids=[deed.__name__ for deed, _ in STOPS])


def half_way(dealer: DealerLine, deed: Deed) -> None:
    """A lift that was stopped between its ends with the hands in it."""
    dealer.held()
    dealer.edge("lift_down", 0)
    deed(dealer)


def released(dealer: DealerLine) -> None:
    """The lift is up, and the hands were taken."""
    dealer.held()
    dealer.rise()
    dealer.take_hands()


@stops
def test_the_lift_stays_where_it_is_when_it_is_stopped_on_its_way_up(
    dealer: DealerLine, deed: Deed, reason: int
) -> None:
    half_way(dealer, deed)
    assert dealer.pins.runs("lift") == LIFT_STAY
    assert [event.place for event in dealer.said(protocol.STOPPED)] == [reason]
    assert dealer.said(protocol.RELEASED) == []
    assert not dealer.board.is_busy()


@stops
def test_the_lift_stays_where_it_is_when_it_is_stopped_on_its_way_down(
    dealer: DealerLine, deed: Deed, reason: int
) -> None:
    released(dealer)
    for times in (1, 2):
        assert dealer.do(protocol.RETRACT) == protocol.DONE
        dealer.edge("lift", 0)
        deed(dealer)
        assert dealer.pins.runs("lift") == LIFT_STAY
        assert [event.place for event in dealer.said(protocol.STOPPED)] == [reason] * times
        all_well_again(dealer)


@stops
def test_a_stopped_lift_never_moves_again_by_itself(
    dealer: DealerLine, deed: Deed, reason: int
) -> None:
    half_way(dealer, deed)
    all_well_again(dealer)
    dealer.pins.written.clear()
    dealer.wait(10_000)
    dealer.hello(SESSION + 1)
    dealer.wait(10_000)
    assert dealer.pins.written == []


@stops
def test_a_release_said_again_takes_a_stopped_lift_on(
    dealer: DealerLine, deed: Deed, reason: int
) -> None:
    half_way(dealer, deed)
    all_well_again(dealer)
    dealer.hello(SESSION + 1)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    assert dealer.status()[1] == protocol.LIFTING
    dealer.rise()
    assert len(dealer.said(protocol.RELEASED)) == 1
    assert dealer.pins.runs("lift") == LIFT_STAY


@pytest.mark.parametrize(
    ("name", "result"), [("lid", protocol.LID_OPEN), ("estop", protocol.ESTOP)]
)
def test_no_lift_moves_below_an_open_lid_or_with_the_estop_pressed(
    dealer: DealerLine, name: str, result: int
) -> None:
    half_way(dealer, stop)
    dealer.edge(name, 1)
    dealer.take_hands()
    dealer.pins.written.clear()
    assert dealer.do(protocol.RELEASE, ATTEMPT) == result
    assert dealer.do(protocol.RETRACT) == result
    assert dealer.pins.written == []


def test_a_lid_that_is_opened_after_the_release_was_taken_does_not_take_it_back(
    dealer: DealerLine,
) -> None:
    half_way(dealer, lid)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.LID_OPEN
    dealer.edge("pocket_2", 0)
    dealer.edge("lid", 0)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    assert dealer.pins.runs("lift") == LIFT_UP


def test_a_release_that_was_refused_is_no_release_taken(dealer: DealerLine) -> None:
    dealer.deal()
    dealer.edge("estop", 1)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.ESTOP
    dealer.edge("estop", 0)
    dealer.edge("pocket_2", 0)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.NOT_LOCKED


@pytest.mark.parametrize(("name", "value"), [("lift", 1), ("lift_down", 0)])
def test_no_first_release_unless_the_lift_is_seen_down(
    dealer: DealerLine, name: str, value: int
) -> None:
    dealer.deal()
    dealer.edge(name, value)
    assert not dealer.locked()
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.NOT_CLEAR
    assert dealer.pins.runs("lift") != LIFT_UP
    assert dealer.said(protocol.RELEASED) == []
    dealer.edge(name, 1 - value)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE


def test_a_lift_that_is_seen_up_is_released_once(dealer: DealerLine) -> None:
    half_way(dealer, stop)
    dealer.edge("lift", 1)  # a hand on the crank
    assert dealer.said(protocol.RELEASED) == []
    dealer.pins.written.clear()
    for session in (1, 2):
        dealer.hello(SESSION + session)
        assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
        assert ("lift", LIFT_UP) not in dealer.pins.written
    assert len(dealer.said(protocol.RELEASED)) == 1


def test_release_said_again_lifts_nothing_twice(dealer: DealerLine) -> None:
    released(dealer)
    dealer.do(protocol.RETRACT)
    dealer.lower()
    dealer.pins.written.clear()
    dealer.hello(SESSION + 1)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    assert dealer.pins.written == []
    assert len(dealer.said(protocol.RELEASED)) == 1


def test_release_said_again_on_the_way_up_does_not_lengthen_the_way(dealer: DealerLine) -> None:
    dealer.held()
    for _ in range(6):
        dealer.wait(900)
        dealer.do(protocol.RELEASE, ATTEMPT)
    assert len(dealer.said(protocol.STALL)) == 1


def test_a_lift_that_does_not_arrive_is_a_stall_and_may_be_tried_again(dealer: DealerLine) -> None:
    dealer.held()
    dealer.edge("lift_down", 0)
    dealer.wait(5100)
    assert dealer.codes()[-2:] == ["STALL", "STOPPED"]
    assert dealer.said(protocol.STALL)[0].place == protocol.MOTOR_LIFT
    assert dealer.pins.runs("lift") == LIFT_STAY
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    dealer.wait(5100)
    assert dealer.codes()[-4:] == ["STALL", "STOPPED"] * 2
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    dealer.rise()
    assert len(dealer.said(protocol.RELEASED)) == 1


def test_a_lift_seen_at_both_ends_has_not_arrived(dealer: DealerLine) -> None:
    dealer.held()
    dealer.edge("lift", 1)  # stuck: the lift has not left the bottom
    assert dealer.said(protocol.RELEASED) == []
    dealer.wait(5100)
    assert dealer.said(protocol.STALL)[0].place == protocol.MOTOR_LIFT


def test_a_lift_seen_down_while_it_is_up_is_driven_until_its_limit(dealer: DealerLine) -> None:
    released(dealer)
    dealer.edge("lift_down", 1)  # stuck
    assert dealer.do(protocol.RETRACT) == protocol.DONE
    dealer.edge("lift", 0)
    assert dealer.pins.runs("lift") == LIFT_DOWN
    dealer.wait(5100)
    assert dealer.said(protocol.STALL)[0].place == protocol.MOTOR_LIFT


def test_an_attempt_is_dealt_no_further_once_its_release_was_taken(dealer: DealerLine) -> None:
    dealer.held()
    stop(dealer)
    dealer.edge("hopper", 1)
    assert dealer.feed(9) == protocol.WRONG_ATTEMPT
    assert dealer.do(protocol.SHUFFLE, ATTEMPT, 1) == protocol.WRONG_ATTEMPT
    dealer.do(protocol.RELEASE, ATTEMPT)
    dealer.wait(1000)
    assert not dealer.pins.runs("feed")


def test_a_card_laid_into_the_hopper_at_the_release_stays_there(dealer: DealerLine) -> None:
    dealer.deal()
    dealer.feed(60)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    dealer.edge("hopper", 1)
    dealer.rise()
    assert not dealer.pins.runs("feed")


def test_retract_waits_until_the_hands_are_taken(dealer: DealerLine) -> None:
    dealer.held()
    dealer.rise()
    assert dealer.do(protocol.RETRACT) == protocol.NOT_CLEAR
    assert dealer.pins.runs("lift") == LIFT_STAY
    dealer.take_hands()
    assert dealer.do(protocol.RETRACT) == protocol.DONE
    dealer.lower()
    assert dealer.pins.runs("lift") == LIFT_STAY


def test_retract_is_done_when_the_lift_is_seen_down_not_when_it_has_left_the_top(
    dealer: DealerLine,
) -> None:
    released(dealer)
    dealer.do(protocol.RETRACT)
    dealer.edge("lift", 0)
    assert dealer.pins.runs("lift") == LIFT_DOWN
    assert dealer.status()[1] == protocol.LIFTING
    assert dealer.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.BUSY
    dealer.edge("lift_down", 1)
    assert dealer.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.DONE


def test_retract_moves_no_lift_that_is_down(dealer: DealerLine) -> None:
    dealer.hello()
    assert dealer.do(protocol.RETRACT) == protocol.DONE
    assert dealer.pins.runs("lift") == LIFT_STAY
    assert dealer.codes() == []


def test_a_lift_left_half_way_by_a_reset_is_lowered_before_an_attempt_begins(
    dealer: DealerLine,
) -> None:
    half_way(dealer, stop)
    dealer.board = DealerCore(dealer.pins, BOOT + 1)
    dealer.events.clear()
    dealer.hello(SESSION + 1)
    assert not dealer.sensors() & (protocol.SEES_LIFT_UP | protocol.SEES_LIFT_DOWN)
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.WRONG_ATTEMPT
    assert dealer.do(protocol.RETRACT) == protocol.NOT_CLEAR
    dealer.take_hands()
    assert dealer.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.NOT_CLEAR
    assert dealer.do(protocol.RETRACT) == protocol.DONE
    dealer.lower()
    assert dealer.sensors() & protocol.SEES_LIFT_DOWN
    assert dealer.do(protocol.BEGIN, ATTEMPT + 1, 8, 2) == protocol.DONE


def test_a_late_step_takes_an_arrival_before_the_limit_that_came_after_it(
    dealer: DealerLine,
) -> None:
    dealer.held()
    dealer.pins.move(dealer.now + 100, "lift_down", 0)
    dealer.pins.move(dealer.now + 1500, "lift", 1)
    dealer.now += 60_000
    dealer.step()
    assert len(dealer.said(protocol.RELEASED)) == 1
    assert dealer.said(protocol.STALL) == []
