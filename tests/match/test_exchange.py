"""Anti-tribute, tribute and return, and who leads after them."""

import pytest

from controller.match import events
from controller.match.effects import (
    AskAnti,
    AskTribute,
    LeaderKnown,
    Planned,
)
from controller.match.phase import Phase

from .table import GUANDAN, B, N, Table


def test_the_fourth_count_opens_the_tribute() -> None:
    table = Table().started().played("NWS").released()
    for seat in ("N", "W", "S"):
        table.does(events.Counted, seat=seat)
    assert table.phase is Phase.COUNT_CHECK
    table.does(events.Counted, seat="E")
    assert (table.phase, table.effect(AskAnti).payers) == (Phase.ANTI_CHECK, ("E",))


def test_the_end_of_the_sorting_time_opens_the_tribute_too() -> None:
    table = Table().started().played("NWS").released().tick(minutes=1)
    assert table.phase is Phase.COUNT_CHECK
    assert table.tick(1).phase is Phase.ANTI_CHECK


@pytest.mark.parametrize("profile", GUANDAN)
def test_no_tribute_is_due_in_the_first_deal(profile: str) -> None:
    table = Table(profile).started().dealt("W").counted()
    assert (table.phase, table.effect(LeaderKnown).seat) == (Phase.PLAY, "W")


def test_anti_tribute_lets_up_lead_without_saying_who_holds_the_jokers() -> None:
    table = Table().started().played("NS").counted().does(events.AntiAnswered, stands=True)
    assert table.said == (LeaderKnown("N"),)
    assert (table.phase, table.match.leader) == (Phase.PLAY, "N")
    row = table.played("NS").row
    assert (row.anti, row.tribute, row.returns) == (True, (), ())


def test_a_double_tribute_is_asked_for_once_both_have_laid() -> None:
    table = Table().started().played("NS").counted().does(events.AntiAnswered, stands=False)
    assert table.does(events.TributeLaid, seat="E").effects(AskTribute) == []
    assert table.does(events.TributeLaid, seat="W").effect(AskTribute).payers == ("W", "E")


def test_the_larger_tribute_goes_to_up_and_its_payer_leads() -> None:
    table = Table().started().played("NS").valued(13, 17)
    plan = table.effect(Planned).plan
    assert plan.payments == (("E", "N"), ("W", "S"))
    assert table.returned().effect(LeaderKnown).seat == "E"


def test_the_payer_of_a_single_tribute_leads() -> None:
    assert Table().started().played("NWE").returned().match.leader == "S"


def test_after_equal_tributes_the_smaller_return_leads_in_003() -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned(9, 4)  # N→W, S→E
    assert table.match.leader == "E"
    table = Table(N).started().played("NS").valued(14, 14).returned(4, 4)
    assert table.match.leader == "W"


def test_up_takes_the_card_that_he_chose_and_returns_to_its_payer_in_003() -> None:
    table = Table(N).started().played("NS").valued(14, 14)
    assert table.effect(Planned).plan.choice_open
    table.does(events.TributeChosen, payer="E")
    plan = table.effect(Planned).plan
    assert (plan.payments, plan.returns) == ((("E", "N"), ("W", "S")), (("N", "E"), ("S", "W")))
    assert table.happens(events.TributeChosen, payer="W").refused == "NO_CHOICE"


def test_there_is_no_choice_once_a_card_was_returned() -> None:
    table = Table(N).started().played("NS").valued(14, 14)
    table.does(events.ReturnLaid, seat="N", value=5)
    assert table.happens(events.TributeChosen, payer="E").refused == "NO_CHOICE"


@pytest.mark.parametrize("value", [1, 18, 0, -3])
def test_a_value_that_no_card_has_is_neither_tribute_nor_return(value: int) -> None:
    table = Table().started().played("NWS").laid()
    assert table.happens(events.TributeValued, values={"E": value}).refused == "NO_SUCH_CARD"
    table.valued(14)
    assert table.happens(events.ReturnLaid, seat="N", value=value).refused == "NO_SUCH_CARD"


@pytest.mark.parametrize("value", [2, 17])
def test_every_card_can_be_returned_and_written_down(value: int) -> None:
    table = Table().started().played("NWS").returned(value).played("NS")
    assert table.row.returns[0].card == {2: "2", 17: "BJ"}[value]


def test_the_sheet_says_what_was_paid_and_returned() -> None:
    table = Table().started().played("NWS").valued(15).returned(10).played("NS")
    (paid,), (back,) = table.row.tribute, table.row.returns
    assert (paid.giver, paid.to, paid.card) == ("E", "N", "4")  # the level card of that deal
    assert (back.giver, back.to, back.card) == ("N", "E", "10")


def test_secret_returns_leave_no_card_on_the_sheet() -> None:
    table = Table(B).started().played("NWS").returned(10).played("NS")
    (back,) = table.row.returns
    assert (back.giver, back.to, back.card) == ("N", "E", None)
    assert table.row.tribute[0].card == "A"
