"""Who is out, the result that both sides confirm, and its row."""

import pytest

from controller.match import match_events
from controller.match.phase import MatchPhase
from controller.rules.deal_result import parse_finish

from .table import B, Table


@pytest.mark.parametrize(("order", "known"), [("NS", 2), ("NWS", 3), ("WNS", 3), ("NEW", 3)])
def test_a_deal_is_over_when_the_rest_follows(order: str, known: int) -> None:
    table = Table().started().in_play()
    for number, seat in enumerate(order, 1):
        table.does(match_events.OutConfirmed, seat=seat)
        assert (table.phase is MatchPhase.RESULT) == (number == known)


def test_one_press_of_each_side_closes_the_row() -> None:
    table = Table().started().out("NS").does(match_events.ResultConfirmed, by="NS")
    assert (table.phase, table.match.sheet) == (MatchPhase.RESULT, ())
    table.does(match_events.ResultConfirmed, by="EW")
    assert (table.row.result, table.row.leader) == (parse_finish("NS"), "E")
    assert table.state.deal == 2


def test_a_corrected_entry_asks_both_sides_again() -> None:
    table = Table().started().out("NS").does(match_events.ResultConfirmed, by="NS")
    table.does(match_events.ResultEntered, order=("N", "W", "S"))
    assert table.match.confirmed == ()
    table.does(match_events.ResultConfirmed, by="EW").does(match_events.ResultConfirmed, by="NS")
    assert table.row.result == parse_finish("NWS")


def test_an_entry_may_take_the_place_of_presses() -> None:
    table = Table().started().in_play().does(match_events.ResultEntered, order=("W", "E"))
    table.does(match_events.ResultConfirmed, by="referee")
    assert table.levels == (2, 5)


def test_the_row_is_the_deal_as_it_was_played() -> None:
    row = Table(B).started().played("NS", "NWE").row
    assert (row.deal, row.level, row.owner, row.extra) == (2, 5, "NS", False)
    assert (row.levels.NS, row.levels.EW) == (6, 2)
    assert (row.points.NS, row.points.EW) == (30, 0)
    assert row.failures.NS == 0
    assert row.first_drawer is None  # of a machine's deal


def test_time_does_not_run_back() -> None:
    table = Table().started().tick(minutes=1)
    assert table.tick(-30_000).match.now_ms == table.at_ms + 30_000


# -- a place pressed by mistake ------------------------------------------------


def test_a_place_pressed_by_mistake_is_taken_back_and_who_came_behind_moves_up() -> None:
    table = Table().started().out("WNE").does(match_events.ResultConfirmed, by="NS")
    table.does(match_events.OutWithdrawn, seat="W")
    assert (table.phase, table.match.places, table.match.confirmed) == (
        MatchPhase.PLAY,
        ("N", "E"),
        (),
    )
    assert table.match.ended_ms is None
    table.out("S").does(match_events.ResultConfirmed, by="referee")
    assert table.row.result == parse_finish("NES")


def test_a_place_taken_back_in_play_is_free_again() -> None:
    table = Table().started().out("N").does(match_events.OutWithdrawn, seat="N")
    assert table.match.places == ()
    assert table.out("NS").phase is MatchPhase.RESULT


def test_who_is_not_out_has_no_place_to_take_back() -> None:
    table = Table().started().out("N")
    assert table.happens(match_events.OutWithdrawn, seat="W").refused == "NO_FINISH_ORDER"


def test_beside_a_dead_hand_a_place_is_taken_back_too() -> None:
    table = Table().started().played("NS").in_play().dead("W").out("NE")
    assert table.phase is MatchPhase.RESULT
    assert table.happens(match_events.OutWithdrawn, seat="W").refused == "NO_FINISH_ORDER"
    table.does(match_events.OutWithdrawn, seat="N")
    assert (table.phase, table.match.places) == (MatchPhase.PLAY, ("E",))
    table.out("S").does(match_events.ResultConfirmed, by="referee")
    assert table.row.result == parse_finish("ESNW")


def test_a_place_too_many_is_taken_back_and_the_deal_stays_finished() -> None:
    table = Table().started().in_play().does(match_events.ResultEntered, order=("N", "W", "S", "E"))
    ended_ms = table.match.ended_ms
    table.does(match_events.OutWithdrawn, seat="E")
    assert (table.phase, table.match.ended_ms) == (MatchPhase.RESULT, ended_ms)


def test_a_dead_hand_has_no_place_in_an_entry() -> None:
    table = Table().started().played("NS").in_play().dead("W")
    table.does(match_events.ResultEntered, order=("W", "N", "E"))
    assert table.match.places == ("N", "E")
    assert table.does(match_events.ResultConfirmed, by="referee").row.result == parse_finish("NESW")
