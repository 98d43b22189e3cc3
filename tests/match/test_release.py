"""Held hands on their way to the players: the order, then the release."""

import pytest

from controller.match import match_events
from controller.match.phase import MatchPhase

from .table import INTL, Table, timed, varied


def on_their_way(**ending: str) -> Table:
    """A second deal whose release was ordered, one minute before time."""
    table = Table(timed(**ending)).started().played("NS").at_minute(59)
    return table.dealt().does(match_events.ReleaseOrdered)


def test_hands_that_were_ordered_in_time_are_released_after_it() -> None:
    table = on_their_way().at_minute(61)
    assert table.phase is MatchPhase.HELD
    assert table.does(match_events.HandsReleased).phase is MatchPhase.COUNT_CHECK
    assert table.played("WE").phase is MatchPhase.OVER


def test_by_the_letter_time_ends_them_once_they_are_with_the_players() -> None:
    table = on_their_way(at_time="stop_now").at_minute(61).does(match_events.HandsReleased)
    assert table.does(match_events.DealStopped, reason="time").phase is MatchPhase.OVER


def test_a_penalty_after_time_does_not_end_what_is_on_its_way() -> None:
    table = on_their_way().at_minute(61).ruled("EW", "warning")
    table.corrected(1, "SN")
    assert (table.phase, table.state.let_go) == (MatchPhase.HELD, True)


def test_a_lift_that_fails_after_time_leaves_no_deal_to_begin() -> None:
    table = on_their_way().at_minute(61).does(match_events.AttemptFailed, reasons=("LIFT",))
    assert (table.phase, table.state.let_go) == (MatchPhase.OVER, False)


def test_a_lift_that_fails_in_time_is_dealt_again() -> None:
    table = Table().started().dealt().does(match_events.ReleaseOrdered)
    table.does(match_events.AttemptFailed, reasons=("LIFT",))
    assert (table.phase, table.state.let_go, table.state.misdeals) == (MatchPhase.CUT, False, 1)
    assert table.dealt().state.let_go is False


def test_the_order_is_refused_where_no_deal_may_begin() -> None:
    table = Table(timed()).started().dealt().does(match_events.AreaPaused)
    assert table.happens(match_events.ReleaseOrdered).refused == "AREA_STOPPED"
    assert table.state.let_go is False
    table = Table(timed()).started().does(match_events.TableSuspended, reason="x").tick(minutes=1)
    table.does(match_events.TableResumed).dealt().at_minute(60)
    assert table.happens(match_events.ReleaseOrdered).refused == "ADDED_TIME_DUE"


def test_the_order_is_given_once() -> None:
    table = Table().started().dealt().does(match_events.ReleaseOrdered)
    assert table.happens(match_events.ReleaseOrdered).refused == "TWICE"


@pytest.mark.parametrize("stop", [match_events.AreaPaused, match_events.TableSuspended])
def test_what_was_ordered_happens_while_the_table_stands_still(
    stop: type[match_events.MatchEventBase],
) -> None:
    table = Table(timed()).started().dealt().does(match_events.ReleaseOrdered)
    table.does(stop, **({"reason": "call"} if stop is match_events.TableSuspended else {}))
    table.does(match_events.HandsReleased)
    assert table.phase is MatchPhase.COUNT_CHECK
    assert all(clock.watch.is_paused for clock in table.match.clocks)


def test_without_an_order_nothing_is_released_while_the_table_is_suspended() -> None:
    table = Table().started().dealt().does(match_events.TableSuspended, reason="call")
    assert table.happens(match_events.HandsReleased).refused == "SUSPENDED"


def test_hands_that_a_machine_has_dealt_are_there_while_the_table_is_suspended() -> None:
    table = Table().started().cut().does(match_events.TableSuspended, reason="call")
    assert table.does(match_events.HandsDealt).phase is MatchPhase.HELD
    by_hand = Table().started().played("NS").does(match_events.HandDealOrdered, reason="jam").cut()
    by_hand.does(match_events.TableSuspended, reason="call")
    assert by_hand.happens(match_events.HandsDealt).refused == "SUSPENDED"


def test_a_machine_tells_at_the_release_who_got_the_turned_up_card() -> None:
    table = Table().started().cut().does(match_events.HandsDealt).does(match_events.ReleaseOrdered)
    assert (table.state.turned_to, table.state.turned_up) == (None, None)
    assert table.happens(match_events.HandsReleased, turned_up="♠7").refused == "TURNED_TO_MISSING"
    table.does(match_events.HandsReleased, turned_to="W", turned_up="S7")
    assert (table.state.turned_to, table.state.turned_up) == ("W", "♠7")
    table.played("NS")
    assert (table.row.leader, table.row.turned_up) == ("W", "♠7")


def test_what_was_told_with_the_hands_need_not_be_told_again() -> None:
    table = (
        Table()
        .started()
        .dealt("S")
        .does(match_events.ReleaseOrdered)
        .does(match_events.HandsReleased)
    )
    assert (table.state.turned_to, table.state.turned_up) == ("S", "♠7")


def test_a_card_that_would_be_turned_again_is_no_turned_up_card() -> None:
    table = Table().started().cut().does(match_events.HandsDealt).does(match_events.ReleaseOrdered)
    table.happens(match_events.HandsReleased, turned_to="W", turned_up="BJ")
    assert table.refused == "TURN_AGAIN"


def test_a_later_deal_is_led_by_its_result_whoever_got_a_card() -> None:
    table = Table(varied(INTL)).started().played("NWE").cut().does(match_events.HandsDealt)
    table.does(match_events.ReleaseOrdered).does(match_events.HandsReleased, turned_to="W")
    assert table.state.turned_to is None
    assert table.in_play().match.leader == "S"
