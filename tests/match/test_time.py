"""The time of a match: when no deal begins any more, and when one is stopped."""

import pytest

from controller.match import match_events
from controller.match.match_effects import ClockReported
from controller.match.phase import MatchPhase
from controller.match.sheet_rows import LeaderRow, StoppedRow
from controller.messages import Role
from controller.rules.match_end import MatchVerdict
from controller.rules.match_standing import PerSide

from .table import INTL, N, Table, knockout, timed, varied

# -- time ----------------------------------------------------------------------


@pytest.mark.parametrize("steps", ["started", "cut", "dealt"])
def test_a_deal_not_begun_is_not_played_when_time_is_up(steps: str) -> None:
    table = Table(timed()).started().played("NS")
    if steps != "started":
        getattr(table, steps)()
    table.at_minute(60)
    assert table.phase is MatchPhase.OVER
    assert (table.end.verdict.winner, table.end.verdict.how) == ("NS", "level")


@pytest.mark.parametrize("steps", ["released", "counted", "laid", "valued", "in_play"])
def test_a_deal_begun_is_played_out(steps: str) -> None:
    table = Table(timed()).started().played("NS")
    getattr(table, steps)()
    phase = table.at_minute(61).phase
    assert phase not in (MatchPhase.OVER, MatchPhase.CUT)
    stopped = table.happens(match_events.DealStopped, reason="time")
    assert stopped.refused == "NOT_STOPPED_BY_TIME"
    if steps == "laid":
        table.valued()
    table.in_play().out("WE").does(match_events.ResultConfirmed, by="referee")
    assert (table.levels, table.phase) == ((5, 5), MatchPhase.OVER)
    assert table.end.verdict.how == "draw"


@pytest.mark.parametrize("steps", ["released", "counted", "laid", "valued", "in_play"])
def test_a_deal_begun_is_stopped_by_the_letter(steps: str) -> None:
    table = Table(timed(at_time="stop_now")).started().played("NS")
    getattr(table, steps)()
    assert table.happens(match_events.DealStopped, reason="time").refused == "NOT_STOPPED_BY_TIME"
    table.at_minute(60).does(match_events.DealStopped, reason="time")
    assert (table.phase, table.end.verdict.winner) == (MatchPhase.OVER, "NS")
    assert [row.deal for row in table.rows(StoppedRow)] == [2]
    assert table.levels == (5, 2)


def test_a_stopped_deal_leaves_no_claim_behind() -> None:
    table = knockout(timed(at_time="stop_now")).played("NS", "WE").released()
    table.does(match_events.CountClaimed, seat="N").at_minute(60)
    table.does(match_events.DealStopped, reason="time")
    assert (table.phase, table.match.suspended) == (MatchPhase.MATCH_CHECK, None)
    assert table.does(match_events.ExtraDealOrdered, reason="equal").phase is MatchPhase.CUT


def test_no_deal_begins_within_the_margin_before_time() -> None:
    table = Table(timed(last_start_margin_s=180)).started().played("NS")
    assert table.at_minute(56.9).phase is MatchPhase.CUT
    assert table.at_minute(57).phase is MatchPhase.OVER


def test_added_time_puts_the_end_off() -> None:
    table = Table(timed()).started().played("NS")
    table.does(match_events.TimeAdded, seconds=120, role=Role.REFEREE)
    assert table.at_minute(61).phase is MatchPhase.CUT
    assert table.at_minute(62).phase is MatchPhase.OVER


def test_added_time_above_the_limit_is_the_chiefs() -> None:
    table = Table(timed()).started()
    added = match_events.TimeAdded
    assert table.happens(added, seconds=301, role=Role.REFEREE).refused == "MUCH_TIME"
    table.does(added, seconds=300, role=Role.REFEREE)
    assert table.happens(added, seconds=1, role=Role.REFEREE).refused == "MUCH_TIME"
    assert table.happens(added, seconds=1, role=Role.CHIEF).refused is None
    assert table.state.clock.added_ms == 301_000


@pytest.mark.parametrize("role", [Role.OBSERVER, Role.TABLE, Role.TECHNICIAN])
def test_nobody_but_a_referee_adds_time(role: Role) -> None:
    table = Table(timed()).started()
    assert table.happens(match_events.TimeAdded, seconds=1, role=role).refused == "NOT_A_REFEREE"


