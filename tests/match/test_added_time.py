"""Time that a table lost, and the referee's word on it (补时)."""

import pytest

from controller.match import match_events
from controller.match.match_effects import AddedTimeDue, DealDue, RefereeCalled
from controller.match.phase import MatchPhase
from controller.match.sheet_rows import EndRow
from controller.messages import Role

from .table import BIG_TWO, B, N, Table, knockout, timed


def stopped(table: Table, minutes: float = 2) -> Table:
    """The table stands still for some minutes and goes on."""
    table.does(match_events.TableSuspended, reason="called").tick(minutes=minutes)
    return table.does(match_events.TableResumed)


def misdealt(table: Table) -> Table:
    """The machine's attempt came to nothing."""
    return table.does(match_events.AttemptFailed, reasons=("JAM",))


def added(table: Table, seconds: int = 0, role: Role = Role.REFEREE) -> Table:
    """A referee says how much time is added."""
    return table.happens(match_events.TimeAdded, seconds=seconds, role=role)


def waiting() -> Table:
    """A match whose second deal is due, whose time is up, and that lost two minutes of it."""
    return stopped(Table(timed()).started().played("NS").dealt()).at_minute(60)


# -- what is asked -------------------------------------------------------------


def test_after_a_stop_a_referee_is_asked_about_the_time_it_cost() -> None:
    table = stopped(Table(timed()).started().in_play())
    due = table.effect(AddedTimeDue).added_time
    assert (due.add_ms, due.needs) == (2 * 60_000 + 100, "referee")
    assert [stop.reason for stop in due.stops] == ["called"]


def test_a_misdeal_is_a_stop_until_four_hands_are_right() -> None:
    table = misdealt(Table(timed()).started().played("NS").dealt()).tick(minutes=1)
    assert table.effects(AddedTimeDue) == []
    due = table.dealt().effect(AddedTimeDue).added_time
    assert [stop.reason for stop in due.stops] == ["misdeal"]
    assert due.add_ms == 60_000 + 200
    assert table.tick().effects(AddedTimeDue) == []  # it is asked once


def test_a_misdeal_within_a_suspension_is_one_stop_with_it() -> None:
    table = (
        Table(timed())
        .started()
        .played("NS")
        .dealt()
        .does(match_events.TableSuspended, reason="called")
    )
    misdealt(table).tick(minutes=1)
    assert (
        table.does(match_events.TableResumed).effects(AddedTimeDue) == []
    )  # it is dealt again now
    due = table.tick(minutes=1).dealt().effect(AddedTimeDue).added_time
    assert (len(due.stops), due.add_ms) == (1, 2 * 60_000 + 400)


def test_a_suspension_within_a_misdeal_is_one_stop_with_it() -> None:
    table = misdealt(Table(timed()).started().played("NS").dealt())
    assert stopped(table).effects(AddedTimeDue) == []
    (stop,) = table.dealt().effect(AddedTimeDue).added_time.stops
    assert (stop.reason, stop.to_ms) == ("misdeal", table.at_ms)


def test_the_deal_after_a_misdeal_that_was_forfeited_stops_nothing() -> None:
    table = misdealt(Table(timed()).started().played("NS").dealt()).ruled("NS", "foul")
    assert (table.phase, table.match.in_a_row) == (MatchPhase.FORFEIT, 1)
    table.named("W")
    assert [stop.to_ms is None for stop in table.match.clock.stops] == [False]


def test_a_voided_deal_is_a_stop_while_it_is_dealt_again() -> None:
    table = Table(timed()).started().in_play().does(match_events.DealVoided, reason="seen")
    due = table.tick(minutes=1).dealt().effect(AddedTimeDue).added_time
    assert [stop.reason for stop in due.stops] == ["misdeal"]


def test_the_areas_stop_is_nobodys_lost_time() -> None:
    table = Table(timed()).started().in_play().does(match_events.AreaPaused).tick(minutes=2)
    assert table.does(match_events.AreaResumed).effects(AddedTimeDue) == []
    assert table.match.clock.stops == ()


def test_a_match_without_a_time_limit_asks_for_no_time() -> None:
    assert stopped(Table().started().in_play()).effects(AddedTimeDue) == []
    assert stopped(Table(BIG_TWO).started()).effects(AddedTimeDue) == []


def test_nobody_is_asked_in_a_match_that_is_over() -> None:
    table = Table(timed()).started().in_play().does(match_events.TableSuspended, reason="called")
    table.tick(minutes=1).ruled("NS", "match_forfeit")
    assert (table.phase, table.effects(AddedTimeDue)) == (MatchPhase.OVER, [])


# -- when time is up -----------------------------------------------------------


def test_a_match_that_lost_time_waits_for_the_referees_word() -> None:
    table = waiting()
    assert (table.phase, table.effect(RefereeCalled).reason) == (MatchPhase.HELD, "added_time")
    assert table.tick(minutes=5).effects(RefereeCalled) == []  # he is called once
    assert table.happens(match_events.HandsReleased).refused == "ADDED_TIME_DUE"
    assert table.phase is MatchPhase.HELD


def test_a_match_that_lost_no_time_does_not_wait() -> None:
    table = Table(timed()).started().played("NS").dealt().at_minute(60)
    assert (table.phase, table.effects(RefereeCalled)) == (MatchPhase.OVER, [])


def test_no_time_is_an_answer_too() -> None:
    table = added(waiting())
    assert table.refused is None
    assert table.tick().phase is MatchPhase.OVER


