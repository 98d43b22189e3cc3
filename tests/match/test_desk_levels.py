"""Rulings that move levels, and what becomes of them when they are overturned."""

import pytest

from controller.match import match_events
from controller.match.phase import MatchPhase
from controller.match.ruling_desk import current_record, legal_proposals
from controller.match.sheet_rows import DealRow, EndRow, OverturnedRow, RulingRow, ShiftRow
from controller.messages import Role

from .people import charge_of
from .table import N, Table, from_level, timed


def test_a_foul_in_003_lifts_the_others_and_the_deal_goes_on_at_its_level() -> None:
    table = Table(N).started().played("NS").in_play().ruled("NS", "foul")
    assert (table.levels, table.phase, table.match.level) == ((5, 3), MatchPhase.PLAY, 5)
    table.out("WE").does(match_events.ResultConfirmed, by="referee")
    assert (table.row.level, table.levels) == (5, (5, 6))


def test_a_foul_in_003_lifts_a_deal_that_has_not_begun() -> None:
    table = Table(N).started().played("NS").dealt().ruled("EW", "foul")
    assert (table.levels, table.match.level) == ((6, 2), 6)
    assert table.match.phase is MatchPhase.HELD


def test_hidden_cards_move_both_sides_in_003() -> None:
    table = Table(N).started().played("NS").in_play().hid_cards("N")
    assert table.levels == (4, 3)
    assert [(row.side, row.steps) for row in table.rows(ShiftRow)] == [("EW", 1), ("NS", -1)]
    assert table.match.phase is MatchPhase.PLAY


def test_both_moves_of_a_ruling_are_one_new_version() -> None:
    table = Table(N).started().played("NS").at_minute(60).hid_cards("N")
    assert (table.match.version, len(table.rows(EndRow))) == (2, 2)
    assert [type(row) for row in table.match.sheet[-4:]] == [RulingRow, ShiftRow, ShiftRow, EndRow]


def test_an_overturned_ruling_takes_its_levels_back() -> None:
    table = Table(N).started().played("NS").in_play().ruled("NS", "foul")
    table.overturned()
    assert table.refused is None
    assert table.match.sheet[-1] == table.rows(OverturnedRow)[0]
    assert (table.levels, current_record(table.match)) == ((5, 2), ())


def test_overturning_a_warning_is_written_and_leaves_no_penalty() -> None:
    table = Table().started().in_play().ruled("NS", "warning")
    assert len(current_record(table.match)) == 1
    table.overturned()
    assert current_record(table.match) == ()
    assert [type(row) for row in table.match.sheet] == [RulingRow, OverturnedRow]
    assert (table.levels, table.phase) == ((2, 2), MatchPhase.PLAY)


def test_a_rejected_proposal_is_gone() -> None:
    table = Table().started().in_play().charged("N", "foul").overturned()
    assert table.phase is MatchPhase.PLAY
    assert table.approved().refused == "NOT_OPEN"


def test_a_penalty_does_not_bring_a_side_back_from_past_a() -> None:
    table = Table(from_level("K", N)).started().played("NS", "NS").ruled("EW", "foul")
    assert (table.levels, table.end.verdict.how) == ((15, 13), "past_a")


def test_a_shift_before_the_first_deal_is_kept() -> None:
    table = Table(N).seated("N").ruled("EW", "foul").seated("WSE").does(match_events.MatchStarted)
    assert (table.levels, table.match.level) == ((3, 2), 2)
    assert table.played("NS").row.level == 2
    assert table.levels == (6, 2)


def test_who_shuffled_stays_known_when_only_levels_move() -> None:
    table = Table(N).started().does(match_events.HandDealOrdered, reason="jam")
    table.does(match_events.SetShuffled, seat="W").ruled("NS", "foul")
    assert table.match.duties is not None
    assert table.match.duties.cutters == ("N", "S")


# -- penalties on the sheet ------------------------------------------------------


def test_every_decided_penalty_is_on_the_sheet() -> None:
    table = Table().started().played("NS").in_play().charged("S", "warning")
    offence_ms = table.at_ms - 100
    assert table.rows(RulingRow) == []
    table.tick(minutes=1).approved()
    (row,) = table.rows(RulingRow)
    assert table.match.sheet[-1] == row
    assert (row.ruling, row.person, row.seat, row.side) == ("R1", "Sun", "S", "NS")
    assert (row.deal, row.offence, row.offence_ms) == (2, "other", offence_ms)
    assert (row.penalty, row.article, row.at_ms) == ("warning", "A15.3.7", table.at_ms)


def test_the_penalty_that_was_given_is_written_and_not_the_one_that_was_proposed() -> None:
    table = Table().started().in_play().charged("N", "warning")
    other = Table().started().in_play().charged("N", "violation").match.rulings[0].proposal
    table.does(match_events.RulingApproved, id="R1", by="chief", role=Role.CHIEF, proposal=other)
    assert table.rows(RulingRow)[0].penalty == "violation"


def test_a_rejected_proposal_is_not_on_the_sheet() -> None:
    assert Table().started().in_play().charged("N", "foul").overturned().match.sheet == ()


def test_a_decision_without_a_penalty_is_not_on_the_sheet() -> None:
    table = Table().started().played("NS").in_play().dead("W")
    assert (table.match.rulings[0].state, table.rows(RulingRow)) == ("decided", [])


def test_a_penalty_and_its_overturning_stay_readable_and_count_nothing() -> None:
    table = Table(N).started().played("NS").in_play().ruled("NS", "foul").overturned()
    rows = [type(row) for row in table.match.sheet]
    assert rows == [DealRow, RulingRow, ShiftRow, OverturnedRow]
    assert table.levels == (5, 2)  # and replayed from the rows alone


@pytest.mark.parametrize("signed", [False, True])
def test_a_penalty_after_the_end_is_another_version_to_be_signed(signed: bool) -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    if signed:
        table.signed()
    table.ruled("NS", "warning")
    assert (table.phase, table.match.version, table.match.signatures) == (MatchPhase.OVER, 2, ())
    assert [type(row) for row in table.match.sheet[-3:]] == [EndRow, RulingRow, EndRow]
    table.overturned()
    assert (table.phase, table.match.version) == (MatchPhase.OVER, 3)
    first, *others = table.rows(EndRow)
    assert {(row.verdict, row.score) for row in others} == {(first.verdict, first.score)}
    assert table.signed().phase is MatchPhase.SIGNED


def test_a_penalty_under_a_signed_sheet_is_the_chiefs() -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    charge = charge_of(table.state, "N", "wrong_play_form")
    (proposal,) = legal_proposals(table.match, charge)[:1]
    table.proposed(charge, proposal)
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    approve = match_events.RulingApproved
    by_referee = table.happens(approve, id="R1", by="Ref", role=Role.REFEREE)
    assert (by_referee.refused, len(table.match.signatures)) == ("NEEDS_CHIEF", 1)
    table.does(approve, id="R1", by="Chief", role=Role.REFEREE, verbal=True)
    assert (table.match.signatures, table.match.version) == ((), 2)


def test_a_foul_after_the_end_is_one_version_more() -> None:
    table = Table(timed()).started().played("NS").at_minute(60).ruled("NS", "foul", deal=1)
    assert (table.match.version, len(table.rows(EndRow)), table.levels) == (2, 2, (2, 5))
    lost = Table(timed()).started().played("NS").at_minute(60).ruled("NS", "match_forfeit")
    assert (lost.match.version, len(lost.rows(EndRow))) == (2, 2)
