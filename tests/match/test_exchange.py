"""Anti-tribute, tribute and return, and who leads after them."""

from typing import Any

import pytest

from controller.match import match_events
from controller.match.deal_start import required_counts
from controller.match.phase import MatchPhase
from controller.rules.tribute import TributePlan

from .table import GUANDAN, INTL, B, H, N, Table


def _plan(table: Table) -> TributePlan:
    assert table.match.exchange is not None
    assert table.match.exchange.plan is not None
    return table.match.exchange.plan


def test_the_fourth_count_opens_the_tribute() -> None:
    table = Table().started().played("NWS").released()
    for seat in ("N", "W", "S"):
        table.does(match_events.HandCounted, seat=seat)
    assert table.phase is MatchPhase.COUNT_CHECK
    table.does(match_events.HandCounted, seat="E")
    assert table.match.exchange is not None
    assert (table.phase, table.match.exchange.payers) == (MatchPhase.ANTI_CHECK, ("E",))


def test_the_end_of_the_sorting_time_opens_the_tribute_too() -> None:
    table = Table().started().played("NWS").released().tick(minutes=1)
    assert table.phase is MatchPhase.COUNT_CHECK
    assert table.tick(1).phase is MatchPhase.ANTI_CHECK


@pytest.mark.parametrize("profile", GUANDAN)
def test_no_tribute_is_due_in_the_first_deal(profile: str) -> None:
    table = Table(profile).started().dealt("W").counted()
    assert (table.phase, table.match.leader) == (MatchPhase.PLAY, "W")


def test_anti_tribute_lets_up_lead_without_saying_who_holds_the_jokers() -> None:
    table = (
        Table().started().played("NS").counted().does(match_events.AntiTributeAnswered, stands=True)
    )
    assert table.said == ()
    assert (table.phase, table.match.leader) == (MatchPhase.PLAY, "N")
    row = table.played("NS").row
    assert (row.anti, row.tribute, row.returns) == (True, (), ())


def test_anti_tribute_that_was_answered_wrongly_is_corrected_before_a_card_is_laid() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    clocks = table.match.clocks
    assert clocks
    table.does(match_events.AntiTributeAnswered, stands=True)
    assert table.said == ()
    assert (table.phase, table.match.clocks) == (MatchPhase.PLAY, ())
    table.does(match_events.AntiTributeAnswered, stands=False)
    assert (table.phase, table.match.leader) == (MatchPhase.TRIBUTE, None)
    assert [clock.duty for clock in table.match.clocks] == ["tribute", "tribute"]
    for seat in ("W", "E"):
        table.does(match_events.TributeLaid, seat=seat)
    row = table.valued().played("NS").row
    assert (row.anti, len(row.tribute)) == (False, 2)


def test_nobodys_play_is_counted_for_while_tribute_is_open_after_all() -> None:
    table = (
        Table().started().played("NS").counted().does(match_events.AntiTributeAnswered, stands=True)
    )
    table.does(match_events.PlayClockStarted, seat="N").does(
        match_events.AntiTributeAnswered, stands=False
    )
    assert [clock.duty for clock in table.match.clocks] == ["tribute", "tribute"]


def test_the_same_answer_on_anti_tribute_is_no_correction() -> None:
    for stands in (False, True):
        table = (
            Table()
            .started()
            .played("NS")
            .counted()
            .does(match_events.AntiTributeAnswered, stands=stands)
        )
        assert table.happens(match_events.AntiTributeAnswered, stands=stands).refused == "TWICE"


def test_anti_tribute_is_not_answered_any_more_once_a_card_is_laid_or_led() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    table.does(match_events.TributeLaid, seat="W")
    assert table.happens(match_events.AntiTributeAnswered, stands=True).refused == "TWICE"
    table = Table().started().played("NS").returned()
    assert table.happens(match_events.AntiTributeAnswered, stands=True).refused == "TWICE"
    table = (
        Table().started().played("NS").counted().does(match_events.AntiTributeAnswered, stands=True)
    )
    assert (
        table.does(match_events.LeadMade)
        .happens(match_events.AntiTributeAnswered, stands=False)
        .refused
        == "AFTER_LEAD"
    )
    table = Table().started().in_play()
    assert table.happens(match_events.AntiTributeAnswered, stands=True).refused == "NO_CHOICE"