def test_the_area_standing_still_is_no_time_played_and_no_deal_begins() -> None:
    table = Table(timed()).started().played("NS").dealt().does(match_events.AreaPaused)
    assert table.happens(match_events.HandsReleased).refused == "AREA_STOPPED"
    table.at_minute(90).does(match_events.AreaResumed)
    assert table.does(match_events.HandsReleased).phase is MatchPhase.COUNT_CHECK


def test_a_suspended_table_ends_when_it_goes_on() -> None:
    table = Table(timed()).started().played("NS").does(match_events.TableSuspended, reason="called")
    assert table.at_minute(61).phase is MatchPhase.CUT
    table.does(match_events.TableResumed).does(match_events.TimeAdded, seconds=0, role=Role.REFEREE)
    assert table.tick().phase is MatchPhase.OVER


def test_time_is_announced_and_the_last_deal_said() -> None:
    table = Table(timed()).started().in_play().at_minute(60)
    said = [effect.report.kind for effect in table.told if isinstance(effect, ClockReported)]
    assert said[-5:] == ["announce_15", "announce_5", "announce_1", "last_deal", "time_up"]


def test_the_stopped_table_counts_its_stops_for_added_time() -> None:
    table = Table(timed()).started().released().does(match_events.CountClaimed, seat="N")
    table.tick(minutes=2).recounted()
    (stop,) = table.state.clock.stops
    assert stop.reason == "count"
    assert stop.to_ms == table.at_ms


def test_a_forfeited_deal_ends_the_stop_of_its_table() -> None:
    table = Table(timed()).started().in_play().does(match_events.TableSuspended, reason="called")
    table.ruled("EW", "foul")
    assert (table.match.suspended, table.phase) == (None, MatchPhase.FORFEIT)
    assert [stop.to_ms for stop in table.state.clock.stops] == [table.at_ms]


def test_nobody_names_a_leader_when_time_is_up() -> None:
    table = Table(timed()).started().in_play().ruled("EW", "foul")
    assert table.phase is MatchPhase.FORFEIT
    assert table.at_minute(60).phase is MatchPhase.OVER
    assert table.rows(LeaderRow) == []


def test_hands_that_are_being_drawn_are_a_deal_begun() -> None:
    table = (
        Table(timed()).started().played("NS").does(match_events.HandDealOrdered, reason="jam").cut()
    )
    assert table.phase is MatchPhase.DEALING
    assert table.at_minute(61).phase is MatchPhase.DEALING
    assert table.dealt().phase is MatchPhase.COUNT_CHECK
    letter = Table(timed(at_time="stop_now")).started().played("NS")
    letter.does(match_events.HandDealOrdered, reason="jam").cut()
    assert letter.at_minute(61).phase is MatchPhase.OVER


def test_hands_drawn_wrong_after_time_are_not_drawn_again() -> None:
    table = (
        Table(timed()).started().played("NS").does(match_events.HandDealOrdered, reason="jam").cut()
    )
    table.at_minute(61).does(match_events.AttemptFailed, reasons=("COUNT_SHORT",)).tick()
    assert table.phase is MatchPhase.OVER


def test_a_redeal_after_time_is_no_new_deal_and_is_played() -> None:
    table = (
        Table(timed()).started().played("NS").released().does(match_events.CountClaimed, seat="N")
    )
    table.at_minute(61).recounted(N=26)
    assert (table.phase, table.state.deal) == (MatchPhase.CUT, 2)
    assert table.dealt().tick(minutes=5).phase is MatchPhase.HELD
    table.does(match_events.HandsReleased).played("WE")
    assert (table.phase, table.levels) == (MatchPhase.OVER, (5, 5))


def test_by_the_letter_a_redeal_after_time_is_not_dealt() -> None:
    table = Table(timed(at_time="stop_now")).started().played("NS").released()
    table.does(match_events.CountClaimed, seat="N").at_minute(61).recounted(N=26)
    assert (table.phase, table.end.verdict.winner) == (MatchPhase.OVER, "NS")


