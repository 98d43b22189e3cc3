"""The clocks of seats in a match: when they run, and when they stand."""

import pytest

from controller.match import match_events
from controller.match.clocks.duty_clocks import clocks_for_duty
from controller.match.match_effects import ClockReported
from controller.messages import Seat

from .table import N, Table


def test_ten_seconds_count_from_the_spoken_warning() -> None:
    table = Table().started().in_play().does(match_events.PlayClockStarted, seat="N").tick(22_000)
    assert table.effect(ClockReported).report.kind == "play_warning"
    table.does(match_events.PlayerWarned, seat="N", wait_ms=3_000)
    assert table.tick(9_900).effects(ClockReported) == []
    assert table.tick(200).effect(ClockReported).report.kind == "play_violation"


def test_nobody_is_warned_for_whom_no_clock_runs() -> None:
    table = Table().started().in_play().does(match_events.PlayClockStarted, seat="N")
    assert table.happens(match_events.PlayerWarned, seat="W").refused == "NO_CLOCK"


def test_each_payer_has_a_clock_of_his_own() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    table.does(match_events.TributeLaid, seat="E").tick(15_000)
    (due,) = [effect.report for effect in table.effects(ClockReported)]
    assert (due.kind, due.seat) == ("tribute_warning", "W")


def test_a_warning_by_the_clock_changes_nothing_in_the_match() -> None:
    table = Table().started().played("NWS").valued()
    before = table.match
    table.tick(minutes=3)
    assert len(table.effects(ClockReported)) > 2
    assert (table.match.record, table.match.rulings) == ((), ())
    assert table.match.exchange == before.exchange


def test_clocks_stand_while_the_table_does() -> None:
    table = (
        Table().started().played("NWS").valued().does(match_events.TableSuspended, reason="called")
    )
    assert table.tick(minutes=5).effects(ClockReported) == []
    assert table.does(match_events.TableResumed).tick(29_000).effects(ClockReported) == []
    assert table.tick(2_000).effect(ClockReported).report.kind == "return_warning"


def test_clocks_stand_on_when_a_table_is_resumed_while_the_area_stands() -> None:
    table = Table().started().played("NWS").valued()
    table.does(match_events.TableSuspended, reason="called").does(match_events.AreaPaused).does(
        match_events.TableResumed
    )
    assert table.tick(minutes=5).effects(ClockReported) == []
    table.does(match_events.AreaResumed)
    assert table.tick(31_000).effect(ClockReported).report.kind == "return_warning"


def test_clocks_stand_on_when_the_area_goes_on_while_the_table_stands() -> None:
    table = Table().started().played("NWS").valued()
    table.does(match_events.AreaPaused).does(match_events.TableSuspended, reason="called").does(
        match_events.AreaResumed
    )
    assert table.tick(minutes=5).effects(ClockReported) == []


def test_a_clock_that_starts_while_the_area_stands_stands_too() -> None:
    table = Table().started().played("NWS").counted().does(match_events.AreaPaused)
    table.does(match_events.AntiTributeAnswered, stands=False)
    assert table.tick(minutes=5).effects(ClockReported) == []


def test_the_play_clock_runs_when_it_is_called_for() -> None:
    table = Table().started().in_play().tick(minutes=3)
    assert table.effects(ClockReported) == []
    table.does(match_events.PlayClockStarted, seat="N").tick(21_000)
    assert table.effect(ClockReported).report.kind == "play_warning"
    table.does(match_events.PlayMade, seat="N")
    assert table.tick(minutes=1).effects(ClockReported) == []


def test_a_second_call_takes_the_place_of_the_first() -> None:
    table = Table().started().in_play().does(match_events.PlayClockStarted, seat="N")
    table.does(match_events.PlayClockStarted, seat="W")
    assert [clock.seat for clock in clocks_for_duty(table.match.clocks, "play")] == ["W"]


@pytest.mark.parametrize(
    "lead",
    [
        (match_events.OutConfirmed, {"seat": "N"}),
        (match_events.PlayMade, {"seat": "N"}),
        (match_events.LeadMade, {}),
    ],
)
def test_the_first_lead_ends_the_opening(
    lead: tuple[type[match_events.MatchEventBase], dict[str, Seat]],
) -> None:
    table = Table(N).started().in_play().does(lead[0], **lead[1])
    assert table.tick(minutes=4).effects(ClockReported) == []


def test_an_opening_that_takes_too_long_is_told() -> None:
    table = Table(N).started().in_play().tick(minutes=3.1)
    assert table.effect(ClockReported).report.kind == "opening_over"


def test_no_clock_runs_while_a_result_is_confirmed() -> None:
    table = Table().started().in_play().does(match_events.PlayClockStarted, seat="S").out("NS")
    assert table.tick(minutes=2).effects(ClockReported) == []
