"""What a referee was called for, and until when the match waits for him."""

from typing import get_args

import pytest

from controller.match import match_events
from controller.match.clocks.duty_clocks import (
    late_clocks,
    opening_clock,
    play_clock,
    return_clock,
    sort_clock,
    tribute_clocks,
)
from controller.match.clocks.stopwatch import ClockReport, ClockReportKind, OverrunReason
from controller.match.match_effects import (
    AddedTimeDue,
    ClockReported,
    EventRefused,
    MatchCallReason,
    RefereeCalled,
)
from controller.match.referee_calls import TransferReason, call_of_effect, is_call_open
from controller.match.refusals import Refusal
from controller.messages import Role, Seat
from controller.rules.profile import GuandanProfile
from controller.words import CALL_WORDS
from tests.rows import each_row

from .table import GUANDAN, INTL, B, N, Table, knockout, timed, varied


def needed(table: Table, why: str, seat: Seat | None = None) -> bool:
    """Whether the table still waits."""
    return is_call_open(table.state, why, seat)


def test_every_need_has_its_words_in_both_languages() -> None:
    assert set(CALL_WORDS) == {
        *get_args(MatchCallReason),
        *get_args(OverrunReason),
        *get_args(TransferReason),
    }
    for said in CALL_WORDS.values():
        assert said.en.isascii()
        assert not said.zh.isascii()


def test_what_a_clock_asks_a_referee_for_are_its_offences() -> None:
    kinds = set()
    for name in GUANDAN:
        profile = varied(name, clocks={"late_s": 600})
        assert isinstance(profile, GuandanProfile)
        clocks = (
            *late_clocks(profile, 0),
            *tribute_clocks(profile, ("N",), 0),
            play_clock(profile, "N", 0, called=True),
            return_clock(profile, "N", 0),
            opening_clock(profile, 0),
            sort_clock(profile, 0),
        )
        limits = [limit for clock in clocks if clock is not None for limit in clock.limits]
        for limit in limits:
            named = limit.kind in get_args(OverrunReason)
            assert named == (limit.offence is not None), limit.kind
        kinds |= {limit.kind for limit in limits if limit.offence is not None}
    assert kinds == set(get_args(OverrunReason))


@each_row("kind", sorted(get_args(ClockReportKind)))
def test_an_announcement_calls_nobody(kind: ClockReportKind) -> None:
    says = ClockReported(ClockReport(kind=kind, at_ms=1, seat="N"))
    assert call_of_effect(says) == ((kind, "N") if kind in get_args(OverrunReason) else None)


def test_what_is_no_call_asks_for_nothing() -> None:
    assert call_of_effect(EventRefused(Refusal("TWICE"))) is None
    assert call_of_effect(RefereeCalled("count", "N")) == ("count", "N")


def test_what_the_match_does_not_know_is_open_until_somebody_ends_it() -> None:
    assert needed(Table(), "a cup fell over", "N")


def test_a_claimed_count_is_open_until_it_is_counted() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W")
    assert [needed(table, "count", seat) for seat in ("W", "N", None)] == [True, False, True]
    assert needed(table, "second_count", "W")
    table.recounted()
    assert not needed(table, "count", "W")
    assert not needed(table, "second_count", "W")


def test_a_leader_is_to_be_named_until_he_is() -> None:
    table = Table().started().in_play().ruled("NS", "foul")
    assert needed(table, "name_leader")
    assert not needed(table.named("E"), "name_leader")


def test_an_extra_deal_is_to_be_ordered_until_it_is() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    assert needed(table, "extra_deal")
    table.does(match_events.ExtraDealOrdered, reason="equal")
    assert not needed(table, "extra_deal")


def test_a_wrong_player_is_looked_at_before_the_first_deal() -> None:
    table = Table().does(match_events.SeatTaken, seat="N", person="Eve")
    assert needed(table, "wrong_player", "N")
    assert not needed(table.seated("WSE").does(match_events.MatchStarted), "wrong_player", "N")


def test_misdeals_in_a_row_are_over_when_hands_are_with_the_players() -> None:
    table = Table().started()
    for _ in range(2):
        table.dealt().does(match_events.ReleaseOrdered).does(
            match_events.AttemptFailed, reasons=("JAM",)
        )
    assert needed(table.dealt(), "misdeals_in_a_row")
    assert not needed(table.released(), "misdeals_in_a_row")
    assert not needed(table.played("NS"), "misdeals_in_a_row")


def test_lost_time_is_open_until_a_referee_has_answered() -> None:
    table = Table(timed()).started().does(match_events.TableSuspended, reason="x").tick(minutes=1)
    table.does(match_events.TableResumed)
    assert call_of_effect(table.effect(AddedTimeDue)) == ("added_time", None)
    assert needed(table, "added_time")
    table.does(match_events.TimeAdded, seconds=0, role=Role.REFEREE)
    assert not needed(table, "added_time")


def test_under_a_signature_nobody_is_asked_for_time_any_more() -> None:
    table = Table(timed()).started().does(match_events.TableSuspended, reason="x").tick(minutes=1)
    table.does(match_events.TableResumed).ruled("NS", "match_forfeit")
    assert needed(table, "added_time")
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    assert not needed(table, "added_time")


def test_what_a_clock_asked_is_open_while_the_duty_is_not_done() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    assert not needed(table, "tribute_warning", "W")  # nobody was late yet
    table.tick(15_001)
    assert {call_of_effect(effect) for effect in table.said} == {
        ("tribute_warning", "W"),
        ("tribute_warning", "E"),
    }
    table.does(match_events.TributeLaid, seat="W")
    assert not needed(table, "tribute_warning", "W")
    assert needed(table, "tribute_warning", "E")
    assert not needed(table, "tribute_violation", "E")
    assert needed(table.tick(60_000), "tribute_violation", "E")
    assert not needed(table.does(match_events.TributeLaid, seat="E"), "tribute_warning", "E")


def test_a_clock_started_anew_for_the_same_player_has_asked_nothing() -> None:
    table = (
        Table()
        .started()
        .in_play()
        .does(match_events.LeadMade)
        .does(match_events.PlayClockStarted, seat="W")
    )
    assert needed(table.tick(minutes=1), "play_warning", "W")
    assert not needed(table.does(match_events.PlayClockStarted, seat="W"), "play_warning", "W")


@pytest.mark.parametrize(("name", "kind"), [(INTL, "late_regulations"), (B, "late_default")])
def test_who_is_late_is_waited_for_until_both_are_there(name: str, kind: str) -> None:
    late = varied(name, clocks={"late_s": 600})
    table = Table(late).seated("NS").does(match_events.MatchStarted).tick(minutes=16)
    assert needed(table, kind)
    assert not needed(table.seated("W").seated("E"), kind)


def test_a_late_lead_is_waited_for_until_it_lies_on_the_table() -> None:
    table = Table(N).started().in_play().tick(minutes=4)
    assert needed(table, "opening_over")
    assert not needed(table.does(match_events.LeadMade), "opening_over")
