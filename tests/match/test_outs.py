"""Who says that he is out, by a held button: nothing counts until an opponent confirms it."""

import pytest

from controller.match import match_events
from controller.match.phase import MatchPhase

from .table import Table


def test_a_word_alone_is_no_place_and_no_lead() -> None:
    table = Table().started().says_out("N")
    assert (table.match.outs, table.match.places, table.match.led) == (("N",), (), False)
    assert table.does(match_events.CountClaimed, seat="E").state.claimed == "E"


def test_a_confirmed_word_is_a_place() -> None:
    table = Table().started().says_out("NW").does(match_events.OutConfirmed, seat="W")
    assert (table.match.outs, table.match.places) == (("N",), ("W",))
    table.does(match_events.OutConfirmed, seat="N").does(match_events.OutConfirmed, seat="S")
    assert (table.match.places, table.phase) == (("W", "N", "S"), MatchPhase.RESULT)


def test_words_that_nobody_confirmed_go_when_the_rest_follows() -> None:
    table = (
        Table()
        .started()
        .says_out("WNS")
        .does(match_events.OutConfirmed, seat="N")
        .does(match_events.OutConfirmed, seat="S")
    )
    assert (table.phase, table.match.outs) == (MatchPhase.RESULT, ())
    assert table.does(match_events.OutWithdrawn, seat="S").match.outs == ()


def test_an_entered_result_ends_every_word() -> None:
    table = Table().started().says_out("W").does(match_events.ResultEntered, order=("N", "S"))
    assert (table.phase, table.match.outs) == (MatchPhase.RESULT, ())


def test_nobody_says_it_twice_or_after_his_place() -> None:
    table = Table().started().says_out("N")
    assert table.happens(match_events.OutClaimed, seat="N").refused == "TWICE"
    table.does(match_events.OutConfirmed, seat="N")
    assert table.happens(match_events.OutClaimed, seat="N").refused == "TWICE"


def test_a_dead_hand_is_never_out() -> None:
    table = Table().started().played("NS").says_out("WE").dead("W")
    assert table.match.outs == ("E",)
    assert table.happens(match_events.OutClaimed, seat="W").refused == "NO_FINISH_ORDER"


def test_a_word_taken_back_leaves_no_trace() -> None:
    table = Table().started().in_play()
    before = table.match
    table.does(match_events.OutClaimed, seat="N").does(match_events.OutWithdrawn, seat="N")
    assert table.match.outs == ()
    assert (table.match.places, table.match.led) == (before.places, before.led)
    assert table.happens(match_events.OutWithdrawn, seat="N").refused == "NO_FINISH_ORDER"


@pytest.mark.parametrize("again", [True, False])
def test_a_word_belongs_to_its_deal(again: bool) -> None:
    table = Table().started().says_out("N")
    if again:
        table.does(match_events.DealVoided, reason="seen")
    else:
        table.ruled("NS", "foul")
    assert table.match.outs == ()
