"""What one short press of a green button means, and a held one, in every phase."""

from collections.abc import Callable

import pytest

from controller.match import events
from controller.match.clocks.countdown import running
from controller.match.events import MatchEvent
from controller.match.phase import Phase, called
from controller.match.presses import held, pressed
from controller.match.refusals import RefusedError
from controller.messages import Seat
from tests.rows import each_row

from .table import Table, choosing, knockout


def _by_hand() -> Table:
    return Table().started().does(events.HandDealOrdered, reason="jam")


def _forfeited() -> Table:
    return Table().started().in_play().ruled("NS", "foul")


TABLES: dict[Phase, Callable[[], Table]] = {
    Phase.SETUP: lambda: Table().seated("W"),
    Phase.SHUFFLE: _by_hand,
    Phase.CUT: lambda: Table().started(),
    Phase.TURNUP: lambda: _by_hand().cut(),
    Phase.DEALING: lambda: Table().started().cut(),
    Phase.HELD: lambda: Table().started().dealt(),
    Phase.COUNT_CHECK: lambda: Table().started().released(),
    Phase.ANTI_CHECK: lambda: Table().started().played("NS").counted(),
    Phase.TRIBUTE: lambda: (
        Table().started().played("NS").counted().does(events.AntiTributeAnswered, stands=False)
    ),
    Phase.RETURN: lambda: Table().started().played("NS").valued(),
    Phase.CHOICES: choosing,
    Phase.PLAY: lambda: Table().started().in_play(),
    Phase.RESULT: lambda: Table().started().out("NS"),
    Phase.FORFEIT: _forfeited,
    Phase.MATCH_CHECK: lambda: knockout().played("NS", "WE").at_minute(60),
    Phase.OVER: lambda: Table().started().ruled("NS", "match_forfeit"),
    Phase.SIGNED: lambda: Table().started().ruled("NS", "match_forfeit").signed(),
}
"""A table in every phase; where somebody leads, E does."""

PRESSED: dict[Phase, MatchEvent | str] = {
    Phase.SETUP: events.SeatTaken(at_ms=7, seat="E"),
    Phase.COUNT_CHECK: events.Counted(at_ms=7, seat="E"),
    Phase.TRIBUTE: events.TributeLaid(at_ms=7, seat="E"),
    Phase.RETURN: events.ReturnLaid(at_ms=7, seat="E"),
    Phase.PLAY: events.LeadMade(at_ms=7),
    Phase.RESULT: events.ResultConfirmed(at_ms=7, by="EW"),
}
"""What E's press means; in every other phase nothing."""


def meant(table: Table, seat: Seat) -> MatchEvent | str:
    """What a press at `seat` means, or why nothing."""
    return _answer(pressed, table, seat)


def _answer(
    means: Callable[..., MatchEvent], table: Table, seat: Seat, at_ms: int = 7
) -> MatchEvent | str:
    try:
        return means(table.state, seat, at_ms)
    except RefusedError as refused:
        return refused.refusal.code


def test_there_is_a_table_in_every_phase() -> None:
    assert {phase: table().phase for phase, table in TABLES.items()} == {
        phase: phase for phase in Phase
    }


@each_row("phase", Phase)
def test_a_short_press_means_one_thing_in_each_phase(phase: Phase) -> None:
    assert meant(TABLES[phase](), "E") == PRESSED.get(phase, "WRONG_PHASE")


@each_row("phase", Phase)
def test_a_held_button_means_that_he_is_out_and_nothing_else(phase: Phase) -> None:
    expected = events.OutClaimed(at_ms=7, seat="E") if phase is Phase.PLAY else "WRONG_PHASE"
    assert _answer(held, TABLES[phase](), "E") == expected


@pytest.mark.parametrize("phase", sorted(set(PRESSED) - {Phase.RETURN}))
def test_what_a_press_means_is_done_by_it(phase: Phase) -> None:
    table = TABLES[phase]()
    event = pressed(table.state, "E", table.at_ms)
    said = {name: getattr(event, name) for name in event.__struct_fields__ if name != "at_ms"}
    assert table.does(type(event), **said).refused is None


def test_a_press_out_of_phase_names_the_phases_in_which_one_means_something() -> None:
    with pytest.raises(RefusedError) as refused:
        pressed(Table().started().state, "E", 7)
    assert refused.value.refusal.what == called(Phase.CUT)
    assert refused.value.refusal.legal == called(
        Phase.SETUP, Phase.COUNT_CHECK, Phase.TRIBUTE, Phase.RETURN, Phase.PLAY, Phase.RESULT
    )


# -- in play -------------------------------------------------------------------


def test_a_press_confirms_the_opponent_who_said_first_that_he_is_out() -> None:
    table = Table().started().says_out("SWN")
    assert meant(table, "E") == events.Out(at_ms=7, seat="S")
    assert meant(table.does(events.Out, seat="S"), "W") == events.Out(at_ms=7, seat="N")
    assert meant(table, "S") == events.Out(at_ms=7, seat="W")


def test_nobody_confirms_his_partner_or_himself() -> None:
    table = Table().started().says_out("N")
    for seat in ("N", "S"):
        assert meant(table, seat) == "NOT_HIS_DUTY"


def test_a_press_of_who_is_counted_for_is_his_play() -> None:
    table = (
        Table().started().in_play().does(events.LeadMade).does(events.PlayClockStarted, seat="W")
    )
    assert list(running(table.match.clocks, "play"))
    assert meant(table, "W") == events.PlayMade(at_ms=7, seat="W")
    assert meant(table, "E") == "NOT_HIS_DUTY"


def test_a_word_waits_before_ones_own_clock() -> None:
    table = (
        Table().started().in_play().does(events.LeadMade).does(events.PlayClockStarted, seat="W")
    )
    assert meant(table.says_out("N"), "W") == events.Out(at_ms=7, seat="N")


def test_only_the_leader_leads_and_only_once() -> None:
    table = Table().started().in_play()
    assert meant(table, "N") == "NOT_HIS_DUTY"
    assert meant(table.does(events.LeadMade), "E") == "NOT_HIS_DUTY"


def test_in_big_two_who_holds_the_card_leads_and_nobody_says_that_he_is_out() -> None:
    table = choosing().tick(60_000)
    assert table.phase is Phase.PLAY
    assert meant(table, "W") == events.LeadMade(at_ms=7)
    assert _answer(held, table, "W") == "OTHER_RULES"
