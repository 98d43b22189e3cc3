"""Who is out, the result that both sides confirm, and its row."""

import pytest

from controller.match import events
from controller.match.effects import (
    Written,
)
from controller.match.phase import Phase
from controller.rules.result import finish

from .table import B, Table


@pytest.mark.parametrize(("order", "known"), [("NS", 2), ("NWS", 3), ("WNS", 3), ("NEW", 3)])
def test_a_deal_is_over_when_the_rest_follows(order: str, known: int) -> None:
    table = Table().started().in_play()
    for number, seat in enumerate(order, 1):
        table.does(events.Out, seat=seat)
        assert (table.phase is Phase.RESULT) == (number == known)


def test_one_press_of_each_side_closes_the_row() -> None:
    table = Table().started().out("NS").does(events.Confirmed, by="NS")
    assert (table.phase, table.match.sheet) == (Phase.RESULT, ())
    table.does(events.Confirmed, by="EW")
    assert table.effect(Written).row == table.row
    assert (table.row.result, table.row.leader) == (finish("NS"), "E")
    assert table.state.deal == 2


def test_a_corrected_entry_asks_both_sides_again() -> None:
    table = Table().started().out("NS").does(events.Confirmed, by="NS")
    table.does(events.ResultEntered, order=("N", "W", "S"))
    assert table.match.confirmed == ()
    table.does(events.Confirmed, by="EW").does(events.Confirmed, by="NS")
    assert table.row.result == finish("NWS")


def test_an_entry_may_take_the_place_of_presses() -> None:
    table = Table().started().in_play().does(events.ResultEntered, order=("W", "E"))
    table.does(events.Confirmed, by="referee")
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
