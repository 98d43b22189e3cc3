"""Before the cards: seats, the start, the cut, and drawing by hand."""

import msgspec
import pytest

from controller.match import match_events
from controller.match.match_effects import ClockReported, DealDue, RefereeCalled
from controller.match.phase import MatchPhase

from .table import INTL, B, N, Table, varied

# -- seats and the start -------------------------------------------------------


def test_the_first_deal_waits_for_four_players_and_for_the_chief() -> None:
    table = Table().seated("NWS").does(match_events.MatchStarted)
    assert table.phase is MatchPhase.SETUP
    table.seated("E")
    assert (table.phase, table.state.deal) == (MatchPhase.CUT, 1)
    assert table.effect(DealDue).deal == 1


def test_who_comes_first_waits_for_the_start() -> None:
    table = Table().seated()
    assert table.phase is MatchPhase.SETUP
    assert table.does(match_events.MatchStarted).effect(DealDue).duties.cutter == "S"


def test_a_side_that_is_late_is_proposed_to_the_referee_and_nobody_else() -> None:
    table = Table(N).seated("NSW").does(match_events.MatchStarted).tick(minutes=5).tick(1)
    due = table.effect(ClockReported).report
    assert (due.kind, due.side, due.offence) == ("late_default", "EW", "late")
    assert table.phase is MatchPhase.SETUP
    assert table.seated("E").tick(minutes=9).effects(ClockReported) == []


def test_a_side_is_late_until_both_its_players_are_there() -> None:
    table = Table(N).does(match_events.MatchStarted).seated("NSE").tick(minutes=5)
    assert [effect.report.side for effect in table.effects(ClockReported)] == ["EW"]
    table = Table(N).does(match_events.MatchStarted).seated("NSE").tick(minutes=4).seated("W")
    assert table.tick(minutes=5).effects(ClockReported) == []


def test_the_first_deal_is_shuffled_longer_however_often_it_is_dealt() -> None:
    table = Table().started()
    assert table.effect(DealDue).duties.shuffles == (3, 5)
    table.dealt().does(match_events.AttemptFailed, reasons=("COUNT_SHORT",))
    assert table.effect(DealDue).duties.shuffles == (3, 5)
    assert table.played("NS").effect(DealDue).duties.shuffles == (2, 3)


# -- the cut, the turned-up card, drawing by hand ------------------------------


def test_a_deal_may_go_on_uncut_and_then_nobody_cut_it() -> None:
    table = Table().started().does(match_events.SetCut, seat="S").in_play()
    table.out("NS").does(match_events.ResultConfirmed, by="referee")
    assert (table.row.cutter, table.row.cut) == (None, None)


def test_up_cuts_the_next_deal() -> None:
    table = Table().started().played("WE").cut(33).played("NS")
    assert (table.row.cutter, table.row.cut) == ("W", 33)


def test_by_hand_the_shufflers_opponents_cut_and_the_card_is_counted_out() -> None:
    table = Table().started().does(match_events.HandDealOrdered, reason="jam")
    assert table.phase is MatchPhase.SHUFFLE
    table.does(match_events.SetShuffled, seat="W")
    assert table.match.shuffler == "W"
    assert table.match.duties is not None
    assert table.match.duties.cutters == ("N", "S")
    table.does(match_events.SetCut, seat="S", n=40).does(match_events.CardTurnedUp, card="s6")
    assert table.match.first_drawer == "E"  # a 6 counted from South
    table.does(match_events.HandsDealt, turned_to="W").played("NS")
    assert (table.row.first_drawer, table.row.turned_up) == ("E", "♠6")
    assert table.row.by_hand


@pytest.mark.parametrize(("profile", "card"), [(INTL, "BJ"), (B, "BJ"), (B, "H2")])
def test_a_turned_up_card_that_does_not_count_is_cut_and_turned_again(
    profile: str, card: str
) -> None:
    table = Table(profile).started().does(match_events.HandDealOrdered, reason="jam").cut()
    table.does(match_events.CardTurnedUp, card=card)
    assert (table.phase, table.match.cutter, table.match.turned_up) == (MatchPhase.CUT, None, None)
    assert table.cut(9).phase is MatchPhase.TURNUP


def test_where_jokers_count_nobody_is_counted_to_by_one() -> None:
    table = Table(N).started().does(match_events.HandDealOrdered, reason="jam").cut()
    table.does(match_events.CardTurnedUp, card="BJ")
    assert (table.phase, table.match.first_drawer) == (MatchPhase.DEALING, None)


def test_hands_drawn_by_hand_are_with_the_players_at_once() -> None:
    table = Table().started().played("NS").does(match_events.HandDealOrdered, reason="jam")
    assert table.dealt().phase is MatchPhase.COUNT_CHECK
    assert table.match.began_ms == table.at_ms
    table.played("NS").played("NS")
    assert (table.rows(type(table.row))[1].by_hand, table.row.by_hand) == (True, False)


