"""Deals that have begun and are dealt again, or do not count."""

import pytest

from controller.match import match_events
from controller.match.match_effects import DealDue, RefereeCalled
from controller.match.phase import MatchPhase
from controller.match.sheet_rows import (
    CorrectionRow,
    DealRow,
    EndRow,
    RedealtRow,
    StoppedRow,
    replay_sheet,
)
from controller.messages import Role

from .table import BIG_TWO, INTL, Table, from_level, knockout, timed, varied


def voided(table: Table, role: Role = Role.CHIEF, **said: bool) -> Table:
    """Somebody wants the deal dealt again."""
    return table.happens(match_events.DealVoided, reason="seen", by="x", role=role, **said)


# -- dealt again ---------------------------------------------------------------


@pytest.mark.parametrize("steps", ["released", "counted", "laid", "valued", "in_play"])
def test_the_chief_has_a_deal_dealt_again_whatever_was_done_in_it(steps: str) -> None:
    table = Table().started().played("NS")
    getattr(table, steps)()
    before = table.match
    voided(table)
    assert (table.phase, table.effect(DealDue).deal) == (MatchPhase.CUT, 2)
    assert (table.match.misdeals, table.match.exchange, table.match.began_ms) == (1, None, None)
    for kept in ("standing", "level", "owner", "follows"):
        assert getattr(table.match, kept) == getattr(before, kept), kept
    assert table.match.sheet == (*before.sheet, *table.rows(RedealtRow))
    assert table.played("WE").levels == (5, 5)


def test_a_deal_that_was_led_to_may_be_void_too() -> None:
    table = Table().started().out("NS").does(match_events.ResultConfirmed, by="NS")
    voided(table)
    assert (table.phase, table.match.places, table.match.led) == (MatchPhase.CUT, (), False)
    assert (table.match.confirmed, table.match.ended_ms) == ((), None)
    assert [type(row) for row in table.match.sheet] == [RedealtRow]


@pytest.mark.parametrize("steps", ["released", "in_play"])
def test_a_deal_dealt_again_is_the_chiefs(steps: str) -> None:
    table = Table().started()
    getattr(table, steps)()
    assert voided(table, Role.REFEREE).refused == "NEEDS_CHIEF"
    assert voided(table, Role.TABLE).refused == "NOT_A_REFEREE"
    assert voided(table, Role.REFEREE, verbal=True).phase is MatchPhase.CUT


def test_the_sheet_says_which_deal_was_dealt_again_why_and_by_whose_word() -> None:
    table = voided(Table().started().played("NS").released())
    (row,) = table.rows(RedealtRow)
    assert (
        row
        == table.match.sheet[-1]
        == RedealtRow(row=2, at_ms=table.at_ms, deal=2, reason="seen", by="x")
    )
    assert replay_sheet(table.rules, table.match.sheet) == table.match.standing


def test_the_sheet_says_after_whose_claim_a_deal_was_dealt_again() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W")
    table.recounted(W=26, E=28)
    (row,) = table.rows(RedealtRow)
    assert (row.deal, row.reason, row.by, row.claimed) == (1, "count", "referee", "W")
    table.released().does(match_events.CountClaimed, seat="E")
    counts = {"N": 26, "W": 27, "S": 27, "E": 28}
    table.happens(match_events.HandsRecounted, counts=counts, by="Ren")
    assert table.refused == "NEEDS_CHIEF"
    table.does(match_events.HandsRecounted, counts=counts, by="Ren", role=Role.CHIEF)
    assert [(row.row, row.by) for row in table.rows(RedealtRow)] == [(1, "referee"), (2, "Ren")]


def test_what_was_never_with_the_players_leaves_no_row() -> None:
    table = Table().started().dealt().does(match_events.AttemptFailed, reasons=("JAM",))
    table.released().does(match_events.CountClaimed, seat="W").recounted()
    assert (table.phase, table.match.sheet) == (MatchPhase.COUNT_CHECK, ())


def test_a_deal_that_has_not_begun_or_is_written_is_not_voided() -> None:
    table = Table().started().dealt()
    assert voided(table).refused == "WRONG_PHASE"
    assert voided(table.played("NS")).refused == "WRONG_PHASE"


def test_a_voided_deal_leaves_no_claim_and_no_dead_hand_behind() -> None:
    table = Table().started().played("NS").in_play().dead("W")
    voided(table.does(match_events.TableSuspended, reason="called"))
    assert (table.match.suspended, table.match.dead) == (None, ())
    voided(table.released().does(match_events.CountClaimed, seat="N"))
    assert (table.match.suspended, table.match.claimed) == (None, None)


def test_a_deal_drawn_by_hand_is_drawn_again() -> None:
    table = (
        Table().started().played("NS").does(match_events.HandDealOrdered, reason="jam").in_play()
    )
    assert voided(table).phase is MatchPhase.SHUFFLE
    assert table.effect(DealDue).by_hand