def test_the_larger_tribute_goes_to_up_and_its_payer_leads() -> None:
    table = Table().started().played("NS").valued(13, 17)
    plan = _plan(table)
    assert plan.payments == (("E", "N"), ("W", "S"))
    assert table.returned().match.leader == "E"


def test_the_payer_of_a_single_tribute_leads() -> None:
    assert Table().started().played("NWE").returned().match.leader == "S"


def test_after_equal_tributes_the_smaller_return_leads_in_003() -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned(9, 4)  # N→W, S→E
    assert table.match.leader == "E"
    table = Table(N).started().played("NS").valued(14, 14).returned(4, 4)
    assert table.match.leader == "W"


def test_up_takes_the_card_that_he_chose_and_returns_to_its_payer_in_003() -> None:
    table = Table(N).started().played("NS").valued(14, 14)
    assert _plan(table).choice_open
    table.does(match_events.TributeChosen, payer="E")
    plan = _plan(table)
    assert (plan.payments, plan.returns) == ((("E", "N"), ("W", "S")), (("N", "E"), ("S", "W")))
    assert table.happens(match_events.TributeChosen, payer="W").refused == "NO_CHOICE"


def test_there_is_no_choice_once_a_card_was_returned() -> None:
    table = Table(N).started().played("NS").valued(14, 14)
    table.does(match_events.ReturnLaid, seat="N", value=5)
    assert table.happens(match_events.TributeChosen, payer="E").refused == "NO_CHOICE"


@pytest.mark.parametrize("value", [1, 18, 0, -3])
def test_a_value_that_no_card_has_is_neither_tribute_nor_return(value: int) -> None:
    table = Table().started().played("NWS").laid()
    assert table.happens(match_events.TributeValued, values={"E": value}).refused == "NO_SUCH_CARD"
    table.valued(14)
    assert table.happens(match_events.ReturnLaid, seat="N", value=value).refused == "NO_SUCH_CARD"


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


# -- corrected before the first lead -------------------------------------------


def test_a_wrong_return_is_given_again_before_the_first_lead() -> None:
    table = Table().started().played("NWS").returned(9)
    table.does(match_events.ReturnCorrected, seat="N", value=10)
    assert (table.phase, table.match.leader) == (MatchPhase.PLAY, "E")
    table.played("NS")
    assert [(back.to, back.card) for back in table.row.returns] == [("E", "10")]


def test_a_return_corrected_may_change_who_leads_in_003() -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned(9, 4)  # N→W, S→E
    assert table.match.leader == "E"
    table.does(match_events.ReturnCorrected, seat="N", value=3)
    assert (table.phase, table.match.leader) == (MatchPhase.PLAY, "W")
    assert table.happens(match_events.ReturnCorrected, seat="N").refused == "VALUE_NEEDED"
    assert table.happens(match_events.ReturnCorrected, seat="N", value=99).refused == "NO_SUCH_CARD"


def test_a_return_is_corrected_while_another_is_still_due() -> None:
    table = Table().started().played("NS").valued().does(match_events.ReturnLaid, seat="N", value=9)
    table.does(match_events.ReturnCorrected, seat="N", value=8)
    assert (table.phase, table.match.leader) == (MatchPhase.RETURN, None)
    assert table.match.exchange is not None
    assert table.match.exchange.returned == {"W": 8}
    assert table.does(match_events.ReturnLaid, seat="S", value=7).phase is MatchPhase.PLAY


def test_a_corrected_return_of_which_nothing_is_said_is_not_known_any_more() -> None:
    table = Table().started().played("NWS").returned(9).does(match_events.ReturnCorrected, seat="N")
    table.played("NS")
    assert [back.card for back in table.row.returns] == [None]


