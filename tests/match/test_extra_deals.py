"""Extra deals, where a match is equal and needs a winner."""

from controller.match import match_events
from controller.match.match_effects import RefereeCalled
from controller.match.phase import MatchPhase
from controller.messages import Role
from controller.rules.match_standing import PerSide

from .table import B, Table, from_level, knockout, timed


def test_an_equal_knockout_waits_for_the_chiefs_extra_deal() -> None:
    table = knockout().played("NS").in_play().at_minute(60).out("WE")
    table.does(match_events.ResultConfirmed, by="referee")
    assert table.phase is MatchPhase.MATCH_CHECK
    assert table.effect(RefereeCalled).reason == "extra_deal"
    table.does(match_events.ExtraDealOrdered, reason="equal").played("NWE")
    assert (table.end.verdict.winner, table.end.verdict.how) == ("NS", "extra_deal")
    assert table.row.extra


def test_a_hand_held_when_an_equal_knockouts_time_is_up_is_not_played() -> None:
    table = knockout().played("NS", "WE").dealt().at_minute(60)
    assert table.phase is MatchPhase.MATCH_CHECK


def test_an_extra_deal_at_a_against_a_is_won_by_ups_side() -> None:
    table = knockout(from_level("A", ending={"method": "timed"})).played("NWE").at_minute(60)
    table.does(match_events.ExtraDealOrdered, reason="equal").played("WNS")
    assert (table.levels, table.end.verdict.winner) == ((14, 14), "EW")


def test_an_extra_deal_counts_no_failure_at_a() -> None:
    profile = from_level("A", B, ending={"deals": 3})
    table = Table(profile, stage="knockout").started().played("NWE", "NWE", "NWE")
    assert (table.phase, table.match.standing.failures) == (MatchPhase.MATCH_CHECK, PerSide(2, 0))
    table.does(match_events.ExtraDealOrdered, reason="equal").played("NWE")
    assert (table.end.verdict.winner, table.end.verdict.how) == ("NS", "extra_deal")


def test_an_extra_deal_is_beyond_time() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    table.does(match_events.ExtraDealOrdered, reason="equal").dealt()
    assert table.at_minute(90).does(match_events.HandsReleased).phase is MatchPhase.COUNT_CHECK


def test_an_extra_deal_is_not_stopped_by_time() -> None:
    table = knockout(timed(at_time="stop_now")).played("NS", "WE").at_minute(60)
    table.does(match_events.ExtraDealOrdered, reason="equal").in_play()
    assert table.happens(match_events.DealStopped, reason="time").refused == "NOT_STOPPED_BY_TIME"


def test_a_forfeited_extra_deal_decides_too() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    table.does(match_events.ExtraDealOrdered, reason="equal").in_play().ruled("EW", "foul")
    assert (table.end.verdict.winner, table.end.verdict.how) == ("NS", "extra_deal")


def test_an_extra_deal_after_a_forfeited_one_waits_for_its_leader() -> None:
    table = knockout().played("NS").in_play().at_minute(60).ruled("NS", "foul")
    assert (table.phase, table.levels) == (MatchPhase.MATCH_CHECK, (5, 5))
    table.does(match_events.ExtraDealOrdered, reason="equal")
    assert (table.phase, table.effect(RefereeCalled).reason) == (MatchPhase.FORFEIT, "name_leader")
    table.tick(minutes=5).named("W")
    assert (table.phase, table.match.extra) == (MatchPhase.CUT, True)
    assert table.in_play().match.leader == "W"
    table.out("WNS").does(match_events.ResultConfirmed, by="referee")
    assert table.end.verdict.how == "extra_deal"


def test_the_chief_may_order_an_extra_deal_after_a_draw_until_it_is_signed() -> None:
    table = Table(timed()).started().played("NS", "WE").at_minute(60)
    assert table.end.verdict.how == "draw"
    table.does(match_events.ExtraDealOrdered, reason="last round")
    assert (table.match.verdict, table.match.score) == (None, None)
    table.played("NS")
    assert table.end.verdict.winner == "NS"
    signed = Table(timed()).started().played("NS", "WE").at_minute(60)
    signed.does(match_events.SheetSigned, signer="NS", person="Nan")
    assert signed.happens(match_events.ExtraDealOrdered, reason="x").refused == "NOT_EQUAL"


def test_a_match_that_somebody_won_has_no_extra_deal() -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    assert table.happens(match_events.ExtraDealOrdered, reason="x").refused == "NOT_EQUAL"


def test_an_extra_deal_after_a_draw_is_not_undone_by_the_same_draw() -> None:
    table = Table(timed()).started().played("NS", "WE").at_minute(60)
    table.does(match_events.ExtraDealOrdered, reason="last round").corrected(1, "NS", "stand")
    assert (table.phase, table.match.extra) == (MatchPhase.CUT, True)
    table.corrected(1, "NWS")  # but it is not needed where levels differ
    assert (table.phase, table.end.verdict.winner) == (MatchPhase.OVER, "EW")


def test_an_extra_deal_is_the_chiefs_to_order() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    ordered = match_events.ExtraDealOrdered
    for role, code in ((Role.TABLE, "NOT_A_REFEREE"), (Role.REFEREE, "NEEDS_CHIEF")):
        assert table.happens(ordered, reason="equal", by="x", role=role).refused == code
    table.does(ordered, reason="equal", by="Chief", role=Role.REFEREE, verbal=True)
    assert table.phase is MatchPhase.CUT