def test_by_the_letter_a_redeal_that_is_due_ends_with_the_time() -> None:
    table = Table(timed(at_time="stop_now")).started().played("NS").released()
    table.does(match_events.CountClaimed, seat="N").recounted(N=26).dealt()
    table.does(match_events.TimeAdded, seconds=0, role=Role.REFEREE)
    assert (table.phase, table.at_minute(60).phase) == (MatchPhase.HELD, MatchPhase.OVER)


def test_the_deal_after_a_redeal_is_a_new_one_again() -> None:
    table = (
        Table(timed()).started().played("NS").released().does(match_events.CountClaimed, seat="N")
    )
    table.recounted(N=26).dealt().does(match_events.TimeAdded, seconds=0, role=Role.REFEREE)
    table.played("WE")
    assert (table.phase, table.state.deal) == (MatchPhase.CUT, 3)
    assert table.at_minute(60).phase is MatchPhase.OVER


def test_in_a_match_that_is_over_no_deal_has_begun() -> None:
    table = Table().started().released().does(match_events.DealVoided, reason="seen")
    assert table.match.begun
    assert not table.ruled("NS", "match_forfeit").match.begun


def test_a_redeal_whose_leader_must_be_named_first_is_no_new_deal_either() -> None:
    table = Table(timed()).started().played("NS").released().ruled("NS", "foul", deal=1)
    table.does(match_events.CountClaimed, seat="N").recounted(N=26)
    table.does(match_events.TimeAdded, seconds=0, role=Role.REFEREE)
    assert (table.phase, table.at_minute(61).phase) == (MatchPhase.FORFEIT, MatchPhase.FORFEIT)
    table.named("W").tick(minutes=1)
    assert (table.phase, table.state.deal) == (MatchPhase.CUT, 2)
    assert table.played("WE").phase is MatchPhase.OVER


# -- the last card, by the letter ----------------------------------------------


def letter() -> Table:
    """A match that ends with its time, whose second deal is in play."""
    return Table(timed(at_time="stop_now")).started().played("NS").in_play()


def test_by_the_letter_the_last_card_decides_and_not_the_confirmation() -> None:
    table = letter().at_minute(59.9).out("WE").at_minute(61)
    assert table.match.ended_ms is not None
    assert table.happens(match_events.DealStopped, reason="time").refused == "NOT_STOPPED_BY_TIME"
    table.does(match_events.ResultConfirmed, by="referee")
    assert (table.levels, table.phase) == ((5, 5), MatchPhase.OVER)


def test_by_the_letter_a_deal_that_ended_too_late_cannot_be_confirmed() -> None:
    table = letter().out("W").at_minute(60).out("E")
    for by in ("NS", "EW", "referee"):
        assert table.happens(match_events.ResultConfirmed, by=by).refused == "TIME_ENDED_IT"
    table.does(match_events.DealStopped, reason="time")
    assert (table.levels, table.phase) == ((5, 2), MatchPhase.OVER)


def test_where_deals_are_played_out_one_that_ended_after_time_is_confirmed() -> None:
    table = Table(timed()).started().played("NS").in_play().at_minute(61).out("WE")
    assert table.does(match_events.ResultConfirmed, by="referee").levels == (5, 5)


def test_the_referee_may_say_when_the_last_card_was_played() -> None:
    table = letter().at_minute(59)
    before_ms = table.at_ms
    table.at_minute(61).does(match_events.ResultEntered, order=("W", "E"), ended_ms=before_ms)
    assert table.match.ended_ms == before_ms
    assert table.does(match_events.ResultConfirmed, by="referee").levels == (5, 5)


def test_a_result_entered_without_a_time_ended_when_it_is_entered() -> None:
    table = letter().at_minute(61).does(match_events.ResultEntered, order=("W", "E"))
    assert table.happens(match_events.ResultConfirmed, by="referee").refused == "TIME_ENDED_IT"


def test_a_result_entered_again_keeps_the_time_of_the_last_card() -> None:
    table = letter().at_minute(59).out("WE")
    ended_ms = table.match.ended_ms
    table.at_minute(61).does(match_events.ResultEntered, order=("W", "N", "E"))
    assert table.match.ended_ms == ended_ms
    assert table.does(match_events.ResultConfirmed, by="referee").levels == (5, 4)


