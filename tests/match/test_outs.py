"""Who says that he is out, by a held button: nothing counts until an opponent confirms it."""

import pytest

from controller.match import events
from controller.match.phase import Phase

from .table import Table


def test_a_word_alone_is_no_place_and_no_lead() -> None:
    table = Table().started().says_out("N")
    assert (table.match.outs, table.match.order, table.match.led) == (("N",), (), False)
    assert table.does(events.CountClaimed, seat="E").state.claimed == "E"


def test_a_confirmed_word_is_a_place() -> None:
    table = Table().started().says_out("NW").does(events.Out, seat="W")
    assert (table.match.outs, table.match.order) == (("N",), ("W",))
    table.does(events.Out, seat="N").does(events.Out, seat="S")
    assert (table.match.order, table.phase) == (("W", "N", "S"), Phase.RESULT)


def test_words_that_nobody_confirmed_go_when_the_rest_follows() -> None:
    table = Table().started().says_out("WNS").does(events.Out, seat="N").does(events.Out, seat="S")
    assert (table.phase, table.match.outs) == (Phase.RESULT, ())
    assert table.does(events.OutWithdrawn, seat="S").match.outs == ()


def test_an_entered_result_ends_every_word() -> None:
    table = Table().started().says_out("W").does(events.ResultEntered, order=("N", "S"))
    assert (table.phase, table.match.outs) == (Phase.RESULT, ())


def test_nobody_says_it_twice_or_after_his_place() -> None:
    table = Table().started().says_out("N")
    assert table.happens(events.OutClaimed, seat="N").refused == "TWICE"
    table.does(events.Out, seat="N")
    assert table.happens(events.OutClaimed, seat="N").refused == "TWICE"


def test_a_dead_hand_is_never_out() -> None:
    table = Table().started().played("NS").says_out("WE").dead("W")
    assert table.match.outs == ("E",)
    assert table.happens(events.OutClaimed, seat="W").refused == "NO_FINISH_ORDER"


def test_a_word_taken_back_leaves_no_trace() -> None:
    table = Table().started().in_play()
    before = table.match
    table.does(events.OutClaimed, seat="N").does(events.OutWithdrawn, seat="N")
    assert table.match.outs == ()
    assert (table.match.order, table.match.led) == (before.order, before.led)
    assert table.happens(events.OutWithdrawn, seat="N").refused == "NO_FINISH_ORDER"


@pytest.mark.parametrize("again", [True, False])
def test_a_word_belongs_to_its_deal(again: bool) -> None:
    table = Table().started().says_out("N")
    if again:
        table.does(events.DealVoided, reason="seen")
    else:
        table.ruled("NS", "foul")
    assert table.match.outs == ()