def test_added_time_lets_the_deal_begin() -> None:
    table = added(waiting(), 60)
    assert table.does(match_events.HandsReleased).phase is MatchPhase.COUNT_CHECK


def test_a_word_given_before_time_is_up_holds_when_it_is() -> None:
    table = added(stopped(Table(timed()).started().played("NS")))
    assert table.at_minute(60).phase is MatchPhase.OVER


def test_a_stop_after_the_word_is_another_one() -> None:
    table = stopped(added(stopped(Table(timed()).started().played("NS"))))
    assert table.at_minute(60).phase is MatchPhase.CUT


def test_time_that_was_added_before_a_stop_answers_for_it() -> None:
    table = added(Table(timed()).started().played("NS"), 600, Role.CHIEF)
    assert stopped(table).effects(AddedTimeDue) == []
    assert table.at_minute(70).phase is MatchPhase.OVER


def test_a_word_in_the_middle_of_a_stop_is_for_what_it_has_cost_so_far() -> None:
    table = Table(timed()).started().played("NS").does(match_events.TableSuspended, reason="called")
    added(table.tick(minutes=2), 120).tick(minutes=20)
    due = table.does(match_events.TableResumed).effect(AddedTimeDue).added_time
    assert due.add_ms == 20 * 60_000 + 200
    assert table.at_minute(62).phase is MatchPhase.CUT


def test_a_redeal_that_nobody_gives_time_for_ends_with_the_time() -> None:
    table = misdealt(Table(timed()).started().played("NS").dealt()).at_minute(60)
    assert table.phase is MatchPhase.CUT
    assert added(table).tick().phase is MatchPhase.OVER


def test_a_leader_is_named_while_a_word_is_waited_for() -> None:
    table = stopped(Table(timed()).started().in_play()).ruled("EW", "foul").at_minute(60)
    assert table.phase is MatchPhase.FORFEIT
    assert table.named("N").phase is MatchPhase.CUT
    assert added(table).tick().phase is MatchPhase.OVER


def test_a_correction_does_not_end_a_match_that_waits_for_the_word() -> None:
    table = waiting().corrected(1, "NWS")
    assert (table.phase, table.levels) == (MatchPhase.HELD, (4, 2))
    table.charged("N", "warning").approved().overturned()
    assert table.phase is MatchPhase.HELD
    assert added(table).tick().phase is MatchPhase.OVER


def test_the_first_deal_waits_for_the_word_too() -> None:
    table = stopped(Table(timed()).started().dealt()).at_minute(60)
    assert table.happens(match_events.HandsReleased).refused == "ADDED_TIME_DUE"
    added(table).does(match_events.HandsReleased)
    assert (table.phase, table.end.verdict.how) == (MatchPhase.OVER, "draw")


def test_an_extra_deal_waits_for_nobodys_word() -> None:
    table = stopped(knockout().played("NS", "WE")).at_minute(60)
    added(table).tick().does(match_events.ExtraDealOrdered, reason="equal")
    stopped(table).dealt().does(match_events.HandsReleased)
    assert table.phase is MatchPhase.COUNT_CHECK


# -- a match that has time again -----------------------------------------------


def test_added_time_lets_a_match_go_on_that_time_has_ended() -> None:
    table = stopped(Table(timed()).started().played("NS").in_play()).at_minute(60)
    table.out("WE").does(match_events.ResultConfirmed, by="referee")
    assert table.phase is MatchPhase.OVER
    added(table, 120)
    assert (table.phase, table.state.deal) == (MatchPhase.CUT, 3)
    assert (table.match.verdict, table.match.score, table.match.version) == (None, None, 2)
    assert table.effect(DealDue).deal == 3
    table.at_minute(62)
    assert [row.verdict.how for row in table.rows(EndRow)] == ["draw", "draw"]


def test_added_time_lets_an_equal_knockout_go_on() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    assert table.phase is MatchPhase.MATCH_CHECK
    assert added(table, 60).phase is MatchPhase.CUT
    assert not table.match.extra


def test_added_time_after_a_forfeited_deal_waits_for_its_leader() -> None:
    table = Table(timed()).started().in_play().ruled("EW", "foul").at_minute(60)
    assert table.phase is MatchPhase.OVER
    assert added(table, 60).phase is MatchPhase.FORFEIT


@pytest.mark.parametrize("seconds", [0, -60])
def test_no_time_leaves_a_match_ended(seconds: int) -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    added(table, seconds)
    assert (table.phase, table.match.version, len(table.rows(EndRow))) == (MatchPhase.OVER, 1, 1)


def test_what_time_did_not_end_no_time_opens_again() -> None:
    lost = added(Table(timed()).started().in_play().ruled("NS", "match_forfeit"), 60)
    assert (lost.phase, lost.match.version) == (MatchPhase.OVER, 1)
    full = Table(timed(B, deals=1)).started().played("NS")
    assert added(full, 60).phase is MatchPhase.OVER


def test_nothing_is_added_under_a_sheet_that_somebody_signed() -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    assert added(table, 60).refused == "WRONG_PHASE"
    assert (table.phase, len(table.match.signatures)) == (MatchPhase.OVER, 1)
    table.does(match_events.SheetSigned, signer="EW", person="Eve")
    table.does(match_events.SheetSigned, signer="referee", person="Ref")
    assert added(table, 60).refused == "WRONG_PHASE"


def test_no_more_time_is_never_too_much_for_a_referee() -> None:
    table = added(Table(timed(N)).started().played("NS"), 600, Role.CHIEF)
    stopped(table).at_minute(70.5)
    assert added(table, 1).refused == "MUCH_TIME"
    assert added(table, 0).refused is None
