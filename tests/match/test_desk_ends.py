"""Rulings that end a match, or a hand."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.match import match_events
from controller.match.match_effects import DealDue
from controller.match.phase import MatchPhase
from controller.match.ruling_desk import legal_proposals
from controller.match.sheet_rows import CorrectionRow, DealRow, EndRow, RulingRow, StoppedRow
from controller.rules.deal_result import ForfeitedDeal, parse_finish
from controller.rules.match_end import MatchVerdict
from controller.rules.match_standing import PerSide
from controller.rules.penalties.offences import find_offence
from controller.rules.penalties.penalty_record import Penalty

from .people import charge_of
from .table import INTL, B, H, N, Table, timed, varied

# -- the match lost ------------------------------------------------------------


def test_a_lost_match_is_over_at_once_in_whatever_phase() -> None:
    table = (
        Table().started().played("NS").dealt().does(match_events.TableSuspended, reason="called")
    )
    table.ruled("NS", "match_forfeit")
    assert (table.phase, table.match.suspended) == (MatchPhase.OVER, None)
    assert (table.end.verdict.winner, table.end.verdict.how) == ("EW", "forfeit")
    assert table.end.score.match_points == PerSide(0, 2)


@pytest.mark.parametrize("profile", [INTL, N, B])
def test_who_only_lost_a_match_is_not_disqualified(profile: str) -> None:
    table = Table(profile).started().ruled("NS", "match_forfeit")
    assert table.end.verdict.how == "forfeit"
    table = Table(profile).started().ruled("NS", "disqualification")
    assert table.end.verdict.how == "disqualified"


def test_a_lost_match_stays_lost_whatever_is_corrected() -> None:
    table = Table().started().played("NS").ruled("NS", "match_forfeit").corrected(1, "NWS")
    assert (table.phase, table.end.verdict.winner) == (MatchPhase.OVER, "EW")
    table = Table(N).started().played("NS").ruled("NS", "match_forfeit").ruled("EW", "foul")
    assert (table.phase, table.end.verdict.winner) == (MatchPhase.OVER, "EW")


def test_a_match_lost_after_it_was_signed_is_signed_again() -> None:
    table = Table(timed()).started().played("NS").at_minute(60).signed()
    table.ruled("NS", "match_forfeit")
    assert (table.phase, table.match.version, table.match.signatures) == (MatchPhase.OVER, 2, ())
    assert table.end.verdict.winner == "EW"
    assert table.signed().phase is MatchPhase.SIGNED


def test_a_match_is_lost_once() -> None:
    table = Table().started().ruled("NS", "match_forfeit").ruled("EW", "match_forfeit")
    assert table.end.verdict.winner == "EW"


def test_an_overturned_loss_lets_the_match_go_on() -> None:
    table = Table().started().played("NS").in_play().ruled("NS", "match_forfeit").overturned()
    assert (table.phase, table.levels) == (MatchPhase.CUT, (5, 2))
    assert (table.match.verdict, table.match.score) == (None, None)
    assert table.effect(DealDue).deal == 3  # nobody takes a number twice


def test_an_overturned_default_lets_the_players_sit_down() -> None:
    table = Table().seated("NS").does(match_events.MatchStarted).ruled("EW", "match_forfeit")
    assert table.phase is MatchPhase.OVER
    assert table.overturned().phase is MatchPhase.SETUP
    assert table.seated("WE").effect(DealDue).deal == 1


# -- dead hands ----------------------------------------------------------------


def test_with_a_dead_hand_the_other_three_play_on_and_he_is_last() -> None:
    table = Table().started().played("NS").in_play().dead("W")
    assert table.happens(match_events.OutConfirmed, seat="W").refused == "NO_FINISH_ORDER"
    table.out("NE")
    assert table.phase is MatchPhase.RESULT
    table.does(match_events.ResultConfirmed, by="referee")
    assert (table.row.result, table.row.dead) == (parse_finish("NESW"), ("W",))
    assert table.played("WE").row.dead == ()  # the next deal is another


def test_a_dead_hand_and_the_others_first_and_second_are_a_double_down() -> None:
    table = Table().started().played("NS").in_play().dead("W").out("NS")
    table.does(match_events.ResultConfirmed, by="referee")
    assert table.row.result == parse_finish("NS")


def test_a_dead_hand_moves_up_who_came_behind_him() -> None:
    table = Table().started().played("NS").out("WN").dead("W")
    assert (table.phase, table.match.places) == (MatchPhase.PLAY, ("N",))
    assert table.out("E").phase is MatchPhase.RESULT


def test_a_dead_hand_reopens_a_result_that_is_not_confirmed() -> None:
    table = Table().started().played("NS").out("WE").does(match_events.ResultConfirmed, by="NS")
    table.dead("W")
    assert (table.phase, table.match.places, table.match.confirmed) == (MatchPhase.PLAY, ("E",), ())


@pytest.mark.parametrize("steps", ["released", "counted", "valued", "dealt"])
def test_before_play_there_is_no_dead_hand(steps: str) -> None:
    table = Table().started().played("NS")
    getattr(table, steps)()
    before = table.match
    assert table.dead("W").refused == "NOT_BEGUN"
    assert (table.phase, table.match.dead) == (before.phase, ())


def test_with_two_dead_hands_the_other_side_plays_for_who_is_up() -> None:
    table = Table().started().played("NS").in_play().dead("W").dead("E")
    assert (table.phase, table.match.dead) == (MatchPhase.PLAY, ("W", "E"))
    assert table.out("S").phase is MatchPhase.RESULT
    table.does(match_events.ResultConfirmed, by="referee")
    assert (table.row.result, table.row.dead) == (parse_finish("SN"), ("W", "E"))


def test_an_overturned_dead_hand_is_in_play_again_with_the_place_it_had() -> None:
    table = Table().started().played("NS").out("WN").dead("W").overturned()
    assert (table.refused, table.match.dead, table.match.places) == (None, (), ("W", "N"))
    assert table.out("E").phase is MatchPhase.RESULT
    table.does(match_events.ResultConfirmed, by="referee")
    assert (table.row.result, table.row.dead) == (parse_finish("WNES"), ())


def test_a_result_that_only_a_dead_hand_made_is_none_once_that_is_overturned() -> None:
    table = Table().started().played("NS").in_play().dead("W").out("NE")
    assert table.phase is MatchPhase.RESULT
    table.does(match_events.ResultConfirmed, by="NS").overturned()
    assert (table.phase, table.match.places, table.match.confirmed) == (
        MatchPhase.PLAY,
        ("N", "E"),
        (),
    )
    assert table.match.ended_ms is None
    assert table.out("W").phase is MatchPhase.RESULT


def test_of_two_dead_hands_one_is_overturned() -> None:
    table = Table().started().played("NS").out("W").dead("W").out("E").dead("E").overturned("R2")
    assert (table.match.dead, table.match.places) == (("W",), ("E",))
    assert table.overturned("R1").match.places == ("W", "E")


def test_a_hand_that_two_rulings_made_dead_stays_dead_when_one_is_overturned() -> None:
    table = Table().started().played("NS").in_play().dead("W").dead("W").overturned("R1")
    assert table.happens(match_events.OutConfirmed, seat="W").refused == "NO_FINISH_ORDER"
    assert table.overturned("R2").does(match_events.OutConfirmed, seat="W").match.places == ("W",)


def test_a_dead_hand_may_be_overturned_when_its_deal_was_dealt_again() -> None:
    table = Table().started().played("NS").in_play().dead("W")
    table.does(match_events.DealVoided, reason="x").in_play().overturned()
    assert (table.refused, table.phase, table.match.dead) == (None, MatchPhase.PLAY, ())


@pytest.mark.parametrize("on", [None, Table.released, Table.counted, Table.valued])
def test_a_dead_hand_may_be_overturned_before_its_deal_is_played_again(
    on: Callable[[Table], object] | None,
) -> None:
    table = (
        Table().started().played("NS").in_play().dead("W").does(match_events.DealVoided, reason="x")
    )
    if on is not None:
        on(table)
    phase = table.phase
    table.overturned()
    assert (table.refused, table.phase, table.match.dead) == (None, phase, ())


def test_a_card_of_hands_that_were_dealt_again_makes_no_other_hand_dead() -> None:
    table = Table().started().played("NS").in_play()
    charge = charge_of(table.match, "W", "wrong_tribute_in_play")
    table.proposed(charge, legal_proposals(table.match, charge)[0])
    table.does(match_events.DealVoided, reason="x").in_play().approved()
    assert (table.refused, table.match.dead) == (None, ())
    assert table.match.rulings[0].state == "decided"


def test_a_dead_hand_of_a_deal_that_is_written_is_not_taken_back_but_its_result_corrected() -> None:
    table = Table().started().played("NS").in_play().dead("W").out("NE")
    table.does(match_events.ResultConfirmed, by="referee")
    assert table.overturned().refused == "IT_ENDED_A_DEAL"
    assert table.corrected(2, "NEW").levels == (6, 2)


def test_a_dead_hand_found_after_the_deal_was_written_rewrites_it() -> None:
    table = Table().started().played("NS", "WNE").dead("W", deal=2)
    (row,) = table.rows(CorrectionRow)
    assert (row.was, row.result) == (parse_finish("WNE"), parse_finish("NESW"))
    assert (row.choice, row.by, row.reason) == ("from_now", "chief", _offence("wrong_tribute"))
    assert (table.levels, table.phase) == ((7, 2), MatchPhase.CUT)


def test_two_dead_hands_found_one_after_the_other_count_together() -> None:
    table = Table().started().played("NS", "WNE").dead("W", deal=2).dead("E", deal=2)
    assert table.rows(CorrectionRow)[-1].result == parse_finish("NS")
    assert table.levels == (8, 2)
    table = Table().started().played("NS").in_play().dead("W").out("NE")
    table.does(match_events.ResultConfirmed, by="referee").dead("E", deal=2)
    assert table.rows(CorrectionRow)[-1].result == parse_finish("NS")


def test_a_dead_hand_found_after_a_double_down_needs_the_others_places_first() -> None:
    table = Table().started().played("NS", "WE").dead("W", deal=2)
    assert table.refused == "NO_FINISH_ORDER"
    assert table.match.rulings[0].state == "proposed"
    table.corrected(2, "WNE").approved()
    assert table.levels == (7, 2)


def test_a_dead_hand_of_a_forfeited_deal_is_noted_and_changes_nothing() -> None:
    table = Table().started().played("NS").in_play().ruled("EW", "foul").dead("W", deal=2)
    assert (table.refused, table.rows(CorrectionRow), table.levels) == (None, [], (8, 2))
    assert table.match.rulings[1].state == "decided"


def test_a_dead_hand_of_a_deal_that_was_stopped_is_no_hand() -> None:
    table = Table().started().played("NS").in_play().ruled("NS", "match_forfeit").overturned()
    assert table.dead("W", deal=2).refused == "NOT_BEGUN"


def test_what_happened_before_the_first_deal_is_the_first_deals() -> None:
    table = Table().started().in_play().ruled("NS", "foul", deal=0)
    assert (table.row.deal, table.row.result) == (1, ForfeitedDeal("NS"))
    table = Table().started().played("NS", "NS").ruled("NS", "foul", deal=0)
    assert [row.deal for row in table.rows(CorrectionRow)] == [1]


# -- neither pair ----------------------------------------------------------------


@pytest.mark.parametrize("profile", [INTL, H, N, B])
@pytest.mark.parametrize("penalty", ["match_forfeit", "disqualification"])
def test_where_neither_pair_came_nobody_wins_and_nobody_has_points(
    profile: str, penalty: Penalty
) -> None:
    table = (
        Table(profile)
        .does(match_events.MatchStarted)
        .ruled("NS", "match_forfeit")
        .ruled("EW", penalty)
    )
    assert (table.phase, table.end.verdict) == (MatchPhase.OVER, MatchVerdict(None, "both_lost"))
    score = table.end.score
    for points in (score.match_points, score.level_points, score.deal_points, score.total):
        assert points in (None, PerSide(0, 0))
    assert (score.match_points is None) == (profile == N)
    assert table.match.version == 2


def test_where_an_event_has_no_points_for_a_forfeit_both_have_the_losers() -> None:
    none: dict[str, Any] = {"forfeit_match_points": [], "forfeit_level_points": []}
    profile = varied(INTL, score=none | {"match_points": [3, 2, 1]})
    table = Table(profile).ruled("NS", "match_forfeit").ruled("EW", "match_forfeit")
    assert table.end.score.match_points == PerSide(1, 1)
    assert table.end.score.level_points == PerSide(0, 0)


def test_where_one_of_two_losses_is_overturned_the_other_pair_wins_after_all() -> None:
    table = (
        Table()
        .does(match_events.MatchStarted)
        .ruled("NS", "match_forfeit")
        .ruled("EW", "match_forfeit")
    )
    table.overturned("R1")
    assert table.end.verdict == MatchVerdict("NS", "forfeit")
    assert table.end.score.match_points == PerSide(2, 0)
    assert table.overturned("R2").phase is MatchPhase.SETUP


def test_one_pair_that_lost_twice_is_one_pair() -> None:
    table = Table().ruled("NS", "match_forfeit").ruled("NS", "disqualification")
    assert table.end.verdict.winner == "EW"


# -- a match lost in mid-deal ----------------------------------------------------


def test_a_match_lost_in_mid_deal_leaves_the_deal_on_the_sheet() -> None:
    table = Table().started().played("NS").in_play().ruled("NS", "match_forfeit")
    assert [type(row) for row in table.match.sheet] == [DealRow, RulingRow, StoppedRow, EndRow]
    (row,) = table.rows(StoppedRow)
    assert (row.deal, row.reason) == (2, "match_lost")
    assert table.levels == (5, 2)


@pytest.mark.parametrize("steps", ["started", "dealt"])
def test_a_match_lost_between_deals_has_none_to_stop(steps: str) -> None:
    table = Table().started().played("NS")
    if steps == "dealt":
        table.dealt()
    assert table.ruled("NS", "match_forfeit").rows(StoppedRow) == []


def _offence(name: str) -> str:
    return find_offence(f"{name}_in_play").en