def test_who_has_returned_nothing_has_nothing_to_correct() -> None:
    table = Table().started().played("NS").valued().does(match_events.ReturnLaid, seat="N", value=9)
    assert table.happens(match_events.ReturnCorrected, seat="S", value=5).refused == "NOT_HIS_DUTY"
    table = (
        Table().started().played("NS").counted().does(match_events.AntiTributeAnswered, stands=True)
    )
    assert table.happens(match_events.ReturnCorrected, seat="N", value=5).refused == "NOT_HIS_DUTY"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (match_events.ReturnCorrected, {"seat": "N", "value": 5}),
        (match_events.ReturnsSwapped, {}),
        (match_events.TributeValued, {"values": {"W": 14, "E": 13}}),
    ],
)
def test_after_the_first_lead_tributes_and_returns_stand(
    kind: type[match_events.MatchEventBase], said: dict[str, Any]
) -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned().does(match_events.LeadMade)
    assert table.happens(kind, **said).refused == "AFTER_LEAD"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (match_events.ReturnCorrected, {"seat": "N", "value": 5}),
        (match_events.ReturnsSwapped, {}),
        (match_events.TributeValued, {"values": {"W": 14, "E": 13}}),
    ],
)
def test_a_deal_without_tribute_has_none_to_correct(
    kind: type[match_events.MatchEventBase], said: dict[str, Any]
) -> None:
    assert Table(N).started().in_play().happens(kind, **said).refused == "NO_CHOICE"


def test_after_equal_tributes_the_losers_may_take_each_others_return_in_003() -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned(9, 4)  # N→W, S→E
    table.does(match_events.ReturnsSwapped)
    assert _plan(table).returns == (("N", "E"), ("S", "W"))
    assert table.match.leader == "W"  # he has the 4 now
    table.played("NS")
    assert [(one.giver, one.to, one.card) for one in table.row.returns] == [
        ("N", "E", "9"),
        ("S", "W", "4"),
    ]


def test_returns_swapped_twice_are_as_they_were() -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned(9, 4)
    before = table.match
    table.does(match_events.ReturnsSwapped).does(match_events.ReturnsSwapped)
    assert (table.match.exchange, table.match.leader) == (before.exchange, before.leader)


def test_a_swapped_return_is_corrected_where_it_lies() -> None:
    table = Table(N).started().played("NS").valued(14, 14).returned(9, 4)
    table.does(match_events.ReturnsSwapped).does(match_events.ReturnCorrected, seat="N", value=2)
    assert table.match.exchange is not None
    assert table.match.exchange.returned == {"E": 2, "W": 4}
    assert table.match.leader == "E"
    assert set(required_counts(table.match).values()) == {27}


@pytest.mark.parametrize(
    ("profile", "values"), [(N, (14, 13)), (INTL, (14, 14)), (B, (14, 14)), (H, (14, 14))]
)
def test_only_003_swaps_returns_and_only_after_equal_tributes(
    profile: str, values: tuple[int, int]
) -> None:
    table = Table(profile).started().played("NS").valued(*values).returned(9, 4)
    assert table.happens(match_events.ReturnsSwapped).refused == "NO_CHOICE"


def test_returns_that_are_not_all_given_are_not_swapped() -> None:
    table = Table(N).started().played("NS").valued(14, 14)
    table.does(match_events.ReturnLaid, seat="N", value=5)
    assert table.happens(match_events.ReturnsSwapped).refused == "WRONG_PHASE"


@pytest.mark.parametrize("steps", ["valued", "returned"])
def test_tributes_valued_again_before_the_first_lead_are_returned_anew(steps: str) -> None:
    table = Table().started().played("NS")
    getattr(table, steps)()
    table.does(match_events.TributeValued, values={"W": 13, "E": 14})
    assert (table.phase, table.match.leader) == (MatchPhase.RETURN, None)
    assert _plan(table).payments == (("E", "N"), ("W", "S"))
    assert table.match.exchange is not None
    assert (table.match.exchange.given, table.match.exchange.returned) == ((), {})
    assert required_counts(table.match) == {"N": 28, "W": 26, "S": 28, "E": 26}
    table.returned(6, 7)
    assert table.match.leader == "E"
    table.played("NS")
    assert [(one.giver, one.to, one.card) for one in table.row.returns] == [
        ("N", "E", "6"),
        ("S", "W", "7"),
    ]


def test_a_deal_lost_while_returns_are_given_anew_has_no_leader_yet() -> None:
    table = Table().started().played("NS").returned()
    table.does(match_events.TributeValued, values={"W": 13, "E": 14}).ruled("NS", "foul")
    assert (table.row.leader, table.row.returns) == (None, ())


def test_tributes_valued_again_stop_a_play_clock_and_start_those_of_returns() -> None:
    table = Table().started().played("NWS").returned().does(match_events.PlayClockStarted, seat="E")
    table.does(match_events.TributeValued, values={"E": 13})
    assert [clock.duty for clock in table.match.clocks] == ["return"]
