"""A, and the level past it."""

import pytest

from controller.match.phase import MatchPhase
from controller.rules.match_standing import PerSide

from .table import GUANDAN, B, N, Table, from_level


@pytest.mark.parametrize("profile", GUANDAN)
def test_a_may_not_be_jumped(profile: str) -> None:
    table = Table(from_level("K", profile)).started().played("NS")
    assert table.levels == (14, 13)
    assert table.match.level == 14
    assert table.played("NS").levels == (15, 13)
    assert (table.phase, table.end.verdict.how) == (MatchPhase.OVER, "past_a")
    assert table.end.verdict.winner == "NS"


def test_a_is_not_passed_with_a_partner_who_is_last() -> None:
    table = Table(from_level("K")).started().played("NS", "NWE")
    assert table.levels == (14, 13)
    assert (table.match.level, table.match.owner) == (14, "NS")


def test_who_wins_at_the_others_a_stands_there_and_has_not_passed() -> None:
    table = Table(from_level("K")).started().played("NS", "WE")  # NS's A, won by EW
    assert table.levels == (14, 14)
    assert (table.phase, table.match.owner) == (MatchPhase.CUT, "EW")
    assert table.played("NS").levels == (14, 14)  # EW's A, won by NS: not theirs
    assert table.played("NS").end.verdict.winner == "NS"


def test_three_failures_at_a_send_back_to_2_in_003() -> None:
    table = Table(N).started().played("WE", *["NS"] * 4).played("NWE", "NEW")
    assert (table.levels, table.match.standing.failures) == ((14, 5), PerSide(2, 0))
    assert table.played("NWE").levels == (2, 5)
    assert table.match.standing.failures == PerSide()
    assert table.match.level == 2


def test_three_failures_at_a_lose_the_match_in_004_after_20_and_50_points() -> None:
    table = Table(from_level("K", B)).started().played("NS", "NWE")
    assert table.match.standing.points == PerSide(5, 20)
    assert table.played("NWE").match.standing.points == PerSide(5, 70)
    assert table.played("NWE").phase is MatchPhase.OVER
    assert (table.end.verdict.winner, table.end.verdict.how) == ("EW", "failures")
    assert table.end.score.total == PerSide(5, 270)


def test_failures_at_a_have_no_limit_in_000() -> None:
    table = Table(from_level("K")).started().played("NS", *["NWE"] * 9)
    assert (table.levels, table.phase) == ((14, 13), MatchPhase.CUT)


def test_the_last_forfeited_deal_may_pass_a() -> None:
    table = Table(from_level("K")).started().played("NS").in_play().ruled("EW", "foul")
    assert table.levels == (15, 13)
    assert (table.phase, table.end.verdict.winner) == (MatchPhase.OVER, "NS")


def test_a_penalty_never_passes_a() -> None:
    table = Table(from_level("A", N)).started().in_play().ruled("EW", "foul")
    assert table.levels == (14, 14)
    assert table.phase is MatchPhase.PLAY
