"""Rulings that move levels, and what becomes of them when they are overturned."""

from controller.match import events
from controller.match.desk import legal_proposals, record_now
from controller.match.effects import Written
from controller.match.phase import Phase
from controller.match.sheet import (
    EndRow,
    OverturnedRow,
    ShiftRow,
)
from controller.messages import Seat

from .people import charge_of
from .table import N, Table, from_level


def test_a_foul_in_003_lifts_the_others_and_the_deal_goes_on_at_its_level() -> None:
    table = Table(N).started().played("NS").in_play().ruled("NS", "foul")
    assert (table.levels, table.phase, table.match.level) == ((5, 3), Phase.PLAY, 5)
    table.out("WE").does(events.Confirmed, by="referee")
    assert (table.row.level, table.levels) == (5, (5, 6))


def test_a_foul_in_003_lifts_a_deal_that_has_not_begun() -> None:
    table = Table(N).started().played("NS").dealt().ruled("EW", "foul")
    assert (table.levels, table.match.level) == ((6, 2), 6)
    assert table.match.phase is Phase.HELD


def hidden(table: Table, seat: Seat, name: str = "R1") -> Table:
    """Hidden cards of `seat`, as the ladder of 003 says, approved."""
    charge = charge_of(table.state, seat, "hidden_cards")
    proposal = legal_proposals(table.match, charge)[0]
    return table.proposed(charge, proposal, name).approved(name)


def test_hidden_cards_move_both_sides_in_003() -> None:
    table = hidden(Table(N).started().played("NS").in_play(), "N")
    assert table.levels == (4, 3)
    assert [(row.side, row.steps) for row in table.rows(ShiftRow)] == [("EW", 1), ("NS", -1)]
    assert table.match.phase is Phase.PLAY


def test_both_moves_of_a_ruling_are_one_new_version() -> None:
    table = hidden(Table(N).started().played("NS").at_minute(60), "N")
    assert (table.match.version, len(table.rows(EndRow))) == (2, 2)
    assert len(table.effects(Written)) == 3


def test_an_overturned_ruling_takes_its_levels_back() -> None:
    table = Table(N).started().played("NS").in_play().ruled("NS", "foul")
    table.overturned()
    assert table.refused is None
    assert table.effect(Written).row == table.rows(OverturnedRow)[0]
    assert (table.levels, record_now(table.match)) == ((5, 2), ())


def test_overturning_a_warning_writes_nothing() -> None:
    table = Table().started().in_play().ruled("NS", "warning")
    assert len(record_now(table.match)) == 1
    table.overturned()
    assert (record_now(table.match), table.match.sheet) == ((), ())


def test_a_rejected_proposal_is_gone() -> None:
    table = Table().started().in_play().charged("N", "foul").overturned()
    assert table.phase is Phase.PLAY
    assert table.approved().refused == "NOT_OPEN"


def test_a_penalty_does_not_bring_a_side_back_from_past_a() -> None:
    table = Table(from_level("K", N)).started().played("NS", "NS").ruled("EW", "foul")
    assert (table.levels, table.end.verdict.how) == ((15, 13), "past_a")


def test_a_shift_before_the_first_deal_is_kept() -> None:
    table = Table(N).seated("N").ruled("EW", "foul").seated("WSE").does(events.Started)
    assert (table.levels, table.match.level) == ((3, 2), 3)


def test_who_shuffled_stays_known_when_only_levels_move() -> None:
    table = Table(N).started().does(events.DealtByHand, reason="jam")
    table.does(events.Shuffled, seat="W").ruled("NS", "foul")
    assert table.match.duties is not None
    assert table.match.duties.cutters == ("N", "S")