def test_no_last_card_is_played_later_than_now_or_before_the_release() -> None:
    table = letter().does(match_events.ResultEntered, order=("W", "E"), ended_ms=10**9)
    assert table.match.ended_ms == table.at_ms
    table.does(match_events.ResultEntered, order=("W", "E"), ended_ms=0)
    assert table.match.ended_ms == table.match.began_ms


def test_a_dead_hand_in_a_finished_deal_does_not_make_it_end_later() -> None:
    table = letter().at_minute(59).out("NES").at_minute(61).dead("W")
    assert table.does(match_events.ResultConfirmed, by="referee").levels == (7, 2)


def test_a_deal_reopened_after_time_has_no_last_card_yet() -> None:
    table = letter().at_minute(59).out("WE").at_minute(61).does(match_events.OutWithdrawn, seat="E")
    assert table.match.ended_ms is None
    table.out("E")
    assert table.happens(match_events.ResultConfirmed, by="referee").refused == "TIME_ENDED_IT"


def test_a_second_of_added_time_lets_a_late_deal_count() -> None:
    table = letter().at_minute(60).out("WE")
    assert table.happens(match_events.ResultConfirmed, by="referee").refused == "TIME_ENDED_IT"
    table.does(match_events.TimeAdded, seconds=1, role=Role.REFEREE)
    assert table.does(match_events.ResultConfirmed, by="referee").levels == (5, 5)


@pytest.mark.parametrize("role", [Role.TABLE, Role.OBSERVER, Role.TECHNICIAN])
def test_nobody_but_a_referee_stops_a_deal(role: Role) -> None:
    table = letter().at_minute(60)
    stopped = table.happens(match_events.DealStopped, reason="time", by="x", role=role)
    assert stopped.refused == "NOT_A_REFEREE"
    table.does(match_events.DealStopped, reason="time", by="Ref", role=Role.REFEREE)
    assert table.phase is MatchPhase.OVER


# -- a number of deals ---------------------------------------------------------


def test_after_its_last_deal_a_match_is_over() -> None:
    table = Table(varied(INTL, ending={"method": "deals", "deals": 2})).started().played("NS")
    assert table.phase is MatchPhase.CUT
    table.played("WE")
    assert (table.phase, table.end.verdict.how) == (MatchPhase.OVER, "draw")
    assert table.end.score.match_points == PerSide(1, 1)
    assert table.end.score.level_points == PerSide(13, 13)


def test_a_forfeited_deal_is_one_of_them() -> None:
    table = Table(varied(INTL, ending={"method": "deals", "deals": 1})).started().in_play()
    assert table.ruled("EW", "foul").phase is MatchPhase.OVER


def test_the_first_to_reach_the_level_wins_in_003() -> None:
    table = Table(N).started().played("NS", "WE").at_minute(60)
    assert (table.levels, table.end.verdict.winner) == ((5, 5), "NS")
    assert table.end.verdict.how == "first_to_reach"


def test_where_neither_has_left_the_start_003_needs_an_extra_deal() -> None:
    table = Table(timed(N, at_time="stop_now")).started().in_play().at_minute(60)
    table.does(match_events.DealStopped, reason="time")
    assert (table.phase, table.levels) == (MatchPhase.MATCH_CHECK, (2, 2))


def test_a_level_lost_again_by_a_penalty_was_reached_nevertheless_in_003() -> None:
    table = Table(N).started().played("NS").in_play().hid_cards("N")
    assert table.levels == (4, 3)
    table.played("WNE")
    assert table.levels == (4, 5)  # EW stand at 5 before NS stand there again
    assert table.played("NWE").levels == (5, 5)
    assert table.at_minute(60).end.verdict == MatchVerdict("NS", "first_to_reach")


def test_what_was_reached_before_a_return_to_2_is_forgotten_in_003() -> None:
    table = Table(N).started().played(*["NS"] * 4, "NWE", "NWE", "WE")
    assert table.levels == (2, 5)
    assert table.played("NS").levels == (5, 5)
    assert table.at_minute(60).end.verdict == MatchVerdict("EW", "first_to_reach")