def test_held_hands_are_void_when_the_deal_goes_on_by_hand() -> None:
    table = Table().started().dealt().does(match_events.HandDealOrdered, reason="door open")
    assert table.effect(DealDue).by_hand
    assert (table.match.cut, table.match.turned_to) == (None, None)


def test_only_the_first_deals_sheet_has_a_turned_up_card() -> None:
    table = Table().started().played("NS", "NS")
    first, later = table.rows(type(table.row))
    assert (first.turned_up, later.turned_up) == ("♠7", None)


def test_without_a_turn_up_somebody_must_still_say_who_leads() -> None:
    profile = varied(INTL, turnup={"deal1": False})
    table = Table(profile).started().does(match_events.HandDealOrdered, reason="jam").cut()
    assert table.happens(match_events.HandsDealt).refused == "TURNED_TO_MISSING"
    assert table.does(match_events.HandsDealt, turned_to="W").in_play().match.leader == "W"


def test_a_cut_taken_ahead_is_anybodys_and_stands_on_the_sheet_as_his() -> None:
    table = Table().started().played("NS").happens(match_events.SetCut, seat="W", n=40)
    assert table.refused == "NOT_HIS_DUTY"  # UP cuts
    table.does(match_events.SetCut, seat="W", n=40, ahead=True).played("NS")
    assert (table.row.cutter, table.row.cut) == ("W", 40)


def test_a_cut_taken_ahead_is_somebodys_and_within_the_rules() -> None:
    table = Table().started().played("NS")
    assert table.happens(match_events.SetCut, n=40, ahead=True).refused == "NOT_HIS_DUTY"
    assert table.happens(match_events.SetCut, seat="W", n=5, ahead=True).refused == "ILLEGAL_CUT"


def test_by_hand_nothing_is_cut_ahead() -> None:
    table = Table().started().played("NS").does(match_events.HandDealOrdered, reason="jam")
    duties = table.state.duties
    assert duties is not None
    table.does(match_events.SetShuffled, seat=duties.shufflers[0])
    duties = table.state.duties
    assert duties is not None
    other = next(seat for seat in "NWSE" if seat not in duties.cutters)
    assert (
        table.happens(match_events.SetCut, seat=other, n=40, ahead=True).refused == "NOT_HIS_DUTY"
    )


def test_hands_drawn_by_hand_are_sorted_while_they_are_drawn() -> None:
    by_hand = Table().started().does(match_events.HandDealOrdered, reason="jam").dealt()
    assert [clock.duty for clock in by_hand.match.clocks] == []
    assert by_hand.tick(minutes=5).phase is MatchPhase.COUNT_CHECK
    machine = Table().started().released()
    assert [clock.duty for clock in machine.match.clocks] == ["sort"]


@pytest.mark.parametrize(("profile", "card"), [(INTL, "BJ"), (INTL, "sj"), (B, "H2")])
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_deal_whose_turned_up_card_does_not_count_is_refused(
    profile: str, card: str, by_hand: bool
) -> None:
    table = Table(profile).started()
    if by_hand:
        table.does(match_events.HandDealOrdered, reason="jam").cut().does(
            match_events.CardTurnedUp, card="S7"
        )
    else:
        table.cut()
    table.happens(match_events.HandsDealt, turned_to="E", turned_up=card)
    assert (table.refused, table.phase) == ("TURN_AGAIN", MatchPhase.DEALING)
    table.happens(match_events.HandsDealt, turned_to="E", turned_up="?")
    assert table.refused == "NO_SUCH_CARD"


def test_a_turned_up_card_is_written_as_faces_are() -> None:
    table = Table().started().cut().does(match_events.HandsDealt, turned_to="E", turned_up="s7")
    assert table.match.turned_up == "♠7"


def test_where_any_card_shows_who_leads_a_joker_may_be_turned_up() -> None:
    table = Table(N).started().cut().does(match_events.HandsDealt, turned_to="E", turned_up="BJ")
    assert table.match.turned_up == "BJ"


def test_who_sits_on_anothers_seat_calls_the_referee_and_sits() -> None:
    table = Table().does(match_events.SeatTaken, seat="N", person="Eve")
    assert table.effect(RefereeCalled) == RefereeCalled("wrong_player", "N")
    assert table.match.seated == ("N",)


@pytest.mark.parametrize("person", ["Nan", None])
def test_who_was_expected_or_says_no_name_just_sits(person: str | None) -> None:
    table = Table().does(match_events.SeatTaken, seat="N", person=person)
    assert table.effects(RefereeCalled) == []


def test_where_no_names_are_known_anybody_sits() -> None:
    table = Table()
    nobody = msgspec.structs.replace(table.state.meeting.pairs["NS"], players={})
    pairs = table.state.meeting.pairs | {"NS": nobody}
    meeting = msgspec.structs.replace(table.state.meeting, pairs=pairs)
    table.state = msgspec.structs.replace(table.state, meeting=meeting)
    assert table.does(match_events.SeatTaken, seat="N", person="Eve").effects(RefereeCalled) == []
