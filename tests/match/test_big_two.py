"""A match of Big Two: choices before play, cards left, four scores."""

import pytest

from controller.match import match_events
from controller.match.match_effects import DealDue
from controller.match.phase import MatchPhase
from controller.messages import Seat
from controller.seats import SEATS

from .table import BIG_TWO, Table


def choosing(first: Seat = "W") -> Table:
    """Four hands are released; `first` holds the card that leads."""
    table = Table(BIG_TWO).started().dealt(first)
    return table.does(match_events.HandsReleased)


def answered(table: Table, seats: str, yes: str = "") -> Table:
    """Seats answer in turn; those of `yes` say yes."""
    for seat in seats:
        table.does(match_events.ChoiceAnswered, seat=seat, yes=seat in yes)
    return table


def left(table: Table, **cards: int) -> Table:
    """Somebody is out; what is not said is one card."""
    return table.happens(match_events.CardsLeftEntered, left=dict.fromkeys(SEATS, 1) | cards)


def deal(table: Table, out: Seat) -> Table:
    """A whole deal that `out` wins, with a card left to each of the others."""
    if table.phase is MatchPhase.CUT:
        table.dealt(out).does(match_events.HandsReleased)
    answered(table, "NWSE")
    answered(table, "NWSE"["NWSE".index(out) :] + "NWSE"[: "NWSE".index(out)])
    return left(table, **{out: 0}).does(match_events.ResultConfirmed, by="referee")


def test_who_holds_the_leading_card_leads() -> None:
    table = choosing("S")
    assert (table.big_two.leader, table.phase) == ("S", MatchPhase.CHOICES)


def test_a_machine_may_say_at_the_release_who_holds_the_leading_card() -> None:
    table = (
        Table(BIG_TWO)
        .started()
        .cut(20)
        .does(match_events.HandsDealt)
        .does(match_events.ReleaseOrdered)
    )
    assert table.happens(match_events.HandsReleased).refused == "TURNED_TO_MISSING"
    table.does(match_events.HandsReleased, turned_to="W")
    assert table.big_two.leader == "W"


def test_hands_are_opened_at_once_and_doubled_in_turn_from_the_first_hand() -> None:
    table = answered(choosing("W"), "ENSW", yes="E")
    assert table.happens(match_events.ChoiceAnswered, seat="N", yes=True).refused == "NOT_HIS_DUTY"
    answered(table, "WSEN", yes="S")
    assert table.phase is MatchPhase.PLAY
    left(table, N=0, W=2).does(match_events.ResultConfirmed, by="NS").does(
        match_events.ResultConfirmed, by="EW"
    )
    (row,) = table.big_two.rows
    assert (row.opened, row.doubled, row.leader) == (("E",), ("S",), "W")
    assert row.scores == {
        "N": 1 * 2 + 2 + 1 * 3,
        "W": -2 - 1 * 2 - 1 * 3,
        "S": -1 * 2 + 1 * 2 + 0,
        "E": -1 * 3 + 1 * 3 + 0,
    }
    assert sum(table.big_two.totals.values()) == 0


def test_who_says_nothing_says_no() -> None:
    table = answered(choosing("W"), "NWE", yes="N")
    assert table.tick(9_000).phase is MatchPhase.CHOICES
    table.tick(2_000)  # South's open hand
    assert table.big_two.choices is not None
    assert table.big_two.choices.doubling is not None
    for _ in range(3):
        assert table.tick(10_000).phase is MatchPhase.CHOICES
    assert table.tick(10_000).phase is MatchPhase.PLAY
    assert table.big_two.choices.open_hand.seats_agreed() == ("N",)


def test_an_answer_after_its_time_is_refused() -> None:
    table = choosing("W")
    table.happens(match_events.ChoiceAnswered, wait_ms=10_000, seat="N", yes=True)
    assert table.refused == "NOT_HIS_DUTY"


