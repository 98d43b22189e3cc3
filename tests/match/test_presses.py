"""What one short press of a green button means, and a held one, in every phase."""

from collections.abc import Callable

import pytest

from controller.match import match_events
from controller.match.clocks.duty_clocks import clocks_for_duty
from controller.match.match_events import MatchEvent
from controller.match.phase import MatchPhase, phase_words
from controller.match.refusals import RefusedError
from controller.match.seat_buttons import meaning_of_long_press, meaning_of_short_press
from controller.messages import Seat
from tests.rows import each_row

from .table import Table, choosing, knockout


def _by_hand() -> Table:
    return Table().started().does(match_events.HandDealOrdered, reason="jam")


def _forfeited() -> Table:
    return Table().started().in_play().ruled("NS", "foul")


TABLES: dict[MatchPhase, Callable[[], Table]] = {
    MatchPhase.SETUP: lambda: Table().seated("W"),
    MatchPhase.SHUFFLE: _by_hand,
    MatchPhase.CUT: lambda: Table().started(),
    MatchPhase.TURNUP: lambda: _by_hand().cut(),
    MatchPhase.DEALING: lambda: Table().started().cut(),
    MatchPhase.HELD: lambda: Table().started().dealt(),
    MatchPhase.COUNT_CHECK: lambda: Table().started().released(),
    MatchPhase.ANTI_CHECK: lambda: Table().started().played("NS").counted(),
    MatchPhase.TRIBUTE: lambda: (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    ),
    MatchPhase.RETURN: lambda: Table().started().played("NS").valued(),
    MatchPhase.CHOICES: choosing,
    MatchPhase.PLAY: lambda: Table().started().in_play(),
    MatchPhase.RESULT: lambda: Table().started().out("NS"),
    MatchPhase.FORFEIT: _forfeited,
    MatchPhase.MATCH_CHECK: lambda: knockout().played("NS", "WE").at_minute(60),
    MatchPhase.OVER: lambda: Table().started().ruled("NS", "match_forfeit"),
    MatchPhase.SIGNED: lambda: Table().started().ruled("NS", "match_forfeit").signed(),
}
"""A table in every phase; where somebody leads, E does."""

PRESSED: dict[MatchPhase, MatchEvent | str] = {
    MatchPhase.SETUP: match_events.SeatTaken(at_ms=7, seat="E"),
    MatchPhase.COUNT_CHECK: match_events.HandCounted(at_ms=7, seat="E"),
    MatchPhase.TRIBUTE: match_events.TributeLaid(at_ms=7, seat="E"),
    MatchPhase.RETURN: match_events.ReturnLaid(at_ms=7, seat="E"),
    MatchPhase.PLAY: match_events.LeadMade(at_ms=7),
    MatchPhase.RESULT: match_events.ResultConfirmed(at_ms=7, by="EW"),
}
"""What E's press means; in every other phase nothing."""


def meant(table: Table, seat: Seat) -> MatchEvent | str:
    """What a press at `seat` means, or why nothing."""
    return _answer(meaning_of_short_press, table, seat)


def _answer(
    means: Callable[..., MatchEvent], table: Table, seat: Seat, at_ms: int = 7
) -> MatchEvent | str:
    try:
        return means(table.state, seat, at_ms)
    except RefusedError as refused:
        return refused.refusal.code


def test_there_is_a_table_in_every_phase() -> None:
    assert {phase: table().phase for phase, table in TABLES.items()} == {
        phase: phase for phase in MatchPhase
    }


@each_row("phase", MatchPhase)
def test_a_short_press_means_one_thing_in_each_phase(phase: MatchPhase) -> None:
    assert meant(TABLES[phase](), "E") == PRESSED.get(phase, "WRONG_PHASE")


@each_row("phase", MatchPhase)
def test_a_held_button_means_that_he_is_out_and_nothing_else(phase: MatchPhase) -> None:
    expected = (
        match_events.OutClaimed(at_ms=7, seat="E") if phase is MatchPhase.PLAY else "WRONG_PHASE"
    )
    assert _answer(meaning_of_long_press, TABLES[phase](), "E") == expected


@pytest.mark.parametrize("phase", sorted(set(PRESSED) - {MatchPhase.RETURN}))
def test_what_a_press_means_is_done_by_it(phase: MatchPhase) -> None:
    table = TABLES[phase]()
    event = meaning_of_short_press(table.state, "E", table.at_ms)
    said = {name: getattr(event, name) for name in event.__struct_fields__ if name != "at_ms"}
    assert table.does(type(event), **said).refused is None


def test_a_press_out_of_phase_names_the_phases_in_which_one_means_something() -> None:
    with pytest.raises(RefusedError) as refused:
        meaning_of_short_press(Table().started().state, "E", 7)
    assert refused.value.refusal.subject == phase_words(MatchPhase.CUT)
    assert refused.value.refusal.expected == phase_words(
        MatchPhase.SETUP,
        MatchPhase.COUNT_CHECK,
        MatchPhase.TRIBUTE,
        MatchPhase.RETURN,
        MatchPhase.PLAY,
        MatchPhase.RESULT,
    )


# -- in play -------------------------------------------------------------------


def test_a_press_confirms_the_opponent_who_said_first_that_he_is_out() -> None:
    table = Table().started().says_out("SWN")
    assert meant(table, "E") == match_events.OutConfirmed(at_ms=7, seat="S")
    assert meant(table.does(match_events.OutConfirmed, seat="S"), "W") == match_events.OutConfirmed(
        at_ms=7, seat="N"
    )
    assert meant(table, "S") == match_events.OutConfirmed(at_ms=7, seat="W")


def test_nobody_confirms_his_partner_or_himself() -> None:
    table = Table().started().says_out("N")
    for seat in ("N", "S"):
        assert meant(table, seat) == "NOT_HIS_DUTY"


def test_a_press_of_who_is_counted_for_is_his_play() -> None:
    table = (
        Table()
        .started()
        .in_play()
        .does(match_events.LeadMade)
        .does(match_events.PlayClockStarted, seat="W")
    )
    assert list(clocks_for_duty(table.match.clocks, "play"))
    assert meant(table, "W") == match_events.PlayMade(at_ms=7, seat="W")
    assert meant(table, "E") == "NOT_HIS_DUTY"


def test_a_word_waits_before_ones_own_clock() -> None:
    table = (
        Table()
        .started()
        .in_play()
        .does(match_events.LeadMade)
        .does(match_events.PlayClockStarted, seat="W")
    )
    assert meant(table.says_out("N"), "W") == match_events.OutConfirmed(at_ms=7, seat="N")


def test_only_the_leader_leads_and_only_once() -> None:
    table = Table().started().in_play()
    assert meant(table, "N") == "NOT_HIS_DUTY"
    assert meant(table.does(match_events.LeadMade), "E") == "NOT_HIS_DUTY"


def test_in_big_two_who_holds_the_card_leads_and_nobody_says_that_he_is_out() -> None:
    table = choosing().tick(60_000)
    assert table.phase is MatchPhase.PLAY
    assert meant(table, "W") == match_events.LeadMade(at_ms=7)
    assert _answer(meaning_of_long_press, table, "W") == "OTHER_RULES"
