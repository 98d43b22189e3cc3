"""Rulings that end a match, or a hand."""

import pytest

from controller.match import events
from controller.match.desk import legal_proposals
from controller.match.effects import DealDue, HandsVoid
from controller.match.phase import Phase
from controller.messages import Seat
from controller.rules.penalties.consequences import DeadHand
from controller.rules.result import finish
from controller.rules.standing import Sides

from .people import charge_of
from .table import B, I, N, Table, timed

# -- the match lost ------------------------------------------------------------


def test_a_lost_match_is_over_at_once_in_whatever_phase() -> None:
    table = Table().started().played("NS").dealt().does(events.Suspended, reason="called")
    table.ruled("NS", "match_forfeit")
    assert (table.phase, table.match.suspended) == (Phase.OVER, None)
    assert table.effect(HandsVoid).reason == "match_over"
    assert (table.end.verdict.winner, table.end.verdict.how) == ("EW", "forfeit")
    assert table.end.score.match_points == Sides(0, 2)


@pytest.mark.parametrize("profile", [I, N, B])
def test_who_only_lost_a_match_is_not_disqualified(profile: str) -> None:
    table = Table(profile).started().ruled("NS", "match_forfeit")
    assert table.end.verdict.how == "forfeit"
    table = Table(profile).started().ruled("NS", "disqualification")
    assert table.end.verdict.how == "disqualified"


def test_a_lost_match_stays_lost_whatever_is_corrected() -> None:
    table = Table().started().played("NS").ruled("NS", "match_forfeit").corrected(1, "NWS")
    assert (table.phase, table.end.verdict.winner) == (Phase.OVER, "EW")
    table = Table(N).started().played("NS").ruled("NS", "match_forfeit").ruled("EW", "foul")
    assert (table.phase, table.end.verdict.winner) == (Phase.OVER, "EW")


def test_a_match_lost_after_it_was_signed_is_signed_again() -> None:
    table = Table(timed()).started().played("NS").at_minute(60).signed()
    table.ruled("NS", "match_forfeit")
    assert (table.phase, table.match.version, table.match.signatures) == (Phase.OVER, 2, ())
    assert table.end.verdict.winner == "EW"
    assert table.signed().phase is Phase.SIGNED


def test_a_match_is_lost_once() -> None:
    table = Table().started().ruled("NS", "match_forfeit").ruled("EW", "match_forfeit")
    assert table.end.verdict.winner == "EW"


def test_an_overturned_loss_lets_the_match_go_on() -> None:
    table = Table().started().played("NS").in_play().ruled("NS", "match_forfeit").overturned()
    assert (table.phase, table.levels) == (Phase.CUT, (5, 2))
    assert (table.match.verdict, table.match.score) == (None, None)
    assert table.effect(DealDue).deal == 3  # nobody takes a number twice


def test_an_overturned_default_lets_the_players_sit_down() -> None:
    table = Table().seated("NS").does(events.Started).ruled("EW", "match_forfeit")
    assert table.phase is Phase.OVER
    assert table.overturned().phase is Phase.SETUP
    assert table.seated("WE").effect(DealDue).deal == 1


# -- dead hands ----------------------------------------------------------------


def dead(table: Table, seat: Seat) -> Table:
    """The chief takes a hand out of play for a wrong tribute found in play (A18.4)."""
    charge = charge_of(table.state, seat, "wrong_tribute_in_play")
    proposal = legal_proposals(table.match, charge)[0]
    assert DeadHand(seat) in proposal.effects
    name = f"R{len(table.match.rulings) + 1}"
    return table.proposed(charge, proposal, name).approved(name)


def test_with_a_dead_hand_the_other_three_play_on_and_he_is_last() -> None:
    table = dead(Table().started().played("NS").in_play(), "W")
    assert table.happens(events.Out, seat="W").refused == "NO_FINISH_ORDER"
    table.out("NE")
    assert table.phase is Phase.RESULT
    table.does(events.Confirmed, by="referee")
    assert (table.row.result, table.row.dead) == (finish("NESW"), "W")
    assert table.played("WE").row.dead is None  # the next deal is another


def test_a_dead_hand_and_the_others_first_and_second_are_a_double_down() -> None:
    table = dead(Table().started().played("NS").in_play(), "W").out("NS")
    table.does(events.Confirmed, by="referee")
    assert table.row.result == finish("NS")


def test_a_dead_hand_moves_up_who_came_behind_him() -> None:
    table = dead(Table().started().played("NS").out("WN"), "W")
    assert (table.phase, table.match.order) == (Phase.PLAY, ("N",))
    assert table.out("E").phase is Phase.RESULT


def test_a_dead_hand_reopens_a_result_that_is_not_confirmed() -> None:
    table = Table().started().played("NS").out("WE").does(events.Confirmed, by="NS")
    dead(table, "W")
    assert (table.phase, table.match.order, table.match.confirmed) == (Phase.PLAY, ("E",), ())


@pytest.mark.parametrize("steps", ["released", "counted", "valued", "dealt"])
def test_before_play_there_is_no_dead_hand(steps: str) -> None:
    table = Table().started().played("NS")
    getattr(table, steps)()
    before = table.match
    assert dead(table, "W").refused == "NOT_BEGUN"
    assert (table.phase, table.match.dead) == (before.phase, None)