def test_the_first_out_cuts_the_next_deal() -> None:
    table = Table(BIG_TWO).started()
    assert table.effect(DealDue).duties.cutters == ("S",)
    assert table.effect(DealDue).duties.shufflers == ()  # the machine shuffles
    assert deal(table, "E").effect(DealDue).duties.cutters == ("E",)


@pytest.mark.parametrize("cards", [{"N": 1}, {"N": 0, "W": 0}, {"N": 0, "W": 14}])
def test_one_seat_is_out_and_the_others_have_cards(cards: dict[str, int]) -> None:
    table = answered(answered(choosing("W"), "NWSE"), "WSEN")
    assert left(table, **cards).refused == "NO_FINISH_ORDER"
    assert table.phase is MatchPhase.PLAY


def test_cards_left_entered_again_are_confirmed_again() -> None:
    table = answered(answered(choosing("W"), "NWSE"), "WSEN")
    left(table, N=0).does(match_events.ResultConfirmed, by="NS")
    left(table, E=0)
    assert table.happens(match_events.ResultConfirmed, by="EW").phase is MatchPhase.RESULT
    assert table.does(match_events.ResultConfirmed, by="NS").big_two.rows[0].left["E"] == 0


def test_a_match_has_its_deals_and_five_signatures() -> None:
    table = Table(BIG_TWO).started()
    for number in range(8):
        assert table.state.deal == number + 1
        deal(table, SEATS[number % 4])
    assert table.phase is MatchPhase.OVER
    assert len(table.big_two.rows) == 8
    assert table.big_two.totals == {"N": 0, "W": 0, "S": 0, "E": 0}
    assert table.signed().phase is MatchPhase.SIGNED
    assert [one.signer for one in table.state.signatures] == ["N", "W", "S", "E", "referee"]


def test_a_wrong_count_before_the_lead_is_dealt_again_and_chosen_again() -> None:
    table = answered(choosing("W"), "NWSE", yes="N").does(match_events.CountClaimed, seat="N")
    assert table.recounted(N=12).phase is MatchPhase.CUT
    assert table.big_two.choices is None
    table.dealt("S").does(match_events.HandsReleased)
    assert table.big_two.choices is not None
    assert table.big_two.choices.open_hand.answers == ()
    assert table.big_two.leader == "S"


def test_what_only_guandan_has_is_refused() -> None:
    table = choosing()
    assert table.happens(match_events.TributeLaid, seat="N").refused == "OTHER_RULES"


@pytest.mark.parametrize(
    ("stops", "goes_on"),
    [
        ((match_events.TableSuspended, {"reason": "called"}), match_events.TableResumed),
        ((match_events.AreaPaused, {}), match_events.AreaResumed),
    ],
)
def test_choices_wait_while_the_table_or_the_area_stands(
    stops: tuple[type[match_events.MatchEventBase], dict[str, str]],
    goes_on: type[match_events.MatchEventBase],
) -> None:
    table = choosing("W").tick(9_000)
    table.does(stops[0], **stops[1]).tick(60_000).tick(60_000).does(goes_on)
    assert table.big_two.choices is not None
    assert table.big_two.choices.open_hand.answers == ()
    answered(table, "NWSE", yes="N")
    for _ in range(3):
        table.does(stops[0], **stops[1]).tick(60_000).does(goes_on)
        assert table.tick(9_000).phase is MatchPhase.CHOICES
        table.tick(2_000)  # one after the other says nothing about doubling
    table.does(stops[0], **stops[1]).tick(60_000)
    assert table.phase is MatchPhase.CHOICES
    assert table.does(goes_on).tick(10_000).phase is MatchPhase.PLAY
    assert table.big_two.choices.open_hand.seats_agreed() == ("N",)


def test_a_table_and_an_area_that_stand_at_once_stand_once() -> None:
    table = (
        choosing("W")
        .does(match_events.TableSuspended, reason="called")
        .does(match_events.AreaPaused)
    )
    table.tick(5_000).does(match_events.TableResumed).tick(5_000).does(match_events.AreaResumed)
    assert table.big_two.choices is not None
    assert table.big_two.choices.open_hand.stood_ms == 10_300
