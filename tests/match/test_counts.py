"""Misdeals, and counts that somebody claims to be wrong."""

import pytest

from controller.match import match_events
from controller.match.deal_start import required_counts
from controller.match.match_effects import DealDue, RefereeCalled
from controller.match.phase import MatchPhase
from controller.messages import Seat
from controller.seats import SEATS

from .table import INTL, Table, varied


def test_a_misdeal_changes_nothing_but_the_attempt() -> None:
    table = Table().started().played("NS").dealt()
    before = table.match
    table.does(match_events.AttemptFailed, reasons=("COUNT_SHORT",))
    after = table.match
    assert (after.phase, after.misdeals, after.cut) == (MatchPhase.CUT, 1, None)
    for kept in ("standing", "sheet", "deal", "level", "owner", "follows", "duties", "record"):
        assert getattr(after, kept) == getattr(before, kept), kept
    assert table.played("NS").row.misdeals == 1


def test_a_misdeal_of_the_first_deal_turns_a_card_up_again() -> None:
    table = Table().started().dealt("W").does(match_events.AttemptFailed, reasons=("COUNT_SHORT",))
    assert table.match.turned_to is None
    assert table.dealt("S").in_play().match.leader == "S"


def test_two_misdeals_in_a_row_call_the_referee_and_a_right_deal_ends_the_row() -> None:
    table = Table().started().dealt()
    misdealt, why = match_events.AttemptFailed, ("COUNT_SHORT",)
    assert table.does(misdealt, reasons=why).effects(RefereeCalled) == []
    table.dealt().does(misdealt, reasons=why)
    assert table.effects(RefereeCalled) == []  # the first was followed by a right one
    assert table.does(misdealt, reasons=why).effect(RefereeCalled).reason == "misdeals_in_a_row"


def test_a_claimed_count_stops_everything_until_four_counts_are_entered() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W")
    assert table.effect(RefereeCalled) == RefereeCalled("count", "W")
    assert table.happens(match_events.HandCounted, seat="N").refused == "SUSPENDED"
    assert table.happens(match_events.TableResumed).refused == "WRONG_COUNTS"
    assert table.recounted().refused is None
    assert (table.phase, table.match.suspended) == (MatchPhase.COUNT_CHECK, None)
    assert table.match.misdeals == 0


def test_a_wrong_count_is_dealt_again() -> None:
    table = Table().started().played("NS").valued().does(match_events.CountClaimed, seat="N")
    table.recounted(N=27, W=26, S=27, E=26)
    assert table.effect(DealDue).deal == 2
    assert (table.phase, table.match.misdeals) == (MatchPhase.CUT, 1)
    assert table.match.exchange is None
    assert table.match.claimed is None
    assert table.match.began_ms is None


def test_between_tribute_and_return_26_and_28_are_right() -> None:
    table = Table().started().played("NWS").valued()  # E pays N
    assert required_counts(table.match) == {"N": 28, "W": 27, "S": 27, "E": 26}
    table.does(match_events.CountClaimed, seat="W").recounted(N=28, E=26)
    assert table.phase is MatchPhase.RETURN
    table.returned()
    assert set(required_counts(table.match).values()) == {27}


def test_27_each_between_tribute_and_return_is_no_right_count() -> None:
    table = Table().started().played("NWS").valued().does(match_events.CountClaimed, seat="W")
    assert table.recounted().phase is MatchPhase.CUT


@pytest.mark.parametrize("counts", [{"N": 28}, {"N": 28, "W": 26}, {"N": 108}, {"N": 0}])
def test_more_cards_than_there_are_or_fewer_are_dealt_again(counts: dict[str, int]) -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W")
    assert table.recounted(**counts).refused is None
    assert (table.phase, table.match.misdeals) == (MatchPhase.CUT, 1)


@pytest.mark.parametrize("n", [-1, 109])
def test_nobody_holds_less_than_nothing_or_more_than_a_set(n: int) -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W")
    assert table.recounted(N=n).refused == "WRONG_COUNTS"
    assert table.match.claimed == "W"


@pytest.mark.parametrize("phase", ["released", "laid", "valued", "in_play"])
@pytest.mark.parametrize(("found_card", "goes_on"), [("play_on", True), ("redeal", False)])
def test_a_found_card_makes_counts_right_unless_the_event_deals_again(
    found_card: str, goes_on: bool, phase: str
) -> None:
    table = Table(varied(INTL, counting={"found_card": found_card})).started().played("NWS")
    getattr(table, phase)()
    before = table.phase
    table.does(match_events.CountClaimed, seat="N")
    counts = required_counts(table.match)
    table.does(match_events.HandsRecounted, counts=counts, found=True)
    assert (table.phase is before, table.phase is MatchPhase.CUT) == (goes_on, not goes_on)
    assert table.match.suspended is None


def test_without_a_found_card_right_counts_are_right_in_any_event() -> None:
    table = Table(varied(INTL, counting={"found_card": "redeal"})).started().released()
    assert (
        table.does(match_events.CountClaimed, seat="N").recounted().phase is MatchPhase.COUNT_CHECK
    )


def test_a_found_card_does_not_make_wrong_counts_right() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="N")
    counts = dict.fromkeys(SEATS, 27) | {"N": 26}
    assert (
        table.does(match_events.HandsRecounted, counts=counts, found=True).phase is MatchPhase.CUT
    )


@pytest.mark.parametrize("counts", [{}, {"E": 26}, {"W": 26}, {"W": 26, "E": 26}])
def test_a_card_laid_for_tribute_may_be_counted_or_not(counts: dict[str, int]) -> None:
    table = Table().started().played("NS").laid().does(match_events.CountClaimed, seat="N")
    assert table.recounted(**counts).phase is MatchPhase.TRIBUTE


@pytest.mark.parametrize("counts", [{"N": 26}, {"E": 25}, {"E": 28, "W": 26}])
def test_beside_laid_cards_every_other_count_is_dealt_again(counts: dict[str, int]) -> None:
    table = Table().started().played("NS").laid().does(match_events.CountClaimed, seat="N")
    assert table.recounted(**counts).phase is MatchPhase.CUT


def test_a_card_that_is_not_laid_yet_is_counted() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    table.does(match_events.TributeLaid, seat="W").does(match_events.CountClaimed, seat="N")
    assert table.recounted(E=26).phase is MatchPhase.CUT


def test_a_pairs_second_claim_is_told_as_such() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W").recounted()
    assert table.does(match_events.CountClaimed, seat="N").effect(RefereeCalled).reason == "count"
    table.recounted().played("NS").released()  # a deal later, and by his partner
    table.does(match_events.CountClaimed, seat="E")
    assert table.effect(RefereeCalled) == RefereeCalled("second_count", "E")


def test_a_claim_is_refused_after_the_first_lead() -> None:
    table = Table().started().in_play()
    assert table.happens(match_events.CountClaimed, seat="N").refused is None
    table.recounted().does(match_events.LeadMade)
    assert table.happens(match_events.CountClaimed, seat="N").refused == "AFTER_LEAD"


@pytest.mark.parametrize(
    "lead",
    [
        (match_events.OutConfirmed, {"seat": "N"}),
        (match_events.PlayMade, {"seat": "N"}),
        (match_events.LeadMade, {}),
    ],
)
def test_whatever_was_played_ends_the_time_for_claims(
    lead: tuple[type[match_events.MatchEventBase], dict[str, Seat]],
) -> None:
    table = Table().started().in_play().does(lead[0], **lead[1])
    assert table.happens(match_events.CountClaimed, seat="N").refused == "AFTER_LEAD"