def test_two_deals_voided_in_a_row_call_the_referee() -> None:
    table = voided(Table().started().released())
    assert table.effects(RefereeCalled) == []
    voided(table.released())
    assert table.effects(RefereeCalled) == []  # between them four hands were right


def test_an_extra_deal_dealt_again_is_an_extra_deal() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    table.does(match_events.ExtraDealOrdered, reason="equal").in_play()
    voided(table)
    assert (table.phase, table.match.extra) == (MatchPhase.CUT, True)
    assert table.played("NWE").end.verdict.how == "extra_deal"


@pytest.mark.parametrize("again", [False, True])
def test_an_extra_deal_of_a_match_that_lost_time_stays_one_whatever_is_ruled(again: bool) -> None:
    table = knockout().played("NS").in_play().does(match_events.TableSuspended, reason="called")
    table.does(match_events.TableResumed).at_minute(60).out("WE").does(
        match_events.ResultConfirmed, by="referee"
    )
    table.does(match_events.ExtraDealOrdered, reason="equal")
    if again:
        voided(table.released())
    table.ruled("NS", "warning").overturned()
    assert (table.phase, table.match.extra) == (MatchPhase.CUT, True)


def test_a_voided_deal_of_big_two_is_chosen_and_played_again() -> None:
    table = Table(BIG_TWO).started().dealt("W").does(match_events.HandsReleased).tick(60_000)
    table.does(match_events.CardsLeftEntered, left={"N": 0, "W": 1, "S": 1, "E": 1})
    voided(table)
    assert (table.phase, table.state.deal) == (MatchPhase.CUT, 1)
    assert (table.big_two.choices, table.big_two.left, table.big_two.rows) == (None, {}, ())
    table.dealt("S").does(match_events.HandsReleased)
    assert (table.phase, table.big_two.leader) == (MatchPhase.CHOICES, "S")


def test_by_the_letter_a_deal_voided_after_time_is_not_dealt_again() -> None:
    table = voided(Table(timed(at_time="stop_now")).started().played("NS").in_play().at_minute(60))
    assert (table.phase, table.levels) == (MatchPhase.OVER, (5, 2))


# -- later deals void ----------------------------------------------------------


def test_with_the_later_deals_the_one_under_way_is_void() -> None:
    table = (
        Table()
        .started()
        .played("NS", "NS")
        .in_play()
        .does(match_events.TableSuspended, reason="called")
    )
    table.corrected(1, "WE", "void_later")
    (row,) = table.rows(StoppedRow)
    assert (row.deal, row.reason) == (3, "void_later")
    assert (table.phase, table.match.suspended) == (MatchPhase.CUT, None)
    assert (table.state.deal, table.match.level, table.levels) == (4, 5, (2, 5))
    assert isinstance(table.match.sheet[-2], CorrectionRow)


@pytest.mark.parametrize("choice", ["from_now", "stand"])
def test_without_that_word_a_deal_under_way_goes_on(choice: str) -> None:
    table = Table().started().played("NS", "NS").in_play().corrected(1, "WE", choice)
    assert (table.phase, table.rows(StoppedRow)) == (MatchPhase.PLAY, [])


def test_an_extra_deal_under_way_is_void_with_the_deals_before_it() -> None:
    profile = varied(INTL, ending={"method": "deals", "deals": 2})
    table = Table(profile, stage="knockout").started().played("NS", "WE")
    table.does(match_events.ExtraDealOrdered, reason="equal").in_play()
    table.corrected(1, "NWS", "void_later")
    assert [row.deal for row in table.rows(StoppedRow)] == [3]
    assert (table.phase, table.match.extra, table.levels) == (MatchPhase.CUT, False, (4, 2))
    assert table.played("NS").end.verdict.how == "level"


def test_an_extra_deal_that_is_due_is_an_ordinary_one_where_deals_are_missing() -> None:
    profile = varied(INTL, ending={"method": "deals", "deals": 2})
    table = Table(profile, stage="knockout").started().played("NS", "WE")
    table.does(match_events.ExtraDealOrdered, reason="equal").dealt()
    table.corrected(1, "NWS", "void_later")
    assert (table.phase, table.match.extra) == (MatchPhase.HELD, False)
    table.played("WNE")
    assert (table.levels, table.phase) == ((4, 4), MatchPhase.MATCH_CHECK)


def test_a_correction_that_ends_the_match_ends_the_deal_under_way() -> None:
    table = Table(from_level("K")).started().played("NS", "NWE").in_play()
    table.corrected(2, "NWS", "void_later")
    assert (table.phase, table.levels) == (MatchPhase.OVER, (15, 13))
    assert [type(row) for row in table.match.sheet[-3:]] == [CorrectionRow, StoppedRow, EndRow]
    assert [row.deal for row in table.rows(DealRow)] == [1, 2]
